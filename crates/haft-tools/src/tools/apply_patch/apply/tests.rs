//! What applying makes of a text, and what it says if it cannot.

use expect_test::{Expect, expect};

use super::super::locate::Fuzz;
use super::super::miss::Miss;
use super::super::parse::parse;
use super::super::patch::FilePatch;
use super::{Applied, apply};

fn applied(before: &str, chunks: &str) -> Result<Applied, Miss> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{chunks}\n*** End Patch");
    let patch = parse(&patch).unwrap_or_else(|error| panic!("{chunks}: {error}"));
    let [FilePatch::Update { path, chunks, .. }] = &*patch.files else { panic!("one update") };
    apply(path, before, chunks)
}

/// Each case: the text before, the chunks, the text after.
fn check_all(cases: &[(&str, &str, &str)]) {
    for (before, chunks, after) in cases {
        match applied(before, chunks) {
            Ok(applied) => assert_eq!(applied.text, *after, "{chunks}"),
            Err(miss) => panic!("{chunks}\n{}", miss.message),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
fn check_miss(before: &str, chunks: &str, expected: Expect) {
    let miss = applied(before, chunks).expect_err(chunks);
    expected.assert_eq(&format!("{}{}", miss.message, miss.shown));
}

#[test]
fn chunks_change_what_they_say() {
    check_all(&[
        ("l1\nl2\n", "@@\n-l2\n+changed", "l1\nchanged\n"),
        ("alpha\nomega\n", "@@\n alpha\n+beta\n omega", "alpha\nbeta\nomega\n"),
        ("foo\nbar\nbaz\n", "@@\n-foo\n+FOO\n bar", "FOO\nbar\nbaz\n"),
        ("foo\nbar\nbaz\n", "@@\n foo\n bar\n-baz\n+BAZ", "foo\nbar\nBAZ\n"),
        ("a\nb\nc\n", "@@\n a\n-b\n c", "a\nc\n"),
        (
            "a\nb\nc\nd\ne\nf\n",
            "@@\n a\n-b\n+B\n@@\n d\n-e\n+E\n@@\n f\n+g\n*** End of File",
            "a\nB\nc\nd\nE\nf\ng\n",
        ),
        ("a\nb\n", "@@\n-a\n-b", ""),
        ("import foo\n", " import foo\n+bar", "import foo\nbar\n"),
        ("l1\nnaïve café\n", "@@\n l1\n-naïve café\n+naïve thé ✅", "l1\nnaïve thé ✅\n"),
        // Without a context the first occurrence is meant, and after that the next.
        ("x=1\nmid\nx=1\n", "@@\n-x=1\n+x=2", "x=2\nmid\nx=1\n"),
        ("x\nx\nx\n", "@@\n-x\n+1\n@@\n-x\n+2", "1\n2\nx\n"),
    ]);
}

#[test]
fn what_only_adds_goes_to_the_end() {
    check_all(&[
        ("", "@@\n+First", "First\n"),
        ("l1\nl2\nl3\n", "@@\n+after\n+second\n@@\n l1\n-l2\n-l3\n+l2x", "l1\nl2x\nafter\nsecond\n"),
        ("a\r\nb", "@@\n+c\n+d", "a\r\nb\r\nc\r\nd\r\n"),
        ("a\n\n", "@@\n+b\n\n", "a\n\nb\n"),
    ]);
    let named = applied("fn a\nfn b\n", "@@\n-fn a\n+fn A\n@@ fn b\n+x").unwrap();
    assert_eq!((&*named.text, named.appended), ("fn A\nfn b\nx\n", vec![2]));
}

#[test]
fn a_context_says_where_to_look() {
    check_all(&[
        (
            "fn a\nx=10\ny=2\nfn b\nx=10\ny=20\n",
            "@@ fn b\n-x=10\n+x=11",
            "fn a\nx=10\ny=2\nfn b\nx=11\ny=20\n",
        ),
        (
            "class A:\n    def f(self):\n        1\n    def g(self):\n        1\n",
            "@@ def g(self):\n-        1\n+        2",
            "class A:\n    def f(self):\n        1\n    def g(self):\n        2\n",
        ),
        ("A\n f\n  1\nB\n f\n  1\n", "@@ B\n@@  f\n-  1\n+  2", "A\n f\n  1\nB\n f\n  2\n"),
        // The context is repeated as the first line of the chunk.
        ("x\nfn b\nx\n", "@@ fn b\n fn b\n-x\n+y", "x\nfn b\ny\n"),
        ("mark\nmid\nmark\n", "@@\n-mark\n+MARK\n*** End of File", "mark\nmid\nMARK\n"),
        ("mark\nmid\n", "@@\n-mark\n+MARK\n*** End of File", "MARK\nmid\n"),
    ]);
}

#[test]
fn empty_lines_at_the_end_of_a_chunk_may_only_part_it_from_the_next() {
    check_all(&[
        ("a\nb\n", "@@\n-a\n+A\n\n@@\n-b\n+B\n\n\n", "A\nB\n"),
        ("a\nx\na\n\n", "@@\n-a\n+A\n\n", "a\nx\nA\n\n"),
        ("a\n", "@@\n a\n \n+b", "a\n\nb\n"),
        ("a\n", "@@\n-a\n-\n+b\n+", "b\n"),
    ]);
    assert!(applied("a\n", "@@\n \n+b").is_err());
}

#[test]
fn what_was_forgiven_is_the_least_that_will_do() {
    for (before, chunks, after, fuzz) in [
        ("  key\nkey\n", "@@\n-key\n+KEY", "  key\nKEY\n", Fuzz::Exact),
        ("l1  \nl2\t \nl3\n", "@@\n l1\n-l2\n+L2\n l3", "l1  \nL2\nl3\n", Fuzz::TrailingBlanks),
        ("  a\n\tb\n", "@@\n a\n-b\n+c", "  a\nc\n", Fuzz::Blanks),
        (
            "say “hello”\nsome—dash\n",
            "@@\n-say \"hello\"\n+hi\n some-dash",
            "hi\nsome—dash\n",
            Fuzz::Punctuation,
        ),
        ("a\u{a0}b c\n", "@@\n-a b c\n+abc", "abc\n", Fuzz::Punctuation),
        ("it’s…\n", "@@\n-it's...\n+it is", "it is\n", Fuzz::Punctuation),
        ("a\nx\n b\n", "@@\n-a\n+A\n@@ b\n+c", "A\nx\n b\nc\n", Fuzz::Blanks),
    ] {
        let applied = applied(before, chunks).unwrap_or_else(|miss| panic!("{}", miss.message));
        assert_eq!((&*applied.text, applied.fuzz), (after, fuzz));
    }
}

#[test]
fn line_endings_and_marks_are_kept() {
    check_all(&[
        (
            "one\r\ntwo\r\nthree\r\n",
            "@@\n-one\n+ONE\n two\n+between\n three",
            "ONE\r\ntwo\r\nbetween\r\nthree\r\n",
        ),
        ("one\ntwo\n", "@@\r\n-one\r\n+ONE\r\n+1\r\n two\r", "ONE\n1\ntwo\n"),
        ("a\r\nb\nc\r\nd\n", "@@\n-a\n-b\n+A\n+B\n+B2\n c\n+c2", "A\r\nB\nB2\nc\r\nc2\r\nd\n"),
        ("a\r\nb\n", "@@\n+0\n a\n b", "0\r\na\r\nb\n"),
        ("a\rb\n", "@@\n-a\rb\n+c", "c\n"),
        ("no newline", "@@\n-no newline\n+first\n+second", "first\nsecond\n"),
        ("a\nno newline", "@@\n-a\n+b", "b\nno newline\n"),
        ("a\r\nno newline", "@@\n no newline\n+c", "a\r\nno newline\r\nc\r\n"),
        (
            "\u{feff}using S;\nclass T {}\n",
            "@@\n class T {}\n+class N {}",
            "\u{feff}using S;\nclass T {}\nclass N {}\n",
        ),
        ("\u{feff}a\nb\n", "@@\n-a\n+A", "\u{feff}A\nb\n"),
        ("\u{feff}a\nb\n", "@@\n-\u{feff}a\n+\u{feff}A\n b", "\u{feff}A\nb\n"),
        ("\u{feff}a\n", "@@\n-a", "\u{feff}"),
        ("\u{feff}\u{feff}a\nb\n", "@@\n-b\n+c", "\u{feff}\u{feff}a\nc\n"),
    ]);
    let unchanged = apply("f", "a\r\nb", &[]).unwrap();
    assert_eq!(unchanged.text, "a\r\nb");
}

#[test]
fn a_miss_says_what_is_there_instead() {
    let file = "fn main() {\n    let total = 1;\n    print(total);\n}\n";
    check_miss(
        file,
        "@@\n-fn main() {\n+fn start() {\n@@\n     let totals = 3;\n-    print(total);\n+    done();",
        expect![[r#"
            apply_patch verification failed: Failed to find expected lines in f:
                let totals = 3;
                print(total);
            (hunk 2 of 2, at line 6 of the patch)

            This comes nearest, the file at line 2 (+) and the hunk (-):
            -            let totals = 3;
            +      2     let total = 1;
                   3     print(total);"#]],
    );
    check_miss(
        file,
        "@@\n-nothing like it\n+x",
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        nothing like it
        (hunk 1 of 1, at line 3 of the patch)

        Nothing in the file comes near it; read the file again."#]],
    );
    check_miss(
        "",
        "@@\n-a\n+b",
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        a
        (hunk 1 of 1, at line 3 of the patch)

        Nothing in the file comes near it; read the file again."#]],
    );
    check_miss(
        "one\ntwo\nthree\n",
        "@@\n-three\n+3\n@@\n-one\n+1",
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        one
        (hunk 2 of 2, at line 6 of the patch)

        It is at line 1 of the file, but was looked for after line 3, where what comes before it in the patch ends. Write hunks in the order of the file."#]],
    );
    check_miss(
        "a\nB\nc\n",
        "@@\n a\n-b\n+B\n c",
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        a
        b
        c
        (hunk 1 of 1, at line 3 of the patch)

        The file already has at line 1 what the hunk would make of it; if nothing else is to change, leave the hunk out."#]],
    );
    check_miss(
        "x\n",
        &format!("@@\n{}+y", "-x\n".repeat(15)),
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        x
        x
        x
        x
        x
        x
        x
        x
        x
        x
        x
        x
        ... and 3 more lines
        (hunk 1 of 1, at line 3 of the patch)

        This comes nearest, the file at line 1 (+) and the hunk (-):
               1 x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x
        -        x"#]],
    );
    check_miss(
        "a\n",
        "@@\n-a\n+b\n *** Update File: g\n-c\n+d",
        expect![[r#"
        apply_patch verification failed: Failed to find expected lines in f:
        a
        *** Update File: g
        c
        (hunk 1 of 1, at line 3 of the patch)
        A line that begins with a blank is a line of the file; if it is meant for the patch, as `***` is, it must not be indented.

        Nothing in the file comes near it; read the file again."#]],
    );
}

#[test]
fn a_missing_context_is_told_from_missing_lines() {
    check_miss(
        "fn alpha() {\n  x\n}\n",
        "@@ fn alpha(n) {\n-  y\n+  z",
        expect![[r#"
        apply_patch verification failed: Failed to find context 'fn alpha(n) {' in f
        (hunk 1 of 1, at line 3 of the patch)

        This comes nearest, the file at line 1 (+) and the context (-):
        -        fn alpha(n) {
        +      1 fn alpha() {"#]],
    );
    check_miss(
        "fn alpha() {\n  x\n}\n",
        "@@ fn beta\n-  x\n+  z",
        expect![[r#"
        apply_patch verification failed: Failed to find context 'fn beta' in f
        (hunk 1 of 1, at line 3 of the patch)

        The lines of the hunk are at line 2 all the same: write `@@` alone, or a line that stands before them."#]],
    );
    check_miss(
        "a\nb\nc\n",
        "@@\n-c\n+C\n@@ a\n-b\n+B",
        expect![[r#"
        apply_patch verification failed: Failed to find context 'a' in f
        (hunk 2 of 2, at line 6 of the patch)

        It is at line 1 of the file, but was looked for after line 3, where what comes before it in the patch ends. Write hunks in the order of the file."#]],
    );
    check_miss(
        "a\n",
        "@@ -1,1 +1,1 @@\n-A\n+b",
        expect![[r#"
        apply_patch verification failed: Failed to find context '-1,1 +1,1 @@' in f
        (hunk 1 of 1, at line 3 of the patch)
        That is a range of line numbers; write `@@` alone, or `@@ ` and a line of the file that stands before the hunk.

        Nothing in the file comes near it; read the file again."#]],
    );
}
