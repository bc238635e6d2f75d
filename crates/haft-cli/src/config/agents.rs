//! Who works: the agents that haft ships and those that the configuration adds.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::error::shown;
use super::node::{Entry, Node};
use super::rules::{AGENT_KEYS, SourceRules, Standing};
use super::{defaults, schema, shipped};

/// Where agents were configured that a person speaks to, before there were others.
const OLD_TABLE: &str = AGENT_KEYS[0];

/// The agent that works when nobody names one.
pub(crate) const DEFAULT_AGENT: &str = "build";

/// Why an agent cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AgentError {
    /// Nobody has described such an agent.
    #[error("unknown agent \"{name}\"; known are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Only the project describes it, where nobody has trusted it.
    #[error(
        "the agent \"{name}\" is the project's, from a directory that is not trusted (haft trust); known are {known}"
    )]
    Untrusted {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The configuration switched it off.
    #[error("the agent \"{name}\" is disabled at {place}; known are {known}")]
    Disabled {
        /// The name.
        name: String,
        /// Where.
        place: String,
        /// Those that there are.
        known: String,
    },
}

/// Who may speak to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentMode {
    /// A person.
    Primary,
    /// Other agents.
    Subagent,
    /// Both.
    All,
}

impl AgentMode {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            AgentMode::Primary => "primary",
            AgentMode::Subagent => "subagent",
            AgentMode::All => "all",
        }
    }

    fn parse(word: &str) -> Option<AgentMode> {
        let all = [AgentMode::Primary, AgentMode::Subagent, AgentMode::All];
        all.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// An agent: who it is, apart from its rules.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agent {
    /// Its name.
    pub(crate) name: String,
    /// Who may speak to it.
    pub(crate) mode: AgentMode,
    /// What it is good for.
    pub(crate) description: Option<String>,
    /// What it is told about itself.
    pub(crate) prompt: Option<String>,
    /// Its model, as `provider/model`; nothing leaves the one that the person or the caller uses.
    pub(crate) model: Option<String>,
    /// A variant of the model.
    pub(crate) variant: Option<String>,
    /// So many steps it goes before it has to answer.
    pub(crate) steps: Option<u64>,
    /// How much it leaves to chance.
    pub(crate) temperature: Option<f64>,
    /// The same, by another measure.
    pub(crate) top_p: Option<f64>,
    /// What its model's provider is told besides.
    pub(crate) options: Map<String, Value>,
    /// Whether it is left out where people choose.
    pub(crate) hidden: bool,
}

/// What the configuration and haft say of an agent that is known.
pub(crate) fn read(name: &str, merged: &Node) -> Agent {
    let spoken: Vec<(&str, &Node)> =
        AGENT_KEYS.iter().filter_map(|table| Some((*table, merged.get(table)?.get(name)?))).collect();
    // The later table wins, as later sources do.
    let field = |key: &str| spoken.iter().rev().find_map(|(_, agent)| agent.get(key));
    let text = |key: &str| field(key).and_then(Node::as_text).map(str::to_owned);
    let shipped = shipped::agent(name);
    let mode = match (&shipped, spoken.as_slice()) {
        (Some(shipped), _) => shipped.mode,
        (None, [(OLD_TABLE, _)]) => AgentMode::Primary,
        (None, _) => AgentMode::All,
    };
    let mut options = Map::new();
    for (_, agent) in &spoken {
        for Entry { key, value, .. } in agent.entries() {
            match (key.as_str(), value.json()) {
                ("options", Value::Object(fields)) => options.extend(fields),
                (key, json) if !schema::is_of_agent(key) => drop(options.insert(key.to_owned(), json)),
                _ => {}
            }
        }
    }
    Agent {
        name: name.to_owned(),
        mode: text("mode").and_then(|word| AgentMode::parse(&word)).unwrap_or(mode),
        description: text("description").or_else(|| shipped.as_ref()?.description.map(str::to_owned)),
        prompt: text("prompt").or_else(|| shipped.as_ref()?.prompt.map(|prompt| prompt.trim().to_owned())),
        model: text("model"),
        variant: text("variant"),
        steps: field("steps").or_else(|| field("maxSteps")).and_then(Node::as_count),
        temperature: field("temperature").and_then(Node::as_number),
        top_p: field("top_p").and_then(Node::as_number),
        options,
        hidden: field("hidden")
            .and_then(Node::as_bool)
            .unwrap_or_else(|| shipped.is_some_and(|agent| agent.hidden)),
    }
}

/// The agents that may work, sorted.
pub(crate) fn known(merged: &Node) -> BTreeSet<String> {
    let configured = AGENT_KEYS.iter().filter_map(|key| merged.get(key)).flat_map(Node::entries);
    let names = defaults::agents().map(str::to_owned).chain(configured.map(|entry| entry.key.clone()));
    names.filter(|name| disabled(merged, name).is_none()).collect()
}

/// The agents that a person or a model may name, sorted.
pub(crate) fn names(merged: &Node) -> BTreeSet<String> {
    let is_open = |name: &String| shipped::agent(name).is_none_or(|agent| !agent.hidden);
    known(merged).into_iter().filter(is_open).collect()
}

/// Checks that an agent may work.
pub(crate) fn check(name: &str, merged: &Node, sources: &[SourceRules]) -> Result<(), AgentError> {
    let known = known(merged);
    if known.contains(name) {
        return Ok(());
    }
    let listed = names(merged).iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    let (name, known) = (name.to_owned(), listed);
    if let Some(switch) = disabled(merged, &name) {
        let place = format!("{}:{}:{}", switch.span.name(), switch.span.line, switch.span.column);
        return Err(AgentError::Disabled { name: shown(&name), place, known });
    }
    let narrowing = sources.iter().filter(|source| source.standing() == Standing::Narrowing);
    let is_projects = narrowing.flat_map(SourceRules::agents).any(|agent| agent == name);
    let name = shown(&name);
    match is_projects {
        true => Err(AgentError::Untrusted { name, known }),
        false => Err(AgentError::Unknown { name, known }),
    }
}

/// The switch that disables an agent.
fn disabled<'a>(merged: &'a Node, name: &str) -> Option<&'a Node> {
    let switch = |key: &&str| merged.get(key)?.get(name)?.get("disable");
    AGENT_KEYS.iter().rev().find_map(switch).filter(|switch| switch.as_bool() == Some(true))
}
