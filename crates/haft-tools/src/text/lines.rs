//! Texts as lines, and linear searches over them.

use std::ops::Range;

use memchr::memmem;

/// A line without its newline, and where it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) start: usize,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The lines of a text. What follows the last newline is a line too, also if it is empty.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
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
pub(crate) fn wanted(find: &str) -> Vec<&str> {
    find.strip_suffix('\n').unwrap_or(find).split('\n').collect()
}

/// The span of so many lines from the first one, without the last newline.
pub(crate) fn span(lines: &[Line<'_>], first: usize, count: usize) -> Range<usize> {
    lines[first].start..lines[first + count - 1].end()
}

/// Where a sequence occurs in another, overlaps included, in linear time (Knuth, Morris, Pratt).
pub(crate) fn sequences<T: PartialEq>(all: &[T], wanted: &[T]) -> impl Iterator<Item = usize> {
    let is_possible = !wanted.is_empty() && wanted.len() <= all.len();
    let fallback = if is_possible { fallbacks(wanted) } else { Vec::new() };
    let searched = if is_possible { all } else { &[] };
    let mut matched = 0;
    searched.iter().enumerate().filter_map(move |(at, item)| {
        while matched > 0 && (matched == wanted.len() || *item != wanted[matched]) {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*item == wanted[matched]);
        (matched == wanted.len()).then(|| at + 1 - matched)
    })
}

/// For each part that a sequence begins with, the length of its longest end that the sequence begins with too.
fn fallbacks<T: PartialEq>(wanted: &[T]) -> Vec<usize> {
    let mut fallback = vec![0; wanted.len()];
    for at in 1..wanted.len() {
        let mut matched = fallback[at - 1];
        while matched > 0 && wanted[at] != wanted[matched] {
            matched = fallback[matched - 1];
        }
        fallback[at] = matched + usize::from(wanted[at] == wanted[matched]);
    }
    fallback
}

/// Where a text occurs, left to right, without overlaps.
pub(crate) fn occurrences(text: &str, find: &str) -> Vec<Range<usize>> {
    if find.is_empty() {
        return Vec::new();
    }
    memmem::find_iter(text.as_bytes(), find).map(|at| at..at + find.len()).collect()
}
