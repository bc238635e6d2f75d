//! The agents that haft ships, apart from their rules: what they are good for and what they are told.

use super::agents::AgentMode;

/// A shipped agent.
pub(crate) struct Shipped {
    name: &'static str,
    /// Who may speak to it.
    pub(crate) mode: AgentMode,
    /// What it is good for, as other agents are told.
    pub(crate) description: Option<&'static str>,
    /// What it is told about itself.
    pub(crate) prompt: Option<&'static str>,
    /// Whether haft keeps it to itself.
    pub(crate) hidden: bool,
}

const SHIPPED: [Shipped; 7] = [
    Shipped {
        name: "build",
        mode: AgentMode::Primary,
        description: Some("Does the work: explores, edits, runs commands, under the configured permissions."),
        prompt: Some(include_str!("prompts/build.txt")),
        hidden: false,
    },
    Shipped {
        name: "plan",
        mode: AgentMode::Primary,
        description: Some("Plans: explores and writes a plan, and changes nothing else."),
        prompt: Some(include_str!("prompts/plan.txt")),
        hidden: false,
    },
    Shipped {
        name: "general",
        mode: AgentMode::Subagent,
        description: Some(
            "For questions that take research and for work of many steps that stands on its own; several of them can \
             work side by side.",
        ),
        prompt: Some(include_str!("prompts/general.txt")),
        hidden: false,
    },
    Shipped {
        name: "explore",
        mode: AgentMode::Subagent,
        description: Some(
            "Finds things in a project without changing anything: files by pattern, code by what it says, how \
             something works. Say how thorough it is to be: quick, medium or very thorough.",
        ),
        prompt: Some(include_str!("prompts/explore.txt")),
        hidden: false,
    },
    Shipped {
        name: "compaction",
        mode: AgentMode::Primary,
        description: None,
        prompt: Some(include_str!("prompts/compaction.txt")),
        hidden: true,
    },
    Shipped {
        name: "title",
        mode: AgentMode::Primary,
        description: None,
        prompt: Some(include_str!("prompts/title.txt")),
        hidden: true,
    },
    Shipped {
        name: "summary",
        mode: AgentMode::Primary,
        description: None,
        prompt: Some(include_str!("prompts/summary.txt")),
        hidden: true,
    },
];

/// A shipped agent by its name.
pub(crate) fn agent(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|agent| agent.name == name)
}
