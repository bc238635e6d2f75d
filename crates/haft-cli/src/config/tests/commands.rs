//! Custom commands in files and tables, and what can be wrong with them.

use expect_test::expect;

use super::World;

#[test]
fn nearer_places_win_field_by_field() {
    let world = World::with("home/.config/opencode/commands/a.md", "---\nagent: plan\nmodel: p/1\n---\nFar.")
        .file("home/.config/haft/haft.jsonc", r#"{"command": {"b": {"template": "Own.", "subtask": true}}}"#)
        .file("repo/opencode.json", r#"{"command": {"a": {"template": "Near.", "model": "p/2"}}}"#)
        .file("repo/.opencode/command/deep/er/c.md", "\n\nDeep.\n\n")
        .file("repo/.opencode/command/c.txt", "No.")
        .file("repo/sub/.haft/command/c.md", "First.")
        .file("repo/sub/.haft/commands/c.md", "Second.");
    let config = world.trusted();
    let names: Vec<String> = config.commands().into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["a", "b", "c", "deep/er/c"]);
    let a = config.command("a").unwrap();
    assert_eq!(
        (a.template.as_str(), a.agent.as_deref(), a.model.as_deref()),
        ("Near.", Some("plan"), Some("p/2"))
    );
    assert_eq!((config.command("b").unwrap().subtask, a.subtask), (Some(true), None));
    assert_eq!(config.command("c").unwrap().template, "Second.");
    assert_eq!(
        world.local(&config.command("deep/er/c").unwrap().place),
        "repo/.opencode/command/deep/er/c.md:3:1"
    );
}

#[test]
fn what_nobody_trusts_is_told_and_does_not_count() {
    let world = World::with("repo/.opencode/command/a.md", "Theirs.")
        .file("repo/opencode.json", r#"{"command": {"b": {"template": "Theirs."}}}"#)
        .file("home/.config/haft/command/a.md", "Mine.");
    let config = world.untrusted();
    assert_eq!(config.command("a").unwrap().template, "Mine.");
    assert_eq!(config.commands().len(), 1);
    let strange: Vec<&str> = config.strange_commands().iter().map(|strange| strange.name.as_str()).collect();
    assert_eq!(strange, ["b", "a"]);
    let refused = config.command("b").unwrap_err().to_string();
    assert!(refused.contains("not trusted"), "{refused}");
    assert_eq!(world.trusted().command("a").unwrap().template, "Theirs.");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let markdown = |text: &str| World::with("home/.opencode/command/a.md", text).complaint();
    expect![[r#"
        home/.opencode/command/a.md:3:10: expected true or false, found maybe
          3 | subtask: maybe
            |          ^^^^^"#]]
    .assert_eq(&markdown("---\nagent: x\nsubtask: maybe\n---\nBody"));
    assert!(markdown("").starts_with("home/.opencode/command/a.md:1:1: a command needs a template"));
    let table = |text: &str| World::with("repo/opencode.json", text).complaint();
    expect![[r#"
        repo/opencode.json:1:13: this has no effect: a command is named by letters, digits, "-", "_" and ".", with "/" in between, found "a b"
          1 | {"command":{"a b":{"template":"x"}}}
            |             ^^^^^"#]]
    .assert_eq(&table(r#"{"command":{"a b":{"template":"x"}}}"#));
    for name in ["", "/a", "a/", "a//b", "../a", ".a", "a\\u0007", &"x".repeat(101)] {
        let said = table(&format!(r#"{{"command":{{"{name}":{{"template":"x"}}}}}}"#));
        assert!(said.contains("a command is named by"), "{name:?}: {said}");
    }
    assert_eq!(table(r#"{"command":{"é-1_2.x/y":{"template":"x"}}}"#), "");
    assert!(table(r#"{"command":{"a":{"template":"x","modle":"y"}}}"#).contains("did you mean \"model\""));
}
