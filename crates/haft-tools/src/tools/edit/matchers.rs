//! The nine matchers: where a text may have been meant. Each is a pure function from a text and what is looked for
//! to the places it finds. They are tried in this order, from the strictest to the most lenient.
//!
//! Lines are compared by hash or in linear time, and what cannot be is counted against a budget: a matcher that runs
//! out of it finds nothing, because half a search is a guess.

use std::borrow::Cow;
use std::ops::Range;

use super::anchors;
use super::lines::{Line, lines, occurrences, sequences, span, wanted};

/// How a place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matcher {
    Simple,
    LineTrimmed,
    BlockAnchor,
    WhitespaceNormalized,
    IndentationFlexible,
    EscapeNormalized,
    TrimmedBoundary,
    ContextAware,
    MultiOccurrence,
}

/// In the order in which they are tried.
pub(super) const MATCHERS: [Matcher; 9] = [
    Matcher::Simple,
    Matcher::LineTrimmed,
    Matcher::BlockAnchor,
    Matcher::WhitespaceNormalized,
    Matcher::IndentationFlexible,
    Matcher::EscapeNormalized,
    Matcher::TrimmedBoundary,
    Matcher::ContextAware,
    Matcher::MultiOccurrence,
];

impl Matcher {
    pub(super) fn name(self) -> &'static str {
        match self {
            Matcher::Simple => "Simple",
            Matcher::LineTrimmed => "LineTrimmed",
            Matcher::BlockAnchor => "BlockAnchor",
            Matcher::WhitespaceNormalized => "WhitespaceNormalized",
            Matcher::IndentationFlexible => "IndentationFlexible",
            Matcher::EscapeNormalized => "EscapeNormalized",
            Matcher::TrimmedBoundary => "TrimmedBoundary",
            Matcher::ContextAware => "ContextAware",
            Matcher::MultiOccurrence => "MultiOccurrence",
        }
    }

    /// The places it finds, in the order of the text.
    pub(super) fn places(self, text: &str, find: &str) -> Vec<Range<usize>> {
        match self {
            Matcher::Simple | Matcher::MultiOccurrence => occurrences(text, find),
            Matcher::LineTrimmed => line_trimmed(text, find),
            Matcher::BlockAnchor => anchors::most_similar(&lines(text), &wanted(find)),
            Matcher::WhitespaceNormalized => whitespace_normalized(text, find),
            Matcher::IndentationFlexible => indentation_flexible(text, find),
            Matcher::EscapeNormalized => escape_normalized(text, find),
            Matcher::TrimmedBoundary => trimmed_boundary(text, find),
            Matcher::ContextAware => anchors::half_equal(&lines(text), &wanted(find)),
        }
    }
}

/// Every line is equal but for the blanks around it.
fn line_trimmed(text: &str, find: &str) -> Vec<Range<usize>> {
    let (lines, wanted) = (lines(text), wanted(find));
    let trimmed: Vec<&str> = lines.iter().map(|line| line.text.trim()).collect();
    let sought: Vec<&str> = wanted.iter().map(|line| line.trim()).collect();
    sequences(&trimmed, &sought).map(|first| span(&lines, first, sought.len())).collect()
}

/// The words are equal, whatever lies between them: of a part of one line, or of whole lines.
fn whitespace_normalized(text: &str, find: &str) -> Vec<Range<usize>> {
    let words: Vec<&str> = find.split_whitespace().collect();
    let Some(first) = words.first() else { return Vec::new() };
    let lines = lines(text);
    let mut places: Vec<Range<usize>> = lines
        .iter()
        .filter(|line| line.text.contains(first))
        .filter_map(|line| match line.text.split_whitespace().eq(words.iter().copied()) {
            true => Some(line.start..line.end()),
            false => words_within(line, &words),
        })
        .collect();
    if find.contains('\n') {
        places.extend(words_of_lines(&lines, &words, find.split('\n').count()));
        places.sort_by_key(|place| place.start);
    }
    places
}

