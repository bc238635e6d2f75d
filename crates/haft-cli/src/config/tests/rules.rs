//! What rules are read, in which order, from which places, for which agent.

use expect_test::{Expect, expect};
use haft::permission::{Effect, Layer, Origin, Rule};
use serde_json::json;

use super::{World, configured, effect};
use crate::config::{permission_file, permission_rules, plain_rules};
use crate::paths::Env;

fn check(world: &World, agent: &str, expected: &Expect) {
    expected.assert_eq(&configured(world, &world.trusted(), agent).join("\n"));
}

#[test]
fn a_word_an_object_of_words_and_an_object_of_patterns() {
    check(
        &World::with("repo/opencode.json", r#"{ "permission": "ask" }"#),
        "build",
        &expect![[r#"repo/opencode.json:1:3: * "*": ask"#]],
    );
    check(
        &World::with(
            "repo/opencode.jsonc",
            "{\n  // order is meaning\n  \"permission\": {\n    \"bash\": {\"*\": \"ask\", \"git *\": \"allow\"},\n    \"*\": \"deny\",\n\t\"é世\": \"allow\", \"mcp_*\": \"ask\",\n  },\n}",
        ),
        "build",
        &expect![[r#"
            repo/opencode.jsonc:4:14: bash "*": ask
            repo/opencode.jsonc:4:26: bash "git *": allow
            repo/opencode.jsonc:5:5: * "*": deny
            repo/opencode.jsonc:6:2: é世 "*": allow
            repo/opencode.jsonc:6:17: mcp_* "*": ask"#]],
    );
}

#[test]
fn places_are_those_of_the_file_also_after_other_texts_were_put_in() {
    let world = World::with("home/.config/haft/haft.json", "{\"permission\": {\"{env:TOOL}\": {\"{env:LONG}/{file:name.txt}\": \"deny\", \"b\": \"ask\"}, \"c\": \"{file:~/word}\"}}")
        .file("home/.config/haft/name.txt", "\u{feff}a\"b\n")
        .file("home/word", "allow\n\n")
        .variable("TOOL", "t")
        .variable("LONG", "/a/very/long/path\nwith \"lines\"");
    check(
        &world,
        "build",
        &expect![[r#"
        home/.config/haft/haft.json:1:32: t "/a/very/long/path\nwith \"lines\"/a\"b": deny
        home/.config/haft/haft.json:1:70: t "b": ask
        home/.config/haft/haft.json:1:83: c "*": allow"#]],
    );
}

#[test]
fn a_file_may_be_named_by_a_variable_and_comments_refer_to_nothing() {
    let world = World::with(
        "repo/haft.jsonc",
        "{\n// {file:absent} {env:X\n/* {file:absent\n} \" */ \"model\": \"{file:{env:WHERE}/m}\", \"tool_output\": {\"max_lines\": {env:N}}\n}",
    )
    .file("repo/d/m", "gpt")
    .variable("WHERE", "d")
    .variable("N", "12");
    let config = world.trusted();
    assert_eq!(config.get("model").unwrap().as_text(), Some("gpt"));
    assert_eq!(config.limits().text.lines, 12);
    assert!(config.warnings().is_empty());
}

#[test]
fn the_old_tools_come_before_every_permission() {
    let world = World::with(
        "repo/opencode.json",
        r#"{"permission": {"bash": "deny"}, "tools": {"write": false, "plan-exit": true}}"#,
    )
    .file("repo/sub/opencode.json", r#"{"tools": {"bash": true, "apply_patch": true, "mcp_*": false}}"#);
    check(
        &world,
        "build",
        &expect![[r#"
        repo/opencode.json:1:44: edit "*": deny
        repo/opencode.json:1:60: plan_exit "*": allow
        repo/sub/opencode.json:1:12: bash "*": allow
        repo/sub/opencode.json:1:26: edit "*": allow
        repo/sub/opencode.json:1:47: mcp_* "*": deny
        repo/opencode.json:1:17: bash "*": deny"#]],
    );
}

#[test]
fn home_is_put_in_at_the_start_of_patterns() {
    let world = World::with(
        "repo/opencode.json",
        r#"{"permission": {"external_directory": {"~": "ask", "~/a/*": "ask", "$HOME": "ask", "$HOME/b": "ask", "$HOME*": "ask",
            "~x": "ask", "$HOMER/c": "ask", "/a/~/b": "ask", "a $HOME": "ask"}}}"#,
    );
    let patterns: Vec<String> = configured(&world, &world.trusted(), "build")
        .iter()
        .map(|rule| rule.split('"').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(
        patterns,
        ["home", "home/a/*", "home", "home/b", "home*", "~x", "$HOMER/c", "/a/~/b", "a $HOME"].map(|p| {
            if p.starts_with("home") {
                world.path(p).to_string_lossy().replace(&format!("{}/", world.root()), "")
            } else {
                p.to_owned()
            }
        })
    );
}

#[test]
fn haft_files_may_say_why() {
    let world = World::with(
        "repo/haft.jsonc",
        r#"{"permission": {"webfetch": {"action": "deny", "why": "offline"}, "bash": {"rm *": {"action": "ask", "why": "gone is gone"}, "ls": "allow"}}}"#,
    );
    check(
        &world,
        "build",
        &expect![[r#"
        repo/haft.jsonc:1:17: webfetch "*": deny
        repo/haft.jsonc:1:76: bash "rm *": ask
        repo/haft.jsonc:1:126: bash "ls": allow"#]],
    );
    let config = world.trusted();
    let rules = config.ruleset("build", Vec::new()).unwrap();
    let why: Vec<_> = rules.rules().filter_map(|rule| config.why(&rule.origin)).collect();
    assert_eq!(why, ["offline", "gone is gone"]);
}

#[test]
fn layers_are_joined_in_their_order() {
    let world = World::with(
        "home/.config/haft/haft.json",
        r#"{"permission": {"a": "ask"}, "agent": {"mine": {"permission": {"b": "ask"}, "tools": {"t": true}}}}"#,
    )
    .file("repo/haft.json", r#"{"permission": {"c": "ask"}, "agent": {"mine": {"permission": {"d": "ask"}}, "plan": {"permission": "deny"}}}"#)
    .file("repo/opencode.json", r#"{"mode": {"mine": {"permission": {"e": "ask"}}}}"#)
    .variable("HAFT_PERMISSION", r#"{"f": "ask"}"#);
    let session = vec![Rule::new("g", "*", Effect::Ask, Origin::named(Layer::Session, "--allow"))];
    let rules = world.trusted().ruleset("mine", session).unwrap();
    let order: Vec<String> = rules
        .rules()
        .map(|rule| (rule.origin.layer, rule.action.as_str().to_owned()))
        .skip_while(|(layer, _)| *layer == Layer::Defaults)
        .map(|(layer, action)| format!("{layer} {action}"))
        .collect();
    assert_eq!(
        order,
        [
            "global a",
            "project c",
            "global f",
            "agent t",
            "agent b",
            "agent e",
            "agent d",
            "session g",
            "defaults protected_path",
            "defaults unconfined",
            "defaults network",
            "defaults sandbox_write",
            "defaults private_address",
            "defaults plugin_file"
        ]
    );
    assert_eq!(
        world.trusted().agent_names().into_iter().collect::<Vec<_>>(),
        ["build", "explore", "general", "mine", "plan"]
    );
}

#[test]
fn shipped_agents_differ_where_opencodes_do() {
    let config = World::new().trusted();
    let of = |agent: &str, action: &str, resource: &str| effect(&config, agent, action, resource);
    for (agent, question, enter, exit) in [
        ("build", Effect::Allow, Effect::Allow, Effect::Deny),
        ("plan", Effect::Allow, Effect::Deny, Effect::Allow),
        ("general", Effect::Deny, Effect::Deny, Effect::Deny),
    ] {
        let found = ["question", "plan_enter", "plan_exit"].map(|action| of(agent, action, "*"));
        assert_eq!(found, [question, enter, exit], "{agent}");
    }
    for agent in ["build", "plan", "general", "explore"] {
        let reads = ["a.rs", ".env", "x/.env.local", ".env.example"].map(|path| of(agent, "read", path));
        assert_eq!(reads, [Effect::Allow, Effect::Ask, Effect::Ask, Effect::Allow], "{agent}");
        assert_eq!(of(agent, "external_directory", "/etc/*"), Effect::Ask);
        assert_eq!(of(agent, "doom_loop", "x"), Effect::Ask);
    }
    assert_eq!(
        [of("build", "edit", "a"), of("build", "protected_path", ".git/config")],
        [Effect::Allow, Effect::Ask]
    );
    assert_eq!(
        [of("plan", "edit", "a"), of("plan", "edit", ".opencode/plans/a.md")],
        [Effect::Deny, Effect::Allow]
    );
    assert_eq!([of("explore", "edit", "a"), of("explore", "grep", "a")], [Effect::Deny, Effect::Allow]);
    assert_eq!([of("general", "todowrite", "*"), of("general", "edit", "a")], [Effect::Deny, Effect::Allow]);
}

#[test]
fn what_is_configured_wins_over_what_is_shipped_for_an_agent() {
    let config =
        World::with("home/.config/opencode/opencode.json", r#"{"permission": {"bash": "deny"}}"#).trusted();
    assert_eq!(effect(&config, "explore", "bash", "ls"), Effect::Deny);
}

#[test]
fn unknown_and_disabled_agents_do_not_work() {
    let world =
        World::with("repo/opencode.json", "{\"agent\": {\"plan\": {\"disable\": true},\n \"reviewer\": {}}}");
    let said = |name: &str, trusted| {
        world.local(&world.load(trusted).unwrap().ruleset(name, Vec::new()).unwrap_err().to_string())
    };
    expect![[r#"unknown agent "nobody"; known are build, explore, general, reviewer"#]]
        .assert_eq(&said("nobody", true));
    expect![[r#"the agent "plan" is disabled at repo/opencode.json:1:32; known are build, explore, general, reviewer"#]]
        .assert_eq(&said("plan", true));
    expect![[r#"the agent "reviewer" is the project's, from a directory that is not trusted (haft trust); known are build, explore, general, plan"#]]
        .assert_eq(&said("reviewer", false));
}

#[test]
fn rules_from_elsewhere_are_read_the_same_way() {
    let env: Env = [("HOME", "/h")].into_iter().collect();
    let shown =
        |rules: Vec<Rule>| rules.iter().map(|rule| format!("{} {rule}", rule.origin)).collect::<Vec<_>>();
    let config = json!({ "bash": { "~/x": "allow", "\u{7f}\u{85}": "ask" }, "plan-enter": "deny" });
    assert_eq!(
        shown(permission_rules(&config, &env, Layer::Session, "here").unwrap()),
        ["here bash \"/h/x\": allow", "here bash \"\\u{7f}\\u{85}\": ask", "here plan_enter \"*\": deny"]
    );
    let list = json!([{ "permission": "bash", "pattern": "~/x", "action": "ask" }, { "action": "read", "resource": "*", "effect": "deny" }]);
    let plain = plain_rules(&list, &Origin::named(Layer::Session, "there")).unwrap();
    assert_eq!(shown(plain), ["there bash \"~/x\": ask", "there read \"*\": deny"]);

    let world = World::with("rules.json", &list.to_string());
    let rules = permission_file(&world.path("rules.json"), &env).unwrap();
    assert_eq!(
        (rules.len(), rules[0].origin.layer, rules[1].origin.position),
        (2, Layer::Session, Some((1, 55)))
    );
    let absent = permission_file(&world.path("absent.json"), &env).unwrap_err();
    expect!["--permission names absent.json, which does not exist"]
        .assert_eq(&world.local(&absent.to_string()));
}
