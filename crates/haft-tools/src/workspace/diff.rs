//! What a change does to a text, as a unified diff for people.

use std::fmt::{self, Write};

use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};

/// Larger contents are described instead of compared.
pub(super) const DIFF_BYTES_MAX: usize = 1 << 20;

/// The unified diff of two contents of a file. It is empty if they are equal.
pub(super) fn unified(path: &str, before: Before<'_>, after: &[u8]) -> String {
    let described =
        |what: &str| format!("--- {path}\n+++ {path}\n({what}; {} bytes afterwards)\n", after.len());
    let before = match before {
        Before::Nothing => "",
        Before::Large => return described("too large to compare"),
        Before::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => return described("the present content is not UTF-8 text and is replaced whole"),
        },
    };
    let after_text = match std::str::from_utf8(after) {
        Ok(_) if after.len() > DIFF_BYTES_MAX => return described("too large to compare"),
        Ok(text) => text,
        Err(_) => return described("the new content is not UTF-8 text"),
    };
    let input = InternedInput::new(before, after_text);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    if diff.count_additions() == 0 && diff.count_removals() == 0 {
        return String::new();
    }
    let printer = Lines(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    format!("--- {path}\n+++ {path}\n{hunks}")
}

/// What was there before.
#[derive(Clone, Copy)]
pub(super) enum Before<'a> {
    Nothing,
    Bytes(&'a [u8]),
    Large,
}

/// Prints as GNU diff does, with its remark about a missing newline at the end.
struct Lines<'a>(&'a Interner<&'a str>);

impl Lines<'_> {
    fn line(&self, f: &mut impl Write, mark: char, token: Token) -> fmt::Result {
        let line = self.0[token];
        write!(f, "{mark}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { f.write_str("\n\\ No newline at end of file\n") }
    }
}

impl UnifiedDiffPrinter for Lines<'_> {
    fn display_header(&self, mut f: impl Write, a: u32, b: u32, a_len: u32, b_len: u32) -> fmt::Result {
        // An empty range is named by the line before it.
        let start = |at: u32, len: u32| if len == 0 { at } else { at + 1 };
        writeln!(f, "@@ -{},{a_len} +{},{b_len} @@", start(a, a_len), start(b, b_len))
    }

    fn display_context_token(&self, mut f: impl Write, token: Token) -> fmt::Result {
        self.line(&mut f, ' ', token)
    }

    fn display_hunk(&self, mut f: impl Write, before: &[Token], after: &[Token]) -> fmt::Result {
        before.iter().try_for_each(|token| self.line(&mut f, '-', *token))?;
        after.iter().try_for_each(|token| self.line(&mut f, '+', *token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
    fn check(before: Before<'_>, after: &str, expected: Expect) {
        expected.assert_eq(&unified("a.txt", before, after.as_bytes()));
    }

    #[test]
    fn diffs_are_those_that_people_know() {
        check(Before::Bytes(b"same\n"), "same\n", expect![""]);
        check(
            Before::Nothing,
            "one\ntwo",
            expect![[r#"
                --- a.txt
                +++ a.txt
                @@ -0,0 +1,2 @@
                +one
                +two
                \ No newline at end of file
            "#]],
        );
        check(
            Before::Bytes(b"1\n2\n3\n4\n5\n6\n7\n8\n"),
            "1\n2\n3\n4\nfive\n6\n7\n8\n",
            expect![[r#"
                --- a.txt
                +++ a.txt
                @@ -2,8 +2,8 @@
                 1
                 2
                 3
                 4
                -5
                +five
                 6
                 7
                 8
            "#]],
        );
        check(
            Before::Bytes(b"\xff\n"),
            "x",
            expect![[r#"
                --- a.txt
                +++ a.txt
                (the present content is not UTF-8 text and is replaced whole; 1 bytes afterwards)
            "#]],
        );
    }
}
