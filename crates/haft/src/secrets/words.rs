//! The words of a command line as a shell tells them apart, in one pass over whatever text it is.

use std::ops::Range;

/// A word, or the end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Word(Range<usize>),
    End(End),
}

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The next one reads what it says.
    Pipe,
    /// With the line: what it reads may be written below.
    Line,
    Other,
}

/// The words of a text and the ends of its commands, in order.
pub(super) struct Pieces<'t> {
    text: &'t str,
    at: usize,
    /// Quotes that are known not to be closed any more; looking again would cost the square of the text.
    unclosed: Vec<u8>,
}

impl<'t> Pieces<'t> {
    pub(super) fn of(text: &'t str) -> Pieces<'t> {
        Pieces { text, at: 0, unclosed: Vec::new() }
    }

    /// Where the next piece is looked for.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Leaves out what stands before a place, which is no earlier than the next piece.
    pub(super) fn skip_to(&mut self, at: usize) {
        self.at = at;
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn word_end(&mut self) -> usize {
        let mut at = self.at;
        // The value of an option or a variable may be quoted; the quote of `don't` is none.
        let mut may_quote = self.byte(at) == Some(b'-');
        while let Some(byte) = self.byte(at) {
            let is_apostrophe = |before: u8| before.is_ascii_alphanumeric() && !may_quote;
            at = match byte {
                b'\\' => at + 2,
                b'"' | b'\'' if at == self.at || !self.byte(at - 1).is_some_and(is_apostrophe) => {
                    self.closing(at).unwrap_or(at) + 1
                }
                _ if byte.is_ascii_whitespace() || ends_command(byte) => break,
                _ => at + 1,
            };
            may_quote |= byte == b'=';
        }
        self.text.ceil_char_boundary(at)
    }

    fn closing(&mut self, opening: usize) -> Option<usize> {
        let quote = self.byte(opening)?;
        if self.unclosed.contains(&quote) {
            return None;
        }
        let mut at = opening + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                _ if byte == quote => return Some(at),
                b'\\' if quote == b'"' => at += 2,
                _ => at += 1,
            }
        }
        self.unclosed.push(quote);
        None
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        loop {
            let byte = self.byte(self.at)?;
            let is_continued = byte == b'\\' && self.byte(self.at + 1) == Some(b'\n');
            match byte {
                b'\\' if is_continued => self.at += 2,
                _ if ends_command(byte) => {
                    self.at += 1;
                    return Some(Piece::End(end_by(byte)));
                }
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => {
                    let start = self.at;
                    self.at = self.word_end();
                    return Some(Piece::Word(start..self.at));
                }
            }
        }
    }
}

fn end_by(byte: u8) -> End {
    match byte {
        b'|' => End::Pipe,
        b'\n' => End::Line,
        _ => End::Other,
    }
}

fn ends_command(byte: u8) -> bool {
    matches!(byte, b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'`')
}
