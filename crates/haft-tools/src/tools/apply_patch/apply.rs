//! Making the new text of a file from its old one and the chunks of a patch.
//!
//! Lines that a chunk keeps stay as they are in the file, byte for byte, also where the patch spells them otherwise.
//! Added lines take the line ending of the line they replace, or else of the one before them.

use std::collections::VecDeque;

use super::locate::{Anchor, Fuzz, Locator};
use super::miss::{Attempt, Miss, Missed};
use super::patch::{Chunk, ChunkLine, Mark};
use crate::text::BOM;

/// A text that was changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) text: String,
    /// The most that had to be forgiven to find a chunk.
    pub(crate) fuzz: Fuzz,
    /// The chunks, counted from one, that name a context but no line to keep or remove: what they add went to the end
    /// of the file, not to the context.
    pub(crate) appended: Vec<usize>,
}

/// Applies chunks to a text, each after the one before it. A text that changes ends with a newline.
pub(crate) fn apply(path: &str, old: &str, chunks: &[Chunk]) -> Result<Applied, Miss> {
    if chunks.is_empty() {
        return Ok(Applied { text: old.to_owned(), fuzz: Fuzz::Exact, appended: Vec::new() });
    }
    let bare = old.strip_prefix(BOM).unwrap_or(old);
    let lines = file_lines(bare);
    let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
    let mut locator = Locator::new(&texts);
    let (mut cursor, mut fuzz) = (0, Fuzz::Exact);
    let (mut places, mut ends, mut appended) = (Vec::new(), Vec::new(), Vec::new());
    for (index, chunk) in chunks.iter().enumerate() {
        let located = locate(&mut locator, chunk, &mut cursor)
            .map_err(|missed| Attempt { path, lines: &texts, chunks, index }.missed(&mut locator, missed))?;
        fuzz = fuzz.max(located.fuzz);
        match located.place {
            Some(place) => places.push(place),
            None => {
                appended.extend((!chunk.context.is_empty()).then_some(index + 1));
                ends.extend(chunk.lines.iter().map(|line| &*line.text));
            }
        }
    }
    let mut text = String::with_capacity(old.len());
    text.push_str(&old[..old.len() - bare.len()]);
    let mut at = 0;
    for place in places {
        lines[at..place.at].iter().for_each(|line| line.push_to(&mut text));
        at = place.push_to(&mut text, &lines);
    }
    lines[at..].iter().for_each(|line| line.push_to(&mut text));
    let ending = ending_near(&lines, lines.len());
    ends.into_iter().for_each(|added| push_added(&mut text, added, ending));
    Ok(Applied { text, fuzz, appended })
}

/// A line of the file, and how it ends.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    ending: &'static str,
}

impl Line<'_> {
    fn push_to(&self, text: &mut String) {
        text.push_str(self.text);
        text.push_str(self.ending);
    }
}

/// Writes an added line. A file has one byte order mark, also if the patch repeats it.
fn push_added(text: &mut String, added: &str, ending: &'static str) {
    let is_marked = text.strip_prefix(BOM) == Some("");
    let added = if is_marked { added.strip_prefix(BOM).unwrap_or(added) } else { added };
    Line { text: added, ending }.push_to(text);
}

