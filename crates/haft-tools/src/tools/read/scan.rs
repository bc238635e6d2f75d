//! Passing over a text: newlines are found in its bytes, a chunk at a time, and counted into an index on the way.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use super::index::Index;
use crate::blocking::Stop;
use crate::encoding::Newline;

/// A part of a stride, and even, so that no chunk begins inside a unit of UTF-16.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// A place in a text that only moves forward.
pub(super) struct Scanner<'a, R> {
    source: R,
    newline: Newline,
    index: &'a mut Index,
    stop: &'a Stop,
    chunk_bytes: usize,
    chunk: Vec<u8>,
    /// How much of the chunk was passed.
    passed: usize,
    /// Where the chunk ends in the source.
    chunk_end: u64,
    /// How many newlines were passed.
    newlines: u64,
    is_at_line_start: bool,
    has_ended: bool,
    /// How many bytes may still be read.
    allowed: u64,
    is_spent: bool,
    is_index_wrong: bool,
}

impl<'a, R: Read + Seek> Scanner<'a, R> {
    /// Stands at the start of a source. A stride of the index is a multiple of the chunk.
    pub(super) fn new(
        source: R,
        newline: Newline,
        index: &'a mut Index,
        chunk_bytes: usize,
        stop: &'a Stop,
    ) -> Scanner<'a, R> {
        Scanner {
            source,
            newline,
            index,
            stop,
            chunk_bytes,
            chunk: Vec::new(),
            passed: 0,
            chunk_end: 0,
            newlines: 0,
            is_at_line_start: true,
            has_ended: false,
            allowed: 0,
            is_spent: false,
            is_index_wrong: false,
        }
    }

    /// Lets so many more bytes be read, give or take a chunk.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.allowed = bytes;
    }

    /// Whether it stopped because it had gone as far as it may.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Whether the index said something else than the text.
    pub(super) fn is_index_wrong(&self) -> bool {
        self.is_index_wrong
    }

    /// How many lines were passed, with one that has no newline.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(!self.is_at_line_start)
    }

    /// Goes to the start of a line, or to the end if there are fewer.
    pub(super) fn go_to_line(&mut self, line: u64) -> io::Result<()> {
        let target = line - 1;
        self.jump(self.index.before(target))?;
        while self.newlines < target {
            let (newline, missing) = (self.newline, target - self.newlines);
            let rest = self.rest()?;
            if rest.is_empty() {
                break;
            }
            let count = newline.count(rest);
            let found = if count < missing { None } else { newline.ends(rest).nth(missing as usize - 1) };
            match found {
                Some(end) => {
                    self.passed += end;
                    (self.newlines, self.is_at_line_start) = (target, true);
                }
                None => self.pass_all(count),
            }
        }
        Ok(())
    }

    /// Goes to the end and says how many lines there are, as far as that is found out within so many bytes. What is
    /// known of more than half of them is not passed over again, only to know a little more.
    pub(super) fn count_lines(&mut self, bytes_max: u64) -> io::Result<u64> {
        if let Some(total) = self.index.total() {
            return Ok(total);
        }
        let enough = self.chunk_end + bytes_max / 2;
        if let Some((_, newlines)) = self.index.before(u64::MAX).filter(|(offset, _)| *offset > enough) {
            self.is_spent = true;
            return Ok(newlines);
        }
        self.allow(bytes_max);
        self.go_to_line(u64::MAX)?;
        Ok(self.lines())
    }

    /// Takes the start of a line, at most so many bytes, and passes over the rest of it. The newline is taken too if
    /// there is room for it.
    pub(super) fn take_line(&mut self, line: &mut Vec<u8>, bytes_max: usize) -> io::Result<Taken> {
        line.clear();
        let mut is_whole = true;
        let mut is_empty = true;
        loop {
            let newline = self.newline;
            let rest = self.rest()?;
            if rest.is_empty() {
                return Ok(if is_empty { Taken::Nothing } else { Taken::of(is_whole, false) });
            }
            is_empty = false;
            let found = newline.ends(rest).next();
            let part = &rest[..found.unwrap_or(rest.len())];
            let room = part.len().min(bytes_max - line.len());
            is_whole &= room == part.len();
            line.extend_from_slice(&part[..room]);
            match found {
                Some(end) => {
                    self.passed += end;
                    (self.newlines, self.is_at_line_start) = (self.newlines + 1, true);
                    return Ok(Taken::of(is_whole, true));
                }
                None => self.pass_all(0),
            }
        }
    }

    /// Passes over the rest of the chunk.
    fn pass_all(&mut self, newlines: u64) {
        let rest = &self.chunk[self.passed..];
        let tail = &rest[rest.len().saturating_sub(2) / 2 * 2..];
        self.is_at_line_start = self.newline.ends(tail).last() == Some(tail.len());
        self.newlines += newlines;
        self.passed = self.chunk.len();
    }

    /// What was read and not passed; nothing at the end.
    fn rest(&mut self) -> io::Result<&[u8]> {
        if self.passed == self.chunk.len() && !self.has_ended {
            self.read_chunk()?;
        }
        Ok(&self.chunk[self.passed..])
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        if self.stop.is_set() {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        if self.allowed == 0 {
            (self.is_spent, self.has_ended) = (true, true);
            return Ok(());
        }
        let filled = self.fill_chunk()?;
        if filled > 0 {
            self.is_index_wrong |= !self.index.note(self.chunk_end, self.newlines);
        }
        self.passed = 0;
        self.chunk_end += filled as u64;
        self.allowed = self.allowed.saturating_sub(filled as u64);
        if filled == 0 {
            self.has_ended = true;
            self.is_index_wrong |= !self.index.end(self.lines());
        }
        Ok(())
    }

    /// Goes on from a place that the index knows, if that is further on.
    fn jump(&mut self, to: Option<(u64, u64)>) -> io::Result<()> {
        let Some((offset, newlines)) = to.filter(|(offset, _)| *offset > self.chunk_end) else {
            return Ok(());
        };
        self.check_stride(offset, newlines)?;
        self.source.seek(SeekFrom::Start(offset))?;
        self.chunk.clear();
        self.passed = 0;
        // The index knows no place that nothing follows, so this is made true by the next chunk.
        self.is_at_line_start = true;
        (self.chunk_end, self.newlines, self.has_ended) = (offset, newlines, false);
        Ok(())
    }
}

