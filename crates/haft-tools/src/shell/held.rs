//! Which files a command names, as rules for files see it: every spelling in its words that may be one, what wildcards
//! and variables make of them, and how far it goes into directories.
//!
//! It looks for more than [`effects`](super::effects) does: what it finds matters only where a rule denies that very file.

mod addresses;
mod collecting;
mod listed;
mod loading;
mod pathspecs;
mod spelling;
mod using;

use std::path::{Path, PathBuf};

use super::command::{Command, Direction, Sort};
use super::effects::INSTALLED;
use super::operands::{TEXT, is_searched, operands};
use super::options::subcommand;
use super::trees::{Extent, extent, is_started, searches_here};
use super::word::{Certainty, Word};
use addresses::led_to;
use collecting::Collecting;
pub(super) use listed::changes_untold;
use listed::given;
use loading::loads;
pub(super) use pathspecs::Pathspec;
pub(super) use spelling::is_number;
use spelling::{code, spellings};
use using::Using;
pub(super) use using::destination;

/// What a command does to a file, as rules for files see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// It reads it.
    Reads,
    /// It changes it.
    Edits,
    /// Nobody knows; it may change it.
    MayEdit,
}

/// A file or directory that a command names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct NamedFile {
    pub(super) path: PathBuf,
    pub(super) used: Use,
    pub(super) extent: Extent,
}

/// Everything that a command names.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) files: Vec<NamedFile>,
    /// What git is told by patterns, and what it does to that.
    pub(super) pathspecs: Vec<(Pathspec, Use)>,
    /// Whether it opens files that are known only when it runs.
    pub(super) is_open: bool,
}

/// The files that a command names. Git knows the root of its repository; `left` is how many names may yet be looked at to
/// find out what wildcards match.
pub(super) fn named(command: &Command, root: &Path, left: &mut usize) -> Named {
    let mut named = Collecting::new(command, root, left);
    for redirection in &command.redirections {
        let used = match redirection.direction {
            Direction::In => Use::Reads,
            Direction::Out => Use::Edits,
            Direction::Text | Direction::Descriptor => continue,
        };
        redirection.target.texts().iter().for_each(|text| named.add(text, used, Extent::Itself));
    }
    let values = command.values.iter().flat_map(spellings);
    for text in values {
        named.add(&text, Use::Reads, Extent::Whole);
        named.add(&text, Use::MayEdit, Extent::Whole);
    }
    if command.sort == Sort::Simple {
        arguments(command, &mut named);
    }
    named.finish()
}

fn arguments(command: &Command, named: &mut Collecting<'_>) {
    let Some((called, words)) = command.words.split_first() else { return };
    let is_installed = |program: &String| INSTALLED.iter().any(|installed| program.starts_with(installed));
    for program in called.texts().iter().filter(|program| program.contains('/') && !is_installed(program)) {
        named.add(program, Use::Reads, Extent::Itself);
    }
    let name = command.name().unwrap_or_default();
    if TEXT.contains(&name) {
        return;
    }
    let extent = extent(command, name, words);
    let to = destination(name, words);
    let using = Using::new(command, name, words, to.as_ref());
    let operands = operands(name, words);
    for (at, word) in &operands {
        let is_destination = to.as_ref().is_some_and(|to| to.at == *at);
        let extent = if is_destination { extent.min(Extent::Whole) } else { extent };
        // Modules are looked for in a directory, whichever it is that matches.
        let is_searched = is_searched(name, words, *at) && word.certainty() != Certainty::Exact;
        let extent = if is_searched { Extent::Tree } else { extent };
        for text in spellings(word) {
            using.of(*at).iter().for_each(|used| named.add(&text, *used, extent));
        }
        for text in word.texts() {
            let others = led_to(name, &text).into_iter().chain(repository(name, words, &text));
            others.for_each(|path| using.of(*at).iter().for_each(|used| named.add(&path, *used, extent)));
            if name == "git" {
                using.of(*at).iter().for_each(|used| named.add_told(&text, *used, extent));
            }
        }
        if name == "ls" && command.feeds && !word.text().starts_with('-') {
            word.texts().iter().for_each(|text| named.list(text));
        }
    }
    if changes_untold(name, words) {
        named.add(".", Use::Edits, Extent::Tree);
    }
    for made in to.iter().flat_map(|to| to.made(words)) {
        named.add(&made.path, Use::Edits, made.extent);
    }
    let loads = loads(name, words);
    for text in code(name, words, given(command)) {
        // Modules are looked for in directories.
        named.add(&text, Use::Reads, if loads { Extent::Whole } else { Extent::Itself });
        named.add(&text, Use::MayEdit, Extent::Itself);
    }
    // The operands of git are a pattern and what not.
    let names_none = name == "git" || !is_started(name, words);
    if names_none && searches_here(command, name, words) {
        named.add(".", Use::Reads, Extent::Tree);
    }
}

/// What a repository that is copied is the repository of: it holds all of that.
fn repository(name: &str, words: &[Word], text: &str) -> Option<String> {
    let above = text.trim_end_matches('/').strip_suffix(".git")?;
    let is_copied = name == "git" && subcommand(name, words) == Some("clone");
    match above {
        _ if !is_copied => None,
        "" => Some(".".to_owned()),
        above => above.ends_with('/').then(|| above.to_owned()),
    }
}
