//! Where lines are in a file: exactly, or at one of three levels that forgive more and more.
//!
//! A level sees each line in its own way and numbers the lines that it sees alike, once per file; a search then
//! compares numbers. A line that is nowhere from the start of the search on ends it before it begins.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::text::BOM;
use crate::text::lines::sequences;

/// How much had to be forgiven, in the order in which it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fuzz {
    Exact,
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// Blanks on both sides of lines.
    Blanks,
    /// Typographic punctuation and spaces too.
    Punctuation,
}

const LEVELS: [Fuzz; 4] = [Fuzz::Exact, Fuzz::TrailingBlanks, Fuzz::Blanks, Fuzz::Punctuation];

impl Fuzz {
    /// What was forgiven, in words for the model; `None` if nothing was.
    #[allow(dead_code, reason = "for the executor")]
    pub(crate) fn forgiven(self) -> Option<&'static str> {
        match self {
            Fuzz::Exact => None,
            Fuzz::TrailingBlanks => Some("blanks at the ends of lines"),
            Fuzz::Blanks => Some("indentation and blanks at the ends of lines"),
            Fuzz::Punctuation => Some("blanks, and typographic quotes, dashes and spaces"),
        }
    }

    /// A line as this level sees it.
    fn seen(self, line: &str) -> Cow<'_, str> {
        // A mark is no blank to Rust, but as invisible as one.
        let is_blank = |c: char| c.is_whitespace() || c == BOM;
        match self {
            Fuzz::Exact => line.into(),
            Fuzz::TrailingBlanks => line.trim_end_matches(is_blank).into(),
            Fuzz::Blanks => line.trim_matches(is_blank).into(),
            Fuzz::Punctuation => plain(line.trim_matches(is_blank)),
        }
    }
}

/// Where to look first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Anywhere,
    /// The end of the file.
    End,
}

/// A sequence of lines that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) at: usize,
    pub(super) fuzz: Fuzz,
}

/// Finds lines in a file.
pub(super) struct Locator<'a> {
    lines: &'a [&'a str],
    levels: [Option<Level<'a>>; LEVELS.len()],
}

impl<'a> Locator<'a> {
    pub(super) fn new(lines: &'a [&'a str]) -> Locator<'a> {
        Locator { lines, levels: [const { None }; LEVELS.len()] }
    }

    /// The first place of a sequence from a line on. Each level searches the whole rest before the next one may.
    pub(super) fn first(&mut self, wanted: &[&str], from: usize, anchor: Anchor) -> Option<Found> {
        let tail = self.lines.len().checked_sub(wanted.len()).filter(|tail| *tail >= from);
        self.search(wanted, from, |numbers, sought| {
            let is_tail = |tail: &usize| anchor == Anchor::End && numbers[*tail..] == *sought;
            tail.filter(is_tail).or_else(|| sequences(&numbers[from..], sought).next().map(|at| from + at))
        })
    }

    /// The sequence at exactly this line.
    pub(super) fn here(&mut self, wanted: &[&str], at: usize) -> Option<Found> {
        let span = at..at + wanted.len();
        self.search(wanted, at, |numbers, sought| (numbers.get(span.clone())? == sought).then_some(at))
    }

    fn search(
        &mut self,
        wanted: &[&str],
        from: usize,
        find: impl Fn(&[u32], &[u32]) -> Option<usize>,
    ) -> Option<Found> {
        if wanted.is_empty() {
            return None;
        }
        LEVELS.into_iter().zip(&mut self.levels).find_map(|(fuzz, level)| {
            let level = level.get_or_insert_with(|| Level::new(self.lines, fuzz));
            let sought = level.sought(wanted, from, fuzz)?;
            find(&level.numbers, &sought).map(|at| Found { at, fuzz })
        })
    }
}

struct Level<'a> {
    /// The number of each line of the file.
    numbers: Vec<u32>,
    number_of: HashMap<Cow<'a, str>, u32>,
    /// The last line of each number.
    last: Vec<usize>,
}

impl<'a> Level<'a> {
    fn new(lines: &[&'a str], fuzz: Fuzz) -> Level<'a> {
        let mut level =
            Level { numbers: Vec::with_capacity(lines.len()), number_of: HashMap::new(), last: Vec::new() };
        for (at, line) in lines.iter().enumerate() {
            let next = level.last.len() as u32;
            let number = *level.number_of.entry(fuzz.seen(line)).or_insert(next);
            match level.last.get_mut(number as usize) {
                Some(last) => *last = at,
                None => level.last.push(at),
            }
            level.numbers.push(number);
        }
        level
    }

    /// The numbers of lines that are looked for; `None` if one of them does not come any more.
    fn sought(&self, wanted: &[&str], from: usize, fuzz: Fuzz) -> Option<Vec<u32>> {
        let number = |line: &&str| {
            let number = *self.number_of.get(&fuzz.seen(line))?;
            (self.last[number as usize] >= from).then_some(number)
        };
        wanted.iter().map(number).collect()
    }
}

/// The text with plain punctuation for what typography made of it.
fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{2018}'..='\u{201b}' => plain.push('\''),
            '\u{201c}'..='\u{201f}' => plain.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            '\u{2026}' => plain.push_str("..."),
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain.into()
}
