//! Secrets in a command line: what options and variables are given whose names say so, and what well known programs are
//! given by options that do not.

use std::ops::Range;

use super::names::{is_other_key, is_secret_option, is_secret_variable_name};
use super::programs::{
    Credential, Given, HEADER_OPTIONS, Program, Spelled, program_of, runs_text, seeks_patterns,
};
use super::words::{Piece, Pieces};
use super::{inside, is_reference, is_secret_name, name_before};

/// Scripts within scripts are looked into so deep.
const DEPTH_MAX: usize = 4;

/// A name in a document that is longer is none of a secret.
const NAME_BYTES_MAX: usize = 64;

/// Words before a program that leave open which it is.
const LAUNCHERS: &[&str] = &["command", "env", "exec", "nice", "nohup", "sudo", "time"];

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

/// What a script stands in.
#[derive(Clone, Copy, Default)]
struct Within {
    /// It is a quoted text that nothing is known to run, so that it may be prose.
    is_prose: bool,
    /// It is given to a program that looks for patterns.
    is_pattern: bool,
}

/// What is known of a command when its next word is looked at.
#[derive(Default)]
struct Command {
    program: Option<&'static Program>,
    /// Whether that program's options count: the word was there after which they do.
    is_meant: bool,
    /// What the next word is given to.
    awaits: Option<Given>,
    within: Within,
    /// Whether it runs the texts that it is given.
    runs_text: bool,
    /// Whether its program was named, whichever it is.
    is_begun: bool,
}

impl Scan<'_> {
    fn script(&mut self, script: Range<usize>, depth: usize, within: Within) {
        let mut command = Command::of(within);
        for piece in Pieces::of(&self.text[script.clone()]) {
            match piece {
                Piece::End => command = Command::of(within),
                Piece::Word(word) => {
                    self.word(&mut command, script.start + word.start..script.start + word.end, depth);
                }
            }
        }
    }

    fn word(&mut self, command: &mut Command, place: Range<usize>, depth: usize) {
        let word = &self.text[place.clone()];
        if let Some(given) = command.awaits.take()
            && !word.starts_with('-')
            // In prose an option is followed by what is said of it.
            && !(command.within.is_prose && given == Given::Whole && is_prose_word(word))
        {
            return self.given(given, place);
        }
        let is_option = word.starts_with('-') || word.starts_with("/p:");
        if is_option && self.option(command, place.clone()) {
            return;
        }
        // What an option is given may be a variable or a field, too.
        let joined = word.find('=').filter(|_| is_option).map_or(0, |sign| sign + 1);
        let content = inside(self.text, place.start + joined..place.end);
        let is_script = self.text[content.clone()].contains(|c: char| c.is_whitespace());
        if command.within.is_pattern && !(is_script && depth > 0) {
            self.pattern(content);
        } else if let Some(given) = assigned(word) {
            return self.given(Given::Whole, place.start + given..place.end);
        } else if is_script && depth > 0 {
            let quoted = self.quoted(place);
            let within = command.within_text(&self.text[quoted.clone()]);
            self.script(quoted, depth - 1, within);
        } else if let Some(given) = assigned(&self.text[content.clone()]).filter(|_| !is_script) {
            self.given(Given::Whole, content.start + given..content.end);
        } else {
            self.fields(content);
        }
        if !is_option {
            command.hear(word);
        }
    }

    /// What is quoted within a word, as in `--eval="mysql -px"`.
    fn quoted(&self, word: Range<usize>) -> Range<usize> {
        let start = self.text[word.clone()].find(['"', '\'']).map_or(word.start, |at| word.start + at);
        inside(self.text, start..word.end)
    }

    /// Whether an option is one with a secret, which the next word may be.
    fn option(&mut self, command: &mut Command, place: Range<usize>) -> bool {
        let word = &self.text[place.clone()];
        let own = command.program.filter(|_| command.is_meant).map_or(&[][..], |program| program.options);
        for credential in own.iter().chain(HEADER_OPTIONS) {
            match matched(credential, word) {
                Some(Match::Here(at)) => self.given(credential.2, place.start + at..place.end),
                Some(Match::Next) => command.awaits = Some(credential.2),
                None => continue,
            }
            return true;
        }
        let name = word.trim_start_matches('-');
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        let is_long = name.len() > 1 && !name.contains(['"', '\'']);
        if !is_long || !is_secret_option(name) {
            return false;
        }
        match value {
            Some(value) => self.given(Given::Whole, place.end - value.len()..place.end),
            None => command.awaits = Some(Given::Whole),
        }
        true
    }

    /// Takes down what of a value is secret.
    fn given(&mut self, given: Given, place: Range<usize>) {
        let place = inside(self.text, place);
        let value = &self.text[place.clone()];
        let after = |sign: char| value.find(sign).map(|at| at + sign.len_utf8());
        let start = match given {
            Given::Whole => Some(0),
            Given::AfterColon => after(':'),
            Given::AfterComma => after(','),
            Given::AfterPercent => after('%'),
            Given::AfterScheme => value.starts_with("pass:").then_some("pass:".len()),
            Given::Cookie => value.contains('=').then_some(0),
            Given::Header => after(':').filter(|colon| is_secret_name(&value[..colon - 1])),
        };
        let Some(start) = start else { return };
        let secret = value[start..].trim_start();
        let secret = secret.strip_prefix("\\ ").unwrap_or(secret);
        let without_scheme = secret.split_once(' ').map_or(secret, |(_, rest)| rest.trim_start());
        let is_shown = is_reference(secret)
            || says_where(secret)
            || (given == Given::Header && is_reference(without_scheme));
        if !is_shown {
            self.found.push(place.end - secret.len()..place.end);
        }
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
                    return self.given(Given::Whole, end - value.len()..word.end);
                }
                // What is put in the place of whatever was there is meant to be used.
                may_be_words &= is_prose_word(value);
            }
            at = end + 1;
        }
    }

    /// Secrets in what is asked of an address or sent as a form.
    fn fields(&mut self, word: Range<usize>) {
        let mut at = word.start;
        for field in self.text[word.clone()].split(['?', '&']) {
            let place = at..at + field.len();
            at = place.end + 1;
            let Some((name, value)) = field.split_once('=') else { continue };
            // Of these `assigned` decides: `PWD` is a directory.
            let is_variable =
                place.start == word.start && !name.contains(|c: char| c.is_ascii_lowercase() || c == '-');
            if !is_variable && is_secret_option(name) && !is_setting(name, value) {
                let value = value.split(['#', '"', '\'', '`']).next().unwrap_or_default();
                let start = place.start + name.len() + 1;
                self.given(Given::Whole, start..start + value.len());
            }
        }
    }
}

