//! Where the slots of a shell part stand, as the shell would read it: what takes several words, what holds one, and
//! where nothing can be put because it is not clear how it would be read.

use super::template::{Slot, TemplateError};

/// Words after which another command begins.
const INTRODUCING: [&str; 9] = ["!", "if", "then", "elif", "else", "while", "until", "do", "{"];
/// What a substitution may not hold if its end is to be found.
const NESTING: &[char] = &['"', '\'', '\\', '(', '{', '#', '<', '\n'];

/// A slot, and where it stands.
pub(super) struct Found {
    pub(super) slot: Slot,
    pub(super) holds: Holds,
    /// Whether a variable is set to it.
    pub(super) is_assigned: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a slot can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Arguments, as many as there are: it stands for itself, behind the name of a program.
    Arguments,
    /// Exactly one word, or part of one: the value of an option or a variable, the target of a redirection.
    Word,
    /// Part of what stands in double quotes.
    Quoted,
}

/// Finds the slots that the shell would take for variables: none in single quotes or after a backslash.
pub(super) fn found(script: &str) -> Result<Vec<Found>, TemplateError> {
    let mut reader = Reader::new(script);
    while reader.at < script.len() {
        reader.step()?;
    }
    reader.end_word();
    match (reader.unclear, reader.found.is_empty()) {
        (Some(because), false) => Err(unquotable(script, because)),
        (Some(_) | None, _) => Ok(reader.found),
    }
}

/// Reads a script once, from its beginning to its end.
struct Reader<'s> {
    script: &'s str,
    at: usize,
    /// Where the word begins that is being read.
    word: Option<usize>,
    in_double: bool,
    /// Whether the next word is the name of a program, unless a variable is set by it.
    at_command: bool,
    /// Whether the next word is the target of a redirection.
    at_target: bool,
    /// Whether the next word is what a `case` is about.
    at_subject: bool,
    /// What leaves open how the shell reads all the rest.
    unclear: Option<&'static str>,
    found: Vec<Found>,
}

impl<'s> Reader<'s> {
    fn new(script: &'s str) -> Reader<'s> {
        Reader {
            script,
            at: 0,
            word: None,
            in_double: false,
            at_command: true,
            at_target: false,
            at_subject: false,
            unclear: None,
            found: Vec::new(),
        }
    }

    fn rest(&self) -> &'s str {
        &self.script[self.at..]
    }

    fn step(&mut self) -> Result<(), TemplateError> {
        let Some(c) = self.rest().chars().next() else { return Ok(()) };
        match (c, self.in_double) {
            ('\\', _) => self.escape(),
            ('$', _) => return self.dollar(),
            ('"', _) => {
                self.begin_word();
                self.in_double = !self.in_double;
                self.at += 1;
            }
            (_, true) => self.at += c.len_utf8(),
            ('\'', false) => {
                self.begin_word();
                let inner = self.rest()[1..].find('\'');
                self.at += inner.map_or(self.rest().len(), |length| length + 2);
            }
            (' ' | '\t', false) => {
                self.end_word();
                self.at += 1;
            }
            ('\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>', false) => self.operator(c),
            ('#', false) if self.word.is_none() => return self.comment(),
            (_, false) => {
                self.begin_word();
                self.at += c.len_utf8();
            }
        }
        Ok(())
    }

    fn escape(&mut self) {
        let escaped = self.rest()[1..].chars().next();
        // A line that goes on below neither begins a word nor ends one.
        if escaped != Some('\n') {
            self.begin_word();
        }
        self.at += 1 + escaped.map_or(0, char::len_utf8);
    }

    fn operator(&mut self, c: char) {
        let rest = self.rest();
        let is_redirection = matches!(c, '<' | '>') || rest.starts_with("&>");
        // The number of a descriptor belongs to the redirection behind it.
        let number = self.word.map(|start| &self.script[start..self.at]);
        match number.filter(|word| is_redirection && word.bytes().all(|byte| byte.is_ascii_digit())) {
            Some(_) => self.word = None,
            None => self.end_word(),
        }
        if is_redirection {
            let length = rest.find(|c| !matches!(c, '<' | '>' | '&' | '|')).unwrap_or(rest.len());
            if rest[..length].contains("<<") && !rest[..length].contains("<<<") {
                self.unclear = Some("<<");
            }
            self.at_target = true;
            self.at += length;
            return;
        }
        if c == '(' && rest.starts_with("((") {
            self.unclear = Some("((");
        }
        if c == '(' && self.script[..self.at].ends_with('=') {
            self.unclear = Some("=(");
        }
        (self.at_command, self.at_target, self.at_subject) = (true, false, false);
        self.at += 1;
    }

