//! The engine: ripgrep's matcher and searcher, given readers that stop when told to.

use std::io;
use std::sync::Arc;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch};
use haft::ToolError;

use super::{LINE_CHARS_MAX, Line};
use crate::workspace::{Judged, Lead, Unopened, Watch};

const PATTERN_BYTES_MAX: usize = 64 << 10;
/// A pattern that needs more than this is refused.
const PATTERN_MEMORY_BYTES_MAX: usize = 10 << 20;
/// A file with a longer line is given up.
const LINE_BYTES_MAX: usize = 16 << 20;

/// A compiled pattern. Cloning it is cheap.
#[derive(Clone)]
pub(super) struct Engine {
    pattern: Arc<str>,
    matcher: RegexMatcher,
    ending: LineTerminator,
}

impl Engine {
    pub(super) fn new(pattern: &str) -> Result<Engine, ToolError> {
        if pattern.is_empty() {
            return Err(ToolError::failure("pattern is required"));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            let bytes = pattern.len();
            return Err(ToolError::Failure(format!(
                "the pattern has {bytes} bytes; use a simpler one, of at most {PATTERN_BYTES_MAX}"
            )));
        }
        let mut builder = RegexMatcherBuilder::new();
        // The matcher sees many lines at once: `^` and `$` are about each of them.
        builder
            .multi_line(true)
            .size_limit(PATTERN_MEMORY_BYTES_MAX)
            .dfa_size_limit(PATTERN_MEMORY_BYTES_MAX);
        // `$` matches before either line ending, unless the pattern itself is about carriage returns.
        let ending = if pattern.contains("\\r") || pattern.contains('\r') {
            builder.line_terminator(Some(b'\n'));
            LineTerminator::byte(b'\n')
        } else {
            builder.crlf(true);
            LineTerminator::crlf()
        };
        let matcher = builder.build(pattern).map_err(|error| {
            ToolError::Failure(format!(
                "invalid pattern: {error}\nIt is a regular expression that is matched line by line; put a backslash \
                 before characters that are meant literally."
            ))
        })?;
        Ok(Engine { pattern: pattern.into(), matcher, ending })
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Finds out which files match. To be used by one thread.
    pub(super) fn seeker(&self) -> Seeker {
        Seeker { searcher: self.builder().line_number(false).build(), matcher: self.matcher.clone() }
    }

    /// Finds the lines that match. To be used by one thread.
    pub(super) fn searcher(&self) -> FileSearcher {
        FileSearcher { searcher: self.builder().line_number(true).build(), matcher: self.matcher.clone() }
    }

    fn builder(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(self.ending)
            .binary_detection(BinaryDetection::quit(0))
            // A mapped file that somebody truncates would kill the process.
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LINE_BYTES_MAX));
        builder
    }
}

pub(super) struct Seeker {
    searcher: Searcher,
    matcher: RegexMatcher,
}

impl Seeker {
    /// Whether a file matches.
    pub(super) fn judge(&mut self, file: &Lead<'_>, watch: &Watch) -> Judged {
        let opened = match file.open() {
            Ok(opened) => opened,
            Err(Unopened::Gone) => return Judged::NoMatch,
            Err(Unopened::Unreadable) => return Judged::Unreadable,
        };
        let mut first = First::default();
        // Some file systems say that every file is empty.
        let left = Some(opened.size).filter(|size| *size > 0);
        let watched = Watched { inner: opened.file, left, watch, is_partial: &mut false };
        match self.searcher.search_reader(&self.matcher, watched, &mut first) {
            Err(_) => Judged::Unreadable,
            Ok(()) if first.is_match => Judged::Match,
            Ok(()) if first.is_binary => Judged::Binary,
            Ok(()) => Judged::NoMatch,
        }
    }
}

/// Stops at the first match.
#[derive(Default)]
struct First {
    is_match: bool,
    is_binary: bool,
}

impl Sink for First {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> io::Result<bool> {
        self.is_match = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// What was read of one file.
#[derive(Default)]
pub(super) struct Read {
    pub(super) lines: Vec<Line>,
    pub(super) is_binary: bool,
    pub(super) is_partial: bool,
}

pub(super) struct FileSearcher {
    searcher: Searcher,
    matcher: RegexMatcher,
}

impl FileSearcher {
    /// The first lines that match, at most so many.
    pub(super) fn lines(&mut self, file: impl io::Read, watch: &Watch, lines_max: usize) -> io::Result<Read> {
        let mut sink = Lines { read: Read::default(), lines_max };
        let mut is_partial = false;
        let watched = Watched { inner: file, left: None, watch, is_partial: &mut is_partial };
        self.searcher.search_reader(&self.matcher, watched, &mut sink)?;
        Ok(Read { is_partial, ..sink.read })
    }
}

/// A reader that comes to its end when nobody waits any more.
struct Watched<'a, R> {
    inner: R,
    /// As much as is left to read, where that is known: it saves asking the kernel for the end of each file.
    left: Option<u64>,
    watch: &'a Watch,
    is_partial: &'a mut bool,
}

impl<R: io::Read> io::Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == Some(0) {
            return Ok(0);
        }
        if self.watch.is_over() {
            *self.is_partial = true;
            return Ok(0);
        }
        let read = self.inner.read(buffer)?;
        self.left = self.left.map(|left| left.saturating_sub(read as u64));
        Ok(read)
    }
}

struct Lines {
    read: Read,
    lines_max: usize,
}

impl Sink for Lines {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or(0);
        self.read.lines.push(Line { number, text: cut(found.bytes()) });
        Ok(self.read.lines.len() < self.lines_max)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.read.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// The text of a line, without its ending, and cut where it is too long.
fn cut(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes; one more shows that there are more.
    let head = &line[..line.len().min(4 * (LINE_CHARS_MAX + 1))];
    let text = String::from_utf8_lossy(head);
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.into_owned(),
    }
}
