//! What the wildcards of a word match on the disk, as the shell would find it.

use std::path::{Path, PathBuf};

/// So many names are looked at for one script.
pub(super) const NAMES_MAX: usize = 16_384;
/// So many may match.
const MATCHES_MAX: usize = 2048;

/// What a search for matches came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Matches {
    /// These, and no others.
    All(Vec<PathBuf>),
    /// More than were looked at.
    TooMany,
}

/// Whether a word has wildcards.
pub(super) fn has_wildcards(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Everything that a pattern matches from a directory on. Names that begin with a dot only count where the pattern says so,
/// or where the script may have changed that. `left` is how many names may yet be looked at.
pub(super) fn matches(directory: &Path, pattern: &str, with_hidden: bool, left: &mut usize) -> Matches {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { directory.to_owned() };
    let mut found = vec![start];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !has_wildcards(part) {
            found.iter_mut().for_each(|path| path.push(part));
            found.retain(|path| path.symlink_metadata().is_ok());
            continue;
        }
        let mut next = Vec::new();
        let mut within = found;
        while let Some(directory) = within.pop() {
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                if *left == 0 || next.len() > MATCHES_MAX {
                    return Matches::TooMany;
                }
                *left -= 1;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && !part.starts_with('.') && !with_hidden {
                    continue;
                }
                // Two stars may have been made to go through every directory.
                if part == "**" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    within.push(entry.path());
                }
                if is_match(part, &name) {
                    next.push(entry.path());
                }
            }
            if part == "**" {
                next.push(directory);
            }
        }
        found = next;
    }
    Matches::All(found)
}

/// Whether a name matches one part of a pattern.
pub(super) fn is_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut got) = (0, 0);
    // Where to go on if the last star has to take one more.
    let mut retry: Option<(usize, usize)> = None;
    while got < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                retry = Some((at + 1, got));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => match class(&pattern[at..], name[got]) {
                Some((true, length)) => Some(at + length),
                Some((false, _)) => None,
                None => (name[got] == '[').then_some(at + 1),
            },
            Some(want) => (*want == name[got]).then_some(at + 1),
            None => None,
        };
        match (step, retry) {
            (Some(next), _) => (at, got) = (next, got + 1),
            (None, Some((after, from))) => {
                (at, got) = (after, from + 1);
                retry = Some((after, from + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Whether a class of characters has this one, and how long the class is; nothing, if it is never closed. Of classes with
/// names any may be meant.
fn class(pattern: &[char], c: char) -> Option<(bool, usize)> {
    let is_negated = matches!(pattern.get(1), Some('!' | '^'));
    let first = if is_negated { 2 } else { 1 };
    let close = (first + 1..pattern.len()).find(|at| {
        let ends_name = matches!(pattern.get(at - 1), Some(':' | '.' | '=')) && pattern[*at] == ']';
        pattern[*at] == ']'
            && !(ends_name && pattern[first..*at].contains(&'[') && pattern.get(at + 1) == Some(&']'))
    })?;
    let inside = &pattern[first..close];
    if inside.contains(&'[') {
        return Some((true, close + 1));
    }
    let mut has = false;
    let mut at = 0;
    while at < inside.len() {
        match (inside.get(at + 1), inside.get(at + 2)) {
            (Some('-'), Some(last)) => {
                has |= (inside[at]..=*last).contains(&c);
                at += 3;
            }
            _ => {
                has |= inside[at] == c;
                at += 1;
            }
        }
    }
    Some((has != is_negated, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_the_shell() {
        for (pattern, name, matches) in [
            ("*", "priv", true),
            ("pri*", "priv", true),
            ("p*v", "priv", true),
            ("p*x", "priv", false),
            ("pr?v", "priv", true),
            ("pr?v", "prv", false),
            ("[p]riv", "priv", true),
            ("[a-q]riv", "priv", true),
            ("[!a-o]riv", "priv", true),
            ("[^p]riv", "priv", false),
            ("[[:alpha:]]riv", "priv", true),
            ("[]p]riv", "priv", true),
            ("[p", "[p", true),
            ("*p*i*", "priv", true),
        ] {
            assert_eq!(is_match(pattern, name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_there_is_found_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("priv/in")).unwrap();
        for name in ["priv/k", "priv/.h", "priv/in/deep", "a.txt"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let found = |pattern: &str| {
            let Matches::All(found) = matches(directory.path(), pattern, false, &mut NAMES_MAX.clone())
            else {
                panic!("{pattern}")
            };
            let relative =
                found.iter().map(|path| path.strip_prefix(directory.path()).unwrap().display().to_string());
            let mut relative: Vec<String> = relative.collect();
            relative.sort();
            relative
        };
        assert_eq!(found("pri*/k"), ["priv/k"]);
        assert_eq!(found("*/*"), ["priv/in", "priv/k"]);
        assert_eq!(found("priv/.?"), ["priv/.h"]);
        assert_eq!(found("*/missing"), Vec::<String>::new());
        assert!(found("**/deep").contains(&"priv/in/deep".to_owned()));
        assert_eq!(matches(directory.path(), "*/*", false, &mut 3), Matches::TooMany);
        for at in 0..=MATCHES_MAX {
            std::fs::write(directory.path().join(format!("priv/in/{at}")), "").unwrap();
        }
        assert_eq!(matches(directory.path(), "*/*/*", false, &mut NAMES_MAX.clone()), Matches::TooMany);
    }
}
