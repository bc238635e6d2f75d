//! An obvious model of pages: decode everything, split it, count. Tests and fuzzers hold the real ones against it.

use std::io::Cursor;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, KOI8_U, SHIFT_JIS, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::index::Index;
use super::page::{Book, End, LINE_CHARS_MAX, LINE_SUFFIX, PAGE_BYTES_MAX, Page, PageError, Window};
use crate::blocking::Stop;
use crate::encoding::Encoding;

const ENCODINGS: &[Encoding] = &[
    Encoding::UTF_8,
    Encoding::of(UTF_16LE),
    Encoding::of(UTF_16BE),
    Encoding::of(WINDOWS_1252),
    Encoding::of(SHIFT_JIS),
    Encoding::of(EUC_JP),
    Encoding::of(EUC_KR),
    Encoding::of(GB18030),
    Encoding::of(BIG5),
    Encoding::of(KOI8_U),
];
/// Enough to make a page of a short text that is too long for it.
const REPETITIONS: usize = 700;
/// Of an input that shows a difference.
const INPUT_BYTES_SHOWN: usize = 100;

/// Reads a page twice, the second time with the index that the first made, and compares both with the model. The first
/// four bytes say how.
pub(crate) fn check_pages(data: &[u8]) {
    let [how, chunk, offset, limit, content @ ..] = data else { return };
    let encoding = ENCODINGS[usize::from(*how) % ENCODINGS.len()];
    let content = content.repeat(if *how >= 0xf0 { REPETITIONS } else { 1 });
    let window = Window::new(Some(u64::from(*offset)), Some(u64::from(*limit)));
    let chunk_bytes = 2 + usize::from(chunk % 16) * 2;
    let index = &mut Index::new(chunk_bytes as u64 * u64::from(1 + chunk / 64));
    let expected = model(&content, encoding, window);
    for _ in 0..2 {
        let source = Cursor::new(&content);
        let book = Book { source, encoding, index: &mut *index, chunk_bytes };
        let found = match book.page(window, &Stop::default()) {
            Ok(page) => Ok(Modelled::of(page)),
            Err(PageError::OutOfRange { lines, .. }) => Err(lines),
            Err(error) => panic!("{error}"),
        };
        // The pages themselves would fill a screen.
        let counts =
            |page: &Result<Modelled, u64>| page.as_ref().map(Modelled::counts).map_err(|lines| *lines);
        let (found_counts, expected_counts) = (counts(&found), counts(&expected));
        let input = &data[..data.len().min(INPUT_BYTES_SHOWN)];
        assert!(
            found == expected,
            "{encoding} {window:?}: found {found_counts:?}, expected {expected_counts:?} of {input:?}"
        );
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Modelled {
    text: String,
    last: u64,
    total: u64,
    end: End,
}

impl Modelled {
    fn counts(&self) -> (u64, u64, End) {
        (self.last, self.total, self.end)
    }

    fn of(page: Page) -> Modelled {
        Modelled { text: page.text, last: page.line_end, total: page.total_lines, end: page.end }
    }
}

/// The page, or how many lines there are if it begins after them.
fn model(content: &[u8], encoding: Encoding, window: Window) -> Result<Modelled, u64> {
    let (whole, _) = encoding.show(content);
    let whole = Encoding::without_bom(&whole);
    let is_empty = content.is_empty();
    let terminated = whole.strip_suffix('\n');
    let bare = terminated.unwrap_or(whole);
    let mut lines: Vec<&str> = if is_empty { Vec::new() } else { bare.split('\n').collect() };
    let closed = if terminated.is_some() { lines.len() } else { lines.len().saturating_sub(1) };
    for line in &mut lines[..closed] {
        *line = line.strip_suffix('\r').unwrap_or(line);
    }

    let total = lines.len() as u64;
    let first = window.offset - 1;
    if first >= total && (first, total) != (0, 0) {
        return Err(total);
    }
    let mut text = String::new();
    let mut last = first;
    for line in lines.iter().skip(first as usize).take(window.limit as usize) {
        let mut shown: String = line.chars().take(LINE_CHARS_MAX).collect();
        if shown.len() < line.len() {
            shown.push_str(LINE_SUFFIX);
        }
        let joined = if last == first { shown } else { format!("{text}\n{shown}") };
        if joined.len() > PAGE_BYTES_MAX {
            return Ok(Modelled { text, last, total: last, end: End::Bytes });
        }
        (text, last) = (joined, last + 1);
    }
    Ok(Modelled { text, last, total, end: if last == total { End::Text } else { End::Lines } })
}
