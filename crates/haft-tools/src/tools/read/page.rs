//! Pages of a text: read line by line in constant memory, whatever the size of the file or of a line.

use std::io::{self, Read, Seek};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{Index, STRIDE_BYTES};
use super::scan::{CHUNK_BYTES, Scanner, Taken};
use crate::blocking::Stop;
use crate::encoding::Encoding;

const LINES: u64 = 2000;
/// Of the text of a page, with the newlines between its lines.
pub(super) const PAGE_BYTES_MAX: usize = 50 * 1024;
pub(super) const LINE_CHARS_MAX: usize = 2000;
pub(super) const LINE_SUFFIX: &str = "... (line truncated to 2000 chars)";
/// Enough for the longest line that is shown, and for one more character to see that it is longer.
const LINE_BYTES_MAX: usize = (LINE_CHARS_MAX + 1) * 4;
/// How far the start of a page is looked for.
const SKIPPED_BYTES_MAX: u64 = 16 << 30;
/// How far the ends of the page's lines are looked for.
const PASSED_BYTES_MAX: u64 = 1 << 30;
/// How far the lines after the page are counted.
const COUNTED_BYTES_MAX: u64 = 64 << 20;

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
    /// Whether bytes that are no characters are shown as replacement characters.
    pub(super) lossy: bool,
    /// The name of the encoding, unless it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) encoding: Option<String>,
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
    /// The file is not what its index was made of.
    #[error("the file changed while it was read; read it again")]
    Changed,
    /// The bytes could not be read.
    #[error("could not read it: {0}")]
    Io(#[from] io::Error),
}

/// Where a page is taken from.
pub(super) struct Book<'a, R> {
    /// The bytes, from the start.
    pub(super) source: R,
    /// What they are in.
    pub(super) encoding: Encoding,
    /// What is known of its lines, which becomes more.
    pub(super) index: &'a mut Index,
    /// How many bytes are read at once.
    pub(super) chunk_bytes: usize,
}

/// Reads one page of a text in UTF-8 of which nothing is known.
pub(super) fn page(source: impl Read + Seek, window: Window, stop: &Stop) -> Result<Page, PageError> {
    let index = &mut Index::new(STRIDE_BYTES);
    Book { source, encoding: Encoding::UTF_8, index, chunk_bytes: CHUNK_BYTES }.page(window, stop)
}

impl<R: Read + Seek> Book<'_, R> {
    /// Reads one page.
    pub(super) fn page(self, window: Window, stop: &Stop) -> Result<Page, PageError> {
        let Book { source, encoding, index, chunk_bytes } = self;
        let mut scanner = Scanner::new(source, encoding.newline(), index, chunk_bytes, stop);
        scanner.allow(SKIPPED_BYTES_MAX);
        scanner.go_to_line(window.offset)?;
        if scanner.is_spent() {
            return Err(PageError::TooFar { offset: window.offset });
        }
        let mut kept = Kept::default();
        let before = scanner.lines();
        scanner.allow(PASSED_BYTES_MAX);
        let mut end = fill(&mut scanner, &mut kept, encoding, window)?;
        let mut total = before + kept.count;
        if end == End::Lines {
            let all = scanner.count_lines(COUNTED_BYTES_MAX)?;
            end = match all {
                _ if scanner.is_spent() => End::Uncounted,
                all if all == total => End::Text,
                _ => End::Lines,
            };
            total = all;
        }
        if scanner.is_index_wrong() {
            return Err(PageError::Changed);
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
            encoding: (!encoding.is_utf_8()).then(|| encoding.name().to_owned()),
        })
    }
}

