//! Text encodings: bytes become text that can be changed, and exactly the same bytes again if it is not.
//!
//! What does not survive the way there and back is no text to be changed, although it may still be shown.

mod newline;
mod recognize;

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{DecoderResult, EncoderResult, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

pub(crate) use newline::Newline;
pub(crate) use recognize::{Extent, SAMPLE_BYTES, is_binary, is_utf_16, recognize, recognize_utf_8};

const BOM: char = '\u{feff}';

/// How a text is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    codec: &'static encoding_rs::Encoding,
    has_bom: bool,
}

/// A text, with how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text, without a byte order mark that begins it.
    pub text: String,
    /// How it was written, and is to be written again.
    pub encoding: Encoding,
}

/// Why bytes are no text that can be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// They are none at all.
    #[error("it is binary")]
    Binary,
    /// Some of them are no characters.
    #[error("line {line} holds bytes that are not valid {encoding}")]
    Damaged {
        /// What they nearly are.
        encoding: Encoding,
        /// The first line with such bytes, counted from one.
        line: u64,
    },
    /// Unchanged parts would not stay as they are.
    #[error("it looks like {encoding}, but line {line} would not be written back as it is")]
    Irreversible {
        /// What they look like.
        encoding: Encoding,
        /// The first line that would change, counted from one.
        line: u64,
    },
}

/// A character that an encoding does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{encoding}, the encoding of this file, has no character {character:?} (line {line}); \
     use characters that it has, or convert the file to UTF-8 first"
)]
pub struct Unencodable {
    /// The encoding.
    pub encoding: Encoding,
    /// The first character it does not have.
    pub character: char,
    /// Its line, counted from one.
    pub line: u64,
}

/// Decodes a whole file. What comes back is encoded to exactly these bytes again.
pub fn decode(bytes: &[u8]) -> Result<Text, NotText> {
    let (text, encoding) = view(bytes)?;
    Ok(Text { text: text.into_owned(), encoding })
}

/// Decodes a whole file, without a copy of what is UTF-8 already.
pub(crate) fn view(bytes: &[u8]) -> Result<(Cow<'_, str>, Encoding), NotText> {
    let encoding = recognize(bytes, Extent::Whole);
    let bare = bytes.strip_prefix(encoding.bom()).unwrap_or(bytes);
    if encoding.newline() == Newline::Byte {
        match std::str::from_utf8(bare) {
            Ok(text) if encoding.is_utf_8() => return Ok((text.into(), encoding)),
            Err(_) if is_binary(&bytes[..bytes.len().min(SAMPLE_BYTES)]) => return Err(NotText::Binary),
            Ok(_) | Err(_) => {}
        }
    }
    let text = strict(encoding.codec, bare)
        .map_err(|valid| NotText::Damaged { encoding, line: line_after(&valid) })?;
    // The two differ only in how they are written: one of them may give these bytes.
    let wider = (encoding.codec == GBK).then_some(Encoding::of(GB18030));
    let candidates = [Some(encoding), wider].into_iter().flatten();
    let written = candidates.map(|encoding| (encoding, encoding.written(&text)));
    let exact = |(_, written): &(Encoding, Result<Vec<u8>, _>)| written.as_deref().is_ok_and(|w| w == bytes);
    let mut written: Vec<_> = written.collect();
    if let Some(at) = written.iter().position(exact) {
        return Ok((text.into(), written.swap_remove(at).0));
    }
    let line = match &written[0].1 {
        Ok(other) => {
            let same = bytes.iter().zip(other).take_while(|(one, other)| one == other).count();
            1 + bytes[..same].iter().filter(|byte| **byte == b'\n').count() as u64
        }
        Err(at) => line_after(&text[..*at]),
    };
    Err(NotText::Irreversible { encoding, line })
}

impl Encoding {
    /// What text is in unless something else is known.
    pub const UTF_8: Encoding = Encoding::of(UTF_8);

    pub(crate) const fn of(codec: &'static encoding_rs::Encoding) -> Encoding {
        Encoding { codec, has_bom: false }
    }

