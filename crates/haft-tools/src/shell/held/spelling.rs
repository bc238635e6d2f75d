//! What in a word may be a path, and whether a word may be anything.

use super::loading::loads;
use crate::shell::word::{Certainty, Word, is_address, is_addressed};

/// Interpreters and editors whose words hold programs that may name files.
#[rustfmt::skip]
pub(super) const CODED: &[&str] = &[
    "awk", "gawk", "mawk", "nawk", "sed", "gsed", "python", "python2", "python3", "pypy", "pypy3", "perl", "ruby", "node",
    "nodejs", "bun", "deno", "php", "lua", "luajit", "tclsh", "ed", "ex", "vi", "vim", "nvim", "emacs", "sqlite3", "psql", "gdb",
    "m4", "dc",
];

/// Every part of a word that may be a path: the word, the value of an option, and what follows a sign that separates.
pub(super) fn spellings(word: &Word) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in word.texts() {
        if text.is_empty() || is_address(&text) {
            continue;
        }
        let mut pieces = text.split([':', '@', ',', '=', '<', ';']);
        let first = pieces.next().unwrap_or_default();
        match first.starts_with('-') {
            true => found.extend(attached(first)),
            false => found.extend(Some(first).filter(|first| !first.is_empty()).map(str::to_owned)),
        }
        let behind = text.split_once(['=', ':', '@']).map(|(_, value)| value);
        let may_be = |piece: &&str| !piece.is_empty() && !is_addressed(&text, piece);
        let pieces = pieces.chain(behind).filter(may_be).map(|piece| piece.trim_matches('"'));
        found.extend(pieces.map(str::to_owned));
        if !text.starts_with('-') {
            found.push(text);
        } else {
            found.extend(attached(&text));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What may be attached to the letters of options: behind the first anything, behind others what looks like a path.
fn attached(text: &str) -> Vec<String> {
    const LETTERS_MAX: usize = 8;
    let Some(cluster) = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')) else {
        return Vec::new();
    };
    let ends = cluster.char_indices().map(|(at, c)| at + c.len_utf8()).take(LETTERS_MAX);
    let rests = ends.enumerate().map(|(letters, end)| (letters, &cluster[end..]));
    let may_be = |(letters, rest): &(usize, &str)| rest.len() > 1 && (*letters == 0 || rest.contains('/'));
    rests.filter(may_be).map(|(_, rest)| rest.to_owned()).collect()
}

/// What may be a path in the programs that stand among words.
pub(super) fn code<'t>(name: &str, words: &'t [Word], given: impl Iterator<Item = &'t str>) -> Vec<String> {
    if !CODED.contains(&name) && !loads(name, words) {
        return Vec::new();
    }
    let is_part = |c: char| c.is_alphanumeric() || "_./~+@%^-".contains(c);
    let texts = words.iter().map(Word::text).chain(given);
    let parts = texts.flat_map(|text| text.split(move |c| !is_part(c)));
    let mut found: Vec<String> = parts.filter(|part| part.len() > 1).map(str::to_owned).collect();
    found.sort();
    found.dedup();
    found
}

/// Whether a word may name something that nobody knows.
pub(super) fn is_open(word: &Word) -> bool {
    let is_unknown = |one: &Word| match one.alternatives() {
        [] => one.certainty() == Certainty::Unknown,
        several => several.iter().any(|one| one.certainty() == Certainty::Unknown),
    };
    let may_be_anything = match word.values() {
        [] => is_unknown(word),
        values => values.iter().any(is_unknown),
    };
    may_be_anything && !is_address(word.text())
}

/// Whether a word as it stands in a script can only be a number, or an option with one.
pub(in crate::shell) fn is_number(token: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "$?",
        "$$",
        "$!",
        "$#",
        "$RANDOM",
        "$SECONDS",
        "$UID",
        "$EUID",
        "$LINENO",
        "$(nproc)",
        "$(date +%s)",
        "$(id -u)",
        "$(id -g)",
    ];
    let bare = token.trim_matches('"');
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '-';
    let behind = match bare.starts_with('-') {
        true => bare.trim_start_matches(is_letter).trim_start_matches('=').trim_matches('"'),
        false => bare,
    };
    NUMBERS.contains(&behind)
        || behind.starts_with("$((") && behind.ends_with("))") && !behind[3..].contains('$')
}