    fn comment(&mut self) -> Result<(), TemplateError> {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        self.pass_over(length, "#")
    }

    /// Passes over what the shell reads by other rules, and in which there may be no slot.
    fn pass_over(&mut self, length: usize, because: &'static str) -> Result<(), TemplateError> {
        let passed = &self.rest()[..length];
        self.at += length;
        match passed.match_indices('$').any(|(at, _)| slot_at(&passed[at..]).is_some()) {
            true => Err(unquotable(self.script, because)),
            false => Ok(()),
        }
    }

    fn dollar(&mut self) -> Result<(), TemplateError> {
        let rest = self.rest();
        if let Some((slot, length)) = slot_at(rest) {
            return self.slot(slot, length);
        }
        self.begin_word();
        let after = rest[1..].chars().next();
        match after {
            Some('(') => return self.substitution("$(", ')'),
            Some('{') => return self.substitution("${", '}'),
            Some('[') => self.unclear = Some("$["),
            Some('\'') if !self.in_double => self.unclear = Some("$'"),
            Some('"') if !self.in_double => self.unclear = Some("$\""),
            _ => {}
        }
        // The number of the shell's own process is no beginning of anything.
        self.at += if after == Some('$') { 2 } else { 1 };
        Ok(())
    }

    /// Passes over a substitution whose end is plain. Where others may be within it, or quotes, it is not clear.
    fn substitution(&mut self, opening: &'static str, closing: char) -> Result<(), TemplateError> {
        let inner = &self.rest()[opening.len()..];
        let Some(length) = inner.find(closing) else {
            self.unclear = Some(opening);
            self.at += opening.len();
            return Ok(());
        };
        if inner[..length].contains(NESTING) || inner[..length].contains("case") {
            self.unclear = Some(opening);
        }
        self.pass_over(opening.len() + length + closing.len_utf8(), opening)
    }

    fn slot(&mut self, slot: Slot, length: usize) -> Result<(), TemplateError> {
        let (start, end) = (self.at, self.at + length);
        let is_apart = self.script[end..]
            .chars()
            .next()
            .is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|'));
        let stands_alone = self.word.is_none() && is_apart && !self.at_target && !self.at_subject;
        let before = &self.script[self.word.unwrap_or(start)..start];
        let is_assigned = self.at_command && !self.at_target && is_assignment(before);
        if self.at_command && !self.at_target && !is_assigned {
            return Err(TemplateError::Program { script: self.script.to_owned() });
        }
        let holds = match (self.in_double, stands_alone) {
            (true, _) => Holds::Quoted,
            (false, true) => Holds::Arguments,
            (false, false) => Holds::Word,
        };
        self.found.push(Found { slot, holds, is_assigned, start, end });
        self.begin_word();
        self.at = end;
        Ok(())
    }

    fn begin_word(&mut self) {
        self.word.get_or_insert(self.at);
    }

    fn end_word(&mut self) {
        let Some(start) = self.word.take() else { return };
        let word = &self.script[start..self.at];
        if word == "[[" {
            self.unclear = Some("[[");
        }
        if std::mem::take(&mut self.at_target) {
            return;
        }
        self.at_subject = self.at_command && word == "case";
        self.at_command &= is_assignment(word) || INTRODUCING.contains(&word);
    }
}

/// Whether a word, or its beginning, sets a variable.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| is_plain(c) && !c.is_ascii_digit()) && name.chars().all(is_plain)
}

/// A slot; a variable whose name only begins like one is the shell's own.
fn slot_at(text: &str) -> Option<(Slot, usize)> {
    let (slot, length) = Slot::at(text)?;
    let goes_on = text[length..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (slot != Slot::All || !goes_on).then_some((slot, length))
}

fn unquotable(script: &str, because: &'static str) -> TemplateError {
    TemplateError::Unquotable { script: script.to_owned(), because }
}
