//! Reading a patch, in one pass over its text.
//!
//! What stands before and after the markers is ignored, so that a patch may come in a here-document or a fence.
//! Between them nothing is: a line that was not understood might have been meant.

use std::iter::Peekable;

use super::error::PatchError;
use super::patch::{
    ADD, BEGIN, CHUNK, Chunk, ChunkLine, DELETE, END, END_OF_FILE, FilePatch, MARKER, MOVE, Mark, Patch,
    UPDATE,
};
use crate::text::nearest::shown;

const SECTIONS: &str =
    "Expected `*** Add File: `, `*** Update File: ` or `*** Delete File: ` and a path, or `*** End Patch`";
const STRAY_MOVE: &str = "`*** Move to: ` belongs on the line after `*** Update File: `";
const STRAY_END_OF_FILE: &str = "`*** End of File` belongs after the last line of an `@@` chunk";
const UNMARKED: &str = "A line of a chunk begins with a space (keep), `-` (remove) or `+` (add): put one of them before the line";
const AFTER_END_OF_FILE: &str = "After `*** End of File` comes `@@` or the next `***` line";

/// What `diff` says about a file that does not end with a newline; here every file ends with one.
const NO_NEWLINE: &str = "\\ No newline";

const QUOTES: [char; 2] = ['"', '\''];

/// Reads a patch.
pub(crate) fn parse(text: &str) -> Result<Patch, PatchError> {
    let body = body(text)?;
    let mut reader = Reader { lines: body.lines().peekable() };
    let mut files = Vec::new();
    while let Some((line, header)) = reader.next_filled() {
        files.push(reader.file(line, header.trim())?);
    }
    if files.is_empty() { Err(PatchError::Empty) } else { Ok(Patch { files }) }
}

/// What is between the markers.
struct Body<'a> {
    text: &'a str,
    /// The number of its first line.
    first: usize,
}

impl<'a> Body<'a> {
    /// The lines with their numbers. A carriage return at the end is part of a line.
    fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        // What follows the last newline is where the end marker was.
        (self.first..)
            .zip(self.text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)))
    }
}

fn body(text: &str) -> Result<Body<'_>, PatchError> {
    if text.trim().is_empty() {
        return Err(PatchError::Missing);
    }
    let mut begin: Option<(usize, usize)> = None;
    // An indented end may be a line that a chunk keeps; the last of them counts if no other does.
    let (mut end, mut lenient_end) = (None, None);
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let start = at;
        at += line.len();
        if is_begin(line) {
            match (begin, end) {
                (None, _) => begin = Some((number, at)),
                (Some(_), Some(_)) => return Err(PatchError::SecondPatch { line: number }),
                // A line that a chunk keeps, or one that will not be understood.
                (Some(_), None) => {}
            }
        } else if begin.is_some() && end.is_none() {
            if line.trim_end() == END {
                end = Some(start);
            } else if is_end(line) {
                lenient_end = Some(start);
            }
        }
    }
    let (begin, start) = begin.ok_or(PatchError::NoBegin)?;
    let end = end.or(lenient_end).ok_or(PatchError::NoEnd { begin })?;
    Ok(Body { text: &text[start..end], first: begin + 1 })
}

/// Whether a patch begins after this line: alone, or after the quote that opens an argument of a command.
fn is_begin(line: &str) -> bool {
    let before = line.trim_end().strip_suffix(BEGIN);
    before.is_some_and(|before| before.trim().is_empty() || before.ends_with(QUOTES))
}

fn is_end(line: &str) -> bool {
    line.trim().trim_end_matches(QUOTES) == END
}

