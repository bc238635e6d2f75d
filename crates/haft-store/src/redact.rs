//! Secrets are taken out on the way in: known values, and texts that can be nothing but a key.

mod names;
mod patterns;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use haft::secrets::{command_places, credential_places};
use serde_json::{Map, Value};

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// How often a search starts over inside what was found already, to find secrets that overlap.
const OVERLAPS_MAX: usize = 64;
/// How often a text is gone over again because the marks themselves made up a secret.
const ROUNDS_MAX: usize = 4;
/// Shorter values that are learnt are too likely to stand in a text by chance.
const LEARNT_BYTES_MIN: usize = 8;
/// So many values are learnt, in all their spellings.
const LEARNT_MAX: usize = 1024;

/// Values up to this length are searched for in the quickest way; few secrets are longer.
const QUICK_BYTES_MAX: usize = 4096;

/// Fields whose texts are command lines, or are shown like one: in inputs of tools, and in what is asked of people.
const COMMANDS: &[&str] =
    &["always", "args", "argv", "cmd", "command", "commands", "detail", "patterns", "script", "title"];

/// What a text is, which decides what is looked for in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Command,
}

/// Takes secrets out of texts. Cloning it is cheap, and what one clone learns all of them know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Option<Arc<Known>>,
    learnt: Arc<RwLock<Learnt>>,
}

/// Values that became known after the start: tokens that somebody was given meanwhile.
#[derive(Default)]
struct Learnt {
    secrets: Vec<String>,
    known: Option<Arc<Known>>,
}

/// The values that must not be written down.
struct Known {
    values: AhoCorasick,
    /// Whether a value could be made up of a mark and what stands beside it.
    may_overlap_mark: bool,
}

/// A text after redaction.
pub(crate) struct Redacted<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) places: usize,
}

impl Redactor {
    /// Knows the values of variables whose names say that they hold a secret, beside what looks like a key.
    pub fn from_env<N: AsRef<str>, V: AsRef<str>>(variables: impl IntoIterator<Item = (N, V)>) -> Redactor {
        let secrets = variables.into_iter().flat_map(|(name, value)| {
            let value = value.as_ref();
            let whole = Some(value).filter(|value| names::is_secret(name.as_ref(), value));
            // Shorter ones are too likely to stand in a text by chance.
            let passwords = names::password_in(value).into_iter().chain(names::given_in(value));
            let passwords = passwords.filter(|password| password.len() >= 8);
            whole.into_iter().chain(passwords).flat_map(names::spellings).collect::<Vec<_>>()
        });
        Redactor::of_secrets(secrets)
    }

    /// Knows these values, beside what looks like a key.
    pub fn of_secrets(secrets: impl IntoIterator<Item = String>) -> Redactor {
        Redactor { known: Known::of(secrets), ..Redactor::default() }
    }

