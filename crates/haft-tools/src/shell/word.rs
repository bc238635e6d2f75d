//! Words: what the shell would make of them, as far as that is known before it runs.

use std::fmt;

/// A word of a command after quotes are removed.
#[derive(Clone, PartialEq, Eq)]
pub struct Word {
    text: String,
    certainty: Certainty,
}

/// How much of a word is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// All of it.
    Exact,
    /// It becomes the names of files that match it; the number says where its first wildcard stands.
    Glob(usize),
    /// Only how it begins.
    Unknown,
}

impl Word {
    /// A word that is known.
    pub(super) fn exact(text: impl Into<String>) -> Word {
        Word { text: text.into(), certainty: Certainty::Exact }
    }

    /// A word of which nothing is known.
    pub(super) fn unknown() -> Word {
        Word { text: String::new(), certainty: Certainty::Unknown }
    }

    /// The word, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        (self.certainty == Certainty::Exact).then_some(&self.text)
    }

    /// The word, or the pattern of names, or as much of its beginning as is known.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How much is known.
    pub fn certainty(&self) -> Certainty {
        self.certainty
    }

    /// What is known before the first wildcard or the first unknown.
    pub fn beginning(&self) -> &str {
        match self.certainty {
            Certainty::Exact | Certainty::Unknown => &self.text,
            Certainty::Glob(from) => &self.text[..from],
        }
    }

    /// The word in a form that the shell reads back as the same word.
    pub fn quoted(&self) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./,:@%^{}*?[]~".contains(c);
        let text = &self.text;
        match self.certainty {
            Certainty::Exact if text.is_empty() || !text.chars().all(is_plain) => {
                format!("'{}'", text.replace('\'', r"'\''"))
            }
            Certainty::Exact | Certainty::Glob(_) => text.clone(),
            Certainty::Unknown => format!("{text}…"),
        }
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.quoted())
    }
}

/// Builds a word piece by piece.
#[derive(Default)]
pub(super) struct WordBuilder {
    text: String,
    is_unknown: bool,
    glob: Option<usize>,
    brace: Option<Brace>,
    is_tilde: bool,
    begun: bool,
}

/// An open brace, and whether what follows it makes several words of one.
struct Brace {
    at: usize,
    expands: bool,
    dots: usize,
}

impl WordBuilder {
    /// Whether nothing has been added yet, not even an empty pair of quotes.
    pub(super) fn is_empty(&self) -> bool {
        !self.begun
    }

    /// Adds text that quotes protect.
    pub(super) fn quoted(&mut self, text: &str) {
        self.begun = true;
        if !self.is_unknown {
            self.is_unknown = self.is_tilde && self.text == "~";
            self.text.push_str(text);
        }
    }

    /// Adds a character that nothing protects.
    pub(super) fn bare(&mut self, c: char) {
        let first = !std::mem::replace(&mut self.begun, true);
        if self.is_unknown {
            return;
        }
        let at = self.text.len();
        match c {
            '~' if first => self.is_tilde = true,
            '*' | '?' | '[' => self.glob = self.glob.or(Some(at)),
            '{' => self.brace = Some(Brace { at, expands: false, dots: 0 }),
            ',' => self.brace.iter_mut().for_each(|brace| brace.expands = true),
            '.' => self.brace.iter_mut().for_each(|brace| {
                brace.dots += 1;
                brace.expands |= brace.dots > 1;
            }),
            '}' => {
                if let Some(brace) = self.brace.take().filter(|brace| brace.expands) {
                    self.text.truncate(brace.at);
                    self.unknown();
                    return;
                }
            }
            _ => {}
        }
        self.text.push(c);
    }

    /// Adds something that is known only when it runs.
    pub(super) fn unknown(&mut self) {
        self.begun = true;
        self.is_unknown = true;
    }

    /// The word; `home` is what a tilde stands for.
    pub(super) fn finish(mut self, home: Option<&str>) -> Word {
        if self.is_tilde {
            let of_home = |rest: &str| Some(format!("{}{rest}", home?));
            match self.text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                Some(rest) => match of_home(rest) {
                    Some(text) => {
                        let grown = text.len() - self.text.len();
                        self.glob = self.glob.map(|at| at + grown);
                        self.text = text;
                    }
                    None => return Word::unknown(),
                },
                None => return Word::unknown(),
            }
        }
        // An open brace may yet be closed by what is unknown.
        if self.is_unknown
            && let Some(brace) = self.brace
        {
            self.text.truncate(brace.at);
        }
        let certainty = match (self.is_unknown, self.glob) {
            (true, _) => Certainty::Unknown,
            (false, Some(from)) => Certainty::Glob(from),
            (false, None) => Certainty::Exact,
        };
        if let (Certainty::Unknown, Some(from)) = (certainty, self.glob) {
            self.text.truncate(from);
        }
        Word { text: self.text, certainty }
    }
}

/// What `$'…'` stands for; `None` if it is not text.
pub(super) fn ansi_c(inner: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            decoded.push(c);
            continue;
        }
        let digits = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize| {
            let mut value: Option<u32> = None;
            for _ in 0..most {
                let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
                value = Some(value.unwrap_or(0).wrapping_mul(radix).wrapping_add(digit));
                rest.next();
            }
            value
        };
        let escaped = rest.next()?;
        let (code, most) = match escaped {
            'a' => (7, 0x7f),
            'b' => (8, 0x7f),
            'e' | 'E' => (27, 0x7f),
            'f' => (12, 0x7f),
            'n' => (10, 0x7f),
            'r' => (13, 0x7f),
            't' => (9, 0x7f),
            'v' => (11, 0x7f),
            '\\' | '\'' | '"' | '?' => (escaped as u32, 0x7f),
            '0'..='7' => {
                let first = escaped.to_digit(8)?;
                let more = match rest.peek() {
                    Some('0'..='7') => {
                        let second = rest.next()?.to_digit(8)?;
                        match rest.peek() {
                            Some('0'..='7') => (second * 8 + rest.next()?.to_digit(8)?, 64),
                            _ => (second, 8),
                        }
                    }
                    _ => (0, 1),
                };
                (first * more.1 + more.0, 0x7f)
            }
            'x' => (digits(&mut rest, 16, 2)?, 0x7f),
            'u' => (digits(&mut rest, 16, 4)?, 0x10_ffff),
            'U' => (digits(&mut rest, 16, 8)?, 0x10_ffff),
            'c' => (rest.next()? as u32 & 0x1f, 0x7f),
            other => {
                decoded.extend(['\\', other]);
                continue;
            }
        };
        // A NUL ends the word in some versions and not in others; a lone byte above ASCII is no character.
        if code == 0 || code > most {
            return None;
        }
        decoded.push(char::from_u32(code)?);
    }
    Some(decoded)
}
