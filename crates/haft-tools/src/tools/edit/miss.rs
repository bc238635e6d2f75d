//! Misses that teach: what comes nearest to what was looked for, or where it is if it is in several places.

use std::ops::Range;

use super::lines::wanted;
use crate::text::nearest::{self, shown};

/// So many places are listed.
const PLACES_MAX: usize = 10;

/// Where an ambiguous text is, a line for each place.
pub(super) fn several(text: &str, places: &[Range<usize>]) -> String {
    let mut told = String::new();
    let (mut line, mut at) = (1, 0);
    for place in places.iter().take(PLACES_MAX) {
        line += text[at..place.start].matches('\n').count();
        at = place.start;
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let whole = text[start..].split('\n').next().unwrap_or_default();
        told.push_str(&format!("\n  line {line}: {}", shown(whole)));
    }
    if places.len() > PLACES_MAX {
        told.push_str(&format!("\n  and {} more", places.len() - PLACES_MAX));
    }
    told
}

/// What comes nearest, with line numbers, compared with what was looked for; `None` if nothing comes near.
pub(super) fn nearest(text: &str, find: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    nearest::nearest(&lines, &wanted(find), "oldString")
}
