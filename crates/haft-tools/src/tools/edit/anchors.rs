//! Blocks that are found by their first and last lines.

use std::ops::Range;

use super::lines::{Line, span};

/// A block has a first line, a last line, and something between them.
const BLOCK_LINES_MIN: usize = 3;
/// How similar the lines between the anchors have to be on average.
const SIMILARITY_MIN: f64 = 0.65;
/// So many cells of distance tables are computed before a search is given up.
const CELLS_MAX: usize = 20_000_000;
/// So many pairs of lines are compared before a search is given up.
const PAIRS_MAX: usize = 2_000_000;
/// Places whose similarities are closer than this are equally good.
const TIE: f64 = 1e-9;

/// The anchored block whose inner lines are most similar; all of them, if several are equally so.
pub(super) fn most_similar(lines: &[Line<'_>], wanted: &[&str]) -> Vec<Range<usize>> {
    let slack = (wanted.len() / 4).max(1);
    let fits = |&(_, count): &(usize, usize)| count.abs_diff(wanted.len()) <= slack;
    let mut budget = CELLS_MAX;
    let mut best: Vec<(usize, usize)> = Vec::new();
    let mut best_similarity = SIMILARITY_MIN;
    for (first, count) in anchored(lines, wanted).into_iter().filter(fits) {
        let Some(similarity) = similarity(&lines[first..first + count], wanted, &mut budget) else {
            return Vec::new();
        };
        if similarity > best_similarity + TIE {
            best.clear();
            best_similarity = similarity;
        }
        if similarity + TIE >= best_similarity {
            best.push((first, count));
        }
    }
    best.into_iter().map(|(first, count)| span(lines, first, count)).collect()
}

/// The anchored blocks of the same length of whose inner lines at least half are equal.
pub(super) fn half_equal(lines: &[Line<'_>], wanted: &[&str]) -> Vec<Range<usize>> {
    let blocks: Vec<_> =
        anchored(lines, wanted).into_iter().filter(|(_, count)| *count == wanted.len()).collect();
    if blocks.len().saturating_mul(wanted.len()) > PAIRS_MAX {
        return Vec::new();
    }
    let is_like = |&(first, count): &(usize, usize)| {
        let inner = lines[first + 1..first + count - 1].iter().zip(&wanted[1..wanted.len() - 1]);
        let (mut all, mut equal) = (0, 0);
        for (line, sought) in inner {
            let (line, sought) = (line.text.trim(), sought.trim());
            all += usize::from(!line.is_empty() || !sought.is_empty());
            equal += usize::from(!line.is_empty() && line == sought);
        }
        equal * 2 >= all
    };
    blocks.into_iter().filter(is_like).map(|(first, count)| span(lines, first, count)).collect()
}

/// The blocks from a line like the first one to the next line like the last one, as first line and number of lines.
fn anchored(lines: &[Line<'_>], wanted: &[&str]) -> Vec<(usize, usize)> {
    let (Some(top), Some(bottom)) = (wanted.first(), wanted.last()) else { return Vec::new() };
    if wanted.len() < BLOCK_LINES_MIN {
        return Vec::new();
    }
    let (top, bottom) = (top.trim(), bottom.trim());
    let mut blocks = Vec::new();
    let mut last = None;
    // From below, so that the nearest last line is always the one met most recently.
    for first in (0..lines.len().saturating_sub(2)).rev() {
        if lines[first + 2].text.trim() == bottom {
            last = Some(first + 2);
        }
        if let Some(last) = last
            && lines[first].text.trim() == top
        {
            blocks.push((first, last + 1 - first));
        }
    }
    blocks.reverse();
    blocks
}

/// How similar the inner lines are on average; `None` when the budget is spent.
fn similarity(block: &[Line<'_>], wanted: &[&str], budget: &mut usize) -> Option<f64> {
    let inner = block.len().min(wanted.len()) - 2;
    let mut sum = 0.0;
    for (line, sought) in block[1..=inner].iter().zip(&wanted[1..=inner]) {
        let line: Vec<u16> = line.text.trim().encode_utf16().collect();
        let sought: Vec<u16> = sought.trim().encode_utf16().collect();
        let longest = line.len().max(sought.len());
        if longest > 0 {
            sum += 1.0 - distance(&line, &sought, budget)? as f64 / longest as f64;
        }
    }
    Some(sum / inner as f64)
}

/// The Levenshtein distance; what both have in common at the ends costs nothing.
fn distance(mut a: &[u16], mut b: &[u16], budget: &mut usize) -> Option<usize> {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b)
        && x == y
    {
        (a, b) = (a_rest, b_rest);
    }
    while let ([a_rest @ .., x], [b_rest @ .., y]) = (a, b)
        && x == y
    {
        (a, b) = (a_rest, b_rest);
    }
    *budget = budget.checked_sub(a.len().saturating_mul(b.len()))?;
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied()
}
