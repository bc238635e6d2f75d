//! Formatters and language servers that could do nothing.

use expect_test::expect;

use super::super::World;
use super::{haft, opencode};

#[test]
fn a_formatter_that_could_do_nothing_is_an_error_where_it_stands() {
    let complaint = |formatter: &str| {
        let text = format!("{{\"formatter\": {formatter}}}");
        World::with("repo/haft.jsonc", &text).complaint().lines().next().unwrap_or_default().to_owned()
    };
    expect![[r#"
        repo/haft.jsonc:1:15: expected true, false or an object, found 1
        repo/haft.jsonc:1:21: expected an object, found true
        repo/haft.jsonc:1:33: expected an array of texts with "$FILE" in one of its arguments, found an array
        repo/haft.jsonc:1:36: expected an array of texts that begin with a dot, found an array
        repo/haft.jsonc:1:43: expected a text, found …
        repo/haft.jsonc:1:22: unknown key "comand"; did you mean "command"?"#]]
    .assert_eq(
        &[
            "1",
            r#"{"x": true}"#,
            r#"{"x": {"command": ["x"]}}"#,
            r#"{"x": {"extensions": ["rs"]}}"#,
            r#"{"x": {"environment": {"A": 1}}}"#,
            r#"{"x": {"comand": ["x", "$FILE"]}}"#,
        ]
        .map(complaint)
        .join("\n"),
    );
}

#[test]
fn a_language_server_that_could_do_nothing_is_an_error_where_it_stands() {
    let complaint = |lsp: &str| {
        let text = format!("{{\"lsp\": {lsp}}}");
        World::with("repo/haft.jsonc", &text).complaint().lines().next().unwrap_or_default().to_owned()
    };
    expect![[r#"
        repo/haft.jsonc:1:9: expected true, false or an object, found "on"
        repo/haft.jsonc:1:27: expected an array of texts, the program first, found an array
        repo/haft.jsonc:1:30: expected an array of texts that begin with a dot, found an array
        repo/haft.jsonc:1:16: unknown key "environment""#]]
    .assert_eq(
        &[
            "\"on\"",
            r#"{"x": {"command": []}}"#,
            r#"{"x": {"extensions": ["rs"]}}"#,
            r#"{"x": {"environment": {"A": "1"}}}"#,
        ]
        .map(complaint)
        .join("\n"),
    );
}

#[test]
fn programs_that_nothing_comes_of() {
    haft(
        r#"{"formatter": {"prettierr": {"environment": {"A": "b"}}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:16: this has no effect: "prettierr" is no formatter that is built in, and has no command; did you mean "prettier"?
          1 | {"formatter": {"prettierr": {"environment": {"A": "…"}}}}
            |                ^^^^^^^^^^^"#]],
    );
    opencode(
        r#"{"lsp": {"mine": {"command": ["mine"]}, "goplz": {"disabled": true}}}"#,
        &expect![[r#"
        repo/opencode.json:1:10: this has no effect: "mine" is no language server that is built in, and has no extensions
          1 | {"lsp": {"mine": {"command": ["mine"]}, "goplz": {"disabled": true}}}
            |          ^^^^^^
        repo/opencode.json:1:41: this has no effect: "goplz" is no language server that is built in, and has no command; did you mean "gopls"?
          1 | {"lsp": {"mine": {"command": ["mine"]}, "goplz": {"disabled": true}}}
            |                                         ^^^^^^^"#]],
    );
    // What one file begins, another may finish; and what is built in needs nothing more.
    let world = World::with(
        "home/.config/haft/haft.jsonc",
        r#"{"lsp": {"mine": {"command": ["mine"]}, "rust": {}}}"#,
    )
    .file("repo/opencode.json", r#"{"lsp": {"mine": {"extensions": [".m"]}}, "formatter": {"gofmt": {}}}"#);
    assert_eq!(world.complaint(), "");
    let off = r#"{"lsp": {"mine": {"disabled": true, "command": ["mine"]}}}"#;
    assert_eq!(World::with("repo/haft.jsonc", off).complaint(), "");
}
