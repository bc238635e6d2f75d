//! A text with its escapes read, whoever wrote them: those of JSON, of YAML and of addresses. What a name says is what it
//! says to a parser, and every place is still known as written.

use std::ops::Range;

/// A text without escapes.
pub(super) struct Plain {
    text: String,
    /// For each of its bytes and for its end, where in the written text that is.
    written: Vec<usize>,
}

/// Finds places in a text as it is written, and with its escapes read.
pub(super) fn in_either(text: &str, mut find: impl FnMut(&str) -> Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut found = find(text);
    if let Some(plain) = Plain::of(text) {
        let read = find(&plain.text);
        found.extend(read.into_iter().map(|place| plain.written[place.start]..plain.written[place.end]));
    }
    found
}

impl Plain {
    /// The text, if it has any escapes.
    fn of(written: &str) -> Option<Plain> {
        written.contains(['\\', '%']).then_some(())?;
        let mut plain = Plain { text: String::with_capacity(written.len()), written: Vec::new() };
        let mut at = 0;
        while let Some(first) = written[at..].chars().next() {
            let rest = &written[at..];
            let signs = rest.len() - rest.trim_start_matches('\\').len();
            match escape(rest, signs) {
                Some((c, length)) => {
                    plain.push(c, at);
                    at += length;
                }
                // If all signs together escape nothing, none of them does.
                None => {
                    let literal = &rest[..signs.max(first.len_utf8())];
                    literal.char_indices().for_each(|(offset, c)| plain.push(c, at + offset));
                    at += literal.len();
                }
            }
        }
        plain.written.push(written.len());
        Some(plain)
    }

    fn push(&mut self, c: char, at: usize) {
        self.text.push(c);
        self.written.resize(self.text.len(), at);
    }
}

/// The character that a text begins with if so many signs at its beginning escape it, and how long that is. Quotes and
/// line breaks that are escaped are no longer those that end something.
fn escape(text: &str, signs: usize) -> Option<(char, usize)> {
    let rest = &text[signs..];
    let (kind, digits) = match rest.bytes().next()? {
        b'%' if signs == 0 => (1, 2),
        _ if signs == 0 => return None,
        b'u' => (1, 4),
        b'U' => (1, 8),
        b'x' => (1, 2),
        b'n' | b't' | b'r' => return Some((' ', signs + 1)),
        b'/' => return Some(('/', signs + 1)),
        _ => return None,
    };
    let digits =
        rest.get(kind..kind + digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?).unwrap_or(char::REPLACEMENT_CHARACTER);
    let c = match c {
        '"' | '\\' => '\'',
        c if c.is_control() => ' ',
        c => c,
    };
    Some((c, signs + kind + digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        Plain::of(text).map_or_else(|| text.to_owned(), |plain| plain.text)
    }

    #[test]
    fn escapes_are_read() {
        for (written, expected) in [
            (r"api\u004bey", "apiKey"),
            (r"api\\u004bey", "apiKey"),
            (r"api\x4bey\U0000004b", "apiKeyK"),
            ("api%4Bey", "apiKey"),
            (r"a\u0022b\u000ac\nd", "a'b c d"),
            (r#"\"a\" \q 100% \u00e9 \ud83d"#, "\\\"a\\\" \\q 100% é \u{fffd}"),
            (r"\u12", r"\u12"),
            ("é\\", "é\\"),
            (r"\\\q\\%41\\\u004b\\", r"\\\q\\AK\\"),
        ] {
            assert_eq!(read(written), expected);
        }
    }

    #[test]
    fn places_are_known_as_written() {
        let text = r"é\u004b\u00e9x";
        let find = |text: &str| text.match_indices("é").map(|(at, part)| at..at + part.len()).collect();
        let found: Vec<&str> = in_either(text, find).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["é", "é", r"\u00e9"]);
    }
}
