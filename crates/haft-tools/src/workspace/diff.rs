//! What a change does to a text, as a unified diff for people.

use std::borrow::Cow;
use std::fmt::{self, Write};

use haft::Image;
use imara_diff::{Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};

use super::image;
use super::place::Place;
use crate::encoding::view;

/// Larger changes are described instead of compared.
pub(super) const DIFF_BYTES_MAX: usize = 1 << 20;

/// Of larger contents, only what differs is compared.
const COMPARED_WHOLE_BYTES_MAX: usize = 64 << 10;
/// Of those, so many lines before and after the change are looked at.
const CONTEXT_LINES: usize = 4;
const PIECE_BYTES: usize = 256;

const BOM: char = '\u{feff}';

/// The unified diff of two contents of a file. It is empty if they are equal.
fn unified(path: &str, before: Before<'_>, after: Content<'_>) -> String {
    let described = |what: &str| described(path, what, after.bytes().len() as u64);
    let before = match before {
        Before::Nothing => Cow::Borrowed(""),
        Before::Large => return described("too large to compare"),
        Before::Content(content) => match content.text() {
            Some(text) => text,
            None => return described("the present content is not text and is replaced whole"),
        },
    };
    let Some(after_text) = after.text() else { return described("the new content is not text") };
    let (before, after_text) = (&*before, &*after_text);
    // A byte order mark that stays is nothing that anybody has to look at.
    let (before, after_text) = match (before.strip_prefix(BOM), after_text.strip_prefix(BOM)) {
        (Some(before), Some(after)) => (before, after),
        _ => (before, after_text),
    };
    let is_large = before.len().max(after_text.len()) > COMPARED_WHOLE_BYTES_MAX;
    let (skipped, before, after_text) = match is_large {
        true => differing(before, after_text),
        false => (0, before, after_text),
    };
    if before.len().max(after_text.len()) > DIFF_BYTES_MAX {
        return described("too large to compare");
    }
    let input = InternedInput::new(before, after_text);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    if diff.count_additions() == 0 && diff.count_removals() == 0 {
        return String::new();
    }
    let printer = Lines { interner: &input.interner, skipped };
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    format!("--- {path}\n+++ {path}\n{hunks}")
}

/// The difference between two images of a place, as far as they can be compared.
pub(crate) fn difference(place: &Place, before: Option<&Image>, after: Option<&Image>) -> String {
    let path = place.spelled_text();
    let before = match before {
        None => Before::Nothing,
        Some(image) => Content::of(image).map_or(Before::Large, Before::Content),
    };
    match after.map(|image| (image, Content::of(image))) {
        None => unified(&path, before, Content::Text("")),
        Some((_, Some(content))) => unified(&path, before, content),
        Some((image, None)) => described(&path, "too large to compare", image.bytes),
    }
}

/// How many lines a unified diff adds and removes.
pub(crate) fn counted(diff: &str) -> (usize, usize) {
    // The first two lines are the names.
    let marked = |mark: char| diff.split('\n').skip(2).filter(|line| line.starts_with(mark)).count();
    (marked('+'), marked('-'))
}

fn described(path: &str, what: &str, after_bytes: u64) -> String {
    format!("--- {path}\n+++ {path}\n({what}; {after_bytes} bytes afterwards)\n")
}

/// A content in memory.
#[derive(Clone, Copy)]
enum Content<'a> {
    /// Known to be UTF-8.
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Content<'a> {
    fn of(image: &Image) -> Option<Content<'_>> {
        let known = image::text(image).map(Content::Text);
        known.or_else(|| image::bytes(image).map(Content::Bytes))
    }

    fn bytes(self) -> &'a [u8] {
        match self {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Content::Text(text) => Some(Cow::Borrowed(text)),
            Content::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Some(Cow::Borrowed(text)),
                Err(_) => view(bytes).ok().map(|(text, _)| text),
            },
        }
    }
}

