//! Lines by pattern.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use expect_test::expect;
use haft::{SessionId, Tool, ToolContext};
use serde_json::json;

use super::Grep;
use crate::testing::{Bench, run};

fn old(bench: &Bench, name: &str, content: &str, minutes: u64) {
    let file = File::options().write(true).open(bench.file(name, content)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60 * minutes)).unwrap();
}

#[test]
fn lines_below_their_files_the_newest_first() {
    let bench = Bench::new();
    old(&bench, "old.txt", "needle 1\n", 2);
    old(&bench, "new.txt", "hay\nneedle 2\r\n\tneedle 3", 1);
    bench.check(
        "grep",
        json!({"pattern": "needle"}),
        expect![[r#"
        title: needle
        Found 3 matches
        $ws/new.txt:
          Line 2: needle 2
          Line 3: 	needle 3

        $ws/old.txt:
          Line 1: needle 1"#]],
    );
    bench.check(
        "grep",
        json!({"pattern": "nothing"}),
        expect![[r#"
        title: nothing
        No files found"#]],
    );
}

#[test]
fn one_file_is_searched_whatever_ignore_files_say() {
    let bench = Bench::new();
    bench.file(".gitignore", "a.log\n");
    bench.file("a.log", "needle");
    bench.file("b.log", "needle");
    bench.check(
        "grep",
        json!({"pattern": "needle", "path": "a.log"}),
        expect![[r#"
        title: needle
        Found 1 matches
        $ws/a.log:
          Line 1: needle"#]],
    );
    bench.check(
        "grep",
        json!({"pattern": "needle"}),
        expect![[r#"
        title: needle
        Found 1 matches
        $ws/b.log:
          Line 1: needle"#]],
    );
}

#[test]
fn includes_select_and_exclude() {
    let bench = Bench::new();
    bench.file("a.rs", "x");
    bench.file("sub/b.rs", "x");
    bench.file("c.txt", "x");
    bench.file("d.log", "x");
    bench.file(".gitignore", "*.log\n");
    let count = |include: &str| {
        bench.completed("grep", json!({"pattern": "^x$", "include": include})).metadata["matches"].clone()
    };
    assert_eq!(count("*.rs"), 2);
    assert_eq!(count("sub/*.rs"), 1);
    assert_eq!(count("*.{rs,txt}"), 3);
    assert_eq!(count("!*.rs"), 1);
    assert_eq!(count("*.log"), 0);
    assert_eq!(count(""), 3);
}

#[test]
fn hidden_files_are_searched_but_not_git_nor_links_nor_binaries() {
    let bench = Bench::new();
    bench.file(".hidden", "needle");
    bench.file(".git/config", "needle");
    bench.file("bin", b"\0needle");
    bench.link("link", ".hidden");
    let done = bench.completed("grep", json!({"pattern": "needle"}));
    assert_eq!(done.metadata["matches"], 1);
    assert!(done.text().contains("/.hidden:"), "{}", done.text());
}

#[test]
fn what_may_not_be_read_is_not_shown_nor_counted() {
    let bench = Bench::new();
    bench.file(".env", "SECRET=1");
    bench.file("a.txt", "SECRET=2");
    bench.file("b.txt", "SECRET=3");
    let denying = bench.denying(&[("read", "*.env")]);
    let done = denying.completed("grep", json!({"pattern": "SECRET=[12]"}));
    assert_eq!(done.metadata["matches"], 1);
    assert!(done.text().contains("a.txt") && !done.text().contains(".env"), "{}", done.text());
    // Whether it matches must not show either.
    let none = denying.completed("grep", json!({"pattern": "SECRET=1"}));
    assert_eq!(none.text(), "No files found");
    assert!(denying.rejected("grep", json!({"pattern": "SECRET", "path": ".env"})).contains("denied"));
    // Asking is not consent.
    let asking = bench.ruled(&[("read", "*.env", "ask")]);
    assert_eq!(asking.completed("grep", json!({"pattern": "SECRET=1"})).text(), "No files found");
}

#[test]
fn what_may_not_be_read_does_not_show_by_how_it_was_passed_over() {
    let bench = Bench::new();
    // It is binary, but only to whom it did not match before.
    bench.file("key.env", b"SECRET=1\n\0");
    bench.file("plain.bin", b"\0");
    let denying = bench.denying(&[("read", "*.env")]);
    let told = |pattern: &str| denying.completed("grep", json!({"pattern": pattern})).text();
    assert_eq!(told("SECRET=1"), told("SECRET=2"));
    assert_eq!(told("SECRET=1"), "No files found\n\n(1 binary file was not searched.)");
}

#[test]
fn without_time_the_result_says_so() {
    let bench = Bench::new();
    bench.file("a.txt", "needle");
    let hasty = Grep { time_max: Duration::ZERO, ..Grep::new(&bench.services) };
    let bench = bench.replacing("grep", Tool::new(hasty));
    let ended = "The search was ended before it had seen everything.";
    for path in [".", "a.txt"] {
        let text = bench.completed("grep", json!({"pattern": "needle", "path": path})).text();
        assert!(text.contains(ended), "{path}: {text}");
    }
    let own = run(bench.services.outputs.retain(&bench.context(), "needle\n")).unwrap().address().to_string();
    let text = bench.completed("grep", json!({"pattern": "needle", "path": own})).text();
    assert!(text.contains(ended), "{text}");
}

#[test]
fn truncated_means_that_there_are_more() {
    let bench = Bench::new();
    let lines = |count: usize| "x\n".repeat(count);
    bench.file("a", lines(60));
    bench.file("b", lines(40));
    let exactly = bench.completed("grep", json!({"pattern": "x"}));
    assert_eq!((&exactly.metadata["matches"], &exactly.metadata["truncated"]), (&json!(100), &json!(false)));
    bench.file("b", lines(41));
    let more = bench.completed("grep", json!({"pattern": "x"}));
    assert_eq!((&more.metadata["matches"], &more.metadata["truncated"]), (&json!(100), &json!(true)));
    assert!(more.text().starts_with("Found 100 matches (more matches available)\n"), "{}", more.text());
    assert!(more.text().ends_with("(Results truncated. Consider using a more specific path or pattern.)"));
    bench.file("b", lines(40));
    bench.file("c", lines(1));
    assert_eq!(bench.completed("grep", json!({"pattern": "x"})).metadata["truncated"], true);
}

#[test]
fn long_lines_are_cut_at_a_character() {
    let bench = Bench::new();
    bench.file("a", "é".repeat(2001));
    let done = bench.completed("grep", json!({"pattern": "é"}));
    assert!(done.text().ends_with(&format!("  Line 1: {}...", "é".repeat(2000))));
    bench.file("a", "é".repeat(2000));
    let done = bench.completed("grep", json!({"pattern": "é"}));
    assert!(done.text().ends_with(&format!("  Line 1: {}", "é".repeat(2000))));
}

#[test]
fn line_endings_and_encodings_are_understood() {
    let bench = Bench::new();
    bench.file("crlf", "one\r\ntwo\r\n");
    let utf16: Vec<u8> = "\u{feff}two\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.file("utf16", utf16);
    assert_eq!(bench.completed("grep", json!({"pattern": "^two$"})).metadata["matches"], 2);
    assert_eq!(bench.completed("grep", json!({"pattern": "\\r$"})).metadata["matches"], 2);
}

#[test]
fn what_cannot_be_searched_is_explained() {
    let bench = Bench::new();
    for (input, expected) in [
        (
            json!({"pattern": "(a"}),
            expect![[r#"
            rejected: invalid pattern: regex parse error:
                (?:(a)
                ^
            error: unclosed group
            It is a regular expression that is matched line by line; put a backslash before characters that are meant literally."#]],
        ),
        (
            json!({"pattern": "a\\nb"}),
            expect![[r#"
            rejected: invalid pattern: the literal "\n" is not allowed in a regex
            It is a regular expression that is matched line by line; put a backslash before characters that are meant literally."#]],
        ),
        (
            json!({"pattern": "(a{1000}){1000}"}),
            expect![[r#"
            rejected: invalid pattern: compiled regex exceeds size limit of 10485760
            It is a regular expression that is matched line by line; put a backslash before characters that are meant literally."#]],
        ),
        (json!({"pattern": ""}), expect!["rejected: pattern is required"]),
        (json!({"pattern": "a", "path": "nope"}), expect!["rejected: nope does not exist"]),
        (
            json!({"pattern": "a", "include": "{a"}),
            expect![
                "rejected: invalid pattern: error parsing glob '{a': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
            ],
        ),
        (
            json!({"pattern": "a", "path": "haft://output/nope"}),
            expect![[r#"rejected: there is no output "nope": it is gone or has expired"#]],
        ),
    ] {
        bench.check("grep", input, expected);
    }
}

#[test]
fn the_pattern_is_asked_for_and_leaving_comes_first() {
    let bench = Bench::new();
    fs::write(bench.outside("f"), "").unwrap();
    bench.check_questions(
        "grep",
        json!({"pattern": "TOKEN"}),
        expect![[r#"
        grep on TOKEN (always: *)
        grep TOKEN in .
    "#]],
    );
    bench.check_questions(
        "grep",
        json!({"pattern": "x", "path": bench.outside("f")}),
        expect![[r#"
        external_directory on $out/* (always: $out/*)
        grep on x (always: *)
        read on $out/f (always: *)
        grep x in $out/f
    "#]],
    );
}

#[test]
fn retained_outputs_are_searched_by_address() {
    let bench = Bench::new().denying(&[("external_directory", "*"), ("grep", "TOKEN")]);
    let retain = |cx: &ToolContext| run(bench.services.outputs.retain(cx, "one\nTOKEN two\n")).unwrap();
    let own = retain(&bench.context()).address().to_string();
    let shown = bench.completed("grep", json!({"pattern": "two", "path": own}));
    assert_eq!(shown.text(), format!("Found 1 matches\n{own}:\n  Line 2: TOKEN two"));
    bench.rejected("grep", json!({"pattern": "TOKEN", "path": own}));
    let other = ToolContext { session: SessionId::mint(), ..bench.context() };
    let foreign = retain(&other).address().to_string();
    let why = bench.rejected("grep", json!({"pattern": "two", "path": foreign}));
    assert!(why.contains("external_directory haft://output/"), "{why}");
}
