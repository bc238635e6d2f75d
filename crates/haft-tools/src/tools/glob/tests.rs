//! Files by name.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use expect_test::expect;
use haft::Tool;
use serde_json::json;

use super::{Glob, names_hidden};
use crate::testing::Bench;

/// Makes files, the first one the newest.
fn aged(bench: &Bench, names: &[&str]) {
    let now = SystemTime::now();
    for (age, name) in (0..).zip(names) {
        let file = File::options().write(true).open(bench.file(name, "")).unwrap();
        file.set_modified(now - Duration::from_secs(60 * age)).unwrap();
    }
}

#[test]
fn the_newest_come_first() {
    let bench = Bench::new();
    aged(&bench, &["b.rs", "deep/er/a.rs", "c.rs", "c.txt"]);
    bench.check(
        "glob",
        json!({"pattern": "*.rs"}),
        expect![[r#"
            title: .
            $ws/b.rs
            $ws/deep/er/a.rs
            $ws/c.rs"#]],
    );
}

#[test]
fn the_equally_old_are_ordered_by_their_bytes() {
    let bench = Bench::new();
    let then = SystemTime::now();
    for name in ["b", "a/x", "C", "é"] {
        File::options().write(true).open(bench.file(name, "")).unwrap().set_modified(then).unwrap();
    }
    bench.check(
        "glob",
        json!({"pattern": "**"}),
        expect![[r#"
            title: .
            $ws/C
            $ws/a/x
            $ws/b
            $ws/é"#]],
    );
}

#[test]
fn what_is_hidden_ignored_or_in_git_is_left_out() {
    let bench = Bench::new();
    aged(
        &bench,
        &["a.yml", ".github/w.yml", ".h.yml", "out/o.yml", ".git/g.yml", "sub/.git/g.yml", "x.log.yml"],
    );
    bench.file(".gitignore", "out/\n*.log.yml\n");
    let found = |pattern: &str| {
        bench
            .completed("glob", json!({"pattern": pattern}))
            .text()
            .replace(&*bench.path("").to_string_lossy(), "")
    };
    assert_eq!(found("*.yml"), "a.yml");
    assert_eq!(found("**/*"), "a.yml");
    assert_eq!(found(".github/**"), ".github/w.yml");
    assert_eq!(found("**/.h*"), ".h.yml");
    assert_eq!(found("./*.yml"), "a.yml");
    assert_eq!(found("*.none"), "No files found");
}

#[test]
fn an_absolute_pattern_below_the_directory_is_understood() {
    let bench = Bench::new();
    aged(&bench, &["src/a.rs", "b.rs"]);
    let pattern = bench.path("src/*.rs");
    bench.check(
        "glob",
        json!({"pattern": pattern}),
        expect![[r#"
            title: .
            $ws/src/a.rs"#]],
    );
}

#[test]
fn which_patterns_name_hidden_files() {
    for pattern in [".github/**", "**/.env*", "{.a,b}/x", "a/{b,.c}", "\\.x", "!.x", "a/.b"] {
        assert!(names_hidden(pattern), "{pattern}");
    }
    for pattern in ["*.rs", "a.b/c", "*{.ts,.tsx}", "./a", "../a", "a/..", "**/*.{a,b}", ""] {
        assert!(!names_hidden(pattern), "{pattern}");
    }
}

#[test]
fn truncated_means_that_there_are_more() {
    let bench = Bench::new();
    (0..100).for_each(|n| {
        bench.file(&format!("f{n}"), "");
    });
    let exactly = bench.completed("glob", json!({"pattern": "f*"}));
    assert_eq!(exactly.metadata["truncated"], false);
    assert_eq!(exactly.metadata["count"], 100);
    let newest = bench.file("f-newest", "");
    let later = SystemTime::now() + Duration::from_secs(60);
    File::options().write(true).open(&newest).unwrap().set_modified(later).unwrap();
    let more = bench.completed("glob", json!({"pattern": "f*"}));
    assert_eq!(more.metadata["truncated"], true);
    assert_eq!(more.metadata["count"], 100);
    assert!(more.text().starts_with(&*newest.to_string_lossy()), "{}", more.text());
    assert!(more.text().ends_with(
        "(Results are truncated: showing first 100 results. Consider using a more specific path or pattern.)"
    ));
}

#[test]
fn without_time_the_result_says_so() {
    let bench = Bench::new();
    bench.file("a.txt", "");
    let hasty = Glob { time_max: Duration::ZERO, ..Glob::new(&bench.services) };
    let text = bench.replacing("glob", Tool::new(hasty)).completed("glob", json!({"pattern": "*"})).text();
    assert!(text.contains("The search was ended before it had seen everything."), "{text}");
}

#[test]
fn names_are_shown_on_one_line() {
    let bench = Bench::new();
    bench.file("a\nb\u{1b}[0m.txt", "");
    bench.check(
        "glob",
        json!({"pattern": "*.txt"}),
        expect![[r#"
            title: .
            $ws/a\u{a}b\u{1b}[0m.txt"#]],
    );
}

#[test]
fn what_cannot_be_searched_is_explained() {
    let bench = Bench::new();
    bench.file("a.txt", "");
    for (input, expected) in [
        (
            json!({"pattern": "*", "path": "a.txt"}),
            expect!["rejected: glob path must be a directory: $ws/a.txt"],
        ),
        (json!({"pattern": "*", "path": "nope"}), expect!["rejected: nope does not exist"]),
        (json!({"pattern": ""}), expect!["rejected: pattern is required"]),
        (
            json!({"pattern": "{a"}),
            expect![
                "rejected: invalid pattern: error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
            ],
        ),
        (
            json!({"pattern": "a".repeat(5000)}),
            expect!["rejected: the pattern has 5000 bytes; use a simpler one, of at most 4096"],
        ),
    ] {
        bench.check("glob", input, expected);
    }
}

#[test]
fn the_pattern_is_asked_for_and_leaving_comes_first() {
    let bench = Bench::new();
    bench.check_questions(
        "glob",
        json!({"pattern": "*.rs"}),
        expect![[r#"
        glob on *.rs (always: *)
        glob *.rs in .
    "#]],
    );
    bench.check_questions(
        "glob",
        json!({"pattern": "*", "path": bench.outside("")}),
        expect![[r#"
        external_directory on $out/* (always: $out/*)
        glob on * (always: *)
        glob * in $out
    "#]],
    );
    assert!(
        bench.denying(&[("glob", "*.env")]).rejected("glob", json!({"pattern": "*.env"})).contains("denied")
    );
}

#[test]
fn a_link_out_is_followed_only_by_a_rule_that_names_it() {
    let bench = Bench::new();
    fs::create_dir(bench.outside("real")).unwrap();
    fs::write(bench.outside("real/t.txt"), "").unwrap();
    std::os::unix::fs::symlink("real", bench.outside("alias")).unwrap();
    let input = json!({"pattern": "*.txt", "path": bench.outside("alias")});
    let out = bench.outside("").to_string_lossy().into_owned();
    let named = bench.ruled(&[
        ("external_directory", "*", "deny"),
        ("external_directory", &format!("{out}alias/*"), "allow"),
    ]);
    assert!(named.completed("glob", input.clone()).text().ends_with("alias/t.txt"));
    let covered = bench
        .ruled(&[("external_directory", "*", "deny"), ("external_directory", &format!("{out}al*"), "allow")]);
    covered.rejected("glob", input.clone());
    let overruled = bench.ruled(&[
        ("external_directory", &format!("{out}alias/*"), "allow"),
        ("external_directory", &format!("{out}real/*"), "deny"),
    ]);
    overruled.rejected("glob", input);
}
