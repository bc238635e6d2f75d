//! What is denied in a trusted directory stays denied in a repository that somebody makes below it.

use crate::nested::{is_confined, opaque, repository};
use crate::project::trust;
use crate::support::Place;

const DENIES: &str = r#"{ "permission": {
    "webfetch": "deny",
    "read": { "*.pem": "deny", ".env": "allow" },
    "edit": { "a/src/*": "deny" },
    "list": { "*": "deny", "src/*": "allow" }
} }"#;

/// The exit code of a call from a directory.
fn call(place: &Place, from: &str, args: &[&str]) -> i32 {
    place.run(&[&["-C", from, "call"], args, &["--yes"]].concat()).code
}

fn is_denied(place: &Place, from: &str, action: &str) -> bool {
    let ran = place.run(&["-C", from, "permission", "explain", action, "x"]);
    assert!([0, 5].contains(&ran.code), "{}", ran.err);
    ran.code == 5
}

#[test]
fn a_repository_that_a_command_makes_sheds_nothing() {
    let files = [("haft.jsonc", DENIES), ("a/x.pem", "x"), ("a/b/x.pem", "x"), ("a/src/deep/y.rs", "x")];
    let place = repository(&files);
    if is_confined(&place) {
        opaque(&place, ".", "mkdir -p a/.git a/b/.git; echo 'ref: refs/heads/main' > a/.git/HEAD");
    } else {
        place.file("a/.git/HEAD", "ref: refs/heads/main\n");
        place.file("a/b/.git/HEAD", "ref: refs/heads/main\n");
    }
    let check = || {
        for from in ["a", "a/b", "a/src"] {
            assert!(is_denied(&place, from, "webfetch"), "{from}");
            let pem = place.ws().join("a/x.pem");
            assert_eq!(call(&place, from, &["read", &format!("filePath={}", pem.display())]), 5, "{from}");
            let source = place.ws().join("a/src/new.rs");
            let source = format!("filePath={}", source.display());
            assert_eq!(call(&place, from, &["write", &source, "content=x"]), 5, "{from}");
            assert_eq!(
                call(&place, from, &["write", "filePath=other.txt", "content=x"]),
                from_src(from),
                "{from}"
            );
        }
        let list = |from: &str, path: &str| {
            call(&place, from, &["list", &format!("path={}", place.ws().join(path).display())])
        };
        assert_eq!(list("a", "a/src/deep"), 5, "it is another src that is allowed");
    };
    check();
    // Its own word does not help.
    place.file("a/haft.jsonc", r#"{ "permission": "allow" }"#);
    place.file(
        "a/b/.opencode/opencode.json",
        r#"{ "permission": { "*": "allow", "read": { "*": "allow" } } }"#,
    );
    check();
    assert!(place.run(&["-C", "a", "doctor"]).out.contains("it lies around the project"));
}

/// In `a/src` a new file is one of those that are denied.
fn from_src(from: &str) -> i32 {
    if from == "a/src" { 5 } else { 0 }
}

#[test]
fn what_lies_around_a_project_never_widens() {
    let widens = r#"{ "permission": { "*": "allow", "read": { "*.env": "allow" } }, "sandbox": "off" }"#;
    let place = repository(&[("haft.jsonc", widens), ("a/.git/HEAD", "ref: x\n"), ("a/.env", "x")]);
    assert_eq!(place.run(&["call", "read", "filePath=a/.env"]).code, 0);
    assert_eq!(place.run(&["-C", "a", "call", "read", "filePath=.env"]).code, 6);
    assert!(!place.run(&["-C", "a", "doctor"]).out.contains("switched off"));
}

#[test]
fn what_nobody_trusts_says_nothing_of_a_project_inside() {
    let place = Place::new();
    place.file("haft.jsonc", DENIES);
    place.file("a/.git/HEAD", "ref: x\n");
    assert!(!is_denied(&place, "a", "webfetch"));
    trust(&place);
    assert!(is_denied(&place, "a", "webfetch"));
    assert_eq!(place.run(&["trust", "forget"]).code, 0);
    assert!(!is_denied(&place, "a", "webfetch"));
}

#[test]
fn what_lies_around_is_read_with_what_it_refers_to() {
    let words =
        r#"{ "permission": { "webfetch": "{env:WORD}" }, "tool_output": { "max_lines": {env:LINES} } }"#;
    let place = Place::new();
    place.file("haft.jsonc", words);
    place.file("a/.git/HEAD", "ref: x\n");
    trust(&place);
    let explain = ["-C", "a", "permission", "explain", "webfetch", "x"];
    let ran = place.command(&explain).env("WORD", "deny").env("LINES", "7").output().unwrap();
    assert!(
        String::from_utf8_lossy(&ran.stdout).contains("deny"),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}
