//! Secrets within a text as people write it: command lines, headers and addresses. What they are given to is told by the
//! same names as everywhere.

mod names;

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
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for user in user_places(before) {
        shown.push_str(&before[at..user.start]);
        shown.push_str(MASK);
        at = user.end;
    }
    shown.push_str(&before[at..]);
    if given.is_some() {
        shown.push_str(MASK);
    }
    shown
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
mod tests {
    use super::*;

    #[test]
    fn what_is_given_to_a_secret_is_found() {
        for (before, given) in [
            ("f --token ", "hunter2"),
            ("f --token ", "hunter2 *"),
            ("mysql -p ", "hunter2"),
            ("mysql -p", "hunter2 x"),
            ("curl -u", "me:hunter2 x"),
            ("curl -u ", "me:hunter2"),
            ("f --password=", "hunter2"),
            ("f --password=\"", "hunter 2\""),
            ("curl -H 'X-Team: ", "hunter2'"),
            ("API_KEY=", "hunter2 make *"),
            ("team=", "hunter2 make *"),
            ("env A=", "hunter2 make"),
            ("https://h/?a=1&api_key=", "hunter2"),
            ("Authorization: ", "Bearer hunter2"),
            ("Bearer ", "hunter2"),
            ("Cookie: ", "a=hunter2"),
            ("{\\\"apiKey\\\": \\\"", "hunter2\\\"}"),
        ] {
            let text = format!("{before}{given}");
            let first = given_place(&text).map(|place| &text[place]);
            let is_whole = first.is_some_and(|first| first.ends_with(given));
            assert!(is_whole, "{text}: {first:?}");
        }
    }

    #[test]
    fn what_is_given_to_nothing_secret_is_not() {
        for text in [
            "git push *",
            "find . -print -path x",
            "cargo test --all-targets -- -D warnings",
            "https://h/mcp?a=1",
            "src/*.key",
            "the token is elsewhere",
            "--token",
            "--token-file x",
            "",
        ] {
            assert_eq!(given_place(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_is_told_without_them() {
        for (text, told) in [
            ("curl --token hunter2 *", "curl --token …"),
            ("API_KEY=hunter2 make *", "API_KEY=…"),
            ("curl https://me:hunter2@host/x -u me:hunter3", "curl https://…@host/x -u …"),
            ("me:key=hunter2@host", "me:key=…"),
            ("cargo test -p *", "cargo test -p *"),
            ("src/**/*.key", "src/**/*.key"),
            ("", ""),
        ] {
            assert_eq!(without_secrets(text), told);
        }
    }

    #[test]
    fn who_reaches_an_address_is_found() {
        for (text, user) in [
            ("x https://hunter2@host/y", "hunter2"),
            ("https://hunter2:x-oauth-basic@host", "hunter2:x-oauth-basic"),
            ("https://me:hun/ter@2@host", "me:hun/ter@2"),
            ("redis://:hunter2@host", ":hunter2"),
            ("me:hunter2@host", "hunter2"),
        ] {
            let found: Vec<&str> = user_places(text).into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, [user], "{text}");
        }
        for text in ["https://host/@scope/x", "git@host:a/b", "x@1.2", "https://host", "@", "://@"] {
            assert!(user_places(text).is_empty(), "{text}");
        }
    }
}
