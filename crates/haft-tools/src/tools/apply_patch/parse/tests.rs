//! What a patch says, and what is wrong with one that says nothing.

use expect_test::{Expect, expect};

use super::super::patch::{Chunk, FilePatch, Mark};
use super::parse;

#[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
fn check(patch: &str, expected: Expect) {
    expected.assert_eq(&match parse(patch) {
        Ok(patch) => patch.files.iter().map(described).collect(),
        Err(error) => error.told(),
    });
}

/// Checks what stands between the markers.
fn check_body(body: &str, expected: Expect) {
    check(&format!("*** Begin Patch\n{body}\n*** End Patch"), expected);
}

fn described(file: &FilePatch) -> String {
    match file {
        FilePatch::Add { path, text, line } => format!("{line}: add {path} {text:?}\n"),
        FilePatch::Delete { path, line } => format!("{line}: delete {path}\n"),
        FilePatch::Update { path, move_to, chunks, line } => {
            let moved = move_to.as_ref().map(|target| format!(" to {target}")).unwrap_or_default();
            let chunks: String = chunks.iter().map(described_chunk).collect();
            format!("{line}: update {path}{moved}\n{chunks}")
        }
    }
}

fn described_chunk(chunk: &Chunk) -> String {
    let lines = chunk.lines.iter().map(|line| match line.mark {
        Mark::Keep => format!(" keep {:?}", line.text),
        Mark::Remove => format!(" remove {:?}", line.text),
        Mark::Add => format!(" add {:?}", line.text),
    });
    let end = if chunk.is_end_of_file { " end" } else { "" };
    format!("  {}: {:?}{}{end}\n", chunk.line, chunk.context, lines.collect::<String>())
}

