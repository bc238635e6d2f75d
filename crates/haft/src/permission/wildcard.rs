//! The pattern language of permission rules: `*` is any text, `?` one character, nothing else is special.
//!
//! A pattern matches the whole text, across `/` and newlines; `\` counts as `/`; a pattern that ends in ` *` also
//! matches without that ending (`git *` matches `git`). The pattern is cut at its stars once; the pieces are
//! then searched from left to right and never again, so a rule cannot be made slow by what it is asked about.

use std::borrow::Cow;
use std::fmt;

/// A compiled pattern.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    pieces: Vec<Piece>,
    /// The pieces of the pattern without its ` *` ending, if it has one.
    shorter: Option<Vec<Piece>>,
}

/// What stands between two stars.
#[derive(Clone, PartialEq, Eq)]
struct Piece {
    text: String,
    has_any: bool,
}

impl Pattern {
    /// Compiles a pattern. Every text is a valid one.
    pub fn new(text: &str) -> Pattern {
        let slashed = slashed(text);
        let shorter = slashed.strip_suffix(" *").map(pieces);
        Pattern { text: text.to_owned(), pieces: pieces(&slashed), shorter }
    }

    /// Whether the whole text is matched.
    pub fn matches(&self, text: &str) -> bool {
        let text = slashed(text);
        covers(&self.pieces, &text) || self.shorter.as_ref().is_some_and(|pieces| covers(pieces, &text))
    }

    /// Whether some text that begins like this one might be matched. It may say yes too often, but never no.
    pub fn might_match_after(&self, beginning: &str) -> bool {
        let known = slashed(beginning);
        let fits = |pieces: &[Piece]| {
            let [first, rest @ ..] = pieces else { return false };
            let (mut want, mut got) = (first.text.chars(), known.chars());
            loop {
                match (want.next(), got.next()) {
                    (Some('?'), Some(_)) => {}
                    (Some(want), Some(got)) if want == got => {}
                    (Some(_), Some(_)) => return false,
                    // What is known fits; of the pattern something may be left.
                    (_, None) => return true,
                    // After a star anything may come; a pattern without one has to end here.
                    (None, Some(_)) => return !rest.is_empty(),
                }
            }
        };
        // What follows a final space may be nothing at all, and then the space is not there either.
        let nothing_follows = known.ends_with(' ') && self.matches(known.trim_end_matches(' '));
        nothing_follows || fits(&self.pieces) || self.shorter.as_deref().is_some_and(fits)
    }

    /// Whether something below a directory might be matched, by a pattern that names a directory itself: one that could
    /// match anywhere says nothing of this one. The directory ends in a slash; nothing is where all names begin.
    pub fn might_match_below(&self, directory: &str) -> bool {
        self.directory().is_some() && self.might_match_after(directory)
    }

    /// The directory that everything it matches lies below, with the slash at its end, as far as the pattern names one
    /// before its first wildcard.
    pub fn directory(&self) -> Option<&str> {
        let fixed = self.text.split(['*', '?']).next().unwrap_or_default();
        let (directory, _) = fixed.rsplit_once(['/', '\\'])?;
        (!directory.is_empty()).then(|| &fixed[..=directory.len()])
    }