/// Keeps lines until one of the limits is met.
fn fill<R: Read + Seek>(
    scanner: &mut Scanner<'_, R>,
    kept: &mut Kept,
    encoding: Encoding,
    window: Window,
) -> io::Result<End> {
    let mut line = Vec::new();
    while kept.count < window.limit {
        let taken = scanner.take_line(&mut line, LINE_BYTES_MAX)?;
        if taken == Taken::Nothing {
            return Ok(if scanner.is_spent() { End::Uncounted } else { End::Text });
        }
        // A line is decoded on its own: in no encoding that is recognised does a line depend on the one before.
        let (decoded, has_errors) = encoding.show(&line);
        let is_first_of_text = window.offset == 1 && kept.count == 0;
        let shown = if is_first_of_text { Encoding::without_bom(&decoded) } else { &decoded };
        let shown = match taken {
            Taken::Line => shown.strip_suffix('\n').map(|bare| bare.strip_suffix('\r').unwrap_or(bare)),
            Taken::Nothing | Taken::Last | Taken::Start => None,
        }
        .unwrap_or(shown);
        if !kept.push(shown, has_errors) {
            return Ok(End::Bytes);
        }
        if scanner.is_spent() {
            return Ok(End::Uncounted);
        }
    }
    Ok(End::Lines)
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
    fn push(&mut self, line: &str, has_errors: bool) -> bool {
        let cut = line.char_indices().nth(LINE_CHARS_MAX).map(|(at, _)| at);
        let (shown, suffix) = cut.map_or((line, ""), |at| (&line[..at], LINE_SUFFIX));
        let newline = if self.count > 0 { "\n" } else { "" };
        if self.text.len() + newline.len() + shown.len() + suffix.len() > PAGE_BYTES_MAX {
            return false;
        }
        [newline, shown, suffix].iter().for_each(|part| self.text.push_str(part));
        self.count += 1;
        // What was cut off need not be valid: only what is shown counts.
        self.lossy |= has_errors && shown.contains(char::REPLACEMENT_CHARACTER);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &[u8], offset: u64, limit: u64) -> Result<Page, PageError> {
        page(io::Cursor::new(text), Window::new(Some(offset), Some(limit)), &Stop::default())
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

    /// Nothing but newlines.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'\n');
            Ok(buffer.len())
        }
    }

    impl Seek for Endless {
        fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn an_endless_text_is_not_counted_to_its_end() {
        let page = page(Endless, Window::new(None, Some(1)), &Stop::default()).unwrap();
        assert_eq!((page.line_end, page.end), (1, End::Uncounted));
    }

    /// Counts what is read of it.
    struct Counted<'a>(io::Cursor<&'a [u8]>, &'a mut usize);

    impl Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            *self.1 += read;
            Ok(read)
        }
    }

    impl Seek for Counted<'_> {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    fn read_with(text: &[u8], offset: u64, index: &mut Index) -> (Result<Page, PageError>, usize) {
        let mut read = 0;
        let source = Counted(io::Cursor::new(text), &mut read);
        let book = Book { source, encoding: Encoding::UTF_8, index, chunk_bytes: 64 };
        (book.page(Window::new(Some(offset), Some(2)), &Stop::default()), read)
    }

    #[test]
    fn a_page_far_on_costs_no_more_than_the_first() {
        let text: String = (1..=10_000).map(|number| format!("line {number}\n")).collect();
        let index = &mut Index::new(128);
        let (page, read) = read_with(text.as_bytes(), 1, index);
        assert_eq!(
            (page.unwrap().total_lines, read),
            (10_000, text.len()),
            "the first time all of it is read"
        );
        for offset in [2, 5000, 9999] {
            let (page, read) = read_with(text.as_bytes(), offset, index);
            let page = page.unwrap();
            assert_eq!(page.text, format!("line {offset}\nline {}", offset + 1));
            assert!(page.total_lines == 10_000 && read <= 512, "{read} bytes for line {offset}");
        }
    }

    #[test]
    fn a_text_that_is_partly_known_is_not_counted_again() {
        let (index, stride_bytes) = (&mut Index::new(STRIDE_BYTES), STRIDE_BYTES as usize);
        let line = "x".repeat(1023) + "\n";
        let text = line.repeat(70 << 10);
        let read_large = |offset, index: &mut Index| {
            let mut read = 0;
            let source = Counted(io::Cursor::new(text.as_bytes()), &mut read);
            let book = Book { source, encoding: Encoding::UTF_8, index, chunk_bytes: CHUNK_BYTES };
            (book.page(Window::new(Some(offset), Some(2)), &Stop::default()).unwrap(), read)
        };
        let (first, read) = read_large(1, index);
        assert!(first.end == End::Uncounted && read < text.len());
        let (second, read) = read_large(3, index);
        assert!(second.end == End::Uncounted && read <= stride_bytes, "{read} bytes");
        assert!(second.total_lines > second.line_end && second.total_lines <= first.total_lines);
        let (last, _) = read_large(69 << 10, index);
        assert_eq!((last.end, last.total_lines), (End::Lines, 70 << 10));
    }

    #[test]
    fn an_index_that_is_not_of_this_text_is_noticed() {
        let index = &mut Index::new(128);
        read_with("a\n".repeat(1000).as_bytes(), 1, index).0.unwrap();
        let other = "abc\n".repeat(1000);
        assert!(matches!(read_with(other.as_bytes(), 140, index).0, Err(PageError::Changed)));
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
