//! Values that are not what their key wants.

use expect_test::expect;

use super::super::World;
use super::{haft, opencode};

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
          1 | {"permission": {"bash": {"action": "deny", "wy": "…"}}}
            |                                            ^^^^"#]],
    );
    haft(
        r#"{"agent": {"plan": {"permission": {"edit": "never"}}}}"#,
        &expect![[r#"
        repo/haft.jsonc:1:44: expected "allow", "ask" or "deny", or an object of patterns, found "…"
          1 | {"agent": {"plan": {"permission": {"edit": "…"}}}}
            |                                            ^^^"#]],
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
fn a_pattern_below_a_home_that_is_not_known_is_an_error() {
    let mut world = World::with("repo/opencode.json", r#"{"permission": {"read": {"~/secret": "deny"}}}"#);
    world.variables = vec![("HAFT_HOME".to_owned(), world.root())];
    expect![[r#"
        repo/opencode.json:1:26: there is no home directory to put here: set HOME
          1 | {"permission": {"read": {"~/secret": "deny"}}}
            |                          ^^^^^^^^^^"#]]
    .assert_eq(&world.complaint());
}
