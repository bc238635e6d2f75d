//! A second way to read a script: plain, left to right, and giving up early.
//!
//! A grammar and a shell may disagree about where a command ends. A rule about one simple command is believed only
//! where this reading finds the very same commands; what it does not understand, nobody has confirmed.

use super::command::{Command, Sort};
use super::word::{Word, WordBuilder};

/// Words behind which another command begins.
const OPENING: &[&str] = &["if", "then", "elif", "else", "while", "until", "do", "!", "{"];
/// Words that end something.
const CLOSING: &[&str] = &["fi", "done", "}"];
/// What begins with these is no simple command to the grammar either.
const APART: &[&str] = &["for", "select", "[", "export", "declare", "typeset", "readonly", "local", "unset"];
/// What begins with these is not understood here.
const FOREIGN: &[&str] = &["case", "function", "[[", "coproc", "in", "esac"];

/// How this reading compares with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    /// It finds the same commands.
    Agrees,
    /// It finds others.
    Disagrees,
    /// It does not understand the script.
    GivesUp,
}

/// Whether this reading finds the same simple commands.
pub(super) fn compare(script: &str, home: Option<&str>, commands: &[Command]) -> Second {
    let Some(read) = Reader::new(script, home).read() else { return Second::GivesUp };
    let simple = || commands.iter().filter(|command| command.sort == Sort::Simple);
    let is_same =
        read.len() == simple().count() && read.iter().zip(simple()).all(|(read, found)| *read == found.words);
    if is_same { Second::Agrees } else { Second::Disagrees }
}

struct Reader<'s> {
    rest: std::iter::Peekable<std::str::Chars<'s>>,
    home: Option<&'s str>,
    commands: Vec<Vec<Word>>,
    words: Vec<(Word, bool)>,
    word: WordBuilder,
    is_quoted: bool,
    is_target: bool,
}

impl<'s> Reader<'s> {
    fn new(script: &'s str, home: Option<&'s str>) -> Reader<'s> {
        Reader {
            rest: script.chars().peekable(),
            home: home.filter(|_| !script.contains("HOME=")),
            commands: Vec::new(),
            words: Vec::new(),
            word: WordBuilder::default(),
            is_quoted: false,
            is_target: false,
        }
    }

    /// The commands, or nothing if something is not understood.
    fn read(mut self) -> Option<Vec<Vec<Word>>> {
        while let Some(c) = self.rest.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '\n' | ';' | '|' => self.end_command()?,
                '&' if self.rest.peek() == Some(&'>') => return None,
                '&' => self.end_command()?,
                // A function, or a grouping of its own.
                '(' if !self.word.is_empty() || !self.words.is_empty() || self.rest.peek() == Some(&'(') => {
                    return None;
                }
                '(' | ')' => self.end_command()?,
                '#' if self.word.is_empty() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '<' | '>' => self.redirection(c)?,
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    escaped => self.quoted(escaped),
                },
                '$' => self.variable()?,
                '`' | '\r' => return None,
                c if c.is_control() => return None,
                c => self.word.bare(c),
            }
        }
        self.end_command()?;
        Some(self.commands)
    }

    fn quoted(&mut self, c: char) {
        self.is_quoted = true;
        self.word.quoted(c.encode_utf8(&mut [0; 4]));
    }

    fn single_quotes(&mut self) -> Option<()> {
        self.is_quoted = true;
        self.word.quoted("");
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                c => self.quoted(c),
            }
        }
    }

    fn double_quotes(&mut self) -> Option<()> {
        self.is_quoted = true;
        self.word.quoted("");
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '`' => return None,
                '$' => self.variable()?,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => self.quoted(c),
                    c => {
                        self.quoted('\\');
                        self.quoted(c);
                    }
                },
                c => self.quoted(c),
            }
        }
    }

    /// A dollar that stands before a plain name; everything else it may begin is not understood.
    fn variable(&mut self) -> Option<()> {
        let next = self.rest.next_if(|c| c.is_ascii_alphanumeric() || "_@*#?-$!".contains(*c))?;
        self.is_quoted = true;
        let mut name = next.to_string();
        if next.is_ascii_alphabetic() || next == '_' {
            while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                name.push(c);
            }
        }
        match (name.as_str(), self.home) {
            ("HOME", Some(home)) => self.word.quoted(home),
            // What the first reading may know, this one does not.
            ("PWD", _) => return None,
            _ => self.word.unknown(),
        }
        Some(())
    }

    /// Only where a redirection ends is of interest, so that its target is not taken for a word.
    fn redirection(&mut self, c: char) -> Option<()> {
        let is_number = !self.is_quoted && !self.word.is_empty();
        if is_number {
            let word = std::mem::take(&mut self.word).finish(self.home);
            if !word.known()?.chars().all(|c| c.is_ascii_digit()) {
                self.words.push((word, false));
            }
        } else {
            self.end_word();
        }
        match (c, self.rest.peek()) {
            (_, Some('(')) | ('<', Some('<' | '>')) => return None,
            ('>', Some('>' | '|' | '&')) | ('<', Some('&')) => {
                self.rest.next();
            }
            _ => {}
        }
        if self.rest.peek() == Some(&'(') {
            return None;
        }
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        self.is_target = true;
        Some(())
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word).finish(self.home);
        let is_quoted = std::mem::take(&mut self.is_quoted);
        if !std::mem::take(&mut self.is_target) {
            self.words.push((word, is_quoted));
        }
    }

    fn end_command(&mut self) -> Option<()> {
        self.end_word();
        if self.is_target {
            return None;
        }
        let words = std::mem::take(&mut self.words);
        let mut skipped = 0;
        loop {
            let Some((first, is_quoted)) = words.get(skipped) else { return Some(()) };
            let bare = (!is_quoted).then(|| first.text());
            match bare {
                Some(keyword) if FOREIGN.contains(&keyword) => return None,
                Some(keyword) if APART.contains(&keyword) => return Some(()),
                Some(keyword) if OPENING.contains(&keyword) || CLOSING.contains(&keyword) => {}
                _ if is_assignment(first.text()) => {}
                _ => break,
            }
            skipped += 1;
        }
        self.commands.push(words.into_iter().skip(skipped).map(|(word, _)| word).collect());
        Some(())
    }
}

fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name(name) && !name.starts_with(|c: char| c.is_ascii_digit())
}