    /// Knows these values from now on, too. The oldest are forgotten where there are very many.
    pub fn learn<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) {
        let long_enough = secrets.into_iter().filter(|secret| secret.len() >= LEARNT_BYTES_MIN);
        let spelled: Vec<String> = long_enough.flat_map(names::spellings).collect();
        let mut learnt = self.learnt.write().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<String> =
            spelled.into_iter().filter(|secret| !learnt.secrets.contains(secret)).collect();
        if new.is_empty() {
            return;
        }
        learnt.secrets.extend(new);
        let too_many = learnt.secrets.len().saturating_sub(LEARNT_MAX);
        learnt.secrets.drain(..too_many);
        learnt.known = Known::of(learnt.secrets.clone());
    }

    /// All that is known.
    fn known(&self) -> impl Iterator<Item = Arc<Known>> {
        let learnt = self.learnt.read().unwrap_or_else(PoisonError::into_inner).known.clone();
        self.known.clone().into_iter().chain(learnt)
    }

    /// Takes the secrets out of a text.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_counting(text).text
    }

    /// Takes the secrets out of a command line, those among them that its options and variables are given.
    pub fn redact_command<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_as(Kind::Command, text).text
    }

    /// Takes the secrets out of every text in a JSON value, keys among them. Fields with the usual names of command lines
    /// are looked at as such.
    pub fn redact_json(&self, value: &Value) -> Value {
        self.redact_value(Kind::Text, value)
    }

    fn redact_value(&self, kind: Kind, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact_as(kind, text).text.into_owned()),
            Value::Array(items) => items.iter().map(|item| self.redact_value(kind, item)).collect(),
            Value::Object(fields) => Value::Object(self.redact_fields(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    pub(crate) fn redact_fields(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let clean = |(key, value): (&String, &Value)| {
            let kind = if COMMANDS.contains(&key.as_str()) { Kind::Command } else { Kind::Text };
            (self.owned(key), self.redact_value(kind, value))
        };
        fields.iter().map(clean).collect()
    }

    pub(crate) fn owned(&self, text: &str) -> String {
        self.redact(text).into_owned()
    }

    pub(crate) fn owned_command(&self, text: &str) -> String {
        self.redact_command(text).into_owned()
    }

    pub(crate) fn redact_counting<'t>(&self, text: &'t str) -> Redacted<'t> {
        self.redact_as(Kind::Text, text)
    }

    fn redact_as<'t>(&self, kind: Kind, text: &'t str) -> Redacted<'t> {
        let mut redacted = self.once(kind, text);
        let overlapping: Vec<Arc<Known>> = self.known().filter(|known| known.may_overlap_mark).collect();
        if overlapping.is_empty() || redacted.places == 0 {
            return redacted;
        }
        for _ in 0..ROUNDS_MAX {
            if !overlapping.iter().any(|known| known.values.is_match(&*redacted.text)) {
                return redacted;
            }
            let again = self.once(kind, &redacted.text);
            redacted = Redacted {
                places: redacted.places + again.places,
                text: Cow::Owned(again.text.into_owned()),
            };
        }
        // Secrets that feed on the marks cannot be told from them; then nothing of the text is kept.
        Redacted { text: Cow::Borrowed(REDACTED), places: redacted.places }
    }

    fn once<'t>(&self, kind: Kind, text: &'t str) -> Redacted<'t> {
        let mut found = patterns::find(text);
        let given = match kind {
            Kind::Text => credential_places(text),
            Kind::Command => command_places(text),
        };
        found.extend(given.into_iter().map(|place| (place.start, place.end)));
        for known in self.known() {
            found.extend(find_overlapping(&known.values, text));
        }
        if found.is_empty() {
            return Redacted { text: Cow::Borrowed(text), places: 0 };
        }
        found.sort_unstable();
        let mut clean = String::with_capacity(text.len());
        let (mut copied, mut places) = (0, 0);
        for (start, end) in found {
            if start >= copied {
                // Two secrets side by side leave one mark each, and two that overlap one for both.
                clean.push_str(&text[copied..start]);
                clean.push_str(REDACTED);
                places += 1;
            }
            copied = copied.max(end);
        }
        clean.push_str(&text[copied..]);
        Redacted { text: Cow::Owned(clean), places }
    }
}

impl Known {
    fn of(secrets: impl IntoIterator<Item = String>) -> Option<Arc<Known>> {
        let mut secrets: Vec<String> = secrets
            .into_iter()
            .filter(|secret| !secret.is_empty() && !REDACTED.contains(secret.as_str()))
            .collect();
        secrets.sort_unstable();
        secrets.dedup();
        if secrets.is_empty() {
            return None;
        }
        let may_overlap_mark = secrets.iter().any(|secret| overlaps_mark(secret));
        // The quickest search takes its time to be made: for a long value that repeats itself, its length squared.
        let is_long = secrets.iter().any(|secret| secret.len() > QUICK_BYTES_MAX);
        let kind = is_long.then_some(AhoCorasickKind::ContiguousNFA);
        let values = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(&secrets);
        let values = values.expect("an environment is within every limit");
        Some(Arc::new(Known { values, may_overlap_mark }))
    }
}

/// Whether a variable holds a secret: by its name, because an address or a connection string in it has a password, or
/// because it can be nothing but a key. Without the address of their proxy, though, commands that may reach the network would not.
pub fn is_secret_variable(name: &str, value: &str) -> bool {
    let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
    names::is_secret(name, value)
        || (names::is_secret(name, "value of it") && !value.starts_with('/'))
        || (names::password_in(value).is_some() && !is_proxy)
        || names::given_in(value).next().is_some()
        || !key_places(value).is_empty()
}

/// The places in a text that can hold nothing but a key, in order.
pub fn key_places(text: &str) -> Vec<std::ops::Range<usize>> {
    patterns::find(text).into_iter().map(|(start, end)| start..end).collect()
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Every place where a value stands; values that overlap share one. One pass, but for what lies inside a place found.
fn find_overlapping(values: &AhoCorasick, text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let (mut from, mut overlaps) = (0, 0);
    while let Some(place) = values.find(Input::new(text).range(from..)) {
        match found.last_mut().filter(|(_, end)| place.start() < *end) {
            Some((_, end)) => {
                *end = place.end().max(*end);
                overlaps += 1;
            }
            None => {
                found.push((place.start(), place.end()));
                overlaps = 0;
            }
        }
        // Inside a character no value begins, so the next byte is as good as the next character.
        from = if overlaps < OVERLAPS_MAX { place.start() + 1 } else { place.end() };
    }
    found
}

fn overlaps_mark(secret: &str) -> bool {
    let joins = |left: &str, right: &str| {
        (1..left.len().min(right.len()) + 1)
            .any(|n| left.as_bytes()[left.len() - n..] == right.as_bytes()[..n])
    };
    secret.contains(REDACTED) || joins(REDACTED, secret) || joins(secret, REDACTED)
}

#[cfg(test)]
mod tests;