/// The words one after another, with blanks between them, within one line.
fn words_within(line: &Line<'_>, words: &[&str]) -> Option<Range<usize>> {
    let (first, others) = words.split_first()?;
    let follow = |mut at: usize| {
        for word in others {
            let rest = &line.text[at..];
            let begin = rest.trim_start();
            if begin.len() == rest.len() || !begin.starts_with(word) {
                return None;
            }
            at = line.text.len() - begin.len() + word.len();
        }
        Some(at)
    };
    line.text.match_indices(first).find_map(|(at, _)| {
        let end = follow(at + first.len())?;
        Some(line.start + at..line.start + end)
    })
}

/// The words as all there is on at least two lines, and at most as many as were asked for.
fn words_of_lines(lines: &[Line<'_>], words: &[&str], count: usize) -> Vec<Range<usize>> {
    let all: Vec<(&str, usize)> = lines
        .iter()
        .enumerate()
        .flat_map(|(at, line)| line.text.split_whitespace().map(move |word| (word, at)))
        .collect();
    let texts: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
    let is_whole = |first: usize| {
        let last = first + words.len() - 1;
        let (top, bottom) = (all[first].1, all[last].1);
        let starts = first == 0 || all[first - 1].1 < top;
        let ends = last + 1 == all.len() || all[last + 1].1 > bottom;
        (starts && ends && top < bottom && bottom - top < count)
            .then(|| lines[top].start..lines[bottom].end())
    };
    sequences(&texts, words).filter_map(is_whole).collect()
}

/// Every line is equal once the indentation that all lines share is taken away.
fn indentation_flexible(text: &str, find: &str) -> Vec<Range<usize>> {
    let (lines, wanted) = (lines(text), wanted(find));
    let sought = dedented(&wanted);
    // Lines that are equal when dedented are equal when trimmed, and those are found in linear time.
    let is_equal = |place: &Range<usize>| {
        let block: Vec<&str> = text[place.clone()].split('\n').collect();
        dedented(&block) == sought
    };
    let trimmed: Vec<&str> = lines.iter().map(|line| line.text.trim()).collect();
    let sought_trimmed: Vec<&str> = wanted.iter().map(|line| line.trim()).collect();
    let candidates = sequences(&trimmed, &sought_trimmed);
    candidates.map(|first| span(&lines, first, wanted.len())).filter(is_equal).collect()
}

fn dedented<'a>(block: &[&'a str]) -> Vec<&'a str> {
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let least =
        block.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min().unwrap_or(0);
    let dedent = |line: &&'a str| match line.trim().is_empty() {
        true => *line,
        false => line.get(least..).unwrap_or(line),
    };
    block.iter().map(dedent).collect()
}

/// Escapes were written for what they stand for, or the file has escapes where the text itself was written.
fn escape_normalized(text: &str, find: &str) -> Vec<Range<usize>> {
    let sought = unescaped(find);
    let plain = occurrences(text, &sought);
    if !plain.is_empty() || !text.contains('\\') {
        return plain;
    }
    let lines = lines(text);
    let count = sought.split('\n').count();
    let escaped: Vec<Cow<'_, str>> = lines.iter().map(|line| unescaped(line.text)).collect();
    let is_equal = |first: &usize| {
        let Some(block) = escaped.get(*first..first + count) else { return false };
        let mut rest = &*sought;
        for (at, line) in block.iter().enumerate() {
            let begin = if at == 0 { Some(rest) } else { rest.strip_prefix('\n') };
            match begin.and_then(|begin| begin.strip_prefix(&**line)) {
                Some(left) => rest = left,
                None => return false,
            }
        }
        rest.is_empty()
    };
    (0..lines.len()).filter(is_equal).map(|first| span(&lines, first, count)).collect()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = chars.clone().next();
        plain.push(match (c, next) {
            ('\\', Some('n' | '\n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('r')) => '\r',
            ('\\', Some(itself @ ('\'' | '"' | '`' | '\\' | '$'))) => itself,
            (c, _) => {
                plain.push(c);
                continue;
            }
        });
        chars.next();
    }
    plain.into()
}

/// Blanks around what is looked for are forgiven.
fn trimmed_boundary(text: &str, find: &str) -> Vec<Range<usize>> {
    let trimmed = find.trim();
    if trimmed == find { Vec::new() } else { occurrences(text, trimmed) }
}
