//! Pages of a text: read line by line in constant memory, whatever the size of the file or of a line.

use std::io::{self, BufRead, BufReader, Read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::Stop;

const LINES: u64 = 2000;
/// Of the text of a page, with the newlines between its lines.
pub(super) const PAGE_BYTES_MAX: usize = 50 * 1024;
const LINE_CHARS_MAX: usize = 2000;
const LINE_SUFFIX: &str = "... (line truncated to 2000 chars)";
/// Enough for the longest line that is shown, and for one more character to see that it is longer.
const LINE_BYTES_MAX: u64 = (LINE_CHARS_MAX as u64 + 1) * 4;
/// How far the start of a page is looked for.
const SKIPPED_BYTES_MAX: u64 = 16 << 30;
/// How far the ends of the page's lines are looked for.
const PASSED_BYTES_MAX: u64 = 1 << 30;
/// How far the lines after the page are counted.
const COUNTED_BYTES_MAX: u64 = 256 << 20;

/// Which part is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The first line or entry, counted from one.
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl Window {
    pub(super) fn new(offset: Option<u64>, limit: Option<u64>) -> Window {
        Window { offset: offset.unwrap_or(1).max(1), limit: limit.unwrap_or(LINES) }
    }
}

/// A part of a text.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    /// The lines, long ones cut, joined by newlines.
    pub(super) text: String,
    /// The first line, counted from one.
    pub(super) line_start: u64,
    /// The last line; one less than the first if there is none.
    pub(super) line_end: u64,
    /// How many lines were counted.
    pub(super) total_lines: u64,
    /// Where the page ends.
    pub(super) end: End,
    /// Whether bytes that are no UTF-8 are shown as replacement characters.
    pub(super) lossy: bool,
}

/// Where a page ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum End {
    /// At the end of the text.
    Text,
    /// At the limit of lines, and all lines were counted.
    Lines,
    /// At the limit of lines, and there are more than were counted.
    Uncounted,
    /// At the limit of bytes.
    Bytes,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// The text is shorter.
    #[error("Offset {offset} is out of range for this file ({lines} lines)")]
    OutOfRange {
        /// The line that was asked for.
        offset: u64,
        /// How many there are.
        lines: u64,
    },
    /// The text is so long that the line was not found.
    #[error("Offset {offset} lies further into this file than is searched ({SKIPPED_BYTES_MAX} bytes)")]
    TooFar {
        /// The line that was asked for.
        offset: u64,
    },
    /// The bytes could not be read.
    #[error("could not read it: {0}")]
    Io(#[from] io::Error),
}

/// Reads one page.
pub(super) fn page(reader: impl Read, window: Window, stop: &Stop) -> Result<Page, PageError> {
    let watched = Watched { reader, stop, left: SKIPPED_BYTES_MAX, is_spent: false };
    let mut reader = BufReader::with_capacity(64 << 10, watched);
    let before = skip_lines(&mut reader, window.offset - 1)?;
    if reader.get_ref().is_spent {
        return Err(PageError::TooFar { offset: window.offset });
    }
    let mut kept = Kept::default();
    let mut end = fill(&mut reader, &mut kept, window.limit, before == 0)?;
    let mut total = before + kept.count;
    if end == End::Lines {
        reader.get_mut().left = COUNTED_BYTES_MAX;
        let after = skip_lines(&mut reader, u64::MAX)?;
        total += after;
        end = match after {
            _ if reader.get_ref().is_spent => End::Uncounted,
            0 => End::Text,
            _ => End::Lines,
        };
    }
    let is_whole_and_empty = total == 0 && window.offset == 1;
    if kept.count == 0 && end == End::Text && !is_whole_and_empty {
        return Err(PageError::OutOfRange { offset: window.offset, lines: total });
    }
    Ok(Page {
        text: kept.text,
        line_start: window.offset,
        line_end: window.offset - 1 + kept.count,
        total_lines: total,
        end,
        lossy: kept.lossy,
    })
}

/// Passes over at most so many lines, and says how many there were.
fn skip_lines(reader: &mut impl BufRead, limit: u64) -> io::Result<u64> {
    let mut passed = 0;
    while passed < limit && reader.skip_until(b'\n')? > 0 {
        passed += 1;
    }
    Ok(passed)
}

/// Keeps lines until one of the limits is met.
fn fill<R: Read>(
    reader: &mut BufReader<Watched<'_, R>>,
    kept: &mut Kept,
    limit: u64,
    mut is_first_of_text: bool,
) -> io::Result<End> {
    reader.get_mut().left = PASSED_BYTES_MAX;
    let mut line = Vec::new();
    while kept.count < limit {
        if !next_line(reader, &mut line)? {
            return Ok(End::Text);
        }
        if !kept.push(&line, is_first_of_text) {
            return Ok(End::Bytes);
        }
        if reader.get_ref().is_spent {
            return Ok(End::Uncounted);
        }
        is_first_of_text = false;
    }
    Ok(End::Lines)
}

