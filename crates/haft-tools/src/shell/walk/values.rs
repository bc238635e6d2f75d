//! What variables may hold, as far as a script says it itself: everything that it ever puts into them.
//!
//! Rules for files ask what a word may be. What the environment holds, or what is read, is not known.

use std::collections::HashMap;

use tree_sitter::Node;

use super::decode::Chosen;
use super::{NESTING_MAX, Walker, children};
use crate::shell::word::{Certainty, Word};

/// So many values of one variable, or of one word, are looked at.
const VALUES_MAX: usize = 64;
/// So many variables in one word are looked at.
const REFERENCES_MAX: usize = 32;
/// What is longer names no file.
const VALUE_BYTES_MAX: usize = 4096;
/// So often values may be made of values.
const ROUNDS: usize = 4;
/// What the grammar calls the parts of a script that may put something into variables.
const SETTING: &[&str] =
    &["variable_assignment", "for_statement", "expansion", "declaration_command", "command"];
/// What makes a file or a directory that nobody else has.
const TEMPORARY: &[&str] = &["$(mktemp)", "$(mktemp -d)"];
/// What sets the variables that it names.
const FILLING: &[&str] = &["read"];
/// What sets variables that nobody can see in it.
const SETTING_ANY: &[&str] =
    &["eval", "source", ".", "mapfile", "readarray", "getopts", "let", "coproc", "enable", "trap"];

/// What sets the variables that its words name, which may be known only when it runs.
const SETTING_NAMED: &[&str] =
    &["read", "printf", "declare", "typeset", "local", "export", "readonly", "wait"];
/// Variables that people set for compilers, and the shell does not.
#[rustfmt::skip]
const THEIRS: &[&str] = &[
    "CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "FCFLAGS", "ASFLAGS", "LDFLAGS", "LDLIBS", "LIBS", "LOADLIBES", "INCLUDES", "DEFINES",
    "DEFS", "RUSTFLAGS", "RUSTDOCFLAGS", "OPTFLAGS", "WARNFLAGS", "TARGET_ARCH",
];
/// What hands variables on to other programs.
const HANDING_ON: &[&str] = &["export", "declare", "typeset"];
/// Letters of options by which what is put into a variable does not stay what it is.
const CHANGING: [char; 5] = ['n', 'l', 'u', 'c', 'i'];

/// The values of the variables of a script. One that is not listed may hold anything, and so may one that is listed with a
/// value that is not known.
pub(super) type Values = HashMap<String, Vec<Word>>;

impl<'s> Walker<'s> {
    /// Everything that a script puts into variables.
    pub(super) fn gather_values(&mut self, root: Node<'_>) {
        let asking = ["$", "(("].iter().chain(HANDING_ON);
        if !asking.into_iter().any(|word| self.source.contains(word)) {
            return;
        }
        let mut setting = Vec::new();
        if !may_set(root, 0, &mut setting) {
            return;
        }
        for round in 0..=ROUNDS {
            let mut values = Values::new();
            let is_known = setting.iter().all(|node| self.gather(*node, &mut values));
            let is_settled = values == self.values;
            if !is_known || round == ROUNDS && !is_settled {
                self.values.clear();
                return;
            }
            self.values = values;
            if is_settled {
                self.are_values_seen = true;
                return;
            }
        }
    }

