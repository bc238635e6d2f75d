//! Texts as lines, and linear searches over them.

use std::ops::Range;

/// A line without its newline, and where it starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Line<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The lines of a text. What follows the last newline is a line too, also if it is empty.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let line = |text: &'_ str| {
        let at = start;
        start += text.len() + 1;
        (at, text.len())
    };
    let bounds: Vec<(usize, usize)> = text.split('\n').map(line).collect();
    bounds.into_iter().map(|(start, len)| Line { start, text: &text[start..start + len] }).collect()
}

/// The lines that are looked for; a newline at the end opens no further line.
pub(super) fn wanted(find: &str) -> Vec<&str> {
    find.strip_suffix('\n').unwrap_or(find).split('\n').collect()
}

/// The span of so many lines from the first one, without the last newline.
pub(super) fn span(lines: &[Line<'_>], first: usize, count: usize) -> Range<usize> {
    lines[first].start..lines[first + count - 1].end()
}

/// Where a sequence occurs in another, overlaps included, in linear time (Knuth, Morris, Pratt).
pub(super) fn sequences<T: PartialEq>(all: &[T], wanted: &[T]) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > all.len() {
        return Vec::new();
    }
    let mut fallback = vec![0; wanted.len()];
    for at in 1..wanted.len() {
        let mut matched = fallback[at - 1];
        while matched > 0 && wanted[at] != wanted[matched] {
            matched = fallback[matched - 1];
        }
        fallback[at] = matched + usize::from(wanted[at] == wanted[matched]);
    }
    let (mut found, mut matched) = (Vec::new(), 0);
    for (at, item) in all.iter().enumerate() {
        while matched > 0 && (matched == wanted.len() || *item != wanted[matched]) {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*item == wanted[matched]);
        if matched == wanted.len() {
            found.push(at + 1 - matched);
        }
    }
    found
}

/// Where a text occurs, left to right, without overlaps.
pub(super) fn occurrences(text: &str, find: &str) -> Vec<Range<usize>> {
    if find.is_empty() {
        return Vec::new();
    }
    text.match_indices(find).map(|(at, found)| at..at + found.len()).collect()
}