/// Reads the start of a line and passes over the rest of it. False at the end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    } else if read as u64 == LINE_BYTES_MAX {
        reader.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// The lines of the page so far.
#[derive(Default)]
struct Kept {
    text: String,
    count: u64,
    lossy: bool,
}

impl Kept {
    /// Adds a line, unless it would exceed the page.
    fn push(&mut self, line: &[u8], is_first_of_text: bool) -> bool {
        let line = if is_first_of_text { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        let decoded = String::from_utf8_lossy(line);
        let cut = decoded.char_indices().nth(LINE_CHARS_MAX).map(|(at, _)| at);
        let (shown, suffix) = cut.map_or((&*decoded, ""), |at| (&decoded[..at], LINE_SUFFIX));
        let newline = if self.count > 0 { "\n" } else { "" };
        if self.text.len() + newline.len() + shown.len() + suffix.len() > PAGE_BYTES_MAX {
            return false;
        }
        [newline, shown, suffix].iter().for_each(|part| self.text.push_str(part));
        self.count += 1;
        // What was cut off need not be valid: only what is shown counts.
        self.lossy |= matches!(&decoded, std::borrow::Cow::Owned(_)) && shown.contains('\u{fffd}');
        true
    }
}

/// A reader that gives up when nobody waits for it, and that ends when it has gone as far as it may.
struct Watched<'a, R> {
    reader: R,
    stop: &'a Stop,
    /// How many bytes may still be read.
    left: u64,
    /// Whether there may have been more.
    is_spent: bool,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        if self.left == 0 {
            self.is_spent = true;
            return Ok(0);
        }
        let read = self.reader.read(buffer)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &[u8], offset: u64, limit: u64) -> Result<Page, PageError> {
        page(text, Window::new(Some(offset), Some(limit)), &Stop::default())
    }

    #[test]
    fn a_long_line_is_cut_without_being_held() {
        let line = vec![b'x'; 3000];
        let page = read(&line, 1, 10).unwrap();
        assert_eq!(page.text, format!("{}{LINE_SUFFIX}", "x".repeat(2000)));
        let exact = "é".repeat(2000);
        assert_eq!(read(exact.as_bytes(), 1, 10).unwrap().text, exact);
        let wide = "𝄞".repeat(5000);
        let page = read(wide.as_bytes(), 1, 10).unwrap();
        assert_eq!((page.text.chars().count(), page.lossy), (2000 + LINE_SUFFIX.len(), false));
    }

    #[test]
    fn what_is_no_utf_8_is_shown_and_said() {
        let page = read(b"ok\xff\xfebad\nnext\n", 1, 10).unwrap();
        assert_eq!(page.text, "ok\u{fffd}\u{fffd}bad\nnext");
        assert!(page.lossy);
        assert!(!read("a \u{fffd} of its own".as_bytes(), 1, 10).unwrap().lossy);
    }

    #[test]
    fn an_endless_text_is_not_counted_to_its_end() {
        let page = page(io::repeat(b'\n'), Window::new(None, Some(1)), &Stop::default()).unwrap();
        assert_eq!((page.line_end, page.end), (1, End::Uncounted));
    }

    proptest! {
        /// A page is what one gets by splitting the whole text.
        #[test]
        fn pages_are_parts_of_the_whole(text in "[ab\n\r]{0,60}", offset in 0u64..12, limit in 0u64..12) {
            let mut lines: Vec<&str> = text.split('\n').collect();
            if lines.last() == Some(&"") {
                lines.pop();
            }
            let first = offset.max(1) as usize - 1;
            let total = lines.len();
            let without_cr = |(at, line): (usize, &&str)| -> String {
                let ends = at + 1 < text.split('\n').count();
                (if ends { line.strip_suffix('\r').unwrap_or(line) } else { line }).to_string()
            };
            let whole: Vec<String> = lines.iter().enumerate().map(without_cr).collect();
            match read(text.as_bytes(), offset, limit) {
                Ok(page) => {
                    let shown: Vec<String> = whole.iter().skip(first).take(limit as usize).cloned().collect();
                    prop_assert_eq!(&page.text, &shown.join("\n"));
                    prop_assert_eq!(page.line_end + 1 - page.line_start, shown.len() as u64);
                    prop_assert_eq!(page.end == End::Text, first + shown.len() == total);
                    prop_assert_eq!(page.total_lines, total as u64);
                }
                Err(PageError::OutOfRange { lines, .. }) => {
                    prop_assert!(first >= total && (first, total) != (0, 0));
                    prop_assert_eq!(lines, total as u64);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
