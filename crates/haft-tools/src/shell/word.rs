//! Words: what the shell would make of them, as far as that is known before it runs.

use std::fmt;

use super::braces::{Braces, Piece};
use super::homes::home_of;

/// A word of a command after quotes are removed.
#[derive(Clone)]
pub struct Word {
    text: String,
    certainty: Certainty,
    /// What braces make of it.
    alternatives: Vec<Word>,
    /// What it may be, by what the script puts into its variables. Not every reading looks for that.
    values: Vec<Word>,
}

impl PartialEq for Word {
    fn eq(&self, other: &Word) -> bool {
        (&self.text, self.certainty, &self.alternatives)
            == (&other.text, other.certainty, &other.alternatives)
    }
}

impl Eq for Word {}

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
        Word { text: text.into(), certainty: Certainty::Exact, alternatives: Vec::new(), values: Vec::new() }
    }

    /// A word of which nothing is known.
    pub(super) fn unknown() -> Word {
        Word {
            text: String::new(),
            certainty: Certainty::Unknown,
            alternatives: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The word, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        (self.certainty == Certainty::Exact).then_some(&self.text)
    }

    /// The word, or the pattern of names, or as much of its beginning as is known.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words that braces make of it, as far as they are known; none, if it has no braces.
    pub fn alternatives(&self) -> &[Word] {
        &self.alternatives
    }

    /// What it may be by what the script puts into its variables; none, if that says nothing about it. One that is not
    /// known among them means that it may be anything else, too.
    pub fn values(&self) -> &[Word] {
        &self.values
    }

    /// The texts that it may come to, as a whole, as far as they are known.
    pub(super) fn texts(&self) -> Vec<String> {
        let own = std::iter::once(self).chain(self.alternatives());
        let values =
            self.values().iter().flat_map(|value| std::iter::once(value).chain(value.alternatives()));
        let known = own.chain(values).filter(|one| one.certainty() != Certainty::Unknown);
        let mut texts: Vec<String> = known.map(|one| one.text().to_owned()).collect();
        // What a variable holds is several words where no quotes keep it together.
        let several = self.values().iter().filter(|one| one.certainty() != Certainty::Unknown);
        texts.extend(several.flat_map(|one| one.text().split_whitespace()).map(str::to_owned));
        texts
    }

    pub(super) fn with_values(self, values: Vec<Word>) -> Word {
        Word { values, ..self }
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
    braces: Braces,
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
        text.chars().for_each(|c| self.braces.push(Piece::Quoted(c)));
        if !self.is_unknown {
            self.is_unknown = self.is_tilde && !self.text.contains('/');
            self.text.push_str(text);
        }
    }

    /// Adds a character that nothing protects.
    pub(super) fn bare(&mut self, c: char) {
        let first = !std::mem::replace(&mut self.begun, true);
        if c == '{' && !self.braces.are_open() {
            let before = self.text.chars().enumerate();
            let is_tilde = self.is_tilde;
            self.braces.open(before.map(|(at, c)| match at {
                0 if is_tilde => Piece::Bare(c),
                _ => Piece::Quoted(c),
            }));
        }
        self.braces.push(Piece::Bare(c));
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
                    self.is_unknown = true;
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
        self.braces.push(Piece::Unknown);
        self.is_unknown = true;
    }

    /// The word; `home` is what a tilde stands for.
    pub(super) fn finish(mut self, home: Option<&str>) -> Word {
        let expanded = std::mem::take(&mut self.braces).expanded();
        let alternatives = expanded.into_iter().map(|pieces| WordBuilder::of(&pieces).finish(home)).collect();
        Word { alternatives, ..self.alone(home) }
    }

    /// A word of pieces in which no brace expands any more.
    fn of(pieces: &[Piece]) -> WordBuilder {
        let mut builder = WordBuilder::default();
        for piece in pieces {
            match piece {
                Piece::Bare(c @ ('{' | '}' | ',')) | Piece::Quoted(c) => {
                    builder.quoted(c.encode_utf8(&mut [0; 4]))
                }
                Piece::Bare(c) => builder.bare(*c),
                Piece::Unknown => builder.unknown(),
            }
        }
        builder
    }

    fn alone(mut self, home: Option<&str>) -> Word {
        if self.is_tilde {
            let text = self.text.strip_prefix('~').unwrap_or_default();
            let (user, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
            let directory = match user {
                "" => home.map(str::to_owned),
                // What is unknown may be the rest of the name.
                _ if self.is_unknown && rest.is_empty() => None,
                _ => home_of(user),
            };
            let Some(directory) = directory else { return Word::unknown() };
            let text = format!("{directory}{rest}");
            let before = self.text.len();
            self.glob = self.glob.map(|at| (at + text.len()).saturating_sub(before));
            self.text = text;
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
        Word { text: self.text, certainty, alternatives: Vec::new(), values: Vec::new() }
    }
}

/// Schemes of addresses that commands are given. What is behind `file:` is a path.
#[rustfmt::skip]
const SCHEMES: &[&str] = &[
    "http", "https", "ftp", "ftps", "sftp", "scp", "git", "ssh", "git+ssh", "git+https", "git+http", "svn", "svn+ssh", "s3", "gs", "az",
    "docker", "docker-daemon", "oci", "npm", "rsync", "ws", "wss", "postgres", "postgresql", "mysql", "redis", "rediss", "mongodb",
    "mongodb+srv", "amqp", "amqps", "data", "about", "blob", "jdbc", "ldap", "ldaps", "tcp", "udp", "grpc", "mqtt", "magnet", "socks5",
    "socks5h", "sqlite", "mailto", "chrome", "vscode", "registry+https", "sparse+https", "app", "arn", "gopher", "telnet", "smb", "nfs",
];

/// Whether a word, or the value of an option in it, is an address and no path. One that leads up may be a path through a
/// directory of such a name.
pub(super) fn is_address(text: &str) -> bool {
    let is_one = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme));
    let value = text.split_once('=').map(|(_, value)| value);
    !leads_up(text) && (is_one(text) || value.is_some_and(is_one))
}

/// Whether a piece of a word stands behind a scheme in it, as in data with addresses among it.
pub(super) fn is_addressed(text: &str, piece: &str) -> bool {
    let is_behind = |scheme: &str| text.contains(&format!("{scheme}:{piece}"));
    piece.starts_with("//") && !leads_up(piece) && SCHEMES.iter().any(|scheme| is_behind(scheme))
}

fn is_scheme(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(text))
}

fn leads_up(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
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
