//! Patterns by which git is told files: their wildcards go through directories, whatever quotes say, and they may begin
//! with magic.

use std::path::{Path, PathBuf};

use crate::shell::globs::{has_wildcards, is_match};

/// A pattern, and where it may start.
#[derive(Debug, Clone)]
pub(in crate::shell) struct Pathspec {
    pub(in crate::shell) bases: Vec<PathBuf>,
    pattern: String,
    ignores_case: bool,
}

/// What an operand of git says.
pub(super) enum Told {
    /// A path, as it is spelled.
    Path(String),
    /// A pattern, and whether capital letters do not matter.
    Pattern(String, bool),
    /// Everything but something.
    Others,
}

/// Reads an operand of git; nothing, if it is no more than a word.
pub(super) fn told(text: &str) -> Option<Told> {
    let (magic, rest) = match text.strip_prefix(':') {
        None => ("", text),
        Some(behind) => match behind.strip_prefix('(') {
            Some(long) => long.split_once(')')?,
            None => behind.split_at(behind.find(|c: char| !"/!^".contains(c)).unwrap_or(behind.len())),
        },
    };
    let has = |one: &str| {
        magic.split(',').any(|magic| magic == one || magic.starts_with("attr:") && one == "exclude")
    };
    if has("exclude") || magic.contains(['!', '^']) {
        return Some(Told::Others);
    }
    if has_wildcards(rest) && !has("literal") || has("icase") {
        return Some(Told::Pattern(rest.to_owned(), has("icase")));
    }
    let is_more = text.starts_with(':') && !magic.is_empty();
    is_more.then(|| Told::Path(if rest.is_empty() { ".".to_owned() } else { rest.to_owned() }))
}

impl Pathspec {
    pub(super) fn new(bases: Vec<PathBuf>, pattern: String, ignores_case: bool) -> Pathspec {
        let pattern = if ignores_case { pattern.to_lowercase() } else { pattern };
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/').to_owned();
        Pathspec { bases, pattern, ignores_case }
    }

    /// Whether it stands for a file, or for a directory that the file is in.
    pub(in crate::shell) fn matches(&self, file: &Path) -> bool {
        let below = self.bases.iter().filter_map(|base| file.strip_prefix(base).ok());
        let mut spelled = below.flat_map(Path::ancestors).map(|path| path.to_string_lossy());
        spelled.any(|path| match self.ignores_case {
            true => is_match(&self.pattern, &path.to_lowercase()),
            false => is_match(&self.pattern, &path),
        })
    }
}
