//! Which encoding bytes are in. What can be proven comes first; the rest is an informed guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{UTF_16BE, UTF_16LE};

use super::Encoding;

/// So many bytes decide whether a file is binary.
pub(crate) const SAMPLE_BYTES: usize = 4096;
/// So many bytes, from the first that is not ASCII, are enough for a guess.
const GUESSED_BYTES_MAX: usize = 256 << 10;
/// Shorter texts could be anything: numbers of two bytes each look the same.
const UNMARKED_UNITS_MIN: usize = 8;

/// How much of a file is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// The start of it, which may end in the middle of a character.
    Start,
}

/// A NUL, or more than three control characters in ten.
pub(crate) fn is_binary(sample: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 14..=31);
    sample.contains(&0) || sample.iter().filter(is_control).count() * 10 > sample.len() * 3
}

/// Whether this is the start of a text in UTF-16, which would otherwise pass for binary.
pub(crate) fn is_utf_16(sample: &[u8]) -> bool {
    utf_16(sample).is_some()
}

/// The encoding that shows bytes best. UTF-8 where nothing else is likelier, even if not all of them are valid.
pub(crate) fn recognize(bytes: &[u8], extent: Extent) -> Encoding {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Encoding::UTF_8.with_bom();
    }
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if let Some(encoding) = utf_16(sample) {
        return encoding;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Encoding::UTF_8,
        Err(error) if extent == Extent::Start && error.error_len().is_none() => Encoding::UTF_8,
        Err(_) if is_binary(sample) || is_mostly_utf_8(bytes) => Encoding::UTF_8,
        Err(_) => legacy(bytes, extent),
    }
}

/// The encoding of what is valid UTF-8, which short units of UTF-16 may be too.
pub(crate) fn recognize_utf_8(text: &str) -> Encoding {
    if text.starts_with('\u{feff}') {
        return Encoding::UTF_8.with_bom();
    }
    let sample = &text.as_bytes()[..text.len().min(SAMPLE_BYTES)];
    utf_16(sample).unwrap_or(Encoding::UTF_8)
}

/// UTF-16 with a byte order mark, or without one where it cannot be mistaken.
fn utf_16(sample: &[u8]) -> Option<Encoding> {
    let units = |from_bytes: fn([u8; 2]) -> u16| -> Vec<u16> {
        sample.chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]])).collect()
    };
    let [little, big] = [units(u16::from_le_bytes), units(u16::from_be_bytes)];
    match (little.first(), big.first()) {
        (Some(0xfeff), _) if is_text(&little) => Some(Encoding::of(UTF_16LE).with_bom()),
        (_, Some(0xfeff)) if is_text(&big) => Some(Encoding::of(UTF_16BE).with_bom()),
        _ if sample.len() % 2 == 1 => None,
        _ if is_plainly_text(&little) => Some(Encoding::of(UTF_16LE)),
        _ if is_plainly_text(&big) => Some(Encoding::of(UTF_16BE)),
        _ => None,
    }
}

/// Whether units could be a text: no NUL, few control characters, no halves of characters but at the end.
fn is_text(units: &[u16]) -> bool {
    let is_control = |unit: &&u16| matches!(unit, 1..=8 | 14..=31 | 0xfffe | 0xffff);
    let half = char::decode_utf16(units.iter().copied()).filter(Result::is_err).count();
    let cut = usize::from(units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)));
    !units.contains(&0) && half <= cut && units.iter().filter(is_control).count() * 10 <= units.len() * 3
}

/// Whether units can be nothing else: nearly all of them are ASCII, with not one control character.
fn is_plainly_text(units: &[u16]) -> bool {
    let is_plain = |unit: &&u16| matches!(unit, 9 | 10 | 13 | 32..=126);
    let is_control = |unit: &u16| matches!(unit, 0..=8 | 11 | 12 | 14..=31 | 127..=159);
    units.len() >= UNMARKED_UNITS_MIN
        && is_text(units)
        && !units.iter().any(is_control)
        && units.iter().filter(is_plain).count() * 4 >= units.len() * 3
}

/// Whether more characters beyond ASCII are valid UTF-8 than are not: then it is that, and damaged.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let mut valid = 0;
    let mut invalid = 0;
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > invalid
}

/// What is no Unicode. A guess that makes control characters of it is worse than none.
fn legacy(bytes: &[u8], extent: Extent) -> Encoding {
    let from = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    let rest = &bytes[from..];
    let looked_at = &rest[..rest.len().min(GUESSED_BYTES_MAX)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(looked_at, extent == Extent::Whole && looked_at.len() == rest.len());
    let codec = detector.guess(None, Utf8Detection::Deny);
    let (text, _) = codec.decode_without_bom_handling(looked_at);
    let has_controls = text.chars().any(|character| matches!(character, '\u{80}'..='\u{9f}'));
    if has_controls { Encoding::UTF_8 } else { Encoding::of(codec) }
}
