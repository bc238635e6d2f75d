//! Who reaches an address: the part of it that holds a password.

use std::ops::Range;

use super::is_reference;

/// From so many letters and digits on, a name without a password is taken for a key.
const KEY_BYTES_MIN: usize = 20;

/// Where that stands in an address which holds a password or a key. It begins behind `://`, and ends at the latest where
/// the next one begins.
pub(super) fn user_of(address: &str) -> Option<Range<usize>> {
    let word = word_of(address);
    let authority = &word[..word.find(['/', '?', '#']).unwrap_or(word.len())];
    let user = match authority.rfind('@') {
        Some(at) => &word[..at],
        // A password that is not escaped may hold what ends a host; a port cannot.
        None if has_port(authority) => return None,
        None => &word[..word.rfind('@')?],
    };
    let name = user.split(':').next().unwrap_or_default();
    let is_name = !name.contains(['(', ')', '[', ']', '{', '}', '^', '|', '*']);
    let is_secret = match user[name.len()..].strip_prefix(':') {
        Some(password) => !password.is_empty() && !is_reference(password),
        None => name.len() >= KEY_BYTES_MIN && is_random(name),
    };
    (is_name && is_secret).then_some(0..user.len())
}

/// Whether a host stands alone or with a port, which some text may still have to put in.
fn has_port(authority: &str) -> bool {
    let is_bracketed = authority.starts_with('[');
    let port = authority.split_once(':').map_or("", |(_, port)| port);
    is_bracketed || port.starts_with(['$', '{', '<', '%']) || port.bytes().all(|b| b.is_ascii_digit())
}

fn is_random(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What may belong to the address. What the next one begins with does not, or a text of nothing but beginnings would be
/// looked at again and again.
fn word_of(address: &str) -> &str {
    let ends = |(at, c): (usize, char)| {
        let is_next = c == ':' && address[at..].starts_with("://");
        let is_end = is_next || c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\');
        is_end.then_some(at)
    };
    &address[..address.char_indices().find_map(ends).unwrap_or(address.len())]
}
