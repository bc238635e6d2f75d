//! What editing does, and what it refuses.

use std::fs;
use std::time::{Duration, Instant};

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::endings::Plain;
use super::miss;
use super::replace::{Extent, find};
use crate::testing::Bench;

fn input(old: &str, new: &str) -> Value {
    json!({"filePath": "a.txt", "oldString": old, "newString": new})
}

#[test]
fn the_encoding_of_a_file_is_kept_or_the_edit_refused() {
    let bench = Bench::new();
    let utf_16 = |text: &str| {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    };
    bench.file("a.txt", utf_16("eins\r\nzwei\r\n"));
    bench.completed("edit", input("zwei", "drei €"));
    assert_eq!(fs::read(bench.path("a.txt")).unwrap(), utf_16("eins\r\ndrei €\r\n"));
    bench.completed("write", json!({"filePath": "a.txt", "content": "neu ü\n"}));
    assert_eq!(fs::read(bench.path("a.txt")).unwrap(), utf_16("neu ü\n"));

    let bench = Bench::new();
    let legacy = b"Die Gr\xf6\xdfe der \xc4pfel f\xfcr das sch\xf6ne Fr\xfchst\xfcck.\r\n";
    bench.file("a.txt", legacy);
    bench.completed("edit", input("Die Größe", "Die Güte"));
    assert_eq!(
        fs::read(bench.path("a.txt")).unwrap(),
        b"Die G\xfcte der \xc4pfel f\xfcr das sch\xf6ne Fr\xfchst\xfcck.\r\n"
    );
    let told = bench.rejected("edit", input("Die Güte", "一"));
    assert!(told.contains("has no character '一'"), "{told}");
    assert!(fs::read(bench.path("a.txt")).unwrap().starts_with(b"Die G\xfcte"));

    let bench = Bench::new();
    bench.file("a.txt", [0, 159, 146, 150, 0, 1, 2, 255]);
    assert!(bench.rejected("edit", input("x", "y")).contains("a.txt cannot be edited"));
}

#[test]
fn each_matcher_finds_what_it_is_for() {
    let cases = [
        (None, "one two\n", "two", "2", "one 2\n"),
        (Some("LineTrimmed"), "  a()\n    b()\nc\n", "a()\nb()", "x", "x\nc\n"),
        (Some("LineTrimmed"), "  a()\n  b()\nc\n", "a()\nb()\n", "  x()\n", "  x()\nc\n"),
        (Some("LineTrimmed"), "  a()\n  b()\nc\n", "a()\nb()\n", "", "c\n"),
        (Some("BlockAnchor"), "f {\n  alpha beta\n}\n", "f {\n  alpha bet\n}", "g", "g\n"),
        (Some("WhitespaceNormalized"), "x = call(a,   b);\n", "call(a, b)", "c", "x = c;\n"),
        (
            Some("WhitespaceNormalized"),
            "if (a   &&\n    b) {\n}\n",
            "if (a &&\n b) {",
            "if (c) {",
            "if (c) {\n}\n",
        ),
        (Some("IndentationFlexible"), "a\n b\n--\n  a\n    b\n", " a\n   b", "x", "a\n b\n--\nx\n"),
        (Some("EscapeNormalized"), "a\tb\n", "a\\tb", "c", "c\n"),
        (Some("EscapeNormalized"), "say(\"a\\tb\")\n", "say(\"a\tb\")", "c", "c\n"),
        (Some("TrimmedBoundary"), "alpha beta\ngamma\n", "  beta\ngamma ", "B", "alpha B\n"),
        (Some("ContextAware"), "BEGIN\naaaa\nkeep\nEND\n", "BEGIN\nzzzz\nkeep\nEND", "x", "x\n"),
    ];
    for (matcher, before, old, new, after) in cases {
        let bench = Bench::new();
        bench.file("a.txt", before);
        let done = bench.completed("edit", input(old, new));
        assert_eq!(bench.text("a.txt"), after, "{old:?}");
        assert_eq!(done.metadata.get("matcher").and_then(Value::as_str), matcher, "{old:?}");
        let named = matcher.is_none_or(|matcher| done.text().contains(matcher));
        assert!(done.text().starts_with("Edit applied successfully.") && named, "{}", done.text());
    }
}