impl<R: Read + Seek> Scanner<'_, R> {
    /// Compares the stride that is jumped to with what is known of it: not every change shows in a file's times.
    fn check_stride(&mut self, offset: u64, newlines: u64) -> io::Result<()> {
        let Some(after) = self.index.after(offset) else { return Ok(()) };
        self.source.seek(SeekFrom::Start(offset))?;
        let mut found = newlines;
        let mut left = self.index.stride_bytes();
        while left > 0 {
            let filled = self.fill_chunk()?;
            if filled == 0 {
                break;
            }
            found += self.newline.count(&self.chunk);
            left = left.saturating_sub(filled as u64);
        }
        self.is_index_wrong |= found != after;
        Ok(())
    }

    /// Fills the chunk, unless the source ends before.
    fn fill_chunk(&mut self) -> io::Result<usize> {
        self.chunk.resize(self.chunk_bytes, 0);
        let mut filled = 0;
        while filled < self.chunk_bytes {
            match self.source.read(&mut self.chunk[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.chunk.truncate(filled);
        Ok(filled)
    }
}

/// What was taken of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// There is no line left.
    Nothing,
    /// All of it and its newline.
    Line,
    /// All of it; the text ends without a newline.
    Last,
    /// Its start.
    Start,
}

impl Taken {
    fn of(is_whole: bool, has_newline: bool) -> Taken {
        match (is_whole, has_newline) {
            (false, _) => Taken::Start,
            (true, true) => Taken::Line,
            (true, false) => Taken::Last,
        }
    }
}
