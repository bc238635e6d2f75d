//! Headers that carry a credential.

use std::ops::Range;

use super::{is_reference, name_before};

/// Headers that are known to carry one, whatever text they stand in.
const HEADERS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "job-token",
    "private-token",
    "proxy-authorization",
    "set-cookie",
    "x-access-token",
    "x-amz-security-token",
    "x-api-key",
    "x-api-token",
    "x-auth-key",
    "x-auth-token",
    "x-goog-api-key",
    "x-vault-token",
];

const NAME_BYTES_MAX: usize = 24;

/// No more than this of a value is looked at before it is known to be a credential.
const LOOK_BYTES_MAX: usize = 256;

/// Where the credential of a header stands in a text, if that header's colon is at a place.
pub(super) fn credential_at(text: &str, colon: usize) -> Option<Range<usize>> {
    let name = name_before(text, colon, NAME_BYTES_MAX);
    let known = HEADERS.iter().find(|header| header.eq_ignore_ascii_case(name))?;
    let rest = &text[colon + 1..];
    let value = rest.trim_start_matches([' ', '\t']);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
    if quote.is_some_and(|own| !opens_value(own, value, &text[..colon - name.len()])) {
        return None;
    }
    let start = text.len() - value.len() + quote.map_or(0, char::len_utf8);
    let ends = |c: char| {
        matches!(c, '\n' | '\r') || quote.map_or(matches!(c, '"' | '\'' | '`' | '\\'), |own| c == own)
    };
    let value = &text[start..];
    let told = &value[..value.floor_char_boundary(LOOK_BYTES_MAX)];
    let told = told.split(ends).next().unwrap_or_default().trim_end();
    is_credential(known, told).then(|| {
        let line = &value[..value.find(ends).unwrap_or(value.len())];
        start..start + line.trim_end().len()
    })
}

/// Whether a quote behind the name of a header opens its value: it may as well close what was opened before the name, as
/// in `grep 'x-api-key: ' src`.
fn opens_value(quote: char, value: &str, before: &str) -> bool {
    let is_value = value[quote.len_utf8()..].starts_with(|c: char| !c.is_whitespace());
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(LOOK_BYTES_MAX))..];
    let line = near.rsplit('\n').next().unwrap_or_default();
    is_value && line.match_indices(quote).filter(|(at, _)| is_quote(line, *at)).count() % 2 == 0
}

/// Whether this is a quote of its own: that of `don't` is none, and an escaped one belongs to others.
fn is_quote(line: &str, at: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    let is_apostrophe = line[..at].ends_with(is_letter) && line[at + 1..].starts_with(is_letter);
    !is_apostrophe && !line[..at].ends_with('\\')
}

fn is_credential(header: &str, told: &str) -> bool {
    let (scheme, rest) = told.split_once(' ').unwrap_or(("", told));
    let is_credential = match header {
        // These are names of other things, too.
        "authorization" | "proxy-authorization" => is_scheme(scheme) && is_opaque(rest.trim_start()),
        "cookie" | "set-cookie" => {
            told.split_once('=').is_some_and(|(name, _)| !name.contains(char::is_whitespace))
        }
        _ => scheme.is_empty(),
    };
    is_credential && !is_reference(rest.trim_start()) && !is_reference(told)
}

fn is_scheme(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether this may be a credential rather than a word about one.
fn is_opaque(text: &str) -> bool {
    const WORD_BYTES_MAX: usize = 15;
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_word = first.len() <= WORD_BYTES_MAX && first.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_scheme =
        ["basic", "bearer", "digest", "token"].iter().any(|scheme| scheme.eq_ignore_ascii_case(text));
    !first.is_empty() && !is_word && !is_scheme
}
