//! The region of a text that comes nearest to what was looked for, and why it is not the same.
//!
//! It is the one that most lines of what was looked for vote for, each by the line of the text that equals it but for
//! blanks; failing that, the line that shares most words. Both take one pass over the text.

use std::collections::{HashMap, HashSet};

use haft::visible;

/// So many lines of what was looked for are compared and shown.
const SHOWN_LINES_MAX: usize = 24;
/// A line is shown up to so many characters.
const SHOWN_CHARS_MAX: usize = 160;
/// A line that is looked for several times votes at most so often.
const VOTES_MAX: usize = 8;
/// Longer lines say more about where they belong, up to this length.
const WEIGHT_MAX: usize = 40;

/// What comes nearest, with line numbers, compared with what was looked for, which is called
/// so; `None` if nothing comes near.
pub(crate) fn nearest(lines: &[&str], wanted: &[&str], called: &str) -> Option<String> {
    let first = by_lines(lines, wanted).or_else(|| by_words(lines, wanted))?;
    let left_off = wanted.len().saturating_sub(SHOWN_LINES_MAX);
    let wanted = &wanted[..wanted.len() - left_off];
    let first = first.min(lines.len() - 1);
    let region = &lines[first..(first + wanted.len()).min(lines.len())];
    let mut told = format!("the file at line {} (+) and {called} (-):", first + 1);
    for row in compared(region, wanted) {
        told.push_str(&match row {
            Row::Both(at) => format!("\n  {:>6} {}", first + at + 1, shown(region[at])),
            Row::Wanted(at) => format!("\n-        {}", shown(wanted[at])),
            Row::File(at) => format!("\n+ {:>6} {}", first + at + 1, shown(region[at])),
        });
    }
    if left_off > 0 {
        told.push_str(&format!("\n({left_off} further lines of {called} are not compared here)"));
    }
    Some(told)
}

/// The first line of the region that most lines vote for.
fn by_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut sought: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in wanted.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let places = sought.entry(line.trim()).or_default();
        if places.len() < VOTES_MAX {
            places.push(at);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        for before in sought.get(trimmed).into_iter().flatten() {
            *votes.entry(at.saturating_sub(*before)).or_default() += trimmed.len().min(WEIGHT_MAX);
        }
    }
    let best = |(first, weight): &(usize, usize)| (*weight, std::cmp::Reverse(*first));
    let (first, weight) = votes.into_iter().max_by_key(best)?;
    // A lone brace is no sign of anything.
    (weight > 2 || wanted.len() == 1).then_some(first)
}

/// The first line of the region around the line that shares most words with the longest one that is looked for.
fn by_words(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (before, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let sought: HashSet<&str> = words(longest).collect();
    let score = |line: &&str| words(line).filter(|word| sought.contains(word)).map(str::len).sum::<usize>();
    let (at, best) =
        lines.iter().map(score).enumerate().max_by_key(|(at, score)| (*score, std::cmp::Reverse(*at)))?;
    let all: usize = sought.iter().map(|word| word.len()).sum();
    (best > 2 && best * 3 >= all).then(|| at.saturating_sub(before))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

enum Row {
    Both(usize),
    Wanted(usize),
    File(usize),
}

/// The longest common subsequence of the few lines that are shown, as the rows of a diff.
fn compared(region: &[&str], wanted: &[&str]) -> Vec<Row> {
    let mut common = vec![vec![0_usize; region.len() + 1]; wanted.len() + 1];
    for i in (0..wanted.len()).rev() {
        for j in (0..region.len()).rev() {
            common[i][j] = match wanted[i] == region[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut rows = Vec::new();
    while i < wanted.len() || j < region.len() {
        if i < wanted.len() && j < region.len() && wanted[i] == region[j] {
            rows.push(Row::Both(j));
            (i, j) = (i + 1, j + 1);
        } else if j == region.len() || (i < wanted.len() && common[i + 1][j] >= common[i][j + 1]) {
            rows.push(Row::Wanted(i));
            i += 1;
        } else {
            rows.push(Row::File(j));
            j += 1;
        }
    }
    // What follows the last common line in the file has nothing to be compared with.
    let last = rows.iter().rposition(|row| !matches!(row, Row::File(_)));
    if let Some(last) = last
        && matches!(rows[last], Row::Both(_))
    {
        rows.truncate(last + 1);
    }
    rows
}

/// A line as it is shown: made visible, and not too long.
pub(crate) fn shown(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}...", visible(&line[..end])),
        None => visible(line),
    }
}
