//! What is known of a command while its words are heard one after the other.

use std::ops::Range;

use super::names::is_secret_setting;
use super::programs::{
    ANY_OPTIONS, Credential, Given, Operands, Program, Spelled, begins_command, launches, passes_on,
    programs_of, runs_text, says, seeks_patterns,
};
use super::values::is_prose_word;

/// Words before a program that leave open which it is.
const LAUNCHERS: &[&str] = &[
    "bunx", "command", "doas", "env", "exec", "nice", "nohup", "npx", "sudo", "time", "timeout", "uvx",
    "xargs", "xcrun",
];

/// What statements begin with that give somebody a password, and what it follows in them.
const STATEMENTS: (&[&str], &[&str]) = (&["ALTER", "CREATE", "GRANT"], &["BY", "PASSWORD"]);

/// What a script stands in.
#[derive(Clone, Copy, Default)]
pub(super) struct Within {
    /// It is a quoted text that nothing is known to run.
    pub(super) is_told: bool,
    /// Neither does it begin as a command does, so that it may be prose.
    pub(super) is_prose: bool,
    /// It is given to a program that looks for patterns.
    pub(super) is_pattern: bool,
}

/// What is known of a command when its next word is looked at.
#[derive(Default)]
pub(super) struct Command {
    pub(super) within: Within,
    /// What the next word is given to.
    pub(super) awaits: Option<Given>,
    /// What the next word is to its input or output.
    pub(super) redirect: Option<Redirect>,
    /// Where that stands which it reads.
    pub(super) reads: Vec<Range<usize>>,
    /// Where the word stands that ends what it reads from the lines below.
    pub(super) document: Option<Range<usize>>,
    /// What an option says to be secret of what it reads.
    pub(super) input: Option<Given>,
    programs: Vec<Heard>,
    /// Whether it is a statement, and the next word a password if it is quoted.
    is_statement: bool,
    awaits_literal: bool,
    /// Whether it runs the texts that it is given.
    runs_text: bool,
    /// Whether further words may be another command.
    launches: bool,
    /// Whether its program was named, whichever it is.
    is_begun: bool,
    /// Whether it says what it is given, and where that stands.
    says: bool,
    said: Vec<Range<usize>>,
    /// Whether it says what it reads.
    passes_on: bool,
}

/// What a word is to the input or output of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirect {
    File,
    /// `<<<`: it is the input itself.
    Text,
    /// `<<`: it ends the input, which is written in the lines below.
    Document,
}

/// What was heard of a program.
struct Heard {
    program: &'static Program,
    standing: Standing,
    /// How many of the words were there after which it counts.
    words: usize,
    operands: usize,
    has_switch: bool,
    last: Option<Range<usize>>,
}

/// How sure it is that a word starts a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The command begins with it.
    Own,
    /// It comes after a program that runs others.
    Launched,
    /// It may be anything.
    Mentioned,
}

impl Command {
    pub(super) fn of(within: Within) -> Command {
        Command { within, ..Command::default() }
    }

    /// The command that reads what this one says.
    pub(super) fn piped(self, within: Within) -> Command {
        let document = self.document.filter(|_| self.passes_on);
        Command { reads: self.said, document, ..Command::of(within) }
    }

    /// What a word is given to that is looked at now.
    pub(super) fn awaited(&mut self, word: &str) -> Option<Given> {
        let awaits_literal = std::mem::take(&mut self.awaits_literal);
        self.awaits_literal = awaits_literal && word == "=";
        if awaits_literal && word.starts_with(['\'', '"', '\\']) {
            return Some(Given::Whole);
        }
        let given = self.awaits.take().filter(|_| !word.starts_with('-'))?;
        // In prose an option is followed by what is said of it.
        let is_said = self.within.is_prose && given == Given::Whole && is_prose_word(word);
        (!is_said).then_some(given)
    }

