//! Misses that teach: which chunk was not found, and what the file has instead.

use super::error::UNVERIFIED;
use super::locate::{Anchor, Fuzz, Locator};
use super::patch::{CHUNK, Chunk, MARKER, Mark};
use crate::text::nearest::{nearest, shown};

/// So many of the lines that were expected are repeated.
const EXPECTED_LINES_MAX: usize = 12;
/// In larger files nothing near is looked for.
const NEAREST_BYTES_MAX: usize = 16 << 20;

/// A chunk that was not found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    /// What was not found, in words of the patch alone.
    pub(crate) message: String,
    /// What the file has instead, for those who may read it; it goes after the message.
    pub(crate) shown: String,
}

/// What of a chunk was not found from a line of the file on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missed {
    Context { number: usize, from: usize },
    Lines { from: usize },
}

/// A chunk of a patch for a file.
pub(super) struct Attempt<'a> {
    pub(super) path: &'a str,
    pub(super) lines: &'a [&'a str],
    pub(super) chunks: &'a [Chunk],
    pub(super) index: usize,
}

impl<'a> Attempt<'a> {
    /// Explains why the chunk was not found.
    pub(super) fn missed(&self, locator: &mut Locator<'_>, missed: Missed) -> Miss {
        let (message, found) = match missed {
            Missed::Context { number, from } => {
                let context = &*self.chunk().context[number];
                (self.context_message(context), self.near_context(locator, context, from))
            }
            Missed::Lines { from } => (self.lines_message(), self.near_lines(locator, from)),
        };
        let found =
            found.unwrap_or_else(|| "Nothing in the file comes near it; read the file again.".to_owned());
        Miss { message: format!("{UNVERIFIED}{message}"), shown: format!("\n\n{found}") }
    }

    fn chunk(&self) -> &'a Chunk {
        &self.chunks[self.index]
    }

    fn lines_of(&self, fits: fn(Mark) -> bool) -> Vec<&'a str> {
        self.chunk().lines.iter().filter(|line| fits(line.mark)).map(|line| &*line.text).collect()
    }

    fn hunk(&self) -> String {
        format!(
            "hunk {} of {}, at line {} of the patch",
            self.index + 1,
            self.chunks.len(),
            self.chunk().line
        )
    }

    fn context_message(&self, context: &str) -> String {
        let mut told =
            format!("Failed to find context '{}' in {}\n({})", shown(context), self.path, self.hunk());
        if context.starts_with('-') && context.contains(" +") && context.contains(CHUNK) {
            told.push_str("\nThat is a range of line numbers; write `@@` alone, or `@@ ` and a line of the file that stands before the hunk.");
        }
        told
    }

    fn lines_message(&self) -> String {
        let old = self.lines_of(Mark::is_old);
        let mut told = format!("Failed to find expected lines in {}:", self.path);
        for line in old.iter().take(EXPECTED_LINES_MAX) {
            told.push('\n');
            told.push_str(&shown(line));
        }
        if old.len() > EXPECTED_LINES_MAX {
            told.push_str(&format!("\n... and {} more lines", old.len() - EXPECTED_LINES_MAX));
        }
        told.push_str(&format!("\n({})", self.hunk()));
        if old.iter().any(|line| line.trim_start().starts_with(MARKER)) {
            told.push_str("\nA line that begins with a blank is a line of the file; if it is meant for the patch, as `***` is, it must not be indented.");
        }
        told
    }

    fn near_context(&self, locator: &mut Locator<'_>, context: &str, from: usize) -> Option<String> {
        let below = |locator: &mut Locator<'_>| {
            let found = locator.first(&self.lines_of(Mark::is_old), from, Anchor::Anywhere)?;
            Some(format!(
                "The lines of the hunk are at line {} all the same: write `@@` alone, or a line that stands before them.",
                found.at + 1
            ))
        };
        self.too_early(locator, &[context], from)
            .or_else(|| below(locator))
            .or_else(|| self.nearest(&[context], "the context"))
    }

    fn near_lines(&self, locator: &mut Locator<'_>, from: usize) -> Option<String> {
        let old = self.lines_of(Mark::is_old);
        self.too_early(locator, &old, from)
            .or_else(|| self.already_there(locator))
            .or_else(|| self.nearest(&old, "the hunk"))
    }

    /// What is looked for is there, but before the place where looking began.
    fn too_early(&self, locator: &mut Locator<'_>, wanted: &[&str], from: usize) -> Option<String> {
        let found = locator.first(wanted, 0, Anchor::Anywhere).filter(|found| found.at < from)?;
        Some(format!(
            "It is at line {} of the file, but was looked for after line {from}, where what comes before it in the patch ends. Write hunks in the order of the file.",
            found.at + 1
        ))
    }

    fn already_there(&self, locator: &mut Locator<'_>) -> Option<String> {
        let is_telling = |line: &&str| line.chars().any(char::is_alphanumeric);
        self.lines_of(|mark| mark == Mark::Add).iter().find(|line| is_telling(line))?;
        let found = locator.first(&self.lines_of(Mark::is_new), 0, Anchor::Anywhere)?;
        (found.fuzz <= Fuzz::TrailingBlanks).then(|| {
            format!(
                "The file already has at line {} what the hunk would make of it; if nothing else is to change, leave the hunk out.",
                found.at + 1
            )
        })
    }

    fn nearest(&self, wanted: &[&str], called: &str) -> Option<String> {
        let bytes: usize = self.lines.iter().map(|line| line.len() + 1).sum();
        let near = (bytes <= NEAREST_BYTES_MAX).then(|| nearest(self.lines, wanted, called)).flatten()?;
        Some(format!("This comes nearest, {near}"))
    }
}
