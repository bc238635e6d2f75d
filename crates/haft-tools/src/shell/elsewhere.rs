//! Options by which a command works in another directory than the one it is run in, as data.

use std::path::{Path, PathBuf};

use super::walk::lexical;
use super::word::Word;

/// Commands, and their options that name the directory.
const ELSEWHERE: &[(&str, &str)] = &[
    ("env", "-C --chdir"),
    ("sudo", "-D --chdir"),
    ("systemd-run", "--working-directory"),
    ("unshare nsenter", "-w --wd"),
    ("tar bsdtar gtar make gmake poetry", "-C --directory"),
    ("git ninja go cargo pnpm jj", "-C"),
    ("npm yarn pnpm bun", "--prefix --cwd --dir"),
    ("uv", "--directory --project"),
    ("terraform", "-chdir"),
];

/// Where a command works.
pub(super) enum Elsewhere {
    /// In these directories, the last one last. None, if its options say nothing about it.
    In(Vec<PathBuf>),
    /// That is known only when it runs.
    Unknown,
}

/// Where the options of a command make it work, from a directory on. Each one starts where the one before ended.
pub(super) fn elsewhere(name: &str, words: &[Word], from: &Path) -> Elsewhere {
    let options: Vec<&str> = ELSEWHERE
        .iter()
        .filter(|(names, _)| names.split(' ').any(|one| one == name))
        .flat_map(|(_, options)| options.split(' '))
        .collect();
    let mut directories: Vec<PathBuf> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|_| !options.is_empty()) {
        let Some(value) = options.iter().find_map(|option| value(option, words, at)) else { continue };
        match value {
            Some(directory) if word.known().is_some() => {
                let base = directories.last().map_or(from, PathBuf::as_path);
                directories.push(lexical(&base.join(directory)));
            }
            Some(_) | None => return Elsewhere::Unknown,
        }
    }
    Elsewhere::In(directories)
}

/// The value of an option, if the word at this place is it; the value may not be known.
fn value<'w>(option: &str, words: &'w [Word], at: usize) -> Option<Option<&'w str>> {
    let text = words[at].text();
    let next = || words.get(at + 1).map(|word| word.known());
    if let Some((given, value)) = text.split_once('=').filter(|_| option.len() > 2) {
        let is_it = given == option || given.len() > 4 && option.starts_with(given);
        return is_it.then_some(Some(value));
    }
    if text == option || text.len() > 4 && text.starts_with("--") && option.starts_with(text) {
        return next();
    }
    // A letter may stand behind others, and its value may be attached.
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    let (_, attached) = cluster.split_once(letter)?;
    if attached.is_empty() { next() } else { Some(Some(attached)) }
}