#[test]
fn every_section_is_read() {
    check_body(
        "*** Add File: a/new.txt\n+x\n+\n++y\n*** Add File: empty\n*** Delete File: old.txt\n*** Update File: b.rs\n*** Move to: c.rs\n@@ impl A\n@@ fn f\n one\n-two\n+2\n three\n@@\n-last\n*** End of File\n*** Update File: d\n*** Move to: e",
        expect![[r#"
            2: add a/new.txt "x\n\n+y\n"
            6: add empty ""
            7: delete old.txt
            8: update b.rs to c.rs
              10: ["impl A", "fn f"] keep "one" remove "two" add "2" keep "three"
              16: [] remove "last" end
            19: update d to e
        "#]],
    );
}

#[test]
fn what_is_around_a_patch_is_ignored() {
    let added = "*** Add File: a\n+x";
    for wrapped in [
        "*** Begin Patch\n$\n*** End Patch",
        "\n\n*** Begin Patch\n$\n*** End Patch\n\n",
        " *** Begin Patch\n$\n  *** End Patch \n",
        "cat <<'EOF'\n*** Begin Patch\n$\n*** End Patch\nEOF",
        "<<\"PATCH\"\n*** Begin Patch\n$\n*** End Patch\nPATCH\n",
        "apply_patch <<EOF\n*** Begin Patch\n$\n*** End Patch\nEOF\n",
        "'*** Begin Patch\n$\n*** End Patch'",
        "apply_patch \"*** Begin Patch\n$\n*** End Patch\"\n",
        "Here it is:\n```\n*** Begin Patch\n$\n*** End Patch\n```\nDone: *** End Patch, *** Begin Patch",
        "*** Begin Patch\n  $\n\n*** End Patch",
    ] {
        let patch = parse(&wrapped.replace('$', added)).unwrap_or_else(|error| panic!("{wrapped}: {error}"));
        let [FilePatch::Add { path, text, .. }] = &*patch.files else { panic!("{wrapped}") };
        assert_eq!((&**path, &**text), ("a", "x\n"), "{wrapped}");
    }
}

#[test]
fn blanks_that_models_leave_out_or_put_in_are_forgiven() {
    check_body(
        "\n  *** Update File:  a b.txt \n\n a\n\n-b\n+c\n\n\n*** Update File: d\n@@   two  \n+x\n\n*** End of File\n\n  *** Update File: e\n@@x\n-\n+\n\\ No newline at end of file\n\n@@ \n@@ y\n \n*** Add File: f\n+1\n\n+2\n\n*** End of File\n",
        expect![[r#"
            3: update a b.txt
              5: [] keep "a" keep "" remove "b" add "c" keep "" keep ""
            11: update d
              12: ["  two"] add "x" end
            17: update e
              18: ["x"] remove "" add "" keep ""
              23: ["y"] keep ""
            26: add f "1\n\n2\n"
        "#]],
    );
}

#[test]
fn carriage_returns_stay_only_in_added_files() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@ c\n-x\n+y\n\n z\n*** End of File\n*** Add File: b\n+x\n\n+y\n*** End Patch\n";
    check(
        &patch.replace('\n', "\r\n"),
        expect![[r#"
            2: update a
              3: ["c"] remove "x" add "y" keep "" keep "z" end
            9: add b "x\r\n\r\ny\r\n"
        "#]],
    );
}

#[test]
fn a_patch_may_change_a_text_about_patches() {
    check_body(
        "*** Update File: a.md\n@@\n *** Begin Patch\n-*** Add File: x\n+*** Delete File: x\n *** End Patch\n-@@",
        expect![[r#"
            2: update a.md
              3: [] keep "*** Begin Patch" remove "*** Add File: x" add "*** Delete File: x" keep "*** End Patch" remove "@@"
        "#]],
    );
}

#[test]
fn what_is_no_patch_is_refused() {
    check(
        " \n",
        expect!["patchText is required: the text of a patch, from `*** Begin Patch` to `*** End Patch`"],
    );
    check(
        "*** Begin Patch\n\n*** End Patch",
        expect![
            "patch rejected: empty patch; write at least one `*** Add File: `, `*** Update File: ` or `*** Delete File: ` between the markers"
        ],
    );
    check(
        "*** Add File: a\n+x\n*** End Patch",
        expect![
            "apply_patch verification failed: Invalid patch format: missing Begin/End markers; no line is `*** Begin Patch`, which begins a patch"
        ],
    );
    check(
        "*** End Patch\n*** Begin Patch\n*** Add File: a\n+x",
        expect![
            "apply_patch verification failed: Invalid patch format: missing Begin/End markers; no line after line 2 is `*** End Patch`, so the patch may have been cut off: send it whole"
        ],
    );
    check(
        "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n*** End Patch",
        expect![
            "apply_patch verification failed: a second patch begins at line 4 of the patch: put everything between one pair of markers"
        ],
    );
}

#[test]
fn a_line_that_is_not_understood_is_named() {
    check_body(
        "hello",
        expect![[r#"
        apply_patch verification failed: Invalid patch line 2: hello
        Expected `*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path, or `*** End Patch`"#]],
    );
    check_body(
        "*** Delete File: a\n+x",
        expect![[r#"
        apply_patch verification failed: Invalid patch line 3: +x
        Expected `*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path, or `*** End Patch`"#]],
    );
    check_body(
        "*** Update File: a\n@@\n-x\n*** Rename File: b",
        expect![[r#"
        apply_patch verification failed: Invalid patch line 5: *** Rename File: b
        Expected `*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path, or `*** End Patch`"#]],
    );
    check_body(
        "*** Update File: a\n@@\n-x\n*** Move to: b",
        expect![[r#"
        apply_patch verification failed: Invalid patch line 5: *** Move to: b
        `*** Move to: ` belongs on the line after `*** Update File: `"#]],
    );
    check_body(
        "*** Delete File: a\n*** End of File",
        expect![[r#"
        apply_patch verification failed: Invalid patch line 3: *** End of File
        `*** End of File` belongs after the last line of an `@@` chunk"#]],
    );
    check_body(
        "*** Add File: a\n+x\ny",
        expect![[r#"
        apply_patch verification failed: Invalid add file line 4 for a: y
        Every line of an added file begins with `+`, also an empty one"#]],
    );
    check_body(
        "*** Update File: a\n@@\n-x\n@@\n ok\n\tif x {",
        expect![[r#"
        apply_patch verification failed: Invalid update chunk line 7, in hunk 2 of a: \u{9}if x {
        A line of a chunk begins with a space (keep), `-` (remove) or `+` (add): put one of them before the line"#]],
    );
    check_body(
        "*** Update File: a\n@@\n-x\n*** End of File\n y",
        expect![[r#"
        apply_patch verification failed: Invalid update chunk line 6, in hunk 1 of a:  y
        After `*** End of File` comes `@@` or the next `***` line"#]],
    );
    check_body(
        "*** Add File: \n+x",
        expect![
            "apply_patch verification failed: Invalid add file path: line 2 of the patch names no file after the colon"
        ],
    );
    check_body(
        "*** Update File: a\n*** Move to:\n@@\n-x",
        expect![
            "apply_patch verification failed: Invalid move file path: line 3 of the patch names no file after the colon"
        ],
    );
    check_body(
        "*** Update File: a\n\n*** Delete File: b",
        expect![
            "apply_patch verification failed: Invalid update hunk for a: expected at least one @@ chunk after line 2 of the patch; write `@@`, then the lines to keep (` `), remove (`-`) and add (`+`)"
        ],
    );
    check_body(
        "*** Update File: a\n@@ x\n\n*** Delete File: b",
        expect![
            "apply_patch verification failed: Invalid update hunk for a: hunk 1, at line 3 of the patch, has no lines; after `@@` come the lines to keep (` `), remove (`-`) and add (`+`)"
        ],
    );
}

#[test]
fn an_error_is_short_however_long_the_line() {
    let long = "x".repeat(100_000);
    for body in [&*long, &format!("*** Update File: {long}"), &format!("*** Update File: {long}\n@@\n{long}")]
    {
        let told = parse(&format!("*** Begin Patch\n{body}\n*** End Patch")).unwrap_err().told();
        assert!(told.len() < 1000, "{}", told.len());
    }
}
