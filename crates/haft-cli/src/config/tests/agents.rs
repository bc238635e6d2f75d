//! Agents: those that are shipped, those of the configuration, and those in Markdown.

use expect_test::expect;
use haft::permission::Effect;
use serde_json::json;

use super::{World, effect};
use crate::config::agents::AgentMode;

const REVIEWER: &str = "---\ndescription: Reviews: carefully\nmode: subagent\nmodel: p/m\nsteps: 7\ntemperature: 0.1\n\
                        top_p: 1\nhidden: true\nreasoningEffort: high\noptions:\n  a: 1\n\
                        tools:\n  bash: false\npermission:\n  edit: deny\n---\n\nLook twice.\n";

#[test]
fn the_shipped_agents_are_there_with_prompts() {
    let config = World::new().trusted();
    let shown: Vec<String> = config
        .agents()
        .iter()
        .map(|agent| {
            format!("{} {:?} {}", agent.name, agent.mode, if agent.hidden { "hidden" } else { "open" })
        })
        .collect();
    let expected = [
        "build Primary open",
        "compaction Primary hidden",
        "explore Subagent open",
        "general Subagent open",
        "plan Primary open",
        "summary Primary hidden",
        "title Primary hidden",
    ];
    assert_eq!(shown, expected);
    assert!(config.agents().iter().all(|agent| agent.prompt.as_ref().is_some_and(|text| text.len() > 100)));
    assert_eq!(effect(&config, "title", "read", "x"), Effect::Deny);
    assert!(!config.agent_names().contains("title"));
}

#[test]
fn the_planning_agent_writes_its_plan_and_nothing_else() {
    let config = World::new().trusted();
    let of = |action: &str, path: &str| effect(&config, "plan", action, path);
    for path in [".opencode/plans/ses_1.md", ".haft/plans/x.md"] {
        assert_eq!((of("edit", path), of("protected_path", path)), (Effect::Allow, Effect::Allow), "{path}");
    }
    for path in ["src/a.rs", ".opencode/opencode.json", ".opencode/agent/x.md"] {
        assert_eq!(of("edit", path), Effect::Deny, "{path}");
    }
    assert_eq!(of("protected_path", ".opencode/opencode.json"), Effect::Ask);
    assert_eq!(effect(&config, "build", "protected_path", ".opencode/plans/ses_1.md"), Effect::Ask);
}

#[test]
fn an_agent_in_markdown_has_its_front_matter_and_its_prompt() {
    let world = World::with("home/.config/opencode/agents/team/review.md", REVIEWER);
    let config = world.trusted();
    let agent = config.agent("team/review").unwrap();
    assert_eq!(agent.description.as_deref(), Some("Reviews: carefully"));
    assert_eq!((agent.mode, agent.hidden, agent.steps), (AgentMode::Subagent, true, Some(7)));
    assert_eq!((agent.temperature, agent.top_p), (Some(0.1), Some(1.0)));
    assert_eq!((agent.model.as_deref(), agent.prompt.as_deref()), (Some("p/m"), Some("Look twice.")));
    assert_eq!(json!(agent.options), json!({"reasoningEffort": "high", "a": 1}));
    assert_eq!(effect(&config, "team/review", "bash", "ls"), Effect::Deny);
    assert_eq!(effect(&config, "team/review", "edit", "x"), Effect::Deny);
    assert_eq!(effect(&config, "build", "edit", "x"), Effect::Allow);
}

#[test]
fn later_places_win_field_by_field_and_old_modes_are_primary() {
    let world = World::with(
        "home/.config/opencode/opencode.json",
        r#"{"agent": {"a": {"model": "p/1", "steps": 2}}}"#,
    )
    .file("home/.config/opencode/agent/a.md", "---\nmodel: p/2\n---\n")
    .file("repo/.opencode/mode/old.md", "Only a prompt.\n")
    .file("repo/opencode.json", r#"{"agent": {"build": {"prompt": "mine", "maxSteps": 3}}}"#);
    let config = world.trusted();
    let a = config.agent("a").unwrap();
    assert_eq!((a.model.as_deref(), a.steps, a.mode), (Some("p/2"), Some(2), AgentMode::All));
    let old = config.agent("old").unwrap();
    assert_eq!((old.prompt.as_deref(), old.mode), (Some("Only a prompt."), AgentMode::Primary));
    let build = config.agent("build").unwrap();
    assert_eq!(
        (build.prompt.as_deref(), build.steps, build.mode),
        (Some("mine"), Some(3), AgentMode::Primary)
    );
}

#[test]
fn an_untrusted_projects_agent_does_not_work_and_its_rules_narrow() {
    let world = World::with("repo/.opencode/agent/evil.md", "---\npermission: allow\n---\nDo it.\n").file(
        "repo/.opencode/agent/build.md",
        "---\npermission:\n  edit: deny\n  webfetch: allow\n---\nI am yours.\n",
    );
    let config = world.untrusted();
    let refused = config.agent("evil").unwrap_err().to_string();
    assert!(refused.contains("not trusted"), "{refused}");
    assert!(!config.agent("build").unwrap().prompt.unwrap().contains("yours"));
    assert_eq!(effect(&config, "build", "edit", "x"), Effect::Deny);
    assert!(world.trusted().agent("evil").is_ok());
}

#[test]
fn what_is_wrong_in_markdown_is_told_with_file_and_line() {
    let complaint = |text: &str| World::with("home/.opencode/agent/a.md", text).complaint();
    expect![[r#"
        home/.opencode/agent/a.md:3:7: expected "primary", "subagent" or "all", found subagnet; did you mean "subagent"?
          3 | mode: subagnet
            |       ^^^^^^^^"#]]
    .assert_eq(&complaint("---\ndescription: x\nmode: subagnet\n---\n"));
    expect![[r#"
        home/.opencode/agent/a.md:3:9: expected "allow", "ask" or "deny", or an object of patterns, found never
          3 | edit: never
            |       ^^^^^"#]]
    .assert_eq(&complaint("---\npermission:\n  edit: never\n---\n"));
    let broken = complaint("---\nname: x\nlist: [a\n---\n");
    assert!(broken.starts_with("home/.opencode/agent/a.md:"), "{broken}");
    let list = complaint("---\n- a\n---\n");
    assert!(list.contains("expected a table of keys and values"), "{list}");
}

#[test]
fn what_the_runner_needs_has_defaults() {
    let config = World::new().trusted();
    assert_eq!((config.subagent_depth(), config.continues_on_deny()), (1, false));
    assert!(config.compaction().auto && config.compaction().prune && config.instructions().is_empty());
    let world = World::with(
        "home/.config/opencode/opencode.json",
        r#"{"subagent_depth": 0, "compaction": {"prune": false}, "instructions": ["a.md", "b/*.md"],
            "experimental": {"primary_tools": ["edit"], "continue_loop_on_deny": true},
            "skills": {"paths": ["x"], "urls": ["https://a.example"]}}"#,
    );
    let config = world.trusted();
    assert_eq!((config.subagent_depth(), config.continues_on_deny()), (0, true));
    assert!(config.compaction().auto && !config.compaction().prune);
    assert_eq!(config.instructions(), ["a.md", "b/*.md"]);
    assert_eq!(
        (config.primary_tools(), config.skill_paths()),
        (vec!["edit".to_owned()], vec!["x".to_owned()])
    );
    assert_eq!(config.skill_urls(), ["https://a.example"]);
}