struct Reader<I: Iterator> {
    lines: Peekable<I>,
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Reader<I> {
    /// The next line that is not blank.
    fn next_filled(&mut self) -> Option<(usize, &'a str)> {
        self.lines.find(|(_, line)| !line.trim().is_empty())
    }

    fn next_if(&mut self, fits: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        self.lines.next_if(|(_, line)| fits(line))
    }

    fn file(&mut self, line: usize, header: &'a str) -> Result<FilePatch, PatchError> {
        if let Some(path) = header.strip_prefix(ADD) {
            self.add(path_of(path, "add", line)?, line)
        } else if let Some(path) = header.strip_prefix(DELETE) {
            Ok(FilePatch::Delete { path: path_of(path, "delete", line)?, line })
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            self.update(path_of(path, "update", line)?, line)
        } else {
            let hint = if header.starts_with(MOVE) {
                STRAY_MOVE
            } else if header == END_OF_FILE {
                STRAY_END_OF_FILE
            } else {
                SECTIONS
            };
            Err(PatchError::Line { line, text: shown(header), hint })
        }
    }

    fn add(&mut self, path: String, line: usize) -> Result<FilePatch, PatchError> {
        let mut text = String::new();
        // Empty lines without a mark belong to the file if more of it follows, and else only part the sections.
        let mut unmarked = String::new();
        while let Some((number, line)) = self.next_if(|line| !line.trim_start().starts_with(MARKER)) {
            if let Some(added) = line.strip_prefix('+') {
                text.push_str(&unmarked);
                unmarked.clear();
                text.push_str(added);
                text.push('\n');
            } else if line.trim().is_empty() {
                unmarked.push_str(if line.ends_with('\r') { "\r\n" } else { "\n" });
            } else {
                return Err(PatchError::AddLine { path: shown(&path), line: number, text: shown(line) });
            }
        }
        self.next_if(|line| line.trim() == END_OF_FILE);
        Ok(FilePatch::Add { path, text, line })
    }

    fn update(&mut self, path: String, line: usize) -> Result<FilePatch, PatchError> {
        let move_to = match self.next_if(|line| line.trim_start().starts_with(MOVE)) {
            Some((line, target)) => Some(path_of(&target.trim()[MOVE.len()..], "move", line)?),
            None => None,
        };
        let mut chunks: Vec<Chunk> = Vec::new();
        loop {
            let is_ended = chunks.last().is_some_and(|chunk| chunk.is_end_of_file);
            // An indented header could be a line to keep, except where no such line can be.
            let header = |line: &str| if is_ended { line.trim_start() } else { line }.starts_with(MARKER);
            let Some((start, first)) = self.next_if(|line| !header(line)) else { break };
            let is_headed = first.starts_with(CHUNK);
            if !is_headed && (is_ended || chunks.is_empty()) && first.trim_end_matches('\r').is_empty() {
                continue;
            }
            if !is_headed && is_ended {
                let (path, hunk, text) = (shown(&path), chunks.len(), shown(first));
                return Err(PatchError::ChunkLine { path, hunk, line: start, text, hint: AFTER_END_OF_FILE });
            }
            let hunk = chunks.len() + 1;
            match self.chunk(start, first, &path, hunk)? {
                Some(chunk) => chunks.push(chunk),
                None => return Err(PatchError::EmptyChunk { path: shown(&path), hunk, line: start }),
            }
        }
        if chunks.is_empty() && move_to.is_none() {
            return Err(PatchError::NoChunks { path: shown(&path), line });
        }
        Ok(FilePatch::Update { path, move_to, chunks, line })
    }

    /// The chunk that begins with this line; `None` if it has no lines.
    fn chunk(
        &mut self,
        line: usize,
        first: &'a str,
        path: &str,
        hunk: usize,
    ) -> Result<Option<Chunk>, PatchError> {
        let mut chunk = Chunk { context: Vec::new(), lines: Vec::new(), is_end_of_file: false, line };
        // How many lines at the end are empty and have no mark.
        let mut unmarked = 0;
        let mut next = Some((line, first));
        while let Some((number, line)) = next {
            let line = line.strip_suffix('\r').unwrap_or(line);
            if let Some(context) = line.strip_prefix(CHUNK) {
                let context = context.strip_prefix(' ').unwrap_or(context).trim_end();
                chunk.context.extend((!context.trim().is_empty()).then(|| context.to_owned()));
            } else if let Some(read) = chunk_line(line) {
                unmarked = if line.is_empty() { unmarked + 1 } else { 0 };
                chunk.lines.push(read);
            } else if !line.starts_with(NO_NEWLINE) {
                let (path, text) = (shown(path), shown(line));
                return Err(PatchError::ChunkLine { path, hunk, line: number, text, hint: UNMARKED });
            }
            // Further contexts come before the first line; after it they begin the next chunk.
            let is_bare = chunk.lines.is_empty();
            next = self.next_if(|line| !line.starts_with(MARKER) && (is_bare || !line.starts_with(CHUNK)));
        }
        chunk.is_end_of_file = self.next_if(|line| line.trim_end() == END_OF_FILE).is_some();
        let marked = chunk.lines.len() - unmarked;
        // With nothing else to find, an empty line would put what is added wherever the file has one.
        if !chunk.lines[..marked].iter().any(|line| line.mark.is_old()) {
            chunk.lines.truncate(marked);
        }
        Ok((!chunk.lines.is_empty()).then_some(chunk))
    }
}

/// Reads a line of a chunk; `None` if it has no mark. Models leave out the mark of an empty line.
fn chunk_line(line: &str) -> Option<ChunkLine> {
    let Some(mark) = line.chars().next() else {
        return Some(ChunkLine { mark: Mark::Keep, text: String::new() });
    };
    let mark = match mark {
        ' ' => Mark::Keep,
        '-' => Mark::Remove,
        '+' => Mark::Add,
        _ => return None,
    };
    Some(ChunkLine { mark, text: line[1..].to_owned() })
}

fn path_of(named: &str, kind: &'static str, line: usize) -> Result<String, PatchError> {
    match named.trim() {
        "" => Err(PatchError::Path { kind, line }),
        path => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests;