    /// Adds what a part of a script puts into variables by itself; whether that is all.
    fn gather(&self, node: Node<'_>, values: &mut Values) -> bool {
        let text_of = |field: &str| node.child_by_field_name(field).map(|child| self.text(child));
        match node.kind() {
            "variable_assignment" => {
                let name = text_of("name").unwrap_or_default();
                let value = node.child_by_field_name("value").filter(|value| value.kind() != "array");
                let is_whole = value.is_some() || self.text(node).ends_with('=');
                let value = if is_whole { self.value(node) } else { Word::unknown() };
                put(values, name.split('[').next().unwrap_or(name), value);
            }
            "for_statement" => {
                let name = text_of("variable").unwrap_or_default();
                let mut cursor = node.walk();
                let words: Vec<Node<'_>> = node.children_by_field_name("value", &mut cursor).collect();
                // Without words it goes through what the script was given.
                if words.is_empty() || self.text(node).starts_with("select") {
                    put(values, name, Word::unknown());
                }
                for word in words {
                    let word = self.word(&[word]);
                    match word.alternatives() {
                        [] => put(values, name, word),
                        several => several.iter().for_each(|one| put(values, name, one.clone())),
                    }
                }
            }
            "expansion" => {
                let (name, rest) = named(self.text(node));
                if rest.trim_start_matches(':').starts_with('=') {
                    put(values, name, Word::unknown());
                }
            }
            "declaration_command" => {
                let others = children(node).into_iter().skip(1);
                let is_plain = |child: Node<'_>| match child.kind() {
                    "variable_assignment" | "variable_name" => true,
                    _ => self.text(child).starts_with('-') && !self.text(child).contains(CHANGING),
                };
                if !others.into_iter().all(is_plain) {
                    return false;
                }
            }
            "command" => {
                let Some(called) = text_of("name") else { return false };
                let words = || children(node).into_iter().skip(1).map(|child| self.word(&[child]));
                match called {
                    _ if SETTING_ANY.contains(&called) || called.contains(['$', '`', '\\', '\'', '"']) => {
                        return false;
                    }
                    "builtin" => return false,
                    "command" if words().any(|word| !["cd", "-v", "-V"].contains(&word.text())) => {
                        return false;
                    }
                    "printf"
                        if words().any(|word| word.known().is_none_or(|text| text.starts_with("-v"))) =>
                    {
                        return false;
                    }
                    _ if FILLING.contains(&called) && words().any(|word| word.known().is_none()) => {
                        return false;
                    }
                    _ if FILLING.contains(&called) => {
                        words().for_each(|word| put(values, word.text(), Word::unknown()))
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        true
    }

    /// Whether a word is a variable for compilers that the script never sets, so that it holds what the person put into it.
    pub(super) fn is_inherited(&self, token: &str) -> bool {
        let bare = token.trim_matches('"');
        let (name, rest) = named(bare);
        let is_theirs = THEIRS.contains(&name) || name.starts_with("CARGO_");
        let left = self.inherited_left.get();
        if !bare.starts_with('$') || !is_theirs || !rest.is_empty() || left == 0 {
            return false;
        }
        self.inherited_left.set(left - 1);
        // What is set by a name that is made up may be any.
        if !self.are_values_seen || self.source.contains("${!") {
            return false;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut mentions = self.source.match_indices(name).filter(|(at, _)| {
            let (before, behind) = (&self.source[..*at], &self.source[at + name.len()..]);
            !before.ends_with(is_part) && !behind.starts_with(is_part)
        });
        let only_reads = mentions.all(|(at, _)| {
            let (before, behind) = (&self.source[..at], &self.source[at + name.len()..]);
            before.ends_with('$') || before.ends_with("${") && behind.starts_with('}')
        });
        // What names variables by something else may set any.
        let mut words = self.source.split(|c: char| !is_part(c) && c != '.');
        only_reads && !words.any(|word| SETTING_ANY.contains(&word) || SETTING_NAMED.contains(&word))
    }

    /// What a word may be, with what its variables may hold in their places.
    pub(super) fn values_of(&self, pieces: &[Node<'_>]) -> Vec<Word> {
        let mut references: Vec<(&'s str, Vec<Word>)> = Vec::new();
        let mut left = REFERENCES_MAX;
        pieces.iter().for_each(|piece| self.references(*piece, 0, &mut left, &mut references));
        if left == 0 {
            return Vec::new();
        }
        if references.iter().all(|(_, values)| values.iter().all(|value| *value == Word::unknown())) {
            return Vec::new();
        }
        let mut choices: Vec<Chosen<'_>> = vec![Chosen::new()];
        for (reference, values) in &references {
            if choices.len() * values.len() > VALUES_MAX {
                return vec![Word::unknown()];
            }
            let with = |choice: &Chosen<'s>| -> Vec<Chosen<'s>> {
                let one =
                    |value: &Word| choice.iter().cloned().chain([(*reference, value.clone())]).collect();
                values.iter().map(one).collect()
            };
            choices = choices.iter().flat_map(with).collect();
        }
        choices.iter().map(|chosen| self.built(pieces, chosen)).collect()
    }

    fn references(
        &self,
        node: Node<'_>,
        depth: usize,
        left: &mut usize,
        found: &mut Vec<(&'s str, Vec<Word>)>,
    ) {
        match node.kind() {
            "simple_expansion" | "expansion" => {
                let text = self.text(node);
                *left = left.saturating_sub(1);
                if *left > 0 && found.iter().all(|(known, _)| *known != text) {
                    found.push((text, self.held_by(text)));
                }
            }
            "command_substitution" => {
                let text = self.text(node);
                let is_temporary = TEMPORARY.contains(&text) && !self.source.contains("TMPDIR");
                if is_temporary && found.iter().all(|(known, _)| *known != text) {
                    found.push((text, vec![Word::exact("/tmp/tmp.made")]));
                }
            }
            "process_substitution" | "arithmetic_expansion" => {}
            _ if depth < 4 => {
                children(node).into_iter().for_each(|child| self.references(child, depth + 1, left, found));
            }
            _ => {}
        }
    }

    /// What an expansion may come to.
    fn held_by(&self, text: &str) -> Vec<Word> {
        let (name, rest) = named(text);
        let held = self.values.get(name).cloned().unwrap_or_else(|| vec![Word::unknown()]);
        if rest.is_empty() || rest.starts_with(":?") || rest.starts_with('?') {
            return held;
        }
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        let Some(other) = rest.strip_prefix(['-', '=', '+']) else { return vec![Word::unknown()] };
        let other = other.trim_matches(['"', '\'']);
        let other = if other.contains(['$', '`', '\\', '\'', '"', '{']) {
            Word::unknown()
        } else {
            Word::exact(other)
        };
        held.into_iter().chain([other]).collect()
    }
}

/// Adds the parts of a script that may put something into variables; whether those are all.
fn may_set<'t>(node: Node<'t>, depth: usize, found: &mut Vec<Node<'t>>) -> bool {
    if depth > NESTING_MAX {
        return false;
    }
    if SETTING.contains(&node.kind()) {
        found.push(node);
    }
    children(node).into_iter().all(|child| child.child_count() == 0 || may_set(child, depth + 1, found))
}

/// The name in an expansion, and what follows it.
fn named(text: &str) -> (&str, &str) {
    let inside = match text.strip_prefix("${") {
        Some(rest) => rest.strip_suffix('}').unwrap_or(rest),
        None => text.strip_prefix('$').unwrap_or(text),
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    inside.split_at(inside.find(|c| !is_part(c)).unwrap_or(inside.len()))
}

fn put(values: &mut Values, name: &str, value: Word) {
    let known = values.entry(name.to_owned()).or_default();
    // What is made of a value that may be several is each of them.
    let several = match value.values() {
        [] => vec![value],
        several => several.to_vec(),
    };
    for one in several {
        let one = if one.text().len() > VALUE_BYTES_MAX { Word::unknown() } else { one };
        if known.len() > VALUES_MAX
            || known.contains(&Word::unknown()) && one.certainty() == Certainty::Unknown
        {
            continue;
        }
        if !known.contains(&one) {
            known.push(if known.len() == VALUES_MAX { Word::unknown() } else { one });
        }
    }
}
