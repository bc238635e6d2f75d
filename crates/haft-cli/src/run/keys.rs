//! Keys, from the bytes that a terminal sends for them.

/// So much of a paste is kept.
const PASTE_BYTES_MAX: usize = 1 << 20;
/// No terminal sends a longer sequence for one key.
const SEQUENCE_BYTES_MAX: usize = 32;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Paste(String),
    Enter,
    /// Enter that does not send: with Alt, or Ctrl-J.
    Newline,
    Escape,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    KillWord,
    KillToStart,
    KillToEnd,
    /// Ctrl-D: the end of input, where there is none.
    EndOfInput,
    /// Ctrl-L: draws everything anew.
    Redraw,
}

/// Turns bytes into keys. What is incomplete is kept until the rest comes.
#[derive(Default)]
pub(crate) struct Keys {
    pending: Vec<u8>,
}

impl Keys {
    /// Takes bytes in and gives out the keys they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.pending.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, used)) = next(&self.pending) {
            self.pending.drain(..used);
            keys.extend(key);
        }
        keys
    }

    /// Whether something is incomplete. If nothing follows within a moment, it was an Escape.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty() && !self.pending.starts_with(PASTE_BEGINS)
    }

    /// Gives up waiting for the rest.
    pub(crate) fn flush(&mut self) -> Vec<Key> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let pending = std::mem::take(&mut self.pending);
        if pending.first() == Some(&0x1b) { vec![Key::Escape] } else { Vec::new() }
    }
}

/// The first key in some bytes, and how many of them are its own. No key at all is one that means nothing here.
fn next(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let first = *bytes.first()?;
    match first {
        0x1b => escaped(bytes),
        b'\r' => Some((Some(Key::Enter), 1)),
        0x20..=0x7e => Some((Some(Key::Char(char::from(first))), 1)),
        0x00..=0x1f | 0x7f => Some((control(first), 1)),
        0x80..=0xff => character(bytes),
    }
}

fn control(byte: u8) -> Option<Key> {
    match byte {
        b'\n' => Some(Key::Newline),
        b'\t' => Some(Key::Tab),
        0x01 => Some(Key::Home),
        0x02 => Some(Key::Left),
        0x04 => Some(Key::EndOfInput),
        0x05 => Some(Key::End),
        0x06 => Some(Key::Right),
        0x0b => Some(Key::KillToEnd),
        0x0c => Some(Key::Redraw),
        0x0e => Some(Key::Down),
        0x10 => Some(Key::Up),
        0x15 => Some(Key::KillToStart),
        0x17 => Some(Key::KillWord),
        0x08 | 0x7f => Some(Key::Backspace),
        _ => None,
    }
}

/// A character of several bytes. Bytes that are none are passed over.
fn character(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((None, 1)),
    };
    let Some(whole) = bytes.get(..length) else {
        let is_broken = bytes[1..].iter().any(|byte| !(0x80..=0xbf).contains(byte));
        return is_broken.then_some((None, 1));
    };
    match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(c) => Some((Some(Key::Char(c)), length)),
        None => Some((None, 1)),
    }
}

fn escaped(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    if bytes.starts_with(PASTE_BEGINS) {
        return paste(bytes);
    }
    match bytes.get(1)? {
        // An Escape of its own, before another sequence.
        0x1b => Some((Some(Key::Escape), 1)),
        b'[' => sequence(bytes),
        b'O' => Some((named(*bytes.get(2)?, b""), 3)),
        b'\r' | b'\n' => Some((Some(Key::Newline), 2)),
        b'b' => Some((Some(Key::WordLeft), 2)),
        b'f' => Some((Some(Key::WordRight), 2)),
        0x7f | 0x08 => Some((Some(Key::KillWord), 2)),
        _ => Some((None, 2)),
    }
}

/// A control sequence: parameters, then a letter or a tilde.
fn sequence(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 2);
    let Some(end) = end else {
        return (bytes.len() > SEQUENCE_BYTES_MAX).then_some((None, bytes.len()));
    };
    let parameters = &bytes[2..end];
    let key = match (bytes[end], parameters) {
        (b'~', b"1" | b"7") => Some(Key::Home),
        (b'~', b"4" | b"8") => Some(Key::End),
        (b'~', b"3") => Some(Key::Delete),
        (b'u', b"13;2" | b"13;3") => Some(Key::Newline),
        (letter, parameters) => named(letter, parameters),
    };
    Some((key, end + 1))
}

fn named(letter: u8, parameters: &[u8]) -> Option<Key> {
    let by_word = matches!(parameters, b"1;5" | b"1;3");
    match letter {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' if by_word => Some(Key::WordRight),
        b'D' if by_word => Some(Key::WordLeft),
        b'C' => Some(Key::Right),
        b'D' => Some(Key::Left),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        b'M' if parameters.is_empty() => Some(Key::Enter),
        _ => None,
    }
}

fn paste(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let body = &bytes[PASTE_BEGINS.len()..];
    let end = body.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
    let (length, used) = match end {
        Some(end) => (end, PASTE_BEGINS.len() + end + PASTE_ENDS.len()),
        None if body.len() > PASTE_BYTES_MAX => (body.len(), bytes.len()),
        None => return None,
    };
    let kept = &body[..length.min(PASTE_BYTES_MAX)];
    let text = String::from_utf8_lossy(kept).replace("\r\n", "\n").replace('\r', "\n");
    Some((Some(Key::Paste(text)), used))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        Keys::default().feed(bytes)
    }

    #[test]
    fn letters_and_editing_keys() {
        assert_eq!(keys("aé世".as_bytes()), [Key::Char('a'), Key::Char('é'), Key::Char('世')]);
        assert_eq!(keys(b"\r\x1b\r\n\x7f"), [Key::Enter, Key::Newline, Key::Newline, Key::Backspace]);
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[1;5D\x1b[3~"), [Key::Up, Key::Down, Key::WordLeft, Key::Delete]);
        assert_eq!(keys(b"\x1b[99;99z\x07x"), [Key::Char('x')], "what means nothing here is passed over");
    }

    #[test]
    fn what_is_incomplete_waits() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"\xe4\xb8"), []);
        assert_eq!(keys.feed(b"\x96"), [Key::Char('世')]);
        assert_eq!(keys.feed(b"\x1b"), []);
        assert!(keys.is_waiting());
        assert_eq!(keys.flush(), [Key::Escape]);
        assert_eq!(keys.feed(b"\x1b[20"), []);
        assert_eq!(keys.feed(b"0~a\rb\x1b[20"), []);
        assert!(!keys.is_waiting(), "a paste is not cut short");
        assert_eq!(keys.feed(b"1~c"), [Key::Paste("a\nb".to_owned()), Key::Char('c')]);
    }

    #[test]
    fn any_bytes_come_to_an_end() {
        let mut keys = Keys::default();
        for byte in 0..=255 {
            keys.feed(&[0x1b, b'[', byte, byte, 0xff, byte]);
        }
        keys.flush();
        assert!(keys.pending.len() < 2 * SEQUENCE_BYTES_MAX, "{:?}", keys.pending);
    }
}
