//! Variables that can hold nothing but numbers: arithmetic with them evaluates nothing else.

use super::Walker;

/// What puts something into a variable without an assignment that could be seen.
const SETTING: &[&str] = &["read", "mapfile", "printf", "eval", "getopts", "let", "source"];
/// What may give a variable a value or a kind in ways that are not looked at here.
const DECLARING: &[&str] = &["declare", "typeset", "local", "export"];

/// Variables in small letters that shells have a use for themselves.
const OWN: &[&str] =
    &["histchars", "auto_resume", "match", "mbegin", "mend", "reply", "argv", "status", "path"];

impl Walker<'_> {
    /// Whether a script puts nothing but numbers into a variable, and does so at all.
    pub(super) fn is_number(&self, name: &str) -> bool {
        let declares = || DECLARING.iter().any(|word| self.source.contains(word));
        self.are_values_seen
            && is_of_the_script(name)
            // A name that goes on in the next line is not found.
            && !self.source.contains("\\\n")
            && (!self.is_inner || self.is_set_first(name))
            && self.numbers_set(name).is_some_and(|sets| sets > 0)
            && !declares()
    }

    /// Whether the very first thing that a script does is to set a variable to a number.
    fn is_set_first(&self, name: &str) -> bool {
        let value = self.source.trim_start().strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
        value.is_some_and(|value| {
            let rest = value.trim_start_matches(|c: char| c.is_ascii_digit());
            rest.len() < value.len() && rest.trim_start_matches([' ', '\t']).starts_with([';', '\n'])
        })
    }

    /// How often a script puts a number into a variable; nothing, if it may put something else into it.
    pub(super) fn numbers_set(&self, name: &str) -> Option<usize> {
        // The whole script is looked through for each, so not twice.
        if let Some(known) = self.numbers.borrow().get(name) {
            return *known;
        }
        let found = self.look_for_numbers(name);
        self.numbers.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn look_for_numbers(&self, name: &str) -> Option<usize> {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', ';', '\n', '\t', ')', '&', '|']);
        let is_number = |value: &str| match value.strip_prefix("$((") {
            Some(rest) => rest.split_once("))").is_some_and(|(_, rest)| ends(rest)),
            None => {
                let rest = value.trim_start_matches(|c: char| c.is_ascii_digit());
                rest.len() < value.len() && ends(rest)
            }
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut sets = 0;
        for (at, _) in self.source.match_indices(name) {
            let before = self.source[..at].trim_end_matches([' ', '\t', '\\', '\n']);
            let is_whole = !self.source[..at].ends_with(is_part);
            let behind = &self.source[at + name.len()..];
            let is_looped = before.ends_with("for") || before.ends_with("select");
            let is_element = is_whole && behind.starts_with('[');
            if is_whole && is_looped || is_element || behind.starts_with(":=") {
                return None;
            }
            if let Some(value) =
                behind.strip_prefix("+=").or_else(|| behind.strip_prefix('=')).filter(|_| is_whole)
            {
                sets += 1;
                if !is_number(value) {
                    return None;
                }
            }
        }
        (!SETTING.iter().any(|word| self.source.contains(word))).then_some(sets)
    }

    /// Whether arithmetic is made of numbers, and of variables that hold nothing else.
    pub(super) fn all_numbers(&self, text: &str) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_plain = text.chars().all(|c| is_name(c) || " $+-:*".contains(c));
        let mut names = text.split(|c: char| !is_name(c)).filter(|name| !name.is_empty());
        is_plain
            && expands_numbers(text)
            && names.all(|name| name.chars().all(|c| c.is_ascii_digit()) || self.is_number(name))
    }
}

/// Whether a name is one that scripts use and no shell: those that shells set may hold anything, and are mostly in capitals.
fn is_of_the_script(name: &str) -> bool {
    let is_small = name.contains(|c: char| c.is_ascii_lowercase());
    (is_small || name.len() == 1 && name != "_") && !OWN.contains(&name)
}

/// Whether what is expanded in a text are variables with names, and those in which the shell has only numbers.
pub(super) fn expands_numbers(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('$') {
        let mut behind = behind.chars();
        match behind.next() {
            Some('?' | '#' | '$' | '!') => rest = behind.as_str(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => rest = behind.as_str(),
            Some(_) | None => return false,
        }
    }
    true
}