    /// The options that are known here, its own first.
    pub(super) fn options(&self) -> impl Iterator<Item = &'static Credential> {
        let meant = self.programs.iter().filter(|heard| heard.is_meant());
        meant.flat_map(|heard| heard.program.options).chain(ANY_OPTIONS)
    }

    /// What is secret of what it reads.
    pub(super) fn input(&self) -> Option<Given> {
        let sure = self.programs.iter().filter(|heard| heard.standing != Standing::Mentioned);
        self.input.or_else(|| sure.filter(|heard| heard.is_meant()).find_map(|heard| heard.program.input))
    }

    /// Last words that are secret, now that there are no more.
    pub(super) fn last_operands(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.programs.iter().filter(|heard| heard.has_switch).filter_map(|heard| heard.last.clone())
    }

    /// Whether an option is one that makes the last word a secret.
    pub(super) fn hear_switch(&mut self, word: &str) -> bool {
        let mut is_known = false;
        for heard in self.programs.iter_mut().filter(|heard| heard.is_meant()) {
            if let Operands::LastWith(option) = heard.program.operands
                && is_switch(option, word)
            {
                (heard.has_switch, is_known) = (true, true);
            }
        }
        is_known
    }

    /// Hears a word that is neither an option nor given to one, and says what of it may be secret.
    pub(super) fn hear_operand(&mut self, word: &str, place: &Range<usize>) -> Vec<Given> {
        let mut found = Vec::new();
        if self.within.is_pattern {
            return found;
        }
        for heard in self.programs.iter_mut().filter(|heard| heard.has_operands()) {
            heard.operands += 1;
            let given = match heard.program.operands {
                Operands::Each(given) => Some(given),
                Operands::Nth(nth, given) => (nth == heard.operands).then_some(given),
                Operands::Named => {
                    self.awaits = self.awaits.or(is_secret_setting(word).then_some(Given::Whole));
                    None
                }
                Operands::LastWith(_) => {
                    heard.last = Some(place.clone());
                    None
                }
                Operands::None => None,
            };
            let may_be_prose = heard.standing != Standing::Own || self.within.is_told;
            found.extend(given.filter(|_| !(may_be_prose && is_prose_word(word))));
        }
        // A text that is run is no value.
        found.retain(|given| *given != Given::Setting || !self.runs_text);
        if self.says {
            self.said.push(place.clone());
        }
        found
    }

    /// Hears that no more options follow: what a program is to do was said before.
    pub(super) fn hear_last_option(&mut self) {
        self.programs.retain(Heard::is_meant);
    }

    /// Hears a word that may start a program, or say what it is to do.
    pub(super) fn hear(&mut self, word: &str) {
        if word.contains('=') {
            return;
        }
        let is_before = LAUNCHERS.contains(&word) || is_number(word);
        let is_first = !is_before && !std::mem::replace(&mut self.is_begun, true);
        let is_launched = self.launches || self.runs_text;
        self.programs.retain(|heard| !heard.program.is_launcher);
        for heard in &mut self.programs {
            heard.hear(word);
        }
        let standing = match (is_first || is_before, is_launched) {
            (true, _) => Standing::Own,
            (false, true) => Standing::Launched,
            (false, false) => Standing::Mentioned,
        };
        for program in programs_of(word) {
            // Once is enough, or many of them would each be asked about every word.
            if !self.programs.iter().any(|heard| std::ptr::eq(heard.program, program)) {
                self.programs.push(Heard::of(program, standing));
            }
        }
        let is_one_of = |words: &[&str]| words.iter().any(|one| one.eq_ignore_ascii_case(word));
        self.is_statement |= is_first && is_one_of(STATEMENTS.0);
        self.awaits_literal = self.is_statement && is_one_of(STATEMENTS.1);
        self.says |= is_first && says(word);
        self.passes_on |= is_first && passes_on(word);
        self.launches |= is_first && launches(word);
        self.runs_text |= runs_text(word);
        self.within.is_pattern |= seeks_patterns(word);
        // A command may follow another one in a text.
        self.within.is_prose &= !(is_first && begins_command(word));
    }

    /// What a quoted text is to this command.
    pub(super) fn within_text(&self, text: &str) -> Within {
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_prose = !self.runs_text && !begins_command(first);
        Within { is_prose, is_told: !self.runs_text, is_pattern: self.within.is_pattern }
    }
}

impl Heard {
    fn of(program: &'static Program, standing: Standing) -> Heard {
        Heard { program, standing, words: 0, operands: 0, has_switch: false, last: None }
    }

    fn is_meant(&self) -> bool {
        self.words == self.program.after.len()
    }

    /// A word that may be anything is taken for a program only by more than its name.
    fn has_operands(&self) -> bool {
        self.is_meant() && !(self.standing == Standing::Mentioned && self.program.after.is_empty())
    }

    fn hear(&mut self, word: &str) {
        let awaited = self.program.after.get(self.words);
        self.words += usize::from(awaited.is_some_and(|awaited| awaited.eq_ignore_ascii_case(word)));
    }
}

/// Where the value of an option is.
pub(super) enum Match {
    /// It begins at this place in the word.
    Here(usize),
    /// It is the next word.
    Next,
    /// It is read.
    Input,
}

/// Whether a word is an option, and where its value is.
pub(super) fn matched((option, spelled, given): &Credential, word: &str) -> Option<Match> {
    if *spelled == Spelled::Switch {
        return is_switch(option, word).then_some(Match::Input);
    }
    let Some(rest) = word.strip_prefix(option) else {
        // Where all that follows is secret, a longer option with one dash would be taken for several letters.
        let may_end = *spelled == Spelled::Clustered || *given != Given::Whole;
        let is_last =
            letters_of(word).is_some_and(|letters| option[1..].len() == 1 && letters.ends_with(&option[1..]));
        return (is_last && may_end && *spelled != Spelled::Joined).then_some(Match::Next);
    };
    let is_long = option.starts_with("--");
    match (rest.is_empty(), spelled) {
        (true, Spelled::Joined | Spelled::Switch) => None,
        (true, Spelled::Apart | Spelled::Either | Spelled::Clustered) => Some(Match::Next),
        (false, Spelled::Joined | Spelled::Either | Spelled::Clustered) if !is_long => {
            Some(Match::Here(option.len()))
        }
        (false, _) => rest.starts_with('=').then_some(Match::Here(option.len() + 1)),
    }
}

/// Whether a word is this option, or has its letter.
fn is_switch(option: &str, word: &str) -> bool {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let has_letter =
        || letter.zip(letters_of(word)).is_some_and(|(letter, letters)| letters.contains(letter));
    word.split('=').next() == Some(option) || has_letter()
}

/// The letters of several short options in one word, as in `curl -sSu me:x`.
fn letters_of(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| letters.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Whether this is a count or a time, as `timeout 5s` has it.
fn is_number(word: &str) -> bool {
    word.trim_end_matches(['s', 'm', 'h', 'd']).bytes().all(|byte| byte.is_ascii_digit())
}

/// What a word is to the input or output of a command, and where in it the other side begins.
pub(super) fn redirect_in(word: &str) -> Option<(Redirect, usize)> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let (redirect, target) = match rest.strip_prefix('<') {
        Some(_) if rest.starts_with("<<<") => (Redirect::Text, &rest[3..]),
        Some(_) if rest.starts_with("<<") => (Redirect::Document, rest[2..].trim_start_matches('-')),
        Some(target) => (Redirect::File, target),
        None => (Redirect::File, rest.strip_prefix('>')?.trim_start_matches('>')),
    };
    Some((redirect, word.len() - target.len()))
}
