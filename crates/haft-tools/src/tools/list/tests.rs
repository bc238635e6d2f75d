//! The tree that is listed.

use std::fs;
use std::time::Duration;

use expect_test::expect;
use haft::Tool;
use serde_json::json;

use super::List;
use crate::testing::Bench;

#[test]
fn a_tree_with_directories_first() {
    let bench = Bench::new();
    let files = [
        "b.txt",
        "a.txt",
        "Z.txt",
        ".hidden",
        "src/z.rs",
        "src/deep/x.rs",
        "node_modules/m/index.js",
        "target/debug/x",
        "sub/dist/out.js",
        "skip.log",
        "sub/kept.js",
        "ignored/x",
    ];
    files.iter().for_each(|file| {
        bench.file(file, "");
    });
    bench.file(".gitignore", "ignored/\n");
    bench.link("link", "src");
    bench.check(
        "list",
        json!({"ignore": ["*.log"]}),
        expect![[r#"
        title: .
        $ws/
          src/
            deep/
              x.rs
            z.rs
          sub/
            kept.js
          .gitignore
          .hidden
          Z.txt
          a.txt
          b.txt
          link
    "#]],
    );
    bench.check(
        "list",
        json!({"path": "src"}),
        expect![[r#"
        title: src
        $ws/src/
          deep/
            x.rs
          z.rs
    "#]],
    );
    bench.check(
        "list",
        json!({"directory": "src/deep", "ignore": null}),
        expect![[r#"
        title: src/deep
        $ws/src/deep/
          x.rs
    "#]],
    );
}

#[test]
fn says_truly_whether_there_is_more() {
    let bench = Bench::new();
    (0..100).for_each(|n| {
        bench.file(&format!("f{n:03}"), "");
    });
    let exact = bench.completed("list", json!({}));
    assert_eq!((&exact.metadata["count"], &exact.metadata["truncated"]), (&json!(100), &json!(false)));
    bench.file("one/more", "");
    let more = bench.completed("list", json!({}));
    assert_eq!((&more.metadata["count"], &more.metadata["truncated"]), (&json!(100), &json!(true)));
    assert!(more.text().contains("Only the first 100 files"));
}

#[test]
fn without_time_the_result_says_so() {
    let bench = Bench::new();
    bench.file("a.txt", "");
    let hasty = List { time_max: Duration::ZERO, ..List::new(&bench.services) };
    let text = bench.replacing("list", Tool::new(hasty)).completed("list", json!({})).text();
    assert!(text.contains("The search was ended before it had seen everything."), "{text}");
}

#[test]
fn names_cannot_forge_entries() {
    let bench = Bench::new();
    bench.file("a\u{1b}[2Jb", "");
    bench.file("x\nFAKE: y", "");
    bench.check(
        "list",
        json!({"path": "."}),
        expect![[r#"
        title: .
        $ws/
          a\u{1b}[2Jb
          x\u{a}FAKE: y
    "#]],
    );
}

#[test]
fn what_is_no_directory_is_refused() {
    let bench = Bench::new();
    bench.file("f", "");
    bench.check("list", json!({"path": "f"}), expect!["rejected: f is not a directory"]);
    bench.check("list", json!({"path": "none"}), expect!["rejected: none does not exist"]);
    bench.check("list", json!({"ignore": ["{a"]}), expect!["rejected: invalid pattern: error parsing glob '!{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"]);
}

#[test]
fn leaving_the_workspace_needs_consent() {
    let bench = Bench::new();
    fs::write(bench.outside("secret-name"), "").unwrap();
    bench.link("d", bench.outside(""));
    bench.check_questions(
        "list",
        json!({"path": "d"}),
        expect![[r#"
        external_directory on $out/* (always: $out/*)
        list on $out, d = $ws/d (always: *)
        list d
    "#]],
    );
    let denied = bench.denying(&[("external_directory", "*")]);
    assert!(!denied.rejected("list", json!({"path": "d"})).contains("secret-name"));
    let inside = denied.completed("list", json!({}));
    assert!(!inside.text().contains("secret-name"));
    assert!(bench.denying(&[("list", "*")]).rejected("list", json!({})).contains("permission denied"));
}
