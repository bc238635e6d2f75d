//! A project that nobody has trusted can only narrow.

use expect_test::expect;
use haft::permission::{Effect, Layer, Rule};

use super::{World, configured, effect};
use crate::config::{Standing, levels_with_files};
use crate::paths::Paths;

#[test]
fn an_untrusted_project_cannot_allow_what_was_asked_or_denied() {
    let world =
        World::with("home/.config/haft/haft.json", r#"{"permission": {"edit": "deny", "webfetch": "ask"}}"#)
            .file(
                "repo/.haft/haft.json",
                r#"{"permission": {"*": "allow", "edit": "allow"}, "tools": {"webfetch": true}}"#,
            )
            .file("repo/opencode.json", r#"{"agent": {"build": {"permission": {"edit": "allow"}}}}"#);
    let config = world.untrusted();
    assert_eq!(effect(&config, "build", "edit", "x"), Effect::Deny);
    assert_eq!(effect(&config, "build", "webfetch", "x"), Effect::Ask);
    assert_eq!(effect(&config, "build", "external_directory", "/x"), Effect::Ask);
    let config = world.trusted();
    assert_eq!(effect(&config, "build", "edit", "x"), Effect::Allow);
}

#[test]
fn an_untrusted_project_can_ask_and_deny() {
    let world = World::with("home/.config/haft/haft.json", r#"{"permission": "allow"}"#).file(
        "repo/opencode.json",
        r#"{"permission": {"bash": {"rm *": "deny"}}, "tools": {"edit": false}, "agent": {"build": {"permission": {"read": "ask"}}}}"#,
    );
    let config = world.untrusted();
    assert_eq!(effect(&config, "build", "bash", "rm x"), Effect::Deny);
    assert_eq!(effect(&config, "build", "bash", "ls"), Effect::Allow);
    assert_eq!(effect(&config, "build", "edit", "x"), Effect::Deny);
    assert_eq!(effect(&config, "build", "read", "x"), Effect::Ask);
    assert_eq!(effect(&config, "plan", "read", "x"), Effect::Allow);

    let rules = config.ruleset("build", Vec::new()).unwrap();
    let of_project = |rule: &&Rule| rules.only_narrows(rule) && rule.origin.layer != Layer::Defaults;
    assert_eq!(rules.rules().filter(of_project).count(), 3);
}

#[test]
fn private_hosts_are_granted_by_the_person_and_not_by_a_project() {
    let own = r#"{"permission": "allow", "webfetch": {"allow_private": ["127.0.0.1:3000", "LocalHost:*", "[::1]:80"]}}"#;
    let world = World::with("home/.config/haft/haft.json", own)
        .file("repo/haft.jsonc", r#"{"webfetch": {"allow_private": ["10.0.0.1:80"]}}"#);
    let config = world.untrusted();
    let rows = [
        ("127.0.0.1:3000", Effect::Allow),
        ("127.0.0.1:3001", Effect::Ask),
        ("localhost:8080", Effect::Allow),
        ("[::1]:80", Effect::Allow),
        ("10.0.0.1:80", Effect::Ask),
        ("169.254.169.254:80", Effect::Ask),
    ];
    for (endpoint, expected) in rows {
        assert_eq!(effect(&config, "build", "private_address", endpoint), expected, "{endpoint}");
    }
    assert_eq!(effect(&world.trusted(), "build", "private_address", "10.0.0.1:80"), Effect::Allow);
}

#[test]
fn no_other_key_of_an_untrusted_project_has_any_effect() {
    let world = World::with(
        "repo/haft.jsonc",
        r#"{"mcp": {"x": {"command": ["touch", "PWNED"]}}, "plugin": ["./e.js"], "tool_output": {"max_lines": 9},
            "retention": {"days": 1}, "experimental": {"batch_tool": true}, "client": "x", "default_agent": "plan",
            "agent": {"build": {"disable": true}, "new": {}}, "model": "m"}"#,
    );
    let config = world.untrusted();
    for key in ["mcp", "plugin", "tool_output", "model", "agent", "client"] {
        assert!(config.get(key).is_none(), "{key}");
    }
    assert_eq!(config.limits(), haft::Limits::default());
    assert_eq!(
        (config.retention(), config.flags().len()),
        (crate::config::settings::Retention::default(), 0)
    );
    assert_eq!((config.default_agent(), config.client("cli").as_str()), ("build", "cli"));
    assert!(config.ruleset("build", Vec::new()).is_ok());
    assert_eq!(config.sources()[0].standing, Standing::Narrowing);

    let config = world.trusted();
    assert_eq!((config.limits().text.lines, config.retention().days, config.default_agent()), (9, 1, "plan"));
    assert_eq!(config.sources()[0].standing, Standing::Full);
}

#[test]
fn nothing_is_put_into_the_files_of_an_untrusted_project() {
    let world = World::with(
        "repo/opencode.json",
        r#"{"permission": {"bash": {"{env:SECRET}": "deny", "{file:/etc/hostname}": "ask"}}}"#,
    )
    .variable("SECRET", "s3cr3t");
    expect![[r#"
        repo/opencode.json:1:26: bash "{env:SECRET}": deny
        repo/opencode.json:1:50: bash "{file:/etc/hostname}": ask"#]]
    .assert_eq(&configured(&world, &world.untrusted(), "build").join("\n"));

    let world =
        World::with("repo/opencode.json", r#"{"tool_output": {"max_lines": {env:N}}}"#).variable("N", "1");
    let error = world.load(false).unwrap_err().to_string();
    expect![[r#"
        repo/opencode.json:1:32: expected string for object property; {env:} and {file:} stay as they are until the project is trusted (haft trust)
          1 | {"tool_output": {"max_lines": {env:N}}}
            |                                ^^^"#]]
    .assert_eq(&world.local(&error));
    assert_eq!(world.trusted().limits().text.lines, 1);
}

#[test]
fn whether_there_is_anything_to_trust_is_known_without_reading_it() {
    let asked = |world: &World| {
        let env = world.env();
        let root = world.path("repo");
        let paths = Paths::from_env(&env).unwrap();
        let levels = levels_with_files(&env, &paths, &world.cwd, Some(&root)).unwrap();
        levels.iter().map(|level| world.local(level.to_str().unwrap())).collect::<Vec<_>>()
    };
    assert!(asked(&World::with("home/.config/opencode/opencode.json", "not json")).is_empty());
    assert_eq!(asked(&World::with("repo/.opencode/opencode.json", "not json")), ["repo"]);
    assert_eq!(asked(&World::with("repo/sub/.haft/agent/a.md", "not yaml")), ["repo/sub"]);
}
