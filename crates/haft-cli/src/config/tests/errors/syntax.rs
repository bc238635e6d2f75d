//! Text that cannot be read at all, and what is told of it.

use expect_test::expect;

use super::super::World;
use super::opencode;

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
fn long_lines_are_shown_in_part() {
    let text = format!(
        "{{\"theme\": \"{}\", \"permission\": \"no\", \"username\": \"{}\"}}",
        "a".repeat(5000),
        "b".repeat(5000)
    );
    opencode(
        &text,
        &expect![[r#"
        repo/opencode.json:1:5029: expected "allow", "ask" or "deny", found "…"
          1 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "permission": "…", "username": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
            |                                                              ^^^"#]],
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
fn errors_say_nothing_in_colour() {
    let world = World::with("repo/haft.json", "{ \"\u{9b}31m\u{202e}\": 1 }");
    let complaint = world.complaint();
    assert!(complaint.chars().all(|c| c == '\n' || !c.is_control()), "{complaint:?}");
    assert!(!complaint.contains('\u{202e}'));
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
