//! Trees that are out of the ordinary, and searches that do not come to their end.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use haft::Settlement;
use serde_json::{Value, json};

use crate::testing::{Bench, as_nobody};

/// Each of the tools, looking for everything.
fn everything() -> [(&'static str, Value); 3] {
    [("glob", json!({"pattern": "**"})), ("grep", json!({"pattern": "needle"})), ("list", json!({}))]
}

fn shown(bench: &Bench, tool: &str, input: Value) -> String {
    bench.completed(tool, input).text()
}

#[test]
fn what_may_not_be_read_is_counted_and_the_rest_found() {
    let bench = Bench::new();
    bench.file("open/a.txt", "needle");
    bench.file("shut/b.txt", "needle");
    let secret = bench.file("secret.txt", "needle");
    let mode = |path: &Path, bits| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    mode(bench.path("").parent().unwrap(), 0o755);
    mode(&bench.path("shut"), 0o000);
    mode(&secret, 0o000);
    let bench = as_nobody(move || {
        for (tool, input) in everything() {
            let text = shown(&bench, tool, input);
            assert!(text.contains("a.txt") && !text.contains("b.txt"), "{tool}: {text}");
            let skipped = if tool == "grep" {
                "(2 paths could not be read and were skipped.)"
            } else {
                "(1 path could not be read and was skipped.)"
            };
            assert!(text.ends_with(skipped), "{tool}: {text}");
        }
        // What was named itself is an error.
        let why = bench.rejected("grep", json!({"pattern": "needle", "path": "secret.txt"}));
        assert!(why.contains("could not read secret.txt"), "{why}");
        bench
    });
    mode(&bench.path("shut"), 0o755);
}

#[test]
fn a_path_longer_than_the_kernel_takes_is_counted() {
    let bench = Bench::new();
    let mut at = rustix::fs::open(bench.path(""), rustix::fs::OFlags::PATH, 0.into()).unwrap();
    for _ in 0..3000 {
        rustix::fs::mkdirat(&at, "d", 0o755.into()).unwrap();
        at = rustix::fs::openat(&at, "d", rustix::fs::OFlags::PATH, 0.into()).unwrap();
    }
    bench.file("top.txt", "needle");
    for (tool, input) in everything() {
        let text = shown(&bench, tool, input);
        assert!(text.contains("top.txt"), "{tool}: {text}");
        // A tree is shown only so deep.
        let told =
            if tool == "list" { "Only the first" } else { "(1 path could not be read and was skipped.)" };
        assert!(text.contains(told), "{tool}: {text}");
    }
    // Nothing but a shell removes a tree of that depth by path.
    let removed = std::process::Command::new("rm").arg("-r").arg(bench.path("d")).status().unwrap();
    assert!(removed.success());
}

#[test]
fn a_hundred_thousand_entries_in_one_directory() {
    let bench = Bench::new();
    // Links are quickly made, and each is an entry of its own; but a file may have only so many.
    for first in (0..100_000).step_by(10_000) {
        let file = bench.file(&format!("{first:06}"), "needle");
        (first + 1..first + 10_000)
            .for_each(|n| fs::hard_link(&file, bench.path(&format!("{n:06}"))).unwrap());
    }
    let glob = bench.completed("glob", json!({"pattern": "*0"}));
    assert_eq!((&glob.metadata["count"], &glob.metadata["truncated"]), (&json!(100), &json!(true)));
    let none = bench.completed("glob", json!({"pattern": "*.none"}));
    assert_eq!(none.text(), "No files found");
    let grep = bench.completed("grep", json!({"pattern": "needle"}));
    assert_eq!((&grep.metadata["matches"], &grep.metadata["truncated"]), (&json!(100), &json!(true)));
    assert!(!grep.text().contains("ended before"), "{}", grep.text());
    let list = bench.completed("list", json!({}));
    assert_eq!((&list.metadata["count"], &list.metadata["truncated"]), (&json!(100), &json!(true)));
    assert!(list.text().contains("  000000\n  000001\n"), "{}", list.text());
}

#[test]
fn patterns_that_explode_elsewhere_are_answered() {
    let bench = Bench::new();
    bench.file("a.txt", format!("{}c\n", "a".repeat(50_000)));
    for pattern in ["(a*)*b", "(a|a)*b", "(a|aa)+$b", "((a+)+)+b", "(.*)(.*)(.*)(.*)b", "a{0,500}a{500}b"] {
        assert_eq!(shown(&bench, "grep", json!({"pattern": pattern})), "No files found", "{pattern}");
    }
    for pattern in ["(a{1000}){1000}", "((a{100}){100}){100}", "[\\w\\W]{99999}{99}"] {
        let why = bench.rejected("grep", json!({"pattern": pattern}));
        assert!(why.contains("invalid pattern"), "{why}");
    }
    let braces = "{a,b}".repeat(40);
    assert_eq!(shown(&bench, "glob", json!({"pattern": braces})), "No files found");
    assert_eq!(shown(&bench, "grep", json!({"pattern": "a", "include": braces})), "No files found");
    assert!(shown(&bench, "list", json!({"ignore": [braces]})).contains("a.txt"));
    let stars = format!("{}b", "*a".repeat(1000));
    assert_eq!(shown(&bench, "glob", json!({"pattern": stars})), "No files found");
    // Nesting is refused or understood, and does not end the process.
    for nested in [
        format!("{}a{}", "{".repeat(2000), "}".repeat(2000)),
        format!("{}a{}", "{x,".repeat(1000), "}".repeat(1000)),
    ] {
        for (tool, input) in [
            ("glob", json!({"pattern": nested})),
            ("grep", json!({"pattern": "a", "include": nested})),
            ("list", json!({"ignore": [nested]})),
        ] {
            match bench.settle(tool, input) {
                Settlement::Completed(_) => {}
                Settlement::Rejected(why) => {
                    assert!(why.to_string().contains("invalid pattern"), "{tool}: {why}")
                }
            }
        }
    }
    let nested = format!("{}a{}", "(".repeat(20_000), ")".repeat(20_000));
    assert!(bench.rejected("grep", json!({"pattern": nested})).contains("invalid pattern"));
}

#[test]
fn any_name_is_found_and_shown_on_one_line() {
    let bench = Bench::new();
    let names: [&[u8]; 4] = [b"new\nline.txt", b"bad-\xff\xfe.txt", b"esc-\x1b[2J.txt", b"-rf --.txt"];
    for name in names {
        fs::write(bench.path("").join(OsStr::from_bytes(name)), "needle").unwrap();
    }
    for (tool, input) in everything() {
        let text = shown(&bench, tool, input);
        for part in ["new\\u{a}line.txt", "bad-\u{fffd}\u{fffd}.txt", "esc-\\u{1b}[2J.txt", "-rf --.txt"] {
            assert!(text.contains(part), "{tool}: {text}");
        }
    }
    assert!(shown(&bench, "glob", json!({"pattern": "bad-*"})).contains("bad-"));
}

#[test]
fn loops_of_links_end() {
    let bench = Bench::new();
    bench.file("sub/a.txt", "needle");
    bench.link("sub/up", "..");
    bench.link("sub/self", "self");
    bench.link("one", "two");
    bench.link("two", "one");
    for (tool, input) in everything() {
        let text = shown(&bench, tool, input);
        assert_eq!(text.matches("a.txt").count(), 1, "{tool}: {text}");
        assert!(!text.contains("could not be read"), "{tool}: {text}");
    }
}

#[test]
fn an_ignore_file_that_is_none_is_not_waited_for() {
    let bench = Bench::new();
    bench.file("a.txt", "needle");
    for (name, directory) in [(".gitignore", "one"), (".ignore", "two")] {
        fs::create_dir(bench.path(directory)).unwrap();
        symlink("/dev/zero", bench.path(directory).join(name)).unwrap();
        bench.file(&format!("{directory}/b.txt"), "needle");
    }
    for (tool, input) in everything() {
        let text = shown(&bench, tool, input);
        assert!(text.contains("a.txt") && !text.contains("b.txt"), "{tool}: {text}");
        assert!(text.contains("(2 paths could not be read and were skipped.)"), "{tool}: {text}");
    }
    rustix::fs::mknodat(rustix::fs::CWD, bench.path(".ignore"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    for (tool, input) in everything() {
        let why = bench.rejected(tool, input);
        assert_eq!(why, "$ws/.ignore is a FIFO, not a regular file", "{tool}");
    }
}
