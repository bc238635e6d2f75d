//! What is put in from elsewhere, and where it came from.

use expect_test::expect;

use super::super::World;
use super::opencode;

#[test]
fn references_that_lead_nowhere() {
    opencode(
        "{\n  \"model\": \"x {file:secret.txt} y\"\n}",
        &expect![[r#"
        repo/opencode.json:2:15: could not read repo/secret.txt: it does not exist
          2 | "model": "x {file:secret.txt} y"
            |             ^^^^^^^^^^^^^^^^^"#]],
    );
    opencode(
        r#"{"model": "{file:/}"}"#,
        &expect![[r#"
        repo/opencode.json:1:12: could not read /: it is a directory
          1 | {"model": "{file:/}"}
            |            ^^^^^^^^"#]],
    );
    opencode(
        r#"{"model": "{env:NOWHERE}"}"#,
        &expect![[r#"
        repo/opencode.json:1:12: the environment variable NOWHERE is not set, an empty text is used
          1 | {"model": "{env:NOWHERE}"}
            |            ^^^^^^^^^^^^^"#]],
    );
    let world = World::with("repo/opencode.json", r#"{"model": "{env:M}", "share": nope}"#)
        .variable("M", "a much longer text");
    expect![[r#"
        repo/opencode.json:1:31: unexpected token
          1 | {"model": "{env:M}", "share": nope}
            |                               ^^^^"#]]
    .assert_eq(&world.complaint());
}

#[test]
fn what_was_put_in_is_not_told() {
    let world = World::with("repo/haft.json", r#"{"tool_output": {"max_lines": "{env:KEY}"}}"#)
        .variable("KEY", "s3cr3t");
    expect![[r#"
        repo/haft.json:1:31: expected a whole number above zero, found "{env:KEY}"
          1 | {"tool_output": {"max_lines": "{env:KEY}"}}
            |                               ^^^^^^^^^^^"#]]
    .assert_eq(&world.complaint());
}

#[test]
fn keys_that_were_put_in_are_not_told() {
    let world = World::with("repo/haft.json", r#"{"{env:KEY}": 1}"#).variable("KEY", "s3cr3t");
    expect![[r#"
        repo/haft.json:1:2: unknown key "{env:KEY}"
          1 | {"{env:KEY}": 1}
            |  ^^^^^^^^^^^"#]]
    .assert_eq(&world.complaint());
}

#[test]
fn variables_are_sources_like_any_other() {
    expect!["HAFT_CONFIG names absent.json, which does not exist"]
        .assert_eq(&World::new().variable("HAFT_CONFIG", "{world}/absent.json").complaint());
    expect![[r#"
        HAFT_PERMISSION:1:10: expected "allow", "ask" or "deny", or an object of patterns, found "maybe"
          1 | {"bash": "maybe"}
            |          ^^^^^^^"#]]
    .assert_eq(&World::new().variable("HAFT_PERMISSION", r#"{"bash": "maybe"}"#).complaint());
    expect![[r#"
        OPENCODE_CONFIG_CONTENT:1:1: unterminated object
          1 | {
            | ^"#]]
    .assert_eq(&World::new().variable("OPENCODE_CONFIG_CONTENT", "{").complaint());
    expect![[r#"
        HAFT_CONFIG_CONTENT:1:2: unknown key "sanbox"; did you mean "sandbox"?
          1 | {"sanbox": 1}
            |  ^^^^^^^^"#]]
    .assert_eq(&World::new().variable("HAFT_CONFIG_CONTENT", r#"{"sanbox": 1}"#).complaint());
}
