//! Secrets within a text as people write it: command lines, headers and addresses. What they are given to is told by the
//! same names as everywhere.

mod address;
mod command;
mod heard;
mod header;
mod names;
mod programs;
mod values;
mod words;

use std::ops::Range;

pub use names::{is_secret_name, is_secret_variable_name};

/// What stands where a secret stood.
const MASK: &str = "…";

/// Options that are followed by a password, a person with one, a header, a cookie or a variable, which their names do not
/// say.
const OPTIONS: &[&str] =
    &["-p", "-P", "-u", "-U", "-H", "-b", "-e", "--user", "--proxy-user", "--header", "--env", "--build-arg"];

/// Options of which such a thing may be a part, as in `-phunter2`.
const JOINED: &[&str] = &["-p", "-P", "-u", "-U"];

/// What a secret follows without a sign between them.
const SCHEMES: &[&str] = &["Bearer", "bearer", "Basic"];

const QUOTES: &[char] = &['"', '\'', '`', '\\'];

/// A text without what is given to a secret and without who reaches an address. Wildcards alone are no secret.
pub fn without_secrets(text: &str) -> String {
    let given = given_place(text).filter(|place| text[place.clone()].contains(char::is_alphanumeric));
    let before = &text[..given.as_ref().map_or(text.len(), |given| given.start)];
    let shown = masked(before, merged([user_places(before), command_places(before)].concat()));
    if given.is_some() { shown + MASK } else { shown }
}

/// A command, an address or the like without the secrets in it, and otherwise as it is.
pub fn command_without_secrets(text: &str) -> String {
    masked(text, command_places(text))
}

/// Where in any text stands what can be nothing but a credential, in order and apart from each other: who reaches an
/// address with a password, and what headers carry.
pub fn credential_places(text: &str) -> Vec<Range<usize>> {
    at_colons(text, |_| None)
}

/// The same in a command line, with what its options and variables are given. Unlike [`given_place`] this knows how far a
/// secret goes, and leaves alone what it does not know.
pub fn command_places(text: &str) -> Vec<Range<usize>> {
    let mut found = at_colons(text, |colon| values::field_at(text, colon));
    found.extend(command::places(text));
    merged(found)
}

/// Places in order and apart from each other; those that overlap become one.
pub fn merged(mut places: Vec<Range<usize>>) -> Vec<Range<usize>> {
    places.sort_by_key(|place| place.start);
    places.dedup_by(|next, before| {
        let overlaps = next.start < before.end;
        if overlaps {
            before.end = before.end.max(next.end);
        }
        overlaps
    });
    places
}

/// Whether a word names a secret, or is an option that is followed by one. A pattern such as `*.key` names files.
pub fn is_secret_word(word: &str) -> bool {
    OPTIONS.contains(&word) || names_secret(word)
}

/// Where in a text stands what is given to a secret, as in `--token x`, `?api_key=x` and `Authorization: Bearer x`, or to
/// a variable, whatever its name is. There is no telling how far it goes, so it goes to the end.
pub fn given_place(text: &str) -> Option<Range<usize>> {
    name_words(text).find_map(|word| given_to(text, &word))
}

/// Where that stands which is given to one of the [words](name_words) of a text, in the same way. No more is looked at
/// than what lies between that word and the next, so that a text may be asked about each of its words.
pub fn given_to(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let value = value_after(text, word)?.trim_start().trim_start_matches(QUOTES);
    (!value.is_empty()).then(|| text.len() - value.len()..text.len())
}

/// Where in a text stands who reaches an address, with or without a password: many take a key for a name.
pub fn user_places(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let words = text.split_inclusive(char::is_whitespace);
    let found = words.filter_map(|word| {
        let start = at;
        at += word.len();
        user_place(word).map(|place| place.start + start..place.end + start)
    });
    found.collect()
}

/// The words of a text as names of secrets, options and patterns are written.
pub fn name_words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
    let mut at = 0;
    let words = text.split_inclusive(move |c| !is_part(c)).map(move |word| {
        let start = at;
        at += word.len();
        start..start + word.trim_end_matches(|c| !is_part(c)).len()
    });
    words.filter(|word| !word.is_empty())
}

