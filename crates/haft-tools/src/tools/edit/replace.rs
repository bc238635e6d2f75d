//! Which places an edit means, and whether that is certain enough to change them.

use std::ops::Range;

use memchr::memmem;

use super::matchers::{MATCHERS, Matcher};

/// Larger texts are searched only for the exact string.
pub(super) const LENIENT_BYTES_MAX: usize = 16 << 20;

/// How many places are to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    One,
    All,
}

/// The places to change, in order, without overlaps.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) matcher: Matcher,
    pub(super) places: Vec<Range<usize>>,
}

/// Why nothing can be changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    Nowhere,
    /// In several places, though one was meant.
    Several(Vec<Range<usize>>),
    /// A lenient matcher found far more than was asked for.
    Oversized,
}

/// Finds what an edit means. The first matcher that finds anything decides: if what it finds is ambiguous, a more
/// lenient one would only guess. The one exception is indentation, which can tell apart what differs only in it.
pub(super) fn find(text: &str, find: &str, extent: Extent) -> Result<Found, Unfound> {
    let is_lenient = text.len() <= LENIENT_BYTES_MAX && !find.trim().is_empty();
    let matchers = if is_lenient { &MATCHERS[..] } else { &MATCHERS[..1] };
    for matcher in matchers {
        let mut places = matcher.places(text, find);
        if places.is_empty() {
            continue;
        }
        if places.iter().any(|place| is_oversized(&text[place.clone()], find)) {
            return Err(Unfound::Oversized);
        }
        let matcher = match matcher {
            Matcher::LineTrimmed if places.len() > 1 && extent == Extent::One => {
                let narrower = Matcher::IndentationFlexible.places(text, find);
                if narrower.len() == 1 {
                    places = narrower;
                    Matcher::IndentationFlexible
                } else {
                    Matcher::LineTrimmed
                }
            }
            matcher => *matcher,
        };
        return match extent {
            Extent::All => Ok(Found { matcher, places: all(text, places) }),
            Extent::One => one(text, matcher, places).map(|place| Found { matcher, places: vec![place] }),
        };
    }
    Err(Unfound::Nowhere)
}

/// Far more than what was looked for must not vanish because its ends look right.
fn is_oversized(found: &str, find: &str) -> bool {
    let (found_lines, find_lines) = (found.split('\n').count(), find.split('\n').count());
    let (found_len, find_len) = (found.trim().len(), find.trim().len());
    found_lines >= (find_lines + 3).max(find_lines * 2)
        || (find_lines > 1 && found_len > (find_len + 500).max(find_len * 4))
}

/// The only place. A text that occurs again elsewhere, as part of a longer line perhaps, is not the only one.
fn one(text: &str, matcher: Matcher, places: Vec<Range<usize>>) -> Result<Range<usize>, Unfound> {
    match <[_; 1]>::try_from(places) {
        Ok([place]) => {
            let found = &text[place.clone()];
            // The exact matcher finds the first, and all that are apart from it: one that overlaps it may be left.
            let is_exact = matcher == Matcher::Simple;
            let end = if is_exact { text.len().min(place.end + found.len()) } else { text.len() };
            let is_first = is_exact || memmem::find(text.as_bytes(), found.as_bytes()) == Some(place.start);
            let after = text.as_bytes().get(place.start + 1..end).unwrap_or_default();
            if is_first && memmem::find(after, found.as_bytes()).is_none() {
                return Ok(place);
            }
            let ends = [text.find(found), text.rfind(found)].into_iter().flatten();
            Err(Unfound::Several(ends.map(|at| at..at + found.len()).collect()))
        }
        Err(several) => Err(Unfound::Several(several)),
    }
}

/// Every place, and every other place where the same text stands.
fn all(text: &str, places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let found = &text[places[0].clone()];
    if places.iter().all(|place| text[place.clone()] == *found) {
        return super::lines::occurrences(text, found);
    }
    let mut end = 0;
    let mut apart = places;
    apart.retain(|place| {
        let is_apart = place.start >= end;
        end = if is_apart { place.end } else { end };
        is_apart
    });
    apart
}
