//! What people are told: where, what stands there, what was expected.

use expect_test::{Expect, expect};

use super::World;

fn check(path: &str, text: &str, expected: &Expect) {
    expected.assert_eq(&World::with(path, text).complaint());
}

fn haft(text: &str, expected: &Expect) {
    check("repo/haft.jsonc", text, expected);
}

fn opencode(text: &str, expected: &Expect) {
    check("repo/opencode.json", text, expected);
}

#[test]
fn private_hosts() {
    for entry in ["127.0.0.1", "*:80", "http://a:80", "a:b", "a:0", "10.0.0.*:80", ":80", "a@b:80", "a/b:80"]
    {
        let text = format!(r#"{{"webfetch": {{"allow_private": ["{entry}"]}}}}"#);
        let complaint = World::with("repo/haft.jsonc", &text).complaint();
        let expected =
            "repo/haft.jsonc:1:33: expected a host and a port, such as \"127.0.0.1:3000\" or \"localhost:*\"";
        assert!(complaint.starts_with(expected), "{entry}: {complaint}");
    }
}

#[test]
fn rules() {
    opencode(
        "{\n  \"permission\": {\n    \"bash\": \"alow\"\n  }\n}\n",
        &expect![[r#"
        repo/opencode.json:3:13: expected "allow", "ask" or "deny", or an object of patterns, found "alow"; did you mean "allow"?
          3 | "bash": "alow"
            |         ^^^^^^"#]],
    );
    opencode(
        r#"{"permission": {"bash": {"git *": true}}}"#,
        &expect![[r#"
        repo/opencode.json:1:35: expected "allow", "ask" or "deny", found true
          1 | {"permission": {"bash": {"git *": true}}}
            |                                   ^^^^"#]],
    );
    opencode(
        r#"{"permission": {"bash": 1}}"#,
        &expect![[r#"
        repo/opencode.json:1:25: expected "allow", "ask" or "deny", or an object of patterns, found 1
          1 | {"permission": {"bash": 1}}
            |                         ^"#]],
    );
    opencode(
        r#"{"permission": null}"#,
        &expect![[r#"
        repo/opencode.json:1:16: expected "allow", "ask" or "deny", an object of permissions, or a list of rules, found null
          1 | {"permission": null}
            |                ^^^^"#]],
    );
    opencode(
        r#"{"permission": {"bash": {"rm *": {"action": "deny", "why": "x"}}}}"#,
        &expect![[r#"
        repo/opencode.json:1:34: expected "allow", "ask" or "deny", found an object
          1 | {"permission": {"bash": {"rm *": {"action": "deny", "why": "x"}}}}
            |                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#]],
    );
    opencode(
        r#"{"tools": {"bash": "deny"}}"#,
        &expect![[r#"
        repo/opencode.json:1:20: expected true or false, found "deny"
          1 | {"tools": {"bash": "deny"}}
            |                    ^^^^^^"#]],
    );
    opencode(
        r#"{"permission": {"write": "deny"}}"#,
        &expect![[r#"
        repo/opencode.json:1:17: this rule has no effect: "write" asks for the permission "edit"
          1 | {"permission": {"write": "deny"}}
            |                 ^^^^^^^"#]],
    );
    haft(
        r#"{"permission": {"bash": {"action": "deny", "wy": "x"}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:44: unknown key "wy"; did you mean "why"?
          1 | {"permission": {"bash": {"action": "deny", "wy": "x"}}}
            |                                            ^^^^"#]],
    );
    haft(
        r#"{"agent": {"plan": {"permission": {"edit": "never"}}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:44: expected "allow", "ask" or "deny", or an object of patterns, found "never"
          1 | {"agent": {"plan": {"permission": {"edit": "never"}}}}
            |                                            ^^^^^^^"#]],
    );
}

#[test]
fn keys_that_nothing_reads() {
    opencode(
        "{\n  \"permision\": {},\n  \"retention\": {},\n  \"theme\": 1, \"mcp\": {}\n}",
        &expect![[r#"
        repo/opencode.json:2:3: unknown key "permision"; did you mean "permission"?
          2 | "permision": {},
            | ^^^^^^^^^^^
        repo/opencode.json:3:3: unknown key "retention"
          3 | "retention": {},
            | ^^^^^^^^^^^"#]],
    );
    haft(
        "{\n  \"retentoin\": {}\n}",
        &expect![[r#"
        repo/haft.jsonc:2:3: unknown key "retentoin"; did you mean "retention"?
          2 | "retentoin": {}
            | ^^^^^^^^^^^"#]],
    );
    haft(
        r#"{"tool_output": {"max_line": 1}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:18: unknown key "max_line"; did you mean "max_lines"?
          1 | {"tool_output": {"max_line": 1}}
            |                  ^^^^^^^^^^"#]],
    );
    haft(
        r#"{"zzzzzzzz": 1}"#,
        &expect![[r#"
        repo/haft.jsonc:1:2: unknown key "zzzzzzzz"
          1 | {"zzzzzzzz": 1}
            |  ^^^^^^^^^^"#]],
    );
}

#[test]
fn values_of_another_kind() {
    opencode(
        "[]",
        &expect![[r#"
        repo/opencode.json:1:1: expected an object, found an array
          1 | []
            | ^^"#]],
    );
    haft(
        r#"{"tool_output": {"max_lines": 0}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:31: expected a whole number above zero, found 0
          1 | {"tool_output": {"max_lines": 0}}
            |                               ^"#]],
    );
    haft(
        r#"{"tool_output": {"max_lines": "12"}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:31: expected a whole number above zero, found "12"
          1 | {"tool_output": {"max_lines": "12"}}
            |                               ^^^^"#]],
    );
    haft(
        r#"{"files": {"format_seconds": 18446744073709551615}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:30: expected a whole number of seconds from 1 to 3600, found 18446744073709551615
          1 | {"files": {"format_seconds": 18446744073709551615}}
            |                              ^^^^^^^^^^^^^^^^^^^^"#]],
    );
    haft(
        r#"{"websearch": {"exa": {"url": "ftp://x"}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:31: expected an address: URL must start with http:// or https://
          1 | {"websearch": {"exa": {"url": "ftp://x"}}}
            |                               ^^^^^^^^^"#]],
    );
    haft(
        r#"{"retention": 7}"#,
        &expect![[r#"
        repo/haft.jsonc:1:15: expected an object, found 7
          1 | {"retention": 7}
            |               ^"#]],
    );
    haft(
        r#"{"agent": {"x": []}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:17: expected an object, found an array
          1 | {"agent": {"x": []}}
            |                 ^^"#]],
    );
    haft(
        r#"{"plugin": "a"}"#,
        &expect![[r#"
        repo/haft.jsonc:1:12: expected an array, found "a"
          1 | {"plugin": "a"}
            |            ^^^"#]],
    );
}

#[test]
fn text_that_is_not_json() {
    opencode(
        "{\n  \"a\": 1\n  \"b\": 2\n}",
        &expect![[r#"
        repo/opencode.json:2:9: expected comma
          2 | "a": 1
            |       ^"#]],
    );
    opencode(
        "{\n  \"permission\": {\n",
        &expect![[r#"
        repo/opencode.json:2:17: unterminated object
          2 | "permission": {
            |               ^"#]],
    );
    opencode(
        "{ \"theme\": 'x' }",
        &expect![[r#"
        repo/opencode.json:1:12: single-quoted strings are not allowed
          1 | { "theme": 'x' }
            |            ^"#]],
    );
    opencode(
        "{ \"theme\": \"x\n\" }",
        &expect![[r#"
        repo/opencode.json:1:12: unterminated string, write a line break as \n
          1 | { "theme": "x
            |            ^^"#]],
    );
    opencode(
        "{ \"theme\": \"\\ud800\" }",
        &expect![[r#"
            repo/opencode.json:1:13: no character has this escape
              1 | { "theme": "\ud800" }
                |             ^^^^^^^"#]],
    );
    opencode(
        "{ \"theme\": 1e999 }",
        &expect![[r#"
        repo/opencode.json:1:12: number out of range
          1 | { "theme": 1e999 }
            |            ^^^^^"#]],
    );
    opencode(
        "{} {}",
        &expect![[r#"
        repo/opencode.json:1:4: text cannot contain more than one JSON value
          1 | {} {}
            |    ^"#]],
    );
    opencode(
        "{ \"theme\": \"a\0b\" }",
        &expect![[r#"
        repo/opencode.json:1:14: unexpected control character '\0'
          1 | { "theme": "a\u{0}b" }
            |              ^^^^^"#]],
    );
    opencode(
        "{ \"\u{202e}theme\u{1b}\": 1 }",
        &expect![[r#"
        repo/opencode.json:1:10: unexpected control character '\u{1b}'
          1 | { "\u{202e}theme\u{1b}": 1 }
            |                 ^^^^^^"#]],
    );
    opencode(
        "{ \"a\": 1,\r\n\"\u{202e}b\": x }",
        &expect![[r#"
        repo/opencode.json:2:7: unexpected word
          2 | "\u{202e}b": x }
            |              ^"#]],
    );
}

#[test]
fn the_same_key_twice() {
    opencode(
        "{\n  \"theme\": 1,\n  \"permission\": {\"edit\": \"deny\",\n    \"edit\": \"allow\"}\n}",
        &expect![[r#"
            repo/opencode.json:4:5: duplicate key "edit", first written at 3:18
              4 | "edit": "allow"}
                | ^^^^^^"#]],
    );
}

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
fn long_lines_are_shown_in_part() {
    let text = format!(
        "{{\"theme\": \"{}\", \"permission\": \"no\", \"username\": \"{}\"}}",
        "a".repeat(5000),
        "b".repeat(5000)
    );
    opencode(
        &text,
        &expect![[r#"
        repo/opencode.json:1:5029: expected "allow", "ask" or "deny", found "no"
          1 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "permission": "no", "username": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
            |                                                              ^^^^"#]],
    );
}

#[test]
fn emptiness_is_no_error() {
    for text in ["", " \n", "// nothing\n", "\u{feff}", "\u{feff}{}", "{}"] {
        assert_eq!(World::with("repo/haft.json", text).complaint(), "", "{text:?}");
    }
    let world = World::with("repo/opencode.json", "\u{feff}{\"permission\": \"x\"}");
    assert!(world.complaint().starts_with("repo/opencode.json:1:16: "), "{}", world.complaint());
}

#[test]
fn things_that_are_no_readable_text() {
    let world = World::new();
    std::fs::create_dir(world.path("repo/opencode.json")).unwrap();
    expect!["repo/opencode.json is a directory, expected a file"].assert_eq(&world.complaint());
    let world = World::new().file("repo/opencode.json", b"{\n  \"theme\": \"a\xffb\"}");
    expect![[r#"
        repo/opencode.json:2:14: not UTF-8 text
          2 | "theme": "a�b"}
            |            ^"#]]
    .assert_eq(&world.complaint());
    let world = World::new();
    std::os::unix::fs::symlink("opencode.json", world.path("repo/opencode.json")).unwrap();
    let complaint = world.complaint();
    assert!(complaint.starts_with("could not read repo/opencode.json: "), "{complaint}");
    let world = World::new();
    std::os::unix::fs::symlink("/dev/zero", world.path("repo/opencode.json")).unwrap();
    expect!["repo/opencode.json is a special file, expected a file"].assert_eq(&world.complaint());
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

#[test]
fn everything_is_bounded() {
    let nested = |levels: usize| format!("{{\"mcp\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(World::with("repo/opencode.json", &nested(63)).complaint(), "");
    for levels in [64, 100, 300, 100_000] {
        let complaint = World::with("repo/opencode.json", &nested(levels)).complaint();
        assert!(complaint.contains("nested deeper than 64 levels"), "{levels}: {complaint}");
    }
    let large = format!("{{}}{}", " ".repeat(4 << 20));
    expect!["repo/opencode.json is larger than 4194304 bytes"]
        .assert_eq(&World::with("repo/opencode.json", &large).complaint());

    let rules = |count: usize| {
        let rules: Vec<String> = (0..count).map(|n| format!("\"p{n}\": \"ask\"")).collect();
        format!("{{\"permission\": {{\"bash\": {{{}}}}}}}", rules.join(","))
    };
    assert_eq!(World::with("repo/opencode.json", &rules(10_000)).complaint(), "");
    let world =
        World::with("home/.opencode/opencode.json", &rules(6_000)).file("repo/opencode.json", rules(6_000));
    let complaint = world.complaint();
    assert!(complaint.contains("more than 10000 permission rules"), "{complaint}");
}

#[test]
fn many_warnings_are_counted() {
    let keys: Vec<String> = (0..100_000).map(|n| format!("\"unknown{n}\": {{}}")).collect();
    let world = World::with("repo/opencode.json", &format!("{{{}}}", keys.join(",")));
    let config = world.trusted();
    assert_eq!(config.warnings().len(), 21);
    assert!(config.warnings()[20].to_string().contains("99980 further warnings"));
}

#[test]
fn a_pattern_below_a_home_that_is_not_known_is_an_error() {
    let mut world = World::with("repo/opencode.json", r#"{"permission": {"read": {"~/secret": "deny"}}}"#);
    world.variables = vec![("HAFT_HOME".to_owned(), world.root())];
    expect![[r#"
        repo/opencode.json:1:26: there is no home directory to put here: set HOME
          1 | {"permission": {"read": {"~/secret": "deny"}}}
            |                          ^^^^^^^^^^"#]]
    .assert_eq(&world.complaint());
}

#[test]
fn errors_say_nothing_in_colour() {
    let world = World::with("repo/haft.json", "{ \"\u{9b}31m\u{202e}\": 1 }");
    let complaint = world.complaint();
    assert!(complaint.chars().all(|c| c == '\n' || !c.is_control()), "{complaint:?}");
    assert!(!complaint.contains('\u{202e}'));
}

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
        repo/haft.jsonc:1:43: expected a text, found 1
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
fn items_of_lists() {
    haft(
        r#"{"instructions": ["a.md", 7]}"#,
        &expect![[r#"
        repo/haft.jsonc:1:27: expected a text, found 7
          1 | {"instructions": ["a.md", 7]}
            |                           ^"#]],
    );
    for text in [
        r#"{"skills": {"urls": [null]}}"#,
        r#"{"skills": {"paths": [["a"]]}}"#,
        r#"{"sandbox": {"hosts": [1]}}"#,
        r#"{"sandbox": {"writable": [{}]}}"#,
        r#"{"enabled_providers": [true]}"#,
        r#"{"disabled_providers": [0]}"#,
        r#"{"experimental": {"primary_tools": [1]}}"#,
        r#"{"provider": {"a": {"env": [1]}}}"#,
        r#"{"formatter": {"mine": {"command": ["mine", 1]}}}"#,
        r#"{"lsp": {"mine": {"env": {"A": 1}}}}"#,
    ] {
        let complaint = World::with("repo/haft.jsonc", text).complaint();
        assert!(complaint.contains(": expected a text, found "), "{text}: {complaint}");
    }
}

#[test]
fn programs_that_nothing_comes_of() {
    haft(
        r#"{"formatter": {"prettierr": {"environment": {"A": "b"}}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:16: this has no effect: "prettierr" is no formatter that is built in, and has no command; did you mean "prettier"?
          1 | {"formatter": {"prettierr": {"environment": {"A": "b"}}}}
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