impl Command {
    fn of(within: Within) -> Command {
        Command { within, ..Command::default() }
    }

    /// What a quoted text is to this command.
    fn within_text(&self, text: &str) -> Within {
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_run = self.runs_text || program_of(first).is_some() || runs_text(first);
        Within { is_prose: !is_run, is_pattern: self.within.is_pattern }
    }

    /// Hears a word that is no option.
    fn hear(&mut self, word: &str) {
        let is_before = word.contains('=') || LAUNCHERS.contains(&word);
        let is_first = !is_before && !std::mem::replace(&mut self.is_begun, true);
        self.runs_text |= runs_text(word);
        self.within.is_pattern |= seeks_patterns(word);
        // A command may follow another one in a text.
        if is_first && (program_of(word).is_some() || runs_text(word)) {
            self.within.is_prose = false;
        }
        if let Some(program) = program_of(word) {
            (self.program, self.is_meant) = (Some(program), program.only_after.is_none());
            return;
        }
        let Some(program) = self.program else { return };
        match program.is_launcher {
            true => self.program = None,
            false => self.is_meant |= program.only_after == Some(word),
        }
    }
}

enum Match {
    /// The value begins at this place in the word.
    Here(usize),
    /// The value is the next word.
    Next,
}

/// Whether a word is an option, and where its value is.
fn matched((option, spelled, given): &Credential, word: &str) -> Option<Match> {
    let is_long = option.starts_with("--");
    let Some(rest) = word.strip_prefix(option) else {
        return ends_cluster(option, word, *given)
            .then_some(Match::Next)
            .filter(|_| *spelled != Spelled::Joined);
    };
    match (rest.is_empty(), spelled) {
        (true, Spelled::Apart | Spelled::Either) => Some(Match::Next),
        (true, Spelled::Joined) => None,
        (false, Spelled::Joined | Spelled::Either) if !is_long => Some(Match::Here(option.len())),
        (false, _) => rest.starts_with('=').then_some(Match::Here(option.len() + 1)),
    }
}

/// Whether several short options in one word end with this one, as in `curl -sSu me:x`. Where all that follows is secret,
/// a longer option with one dash would be taken for it.
fn ends_cluster(option: &str, word: &str, given: Given) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let letters = word.strip_prefix('-').unwrap_or_default();
    let is_cluster = letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    given != Given::Whole && is_cluster && letter.is_some_and(|letter| letters.ends_with(letter))
}

/// Where the value begins that a word gives to a variable with a secret.
fn assigned(word: &str) -> Option<usize> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let value = value.trim_matches(['"', '\'']);
    let is_other = is_setting(name, value) || is_other_key(name, value);
    (is_name && is_secret_variable_name(name) && !is_other).then_some(name.len() + 1)
}

/// Whether a value only says whether there is a secret, or how many. Passwords may be numbers.
fn is_setting(name: &str, value: &str) -> bool {
    const DIGITS_MAX: usize = 6;
    let is_word = ["true", "false", "none", "null"].iter().any(|word| word.eq_ignore_ascii_case(value));
    let is_number = value.len() <= DIGITS_MAX && value.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.to_ascii_uppercase();
    is_word || (is_number && !["PASS", "PW"].iter().any(|part| name.contains(part)))
}

/// Whether this is a word as sentences have it, and not made up of anything.
fn is_prose_word(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', '!', '?']);
    let rest = word.strip_prefix(|c: char| c.is_alphabetic()).unwrap_or(word);
    rest.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '\'' | '/'))
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

/// Whether a value says where a secret is, and not what it is.
fn says_where(value: &str) -> bool {
    const PLACES: &[&str] =
        &["~/", "./", "../", "/dev/", "/etc/", "/home/", "/proc/", "/run/", "/tmp/", "/Users/", "/var/"];
    const SIGNS: &[&str] = &["env:", "fd:", "file:", "id=", "src=", "stdin", "type="];
    PLACES.iter().chain(SIGNS).any(|place| value.starts_with(place))
}

/// Where a secret stands in a document within a text, if the colon after its name is at a place: `{"password": "x"}`.
pub(super) fn field_at(text: &str, colon: usize) -> Option<Range<usize>> {
    let before = text[..colon].strip_suffix('"')?;
    let before = before.strip_suffix('\\').unwrap_or(before);
    let name = name_before(text, before.len(), NAME_BYTES_MAX);
    let value = text[colon + 1..].trim_start_matches(' ');
    let value = value.strip_prefix('\\').unwrap_or(value).strip_prefix('"')?;
    if !is_secret_option(name) {
        return None;
    }
    let start = text.len() - value.len();
    let end = start + value.find(['"', '\\', '\n']).unwrap_or(value.len());
    let is_secret = start < end && !is_reference(&text[start..end]) && !says_where(&text[start..end]);
    is_secret.then_some(start..end)
}
