//! Line endings and byte order marks: invisible to the search, and kept.
//!
//! The search sees every line ending as a newline. What is put in takes the endings of what it replaces, line by line
//! where the numbers of lines agree; outside the replaced places not one byte changes.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

const RETURNED: &[u8] = b"\r\n";

/// A text as the search sees it.
pub(super) struct Plain<'a> {
    raw: &'a str,
    text: Cow<'a, str>,
    /// Where in the text the newlines are that had a carriage return before them.
    returns: Vec<usize>,
}

impl<'a> Plain<'a> {
    pub(super) fn new(raw: &'a str) -> Plain<'a> {
        let endings = memmem::find_iter(raw.as_bytes(), RETURNED).enumerate();
        let returns: Vec<usize> = endings.map(|(removed, at)| at - removed).collect();
        let text = if returns.is_empty() { raw.into() } else { newlines(raw) };
        Plain { raw, text, returns }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The raw text with something else in each of the places, which are in order and apart.
    pub(super) fn splice(&self, places: &[Range<usize>], with: &str) -> String {
        let mut spliced = String::with_capacity(self.raw.len() + with.len() * places.len());
        let mut at = 0;
        for place in places {
            let raw = self.raw_offset(place.start)..self.raw_offset(place.end);
            spliced.push_str(&self.raw[at..raw.start]);
            self.push_with_endings(&mut spliced, place, with);
            at = raw.end;
        }
        spliced.push_str(&self.raw[at..]);
        spliced
    }

    fn raw_offset(&self, at: usize) -> usize {
        at + self.returns.partition_point(|newline| *newline < at)
    }

    fn push_with_endings(&self, spliced: &mut String, place: &Range<usize>, with: &str) {
        let own: Vec<bool> = self.text[place.clone()]
            .match_indices('\n')
            .map(|(at, _)| self.has_return(place.start + at))
            .collect();
        let added = with.matches('\n').count();
        let usual = match own.as_slice() {
            [] => self.around(place),
            own => own.iter().filter(|has_return| **has_return).count() * 2 > own.len(),
        };
        for (at, line) in with.split('\n').enumerate() {
            if at > 0 {
                let has_return = if own.len() == added { own[at - 1] } else { usual };
                spliced.push_str(if has_return { "\r\n" } else { "\n" });
            }
            spliced.push_str(line);
        }
    }

    /// Whether the line that a place is in, or else the one before it, ends with a carriage return.
    fn around(&self, place: &Range<usize>) -> bool {
        let after = self.text[place.end..].find('\n').map(|at| place.end + at);
        after.or_else(|| self.text[..place.start].rfind('\n')).is_some_and(|newline| self.has_return(newline))
    }

    fn has_return(&self, newline: usize) -> bool {
        self.returns.binary_search(&newline).is_ok()
    }
}

/// The text with a plain newline for every line ending.
pub(super) fn newlines(text: &str) -> Cow<'_, str> {
    if memmem::find(text.as_bytes(), RETURNED).is_some() {
        text.replace("\r\n", "\n").into()
    } else {
        text.into()
    }
}
