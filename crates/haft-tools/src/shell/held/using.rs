//! What a command does to each of the files that it names.

use super::Use;
use crate::shell::command::{Command, Why};
use crate::shell::effects::{CHANGING, GIT_CHANGING, READING};
use crate::shell::options::subcommand;
use crate::shell::trees::{Extent, LOOKING};
use crate::shell::word::Word;
use crate::shell::wrappers::{is_launcher, wrapper_of};

/// Commands that change what they name without reading it.
#[rustfmt::skip]
const ONLY_EDITING: &[&str] = &[
    "rm", "rmdir", "mkdir", "touch", "truncate", "fallocate", "shred", "chmod", "chown", "chgrp", "chattr", "setfacl", "mkfifo",
    "mknod", "mktemp", "tee", "sponge", "unlink",
];
/// Commands that look at what files are and not at what is in them.
#[rustfmt::skip]
const ONLY_LOOKING: &[&str] = &[
    "ls", "stat", "test", "[", "du", "df", "pwd", "realpath", "basename", "dirname", "readlink", "which", "type", "namei", "lsattr",
    "getfacl", "mountpoint",
];
/// Commands that put something else in the place of what they name, unless they are told to print it.
#[rustfmt::skip]
const COMPRESSING: &[&str] = &[
    "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "zstd", "unzstd", "lz4", "pigz", "compress", "uncompress",
];
/// Commands that put what their other operands name where the last one says.
const COPYING: &[&str] = &["cp", "mv", "ln", "install", "rsync", "scp", "link"];

/// Where a command puts what it copies or moves.
pub(in crate::shell) struct Destination {
    pub(super) at: usize,
    /// What it may be.
    texts: Vec<String>,
}

/// Something that a command makes below its destination.
pub(super) struct Made {
    pub(super) path: String,
    pub(super) extent: Extent,
}

/// The operand that says where to put the others.
pub(in crate::shell) fn destination(name: &str, words: &[Word]) -> Option<Destination> {
    if !COPYING.contains(&name) {
        return None;
    }
    let takes_target = |text: &str| {
        text == "--target-directory"
            || name != "rsync"
                && text
                    .strip_prefix('-')
                    .is_some_and(|cluster| !cluster.starts_with('-') && cluster.ends_with('t'))
    };
    if let Some(at) = words.iter().position(|word| takes_target(word.text())) {
        return Some(Destination { at: at + 1, texts: words.get(at + 1)?.texts() });
    }
    if let Some(at) = words.iter().position(|word| word.text().starts_with("--target-directory=")) {
        let (_, text) = words[at].text().split_once('=')?;
        return Some(Destination { at, texts: vec![text.to_owned()] });
    }
    let attached =
        |word: &Word| word.text().strip_prefix("-t").filter(|_| name != "rsync").map(str::to_owned);
    if let Some((at, text)) = words.iter().enumerate().find_map(|(at, word)| Some((at, attached(word)?))) {
        return Some(Destination { at, texts: vec![text] });
    }
    let is_operand = |word: &&Word| !word.text().starts_with('-');
    if words.iter().filter(is_operand).count() < 2 {
        return None;
    }
    let at = words.iter().rposition(|word| is_operand(&word))?;
    Some(Destination { at, texts: words[at].texts() })
}

impl Destination {
    /// What it may be.
    pub(in crate::shell) fn into_texts(self) -> Vec<String> {
        self.texts
    }

    /// What the other operands become there.
    pub(super) fn made(&self, words: &[Word]) -> Vec<Made> {
        let others =
            words.iter().enumerate().filter(|(at, word)| *at != self.at && !word.text().starts_with('-'));
        let made = |from: String| {
            // The content of a directory goes where its own name would.
            let is_content = from.ends_with('/') || from.ends_with("/.") || from == ".";
            let name = from.rsplit('/').next().unwrap_or_default().to_owned();
            let there = move |to: &String| match is_content {
                true => Made { path: to.clone(), extent: Extent::Tree },
                false => Made { path: format!("{to}/{name}"), extent: Extent::Whole },
            };
            self.texts.iter().map(there).collect::<Vec<_>>()
        };
        others.flat_map(|(_, word)| word.texts()).flat_map(made).collect()
    }
}

/// What a command does to its words.
pub(super) struct Using<'c> {
    name: &'c str,
    words: &'c [Word],
    to: Option<usize>,
    /// What it does to a word that nothing else is known about.
    others: &'static [Use],
    is_wrapper: bool,
}

const NONE: &[Use] = &[];
const READS: &[Use] = &[Use::Reads];
const EDITS: &[Use] = &[Use::Edits];
const BOTH: &[Use] = &[Use::Reads, Use::Edits];
const ANY: &[Use] = &[Use::Reads, Use::MayEdit];

impl<'c> Using<'c> {
    pub(super) fn new(
        command: &Command,
        name: &'c str,
        words: &'c [Word],
        to: Option<&Destination>,
    ) -> Using<'c> {
        let is_given = |options: &[&str]| words.iter().any(|word| options.contains(&word.text()));
        let others = match name {
            // To make a link to something is to make a second name to change it by, and to move it away is to change it.
            "cp" if is_given(&["-l", "-s", "--link", "--symbolic-link"]) => BOTH,
            "rsync" if is_given(&["--remove-source-files"]) => BOTH,
            "cp" | "install" | "rsync" | "scp" if to.is_some() => READS,
            "dd" => READS,
            "git" if subcommand(name, words).is_none_or(|second| GIT_CHANGING.contains(&second)) => BOTH,
            "git"
                if subcommand(name, words).is_some_and(|second| LOOKING.contains(&second))
                    && !command.feeds =>
            {
                NONE
            }
            "git" => READS,
            _ if ONLY_EDITING.contains(&name) => EDITS,
            _ if ONLY_LOOKING.contains(&name) => NONE,
            _ if COMPRESSING.contains(&name) && prints(words) => READS,
            _ if READING.contains(&name) && command.why.contains(&Why::Writes) => BOTH,
            _ if READING.contains(&name) => READS,
            _ if CHANGING.contains(&name) => BOTH,
            _ => ANY,
        };
        let runs_others = wrapper_of(name).is_some() || is_launcher(name);
        let is_wrapper = runs_others && others == ANY && !matches!(name, "script" | "logsave");
        Using { name, words, to: to.map(|to| to.at), others, is_wrapper }
    }

    /// What it does to the word at a place.
    pub(super) fn of(&self, at: usize) -> &'static [Use] {
        let is_option = |at: usize| self.words[at].text().starts_with('-');
        // What a wrapper runs is looked at for itself; its own files stand behind its options.
        let is_own = || is_option(at) || at > 0 && is_option(at - 1);
        match self.name {
            _ if self.to == Some(at) => EDITS,
            "dd" if self.words[at].text().starts_with("of=") => EDITS,
            _ if self.is_wrapper && !is_own() => READS,
            // What an option names it may be told by.
            _ if self.others.is_empty() && is_option(at) => READS,
            _ => self.others,
        }
    }
}

/// Whether an option has a command print what it makes.
fn prints(words: &[Word]) -> bool {
    let is_letter = |cluster: &str| !cluster.starts_with('-') && cluster.contains(['c', 't', 'l']);
    words.iter().any(|word| match word.text() {
        "--stdout" | "--to-stdout" | "--test" | "--list" => true,
        text => text.strip_prefix('-').is_some_and(is_letter),
    })
}
