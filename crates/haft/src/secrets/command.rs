//! Secrets in a command line: what options and variables are given whose names say so, and what well known programs are
//! given by words that do not.

use std::ops::Range;

use super::heard::{Command, Match, Redirect, Within, matched, redirect_in};
use super::inside;
use super::names::is_secret_option;
use super::programs::Given;
use super::values::{assigned, is_prose_word, secret_fields, secret_in};
use super::words::{End, Piece, Pieces};

/// Scripts within scripts are looked into so deep.
const DEPTH_MAX: usize = 4;

/// Where secrets are given in a command line.
pub(super) fn places(text: &str) -> Vec<Range<usize>> {
    let mut scan = Scan { text, found: Vec::new() };
    scan.script(0..text.len(), DEPTH_MAX, Within::default());
    scan.found
}

struct Scan<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
}

impl Scan<'_> {
    fn script(&mut self, script: Range<usize>, depth: usize, within: Within) {
        let mut command = Command::of(within);
        let mut pieces = Pieces::of(&self.text[script.clone()]);
        while let Some(piece) = pieces.next() {
            let end = match piece {
                Piece::Word(word) => {
                    self.word(&mut command, script.start + word.start..script.start + word.end, depth);
                    continue;
                }
                Piece::End(end) => end,
            };
            self.end(&command);
            if end == End::Line {
                let below = script.start + pieces.at()..script.end;
                pieces.skip_to(self.document(&command, below) - script.start);
            }
            command = match end {
                End::Pipe => command.piped(within),
                End::Line | End::Other => Command::of(within),
            };
        }
        self.end(&command);
    }

    fn word(&mut self, command: &mut Command, place: Range<usize>, depth: usize) {
        let word = &self.text[place.clone()];
        if let Some(redirect) = command.redirect.take() {
            return self.redirected(command, redirect, place, depth);
        }
        if let Some((redirect, target)) = redirect_in(word) {
            command.awaits = None;
            if target == word.len() {
                command.redirect = Some(redirect);
                return;
            }
            return self.redirected(command, redirect, place.start + target..place.end, depth);
        }
        if let Some(given) = command.awaited(word) {
            return self.given(command, given, place, depth);
        }
        if word.starts_with('-') || word.starts_with("/p:") {
            return self.option(command, place, depth);
        }
        let mut is_secret = false;
        for given in command.hear_operand(word, &place) {
            is_secret |= self.take(given, place.clone());
        }
        if !is_secret {
            self.content(command, place.clone(), depth);
            command.hear(&self.text[place]);
        }
    }

    /// Looks at an option, whose value may be the next word.
    fn option(&mut self, command: &mut Command, place: Range<usize>, depth: usize) {
        let word = &self.text[place.clone()];
        if word == "--" {
            return command.hear_last_option();
        }
        if command.hear_switch(word) {
            return;
        }
        let known = command.options().find_map(|option| Some((matched(option, word)?, option.2)));
        match known {
            Some((Match::Here(at), given)) => {
                return self.given(command, given, place.start + at..place.end, depth);
            }
            Some((Match::Next, given)) => {
                command.awaits = Some(given);
                return;
            }
            Some((Match::Input, given)) => {
                command.input = Some(given);
                return;
            }
            None => {}
        }
        let name = word.trim_start_matches('-');
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let is_long = name.len() > 1 && !name.contains(['"', '\'']);
        if !is_long || !is_secret_option(name) {
            // What an option is given may be a variable or a field, too.
            let joined = word.find('=').map_or(0, |sign| sign + 1);
            return self.content(command, place.start + joined..place.end, depth);
        }
        match value {
            Some(value) => self.given(command, Given::Whole, place.end - value.len()..place.end, depth),
            None => command.awaits = Some(Given::Whole),
        }
    }

    /// Looks at a word that something is known to be given.
    fn given(&mut self, command: &Command, given: Given, place: Range<usize>, depth: usize) {
        let is_secret = self.take(given, place.clone());
        let is_command = self.text[place.clone()].contains("$(");
        match given {
            Given::Setting | Given::Nothing => self.content(command, place, depth),
            _ if !is_secret && is_command && depth > 0 => {
                self.script(self.quoted(place), depth - 1, Within::default());
            }
            _ => {}
        }
    }

    /// Takes down what of a value is secret, if anything is.
    fn take(&mut self, given: Given, place: Range<usize>) -> bool {
        let place = inside(self.text, place);
        let secret = secret_in(given, &self.text[place.clone()]);
        self.found.extend(secret.iter().map(|secret| place.start + secret.start..place.start + secret.end));
        secret.is_some()
    }

    /// Looks into a word for variables, fields and further commands.
    fn content(&mut self, command: &Command, place: Range<usize>, depth: usize) {
        let content = inside(self.text, place.clone());
        let is_script = self.text[content.clone()].contains(|c: char| c.is_whitespace());
        if command.within.is_pattern && !(is_script && depth > 0) {
            self.pattern(content);
        } else if let Some(value) = assigned(&self.text[place.clone()]) {
            self.given(command, Given::Whole, place.start + value..place.end, depth);
        } else if is_script && depth > 0 {
            let quoted = self.quoted(place);
            let within = command.within_text(&self.text[quoted.clone()]);
            self.script(quoted, depth - 1, within);
        } else if let Some(value) = assigned(&self.text[content.clone()]).filter(|_| !is_script) {
            self.take(Given::Whole, content.start + value..content.end);
        } else {
            let fields = secret_fields(&self.text[content.clone()]);
            for field in fields {
                self.take(Given::Whole, content.start + field.start..content.start + field.end);
            }
        }
    }

    /// What is quoted within a word, as in `--eval="mysql -px"`.
    fn quoted(&self, word: Range<usize>) -> Range<usize> {
        let start = self.text[word.clone()].find(['"', '\'']).map_or(word.start, |at| word.start + at);
        inside(self.text, start..word.end)
    }

    /// Secrets in what is sought or put in the place of something. What is left out goes to the end of the word: what
    /// ends the parts of a pattern may be a part of the secret.
    fn pattern(&mut self, word: Range<usize>) {
        let content = &self.text[word.clone()];
        let sign = sign_between_parts(content);
        let mut may_be_words = content.contains(sign);
        let mut at = word.start;
        // It may be an address or a form after all.
        for part in content.split([sign, '?', '&']) {
            let end = at + part.len();
            if let Some((name, value)) = part.split_once('=')
                && (is_secret_option(name) || assigned(part).is_some())
            {
                if !is_sought(value, may_be_words) {
                    self.take(Given::Whole, end - value.len()..word.end);
                    return;
                }
                // What is put in the place of whatever was there is meant to be used.
                may_be_words &= is_prose_word(value);
            }
            at = end + 1;
        }
    }

    /// Looks at a word that something is read from or written to.
    fn redirected(&mut self, command: &mut Command, redirect: Redirect, place: Range<usize>, depth: usize) {
        match redirect {
            Redirect::Text => command.reads.push(place.clone()),
            Redirect::Document => command.document = Some(place.clone()),
            Redirect::File => {}
        }
        self.content(command, place, depth);
    }

    /// What is known to be secret only when a command has no more words.
    fn end(&mut self, command: &Command) {
        for last in command.last_operands() {
            self.take(Given::Whole, last);
        }
        if let Some(given) = command.input() {
            for place in &command.reads {
                self.take(given, place.clone());
            }
        }
    }

    /// What a command reads from the lines below it, if that is secret. Returns where the lines are that it does not read.
    fn document(&mut self, command: &Command, below: Range<usize>) -> usize {
        let Some((given, mark)) = command.input().zip(command.document.clone()) else { return below.start };
        let mark = self.text[mark].trim_matches(['"', '\'', '\\']);
        let mut at = below.start;
        for line in self.text[below].split_inclusive('\n') {
            let place = at..at + line.trim_end().len();
            at += line.len();
            if line.trim() == mark {
                break;
            }
            self.take(given, place);
        }
        at
    }
}

/// What stands between the parts of a pattern: `s|a|b|` says so itself.
fn sign_between_parts(pattern: &str) -> char {
    let own = pattern.strip_prefix('s').and_then(|rest| rest.chars().next());
    own.filter(|c| c.is_ascii_punctuation() && !matches!(c, '_' | '-' | '.' | '=')).unwrap_or('/')
}

/// Whether a value within a pattern is one itself, or one word of several that stand for each other.
fn is_sought(value: &str, is_one_of_several: bool) -> bool {
    // Before what ends a part, this only says that it does not.
    let value = value.trim_end_matches('\\');
    value.contains(['\\', '[', '*']) || (is_one_of_several && is_prose_word(value))
}