/// The lines from the first that differs to the last, with a few around them, and how many lines come before.
fn differing<'a>(before: &'a str, after: &'a str) -> (u32, &'a str, &'a str) {
    let same = same_at_start(before.as_bytes(), after.as_bytes());
    let start = back(before.as_bytes(), same);
    let (b, a) = (&before.as_bytes()[start..], &after.as_bytes()[start..]);
    let same = same_at_end(b, a);
    let kept = on(&b[b.len() - same..]);
    let left_out = same - kept;
    let skipped = memchr::memchr_iter(b'\n', &before.as_bytes()[..start]).count();
    let (before_end, after_end) = (before.len() - left_out, after.len() - left_out);
    (u32::try_from(skipped).unwrap_or(u32::MAX), &before[start..before_end], &after[start..after_end])
}

/// How many bytes two texts begin with in common. Whole pieces are compared at once.
fn same_at_start(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.chunks_exact(PIECE_BYTES).zip(other.chunks_exact(PIECE_BYTES));
    let same = pieces.take_while(|(one, other)| one == other).count() * PIECE_BYTES;
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

/// How many bytes they end with in common.
fn same_at_end(one: &[u8], other: &[u8]) -> usize {
    let pieces = one.rchunks_exact(PIECE_BYTES).zip(other.rchunks_exact(PIECE_BYTES));
    let same = pieces.take_while(|(one, other)| one == other).count() * PIECE_BYTES;
    let (one, other) = (&one[..one.len() - same], &other[..other.len() - same]);
    same + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Where the context before a position begins.
fn back(bytes: &[u8], at: usize) -> usize {
    let newlines = bytes[..at].iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(CONTEXT_LINES).unwrap_or(0)
}

/// How long the context at the beginning of some bytes is.
fn on(bytes: &[u8]) -> usize {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(CONTEXT_LINES).unwrap_or(bytes.len())
}

/// What was there before.
#[derive(Clone, Copy)]
enum Before<'a> {
    Nothing,
    Content(Content<'a>),
    Large,
}

/// Prints as GNU diff does, with its remark about a missing newline at the end.
struct Lines<'a> {
    interner: &'a Interner<&'a str>,
    /// How many lines were left out before the first one.
    skipped: u32,
}

impl Lines<'_> {
    fn line(&self, f: &mut impl Write, mark: char, token: Token) -> fmt::Result {
        let line = self.interner[token];
        write!(f, "{mark}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { f.write_str("\n\\ No newline at end of file\n") }
    }
}

impl UnifiedDiffPrinter for Lines<'_> {
    fn display_header(&self, mut f: impl Write, a: u32, b: u32, a_len: u32, b_len: u32) -> fmt::Result {
        // An empty range is named by the line before it.
        let start = |at: u32, len: u32| self.skipped + if len == 0 { at } else { at + 1 };
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
        expected.assert_eq(&unified("a.txt", before, Content::Bytes(after.as_bytes())));
    }

    #[test]
    fn a_small_change_of_a_large_text_is_shown() {
        let before: String = (0..200_000).map(|line| format!("line {line}\n")).collect();
        let after = before.replace("line 150000\n", "one\ntwo\n");
        check(
            Before::Content(Content::Text(&before)),
            &after,
            expect![[r#"
                --- a.txt
                +++ a.txt
                @@ -149998,8 +149998,9 @@
                 line 149996
                 line 149997
                 line 149998
                 line 149999
                -line 150000
                +one
                +two
                 line 150001
                 line 150002
                 line 150003
            "#]],
        );
    }

    #[test]
    fn diffs_are_those_that_people_know() {
        check(Before::Content(Content::Text("same\n")), "same\n", expect![""]);
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
            Before::Content(Content::Bytes(b"1\n2\n3\n4\n5\n6\n7\n8\n")),
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
            Before::Content(Content::Bytes(b"\xff\0\x01\n")),
            "x",
            expect![[r#"
                --- a.txt
                +++ a.txt
                (the present content is not text and is replaced whole; 1 bytes afterwards)
            "#]],
        );
    }
}