    /// Whether the pattern is a lone `*`.
    pub fn is_everything(&self) -> bool {
        self.text == "*"
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

fn slashed(text: &str) -> Cow<'_, str> {
    if text.contains('\\') { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    pattern.split('*').map(|text| Piece { text: text.to_owned(), has_any: text.contains('?') }).collect()
}

/// The first piece is anchored at the start, the last at the end; each one between is taken as early as it occurs.
fn covers(pieces: &[Piece], text: &str) -> bool {
    let [first, rest @ ..] = pieces else { return text.is_empty() };
    let Some(mut remaining) = first.strip_from_start(text) else { return false };
    let [between @ .., last] = rest else { return remaining.is_empty() };
    for piece in between {
        match piece.strip_through(remaining) {
            Some(after) => remaining = after,
            None => return false,
        }
    }
    last.ends(remaining)
}

impl Piece {
    fn strip_from_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        if !self.has_any {
            return text.strip_prefix(self.text.as_str());
        }
        let mut rest = text.chars();
        let fits = self.text.chars().all(|want| rest.next().is_some_and(|got| want == '?' || want == got));
        if fits { Some(rest.as_str()) } else { None }
    }

    /// What follows the first occurrence.
    fn strip_through<'t>(&self, text: &'t str) -> Option<&'t str> {
        if !self.has_any {
            return text.find(self.text.as_str()).map(|at| &text[at + self.text.len()..]);
        }
        let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        starts.into_iter().find_map(|at| self.strip_from_start(&text[at..]))
    }

    fn ends(&self, text: &str) -> bool {
        if !self.has_any {
            return text.ends_with(self.text.as_str());
        }
        let mut rest = text.chars().rev();
        self.text.chars().rev().all(|want| rest.next().is_some_and(|got| want == '?' || want == got))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text)
    }

    #[test]
    fn the_language() {
        assert!(matches("*", "") && matches("*", "a/b\nc") && matches("a*c", "abbc"));
        assert!(matches("git *", "git") && matches("git *", "git status") && !matches("git *", "gitk"));
        assert!(
            matches("?", "/") && !matches("?", "") && matches("a?c", "aéc") && matches("*.env?", "x.env1")
        );
        assert!(matches("a\\b", "a/b") && matches("a/b", "a\\b"));
        assert!(
            !matches("a|b", "a")
                && !matches("{a,b}", "a")
                && !matches("[ab]", "a")
                && matches("[ab]", "[ab]")
        );
        assert!(!matches("", "a") && matches("", ""));
    }

    /// The language by its definition: try every length for every star.
    fn obviously(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| obviously(rest, &text[skip..])),
            Some(('?', rest)) => !text.is_empty() && obviously(rest, &text[1..]),
            Some((want, rest)) => text.first() == Some(want) && obviously(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab*? ]{0,8}", text in "[ab ]{0,10}") {
            let definition = |p: &str| obviously(&p.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
            let expected = definition(&pattern) || pattern.strip_suffix(" *").is_some_and(definition);
            prop_assert_eq!(matches(&pattern, &text), expected);
        }
    }

    proptest! {
        #[test]
        fn what_matches_might_have_matched_from_its_beginning(
            pattern in "[ab*? ]{0,8}", text in "[ab ]{0,10}", known in 0..11_usize,
        ) {
            let beginning = &text[..known.min(text.len())];
            prop_assert!(!matches(&pattern, &text) || Pattern::new(&pattern).might_match_after(beginning));
        }
    }

    #[test]
    fn a_beginning_rules_out_what_begins_otherwise() {
        let might = |pattern: &str, text: &str| Pattern::new(pattern).might_match_after(text);
        assert!(
            might("rm -rf *", "rm ") && might("*secret*", "echo ") && might("rm *", "") && might("rm", "rm ")
        );
        assert!(!might("rm *", "echo ") && !might("rmdir *", "rm ") && !might("rm", "rm -r "));
    }

    #[test]
    fn a_pattern_speaks_of_what_is_below_a_directory_only_if_it_names_one() {
        let might = |pattern: &str, directory: &str| Pattern::new(pattern).might_match_below(directory);
        for pattern in ["priv/*", "priv/**", "priv/a/*.key", "priv/a/k", "priv\\a\\k"] {
            assert!(might(pattern, "") && might(pattern, "priv/"), "{pattern}");
            assert!(!might(pattern, "src/") && !might(pattern, "/priv/"), "{pattern}");
        }
        assert!(might("priv/*.key", "priv/a/b/") && !might("priv/a/*", "priv/b/"));
        for pattern in ["*", "*.env", ".env", "priv*", "*/priv/*", "/*", "/x*"] {
            assert!(!might(pattern, "") && !might(pattern, "priv/") && !might(pattern, "/"), "{pattern}");
        }
        assert_eq!(Pattern::new("a/b?/c").directory(), Some("a/"));
        assert_eq!(Pattern::new("/home/me/x*").directory(), Some("/home/me/"));
    }

    #[test]
    fn many_stars_against_a_long_text_are_cheap() {
        let pattern = format!("echo {}b", "*a".repeat(500));
        assert!(!matches(&pattern, &format!("echo {}c", "a".repeat(1_000_000))));
    }
}