#[test]
fn line_endings_and_marks_are_kept() {
    let cases = [
        ("a\r\nb\nc\r\n", "b", "1\n2", "a\r\n1\n2\nc\r\n"),
        ("a\r\nb\nc\r\n", "c", "1\n2", "a\r\nb\n1\r\n2\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "1\n2\n3", "1\r\n2\n3\r\n"),
        ("a\r\nb\r\nc\nd\n", "a\r\nb\nc", "x\ny\nz\nw", "x\r\ny\r\nz\r\nw\nd\n"),
        ("a\rb\r\n", "a", "x\ny", "x\r\ny\rb\r\n"),
        ("\u{feff}a\r\n", "a", "b\n", "\u{feff}b\r\n\r\n"),
        ("\u{feff}a", "\u{feff}a", "\u{feff}b", "\u{feff}b"),
        ("one", "one", "$& $1 $$\r\n", "$& $1 $$\n"),
    ];
    for (before, old, new, after) in cases {
        let bench = Bench::new();
        bench.file("a.txt", before);
        bench.completed("edit", input(old, new));
        assert_eq!(bench.text("a.txt"), after, "{before:?} {old:?}");
    }
}

#[test]
fn a_miss_shows_what_comes_nearest() {
    let bench = Bench::new();
    bench.file("a.txt", "fn main() {\n    let total = 1;\n    print(total);\n}\n\nfn other() {}\n");
    bench.check(
        "edit",
        input("fn main() {\n    let totals = 3;\n    exit(2)\n    print(total);\n}", "x"),
        expect![[r#"
            rejected: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.

            This comes nearest, the file at line 1 (+) and oldString (-):
                   1 fn main() {
            -            let totals = 3;
            -            exit(2)
            +      2     let total = 1;
                   3     print(total);
                   4 }"#]],
    );
    bench.check("edit", input("let total = 2;", "x"), expect![[r#"
        rejected: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.

        This comes nearest, the file at line 2 (+) and oldString (-):
        -        let total = 2;
        +      2     let total = 1;"#]]);
    bench.check("edit", input("nothing like it", "x"), expect![[r#"
        rejected: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.

        Nothing in the file comes near it; read the file again."#]]);
}

#[test]
fn several_matches_are_listed() {
    let bench = Bench::new();
    bench.file("a.txt", "go()\nx\n  go() again\n".repeat(7));
    bench.check("edit", input("go()", "x"), expect![[r#"
        rejected: Found multiple matches for oldString. Provide more surrounding context to make the match unique.

        It is at these places:
          line 1: go()
          line 3:   go() again
          line 4: go()
          line 6:   go() again
          line 7: go()
          line 9:   go() again
          line 10: go()
          line 12:   go() again
          line 13: go()
          line 15:   go() again
          and 4 more"#]]);
    let all = bench.completed(
        "edit",
        json!({"path": "a.txt", "old_string": "go()", "new_string": "x", "replace_all": true}),
    );
    assert_eq!(all.metadata["filediff"]["additions"], 14);
    assert_eq!(bench.text("a.txt"), "x\nx\n  x again\n".repeat(7));
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("d")).unwrap();
    bench.file("a.txt", "text");
    bench.file("b.txt", b"\xff\xfetext");
    bench.file("c.txt", "a\nb c\nd\n");
    let at = |path: &str, old: &str, new: &str| json!({"filePath": path, "oldString": old, "newString": new});
    bench.check("edit", at("d", "a", "b"), expect!["rejected: Path is a directory, not a file: d"]);
    bench.check("edit", at("no", "a", "b"), expect!["rejected: File no not found"]);
    bench.check("edit", at("b.txt", "text", "b"), expect![[r#"
        rejected: Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.

        Nothing in the file comes near it; read the file again."#]]);
    bench.check("edit", at("a.txt", "", "b"), expect!["rejected: oldString cannot be empty when editing an existing file. Provide the exact text to replace, or use write for an intentional full-file replacement."]);
    bench.check(
        "edit",
        at("a.txt", "x", "x"),
        expect!["rejected: No changes to apply: oldString and newString are identical."],
    );
    bench.check("edit", at("a.txt", "x\r\n", "x\n"), expect!["rejected: No changes to apply: oldString and newString differ only in line endings, which the file keeps."]);
    bench.check(
        "edit",
        at("a.txt", "text ", "text"),
        expect!["rejected: No changes to apply: the file already has newString where oldString was found."],
    );
    bench.check("edit", at("c.txt", "a\\nb c\\nd\\n", "x"), expect!["rejected: Refusing replacement because the matched span is much larger than oldString. Re-read the file and provide the full exact oldString for the intended replacement."]);
    assert_eq!(bench.text("a.txt"), "text");
    bench.check(
        "edit",
        at("new/n.txt", "", "x\r\n"),
        expect![[r#"
        title: new/n.txt
        Edit applied successfully."#]],
    );
    assert_eq!(bench.text("new/n.txt"), "x\r\n");
    bench.check_no_residue();
}

#[test]
fn nothing_is_told_to_those_who_may_not() {
    let bench = Bench::new();
    bench.file("a.txt", "the secret is 42\n");
    let unread = bench.denying(&[("read", "*")]).rejected("edit", input("the secret is 41", "x"));
    assert!(unread.contains("Could not find oldString") && !unread.contains("42"), "{unread}");
    let denied = bench.denying(&[("edit", "*")]);
    for old in ["the secret is 41", "the secret is 42", "secret", "e", ""] {
        let why = denied.rejected("edit", input(old, "x"));
        assert!(why.contains("permission denied") && !why.contains("42"), "{why}");
    }
    let missing = denied.rejected("edit", json!({"filePath": "no", "oldString": "a", "newString": "b"}));
    assert!(missing.contains("permission denied"), "{missing}");
}

#[test]
fn what_changed_since_it_was_read_is_not_edited() {
    let bench = Bench::new();
    bench.file("a.txt", "one two");
    bench.completed("edit", input("one", "1"));
    bench.completed("edit", input("two", "2"));
    bench.file("a.txt", "1 2 somebody else's");
    let why = bench.rejected("edit", input("1", "one"));
    assert!(why.contains("modified since it was last read"), "{why}");
}

#[test]
fn parallel_edits_of_one_file_all_happen() {
    let bench = Bench::new();
    let before: String = (10..60).map(|line| format!("line{line}\n")).collect();
    bench.file("a.txt", &before);
    bench.completed("read", json!({"filePath": "a.txt"}));
    std::thread::scope(|scope| {
        for line in 10..60 {
            let bench = &bench;
            scope.spawn(move || {
                bench.completed("edit", input(&format!("line{line}"), &format!("LINE{line}")));
            });
        }
    });
    assert_eq!(bench.text("a.txt"), before.to_uppercase());
}

#[test]
fn a_miss_takes_time_in_proportion_to_the_file() {
    let text = |lines: usize| -> String {
        (0..lines).map(|line| format!("  {{ value {} }}\n{{\n}}\n", line % 97)).collect()
    };
    let wanted = "{\n  value 5 is missing here\n and here\n}\n".repeat(5);
    let text = text(33_000);
    let began = Instant::now();
    assert!(find(&text, &wanted, Extent::One).is_err());
    miss::nearest(&text, &wanted);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

proptest! {
    #[test]
    fn an_exact_edit_is_a_plain_replacement(text in "[ab\n]{0,12}", old in "[ab\n]{1,3}", new in "[ab$\n]{0,3}") {
        let exact = text.find(&old).filter(|first| text.rfind(&old) == Some(*first));
        if exact.is_some() {
            let found = find(&text, &old, Extent::One).unwrap();
            prop_assert_eq!(Plain::new(&text).splice(&found.places, &new), text.replacen(&old, &new, 1));
        }
        if text.contains(&old) {
            let found = find(&text, &old, Extent::All).unwrap();
            prop_assert_eq!(Plain::new(&text).splice(&found.places, &new), text.replace(&old, &new));
        }
    }

    #[test]
    fn nothing_panics_and_other_lines_keep_their_bytes(
        text in "([ \t]{0,2}[ab{}\\\\né]{0,2}(\r\n|\n|\r)){0,9}",
        old in "([ \t]{0,2}[ab{}\\\\né]{0,2}(\n|\r\n)?){0,5}",
        new in "[ab\n]{0,3}",
    ) {
        super::check_matchers(&text, &old);
        let plain = Plain::new(&text);
        if let Ok(found) = find(plain.text(), &old, Extent::All) {
            plain.splice(&found.places, &new);
        }
    }
}