    pub(crate) const fn with_bom(self) -> Encoding {
        Encoding { has_bom: true, ..self }
    }

    /// Its usual name.
    pub fn name(&self) -> &'static str {
        self.codec.name()
    }

    /// Whether it is UTF-8, be it with a byte order mark.
    pub fn is_utf_8(&self) -> bool {
        self.codec == UTF_8
    }

    /// Whether texts in it begin with a byte order mark, which is no part of the text.
    pub fn has_bom(&self) -> bool {
        self.has_bom
    }

    /// Encodes a text, after the byte order mark if there is one.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, Unencodable> {
        let lacking = |at: usize| Unencodable {
            encoding: *self,
            character: text[at..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER),
            line: line_after(&text[..at]),
        };
        let bytes = self.written(text).map_err(lacking)?;
        if self.is_unicode() {
            return Ok(bytes);
        }
        // Some encodings write two characters as the same bytes, and the wrong one would be read back.
        let back = self.codec.decode_without_bom_handling(&bytes).0;
        match text.char_indices().zip(back.chars()).find(|((_, one), other)| one != other) {
            Some(((at, _), _)) => Err(lacking(at)),
            None => Ok(bytes),
        }
    }

    /// Decodes a part that begins and ends between characters, to be shown: what is no character is replaced. Says
    /// also whether there was such.
    pub(crate) fn show<'b>(&self, bytes: &'b [u8]) -> (Cow<'b, str>, bool) {
        self.codec.decode_without_bom_handling(bytes)
    }

    /// The first line of a text as it is shown.
    pub(crate) fn without_bom(line: &str) -> &str {
        line.strip_prefix(BOM).unwrap_or(line)
    }

    /// What ends a line.
    pub(crate) fn newline(&self) -> Newline {
        match self.codec {
            codec if codec == UTF_16LE => Newline::Little,
            codec if codec == UTF_16BE => Newline::Big,
            _ => Newline::Byte,
        }
    }

    fn is_unicode(&self) -> bool {
        self.is_utf_8() || self.newline() != Newline::Byte
    }

    fn bom(&self) -> &'static [u8] {
        match (self.has_bom, self.newline()) {
            (false, _) => b"",
            (true, Newline::Byte) => b"\xef\xbb\xbf",
            (true, Newline::Little) => b"\xff\xfe",
            (true, Newline::Big) => b"\xfe\xff",
        }
    }

    /// The bytes of a text, or where the first character stands that it does not have.
    fn written(&self, text: &str) -> Result<Vec<u8>, usize> {
        let mut bytes = self.bom().to_vec();
        match self.newline() {
            Newline::Little => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Newline::Big => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Newline::Byte if self.is_utf_8() => bytes.extend(text.as_bytes()),
            Newline::Byte => {
                let mut encoder = self.codec.new_encoder();
                let room = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
                bytes.reserve(room.unwrap_or(text.len()));
                let mut read = 0;
                loop {
                    let rest = &text[read..];
                    let (result, taken) =
                        encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
                    read += taken;
                    match result {
                        EncoderResult::InputEmpty => break,
                        EncoderResult::OutputFull => bytes.reserve(rest.len().max(64)),
                        EncoderResult::Unmappable(character) => return Err(read - character.len_utf8()),
                    }
                }
            }
        }
        Ok(bytes)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Decodes, or says what was decoded before the first bytes that are no character.
fn strict(codec: &'static encoding_rs::Encoding, bytes: &[u8]) -> Result<String, String> {
    let mut decoder = codec.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(bytes.len());
    let mut read = 0;
    loop {
        let rest = &bytes[read..];
        let (result, taken) = decoder.decode_to_string_without_replacement(rest, &mut text, true);
        read += taken;
        match result {
            DecoderResult::InputEmpty => return Ok(text),
            DecoderResult::OutputFull => text.reserve(rest.len().max(64)),
            DecoderResult::Malformed(..) => return Err(text),
        }
    }
}

fn line_after(text: &str) -> u64 {
    1 + text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