/// The lines of a file. A last line that has no ending is given the one of the line before it.
fn file_lines(text: &str) -> Vec<Line<'_>> {
    let mut usual = "\n";
    let line = |line| {
        let (text, ending) = match str::strip_suffix(line, '\n') {
            Some(line) => match line.strip_suffix('\r') {
                Some(line) => (line, "\r\n"),
                None => (line, "\n"),
            },
            None => (line, usual),
        };
        usual = ending;
        Line { text, ending }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The ending of the line before a place, or else of the one after it.
fn ending_near(lines: &[Line<'_>], at: usize) -> &'static str {
    lines[..at].last().or(lines.get(at)).map_or("\n", |line| line.ending)
}

struct Located<'a> {
    /// `None` for the end of the file.
    place: Option<Place<'a>>,
    fuzz: Fuzz,
}

/// Where a chunk belongs, and what it does there.
struct Place<'a> {
    at: usize,
    changes: Vec<(Mark, &'a str)>,
}

impl Place<'_> {
    /// Writes the changed lines, and returns the line of the file that comes after them.
    fn push_to(&self, text: &mut String, lines: &[Line<'_>]) -> usize {
        let mut at = self.at;
        let mut removed = VecDeque::new();
        for (mark, added) in &self.changes {
            match mark {
                Mark::Keep => {
                    lines[at].push_to(text);
                    removed.clear();
                    at += 1;
                }
                Mark::Remove => {
                    removed.push_back(lines[at].ending);
                    at += 1;
                }
                Mark::Add => {
                    let ending = removed.pop_front().unwrap_or_else(|| ending_near(lines, at));
                    push_added(text, added, ending);
                }
            }
        }
        at
    }
}

/// Finds a chunk from the cursor on, and moves the cursor past it.
fn locate<'a>(
    locator: &mut Locator<'_>,
    chunk: &'a Chunk,
    cursor: &mut usize,
) -> Result<Located<'a>, Missed> {
    let mut fuzz = Fuzz::Exact;
    let mut header = None;
    for (number, context) in chunk.context.iter().enumerate() {
        let found = locator
            .first(&[context], *cursor, Anchor::Anywhere)
            .ok_or(Missed::Context { number, from: *cursor })?;
        fuzz = fuzz.max(found.fuzz);
        header = Some(found.at);
        *cursor = found.at + 1;
    }
    let changes: Vec<(Mark, &str)> = chunk.lines.iter().map(|line| (line.mark, &*line.text)).collect();
    if !changes.iter().any(|(mark, _)| mark.is_old()) {
        return Ok(Located { place: None, fuzz });
    }
    let anchor = if chunk.is_end_of_file { Anchor::End } else { Anchor::Anywhere };
    let mut place = |changes: Vec<(Mark, &'a str)>| {
        let old: Vec<&str> =
            changes.iter().filter(|(mark, _)| mark.is_old()).map(|(_, text)| *text).collect();
        let found = locator.first(&old, *cursor, anchor);
        // Some repeat the context as the first line of the chunk.
        let found = found.or_else(|| header.and_then(|header| locator.here(&old, header)))?;
        Some((Place { at: found.at, changes }, found.fuzz, old.len()))
    };
    // Empty lines at the end may only part the chunk from what follows it in the patch: one of them, or all.
    let mut shortened = [1, usize::MAX].into_iter().filter_map(|most| without_empty_end(chunk, most));
    let placed = place(changes).or_else(|| shortened.find_map(place));
    let (place, needed, count) = placed.ok_or(Missed::Lines { from: *cursor })?;
    *cursor = place.at + count;
    Ok(Located { place: Some(place), fuzz: fuzz.max(needed) })
}

/// What a chunk does but for so many empty lines at the end of the old lines, and at the end of the new ones; `None` if
/// there is no such line, or nothing else to find.
fn without_empty_end(chunk: &Chunk, most: usize) -> Option<Vec<(Mark, &str)>> {
    let others = chunk.lines.iter().filter(|line| line.mark.is_old()).count().saturating_sub(1);
    let (count, old_end) = empty_end(&chunk.lines, Mark::is_old, most.min(others));
    let (_, new_end) = empty_end(&chunk.lines, Mark::is_new, count);
    let mark = |at: usize, mark: Mark| match mark {
        Mark::Keep if at < old_end => Some(Mark::Keep),
        // It is not in the file, but something is to come after it.
        Mark::Keep => (at < new_end).then_some(Mark::Add),
        Mark::Remove => (at < old_end).then_some(Mark::Remove),
        Mark::Add => (at < new_end).then_some(Mark::Add),
    };
    let lines = chunk.lines.iter().enumerate();
    (count > 0).then(|| lines.filter_map(|(at, line)| Some((mark(at, line.mark)?, &*line.text))).collect())
}

/// How many of the last lines that fit are empty, up to a number, and where the first of them is.
fn empty_end(lines: &[ChunkLine], fits: fn(Mark) -> bool, most: usize) -> (usize, usize) {
    let fitting = lines.iter().enumerate().rev().filter(|(_, line)| fits(line.mark));
    let empty = fitting.take_while(|(_, line)| line.text.trim().is_empty()).take(most);
    empty.fold((0, lines.len()), |(count, _), (at, _)| (count + 1, at))
}

#[cfg(test)]
mod tests;
