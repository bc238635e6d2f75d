//! What of a value is secret, and which values only look like it.

use std::ops::Range;

use super::names::{is_other_key, is_secret_option, is_secret_variable_name};
use super::programs::Given;
use super::{inside, is_reference, is_secret_name, name_before};

/// A name in a document or a list that is longer is none of a secret.
const NAME_BYTES_MAX: usize = 64;

/// Where the secret stands in a value, without quotes around it.
pub(super) fn secret_in(given: Given, value: &str) -> Option<Range<usize>> {
    let after = |sign: char| value.find(sign).map(|at| at + sign.len_utf8()..value.len());
    let all = || Some(0..value.len());
    let place = match given {
        Given::Whole => all().filter(|_| !are_ports(value)),
        Given::AfterColon => after(':'),
        Given::AfterComma => after(','),
        Given::AfterPercent => after('%'),
        Given::AfterEquals => after('='),
        Given::AfterScheme => value.starts_with("pass:").then_some("pass:".len()..value.len()),
        Given::Logon => logon(value),
        Given::Unnamed => all().filter(|_| !begins_field(value)),
        Given::BesideShare => all().filter(|_| !value.starts_with(['\\', '/', '*']) && !value.ends_with(':')),
        Given::Setting => setting(value),
        Given::Header => after(':').filter(|place| is_secret_name(&value[..place.start - 1])),
        Given::Cookie => all().filter(|_| value.contains('=')),
        Given::Nothing => None,
    };
    let place = inside(value, place?);
    let secret = value[place.clone()].trim_start();
    let secret = secret.strip_prefix("\\ ").unwrap_or(secret);
    let without_scheme = secret.split_once(' ').map_or(secret, |(_, rest)| rest.trim_start());
    let is_shown = is_reference(secret)
        || says_where(secret)
        || (given == Given::Header && is_reference(without_scheme));
    (!is_shown).then(|| place.end - secret.len()..place.end)
}

/// Where the value begins that a word gives to a variable with a secret.
pub(super) fn assigned(word: &str) -> Option<usize> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let value = value.trim_matches(['"', '\'']);
    let is_other = is_setting(name, value) || is_other_key(name, value);
    (is_name && is_secret_variable_name(name) && !is_other).then_some(name.len() + 1)
}

/// Where values stand in what is asked of an address, sent as a form or listed, whose names say that they are secret.
pub(super) fn secret_fields(word: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_address = word.contains("://");
    fields_of(word).filter_map(move |field| {
        let (name, value) = word[field.clone()].split_once('=')?;
        // Of these `assigned` decides: `PWD` is a directory.
        let is_variable = field.start == 0 && !name.contains(|c: char| c.is_ascii_lowercase() || c == '-');
        // What is said before a name is no part of it.
        let is_name = !is_variable && !name.contains(char::is_whitespace);
        if !is_name || !is_secret_option(name) || is_setting(name, value) {
            return None;
        }
        let ends = |c: char| matches!(c, '"' | '\'' | '`') || (is_address && c == '#');
        let value = value.split(ends).next().unwrap_or_default();
        let start = field.start + name.len() + 1;
        Some(start..start + value.len())
    })
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

/// Whether this is a word as sentences have it, and not made up of anything.
pub(super) fn is_prose_word(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', '!', '?']);
    let rest = word.strip_prefix(|c: char| c.is_alphabetic()).unwrap_or(word);
    rest.chars().all(|c| c.is_lowercase() || matches!(c, '-' | '\'' | '/'))
}

/// The password in `me/x@host`, where the host may be left out, and `/` alone is whoever runs it.
fn logon(value: &str) -> Option<Range<usize>> {
    let slash = value.find('/')?;
    let person = &value[..slash];
    let is_other = person.split_once('=').is_some_and(|(name, _)| !name.eq_ignore_ascii_case("userid"));
    if person.is_empty() || person.starts_with(['@', '.']) || is_other {
        return None;
    }
    let end = value.rfind('@').filter(|at| *at > slash).unwrap_or(value.len());
    Some(slash + 1..end)
}

/// What a variable is given goes to the end, and a field to where the next one begins.
fn setting(value: &str) -> Option<Range<usize>> {
    assigned(value).map(|start| start..value.len()).or_else(|| secret_fields(value).next())
}

/// The fields of an address, a form or a list. Commas and the like may as well belong to a value.
fn fields_of(word: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let is_between = |(at, sign): &(usize, &str)| *sign == "&" || begins_field(&word[at + 1..]);
    let ends = word.match_indices(['&', '?', ',', ';']).filter(is_between).map(|(at, _)| at);
    let mut start = 0;
    ends.chain([word.len()]).map(move |end| {
        let field = start..end;
        start = end + 1;
        field
    })
}

/// Whether a text begins with a name and a value. Keys may end with equals signs.
fn begins_field(text: &str) -> bool {
    let is_part =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'[' | b']');
    let length = text.as_bytes().iter().take(NAME_BYTES_MAX).take_while(is_part).count();
    let value = text[length..].strip_prefix('=');
    length > 0 && value.is_some_and(|value| !value.is_empty() && !value.starts_with('='))
}

/// Whether a value only says whether there is a secret, or how many. Passwords may be numbers.
fn is_setting(name: &str, value: &str) -> bool {
    const DIGITS_MAX: usize = 6;
    let is_word = ["true", "false", "none", "null"].iter().any(|word| word.eq_ignore_ascii_case(value));
    let is_number = value.len() <= DIGITS_MAX && value.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.to_ascii_uppercase();
    is_word || (is_number && !["PASS", "PW"].iter().any(|part| name.contains(part)))
}

/// Whether a value says which ports belong to each other: `docker run --name mongo -p 27017:27017` is no password.
fn are_ports(value: &str) -> bool {
    value.contains(':') && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'))
}

/// Whether a value says where a secret is, and not what it is.
fn says_where(value: &str) -> bool {
    const PLACES: &[&str] =
        &["~/", "./", "../", "/dev/", "/etc/", "/home/", "/proc/", "/run/", "/tmp/", "/Users/", "/var/"];
    const SIGNS: &[&str] = &["env:", "fd:", "file:", "id=", "src=", "stdin", "type="];
    PLACES.iter().chain(SIGNS).any(|place| value.starts_with(place))
}