/// Credentials that are found by their colon, and what else one may show. What was found is not looked at again.
fn at_colons(text: &str, further: impl Fn(usize) -> Option<Range<usize>>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (colon, _) in text.match_indices(':') {
        if found.last().is_some_and(|last| colon < last.end) {
            continue;
        }
        let after = colon + 1;
        let place = match text[after..].strip_prefix("//") {
            Some(address) => {
                address::user_of(address).map(|user| after + 2 + user.start..after + 2 + user.end)
            }
            None => header::credential_at(text, colon).or_else(|| further(colon)),
        };
        found.extend(place);
    }
    found
}

/// A text with a mark in each of some places, which are in order.
fn masked(text: &str, places: Vec<Range<usize>>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        shown.push_str(&text[at..place.start]);
        shown.push_str(MASK);
        at = place.end;
    }
    shown + &text[at..]
}

/// The name that stands before a place; what is longer than this is none.
fn name_before(text: &str, end: usize, bytes_max: usize) -> &str {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let before = text.as_bytes()[..end].iter().rev();
    let length = before.take(bytes_max + 1).take_while(is_part).count();
    &text[end - length..end]
}

/// A place without the quotes around it.
fn inside(text: &str, place: Range<usize>) -> Range<usize> {
    let word = &text[place.clone()];
    let quoted = ['"', '\''].iter().find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote));
    match quoted {
        Some(quoted) => place.start + 1..place.start + 1 + quoted.len(),
        None => place,
    }
}

/// Whether a value only says where the secret comes from, or that it was left out.
fn is_reference(value: &str) -> bool {
    let value = value.trim_start_matches(QUOTES);
    let is_variable =
        |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '('));
    let begins = ["<", "{env:", "{file:", "{{", "%s", "%(", "[redacted]", MASK];
    !value.contains(char::is_alphanumeric)
        || value.strip_prefix('$').is_some_and(is_variable)
        || begins.iter().any(|begin| value.starts_with(begin))
}

fn user_place(word: &str) -> Option<Range<usize>> {
    let begin = word.find("://").map(|at| at + "://".len());
    let start = begin.unwrap_or(0);
    let user = &word[start..start + word[start..].rfind('@')?];
    let end = start + user.len();
    let colon = user.find(':').map(|at| start + at + 1);
    let place = match begin {
        // A password that is not escaped may hold what ends a host.
        Some(begin) if colon.is_some() || !user.contains(['/', '?', '#']) => begin..end,
        Some(_) => return None,
        None => colon?..end,
    };
    (!place.is_empty()).then_some(place)
}

fn names_secret(word: &str) -> bool {
    !word.contains('*') && is_secret_name(word)
}

/// What follows a word that something is given to.
fn value_after<'t>(text: &'t str, place: &Range<usize>) -> Option<&'t str> {
    let (word, after) = (&text[place.clone()], &text[place.end..]);
    let is_apart = after.starts_with(|c: char| c.is_whitespace() || QUOTES.contains(&c));
    let assigned = || after.trim_start_matches(QUOTES).trim_start().strip_prefix(['=', ':']);
    if names_secret(word) {
        let follows = is_apart && (word.starts_with('-') || SCHEMES.contains(&word));
        return assigned().or_else(|| follows.then_some(after));
    }
    if OPTIONS.contains(&word) {
        return after.strip_prefix('=').or_else(|| is_apart.then_some(after));
    }
    if SCHEMES.contains(&word) {
        return is_apart.then_some(after);
    }
    // Only at the beginning of an argument: what is asked of an address is no variable.
    let is_argument = !text[..place.start].ends_with(|c: char| !c.is_whitespace() && !QUOTES.contains(&c));
    let is_variable = word.chars().all(|c| c.is_alphanumeric() || c == '_') && is_argument;
    if is_variable && let Some(value) = after.strip_prefix('=') {
        return Some(value);
    }
    let joined = JOINED.iter().find_map(|option| word.strip_prefix(option))?;
    let value = &text[place.end - joined.len()..];
    // Small letters alone are a longer option with one dash, such as `-print`.
    let after_letters = value.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let is_value = after_letters.starts_with(|c: char| !c.is_whitespace());
    (is_value && is_argument).then_some(value)
}

#[cfg(test)]
mod tests;
