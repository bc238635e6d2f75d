//! How far into a directory that it names a command goes, as data.

use super::command::{Command, Direction, Redirection};
use super::options::subcommand;
use super::word::{Certainty, Word, WordBuilder};

/// How much of what a word names a command has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Extent {
    /// What is named, and nothing below it.
    Itself,
    /// A directory with what lies in it, as far as somebody knows.
    Whole,
    /// A directory and everything below it: the command is known to go there.
    Tree,
}

/// Commands that look at names, or at a directory without what is in it.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "ls", "stat", "test", "[", "tree", "du", "df", "pwd", "realpath", "basename", "dirname", "readlink", "file", "mkdir",
    "rmdir", "touch", "which", "type", "find", "fd", "fdfind", "chmod", "chown", "chgrp", "mountpoint", "namei", "lsattr",
    "getfacl", "mktemp", "mkfifo",
];
/// Commands that go through all of a directory, or take it as a whole.
#[rustfmt::skip]
const WALKING: &[&str] = &[
    "mv", "ln", "rsync", "tar", "bsdtar", "gtar", "rg", "ag", "ack", "rgrep", "cpio", "pax", "7z", "7za", "ditto", "rga",
];
/// Commands that do so if an option says so.
#[rustfmt::skip]
const RECURSIVE: &[(&str, &str, &str)] = &[
    ("cp", "rRa", "recursive archive"),
    ("scp", "r", ""),
    ("rm", "rR", "recursive"),
    ("gzip gunzip zstd unzstd zstdcat pigz", "r", "recursive"),
    ("ugrep pcregrep pcre2grep", "rRd", "recursive dereference-recursive directories"),
    ("grep egrep fgrep zgrep", "rRd", "recursive dereference-recursive directories"),
    ("diff", "r", "recursive"),
    ("chmod chown chgrp chattr setfacl", "R", "recursive"),
    ("zip", "rR", "recurse-paths recurse-patterns"),
    ("git", "r", ""),
];
/// What `find` and its like do to what they come upon, besides telling its name.
const ACTING: &[&str] = &[
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-delete",
    "-fprint",
    "-fprintf",
    "-x",
    "-X",
    "--exec",
    "--exec-batch",
];
/// Those that search where they are, if nothing else is named.
const SEARCHING: &[&str] = &["rg", "ag", "ack", "rgrep", "rga"];
/// Those that do so if an option says so.
const GREPPING: &[&str] = &["grep", "egrep", "fgrep", "ugrep", "pcregrep", "pcre2grep"];
/// Subcommands of git that take whole trees.
const TAKING: &[&str] = &["grep", "archive"];
/// Those that change directories as a whole.
const CHANGING: &[&str] = &["checkout", "restore", "rm", "mv", "clean"];
/// Those that look at names, or at what git itself has names for.
pub(super) const LOOKING: &[&str] = &["check-ignore", "check-attr", "ls-files", "status", "rev-parse"];
/// Those that print the names of what they find.
const FINDING: &[&str] = &["find", "fd", "fdfind"];

/// How far a command goes into the directories among its operands.
pub(super) fn extent(command: &Command, name: &str, words: &[Word]) -> Extent {
    let is_finding = FINDING.contains(&name);
    if command.feeds || is_finding && words.iter().any(|word| ACTING.contains(&word.text())) {
        return Extent::Tree;
    }
    let changes =
        || name == "git" && subcommand(name, words).is_some_and(|second| CHANGING.contains(&second));
    let walks = WALKING.contains(&name)
        || RECURSIVE.iter().any(|row| is_recursive(row, name, words))
        || takes_whole_trees(name, words)
        || changes();
    match walks {
        true => Extent::Tree,
        // It makes something in a directory that it names.
        false if name == "mktemp" => Extent::Whole,
        false if NAMES.contains(&name) => Extent::Itself,
        false => Extent::Whole,
    }
}

fn is_recursive((names, letters, longs): &(&str, &str, &str), name: &str, words: &[Word]) -> bool {
    let is_given = |text: &str| match text.strip_prefix("--") {
        Some(long) => {
            let long = long.split('=').next().unwrap_or(long);
            !long.is_empty() && longs.split(' ').any(|one| one.starts_with(long))
        }
        None => text.strip_prefix('-').is_some_and(|cluster| cluster.contains(|c| letters.contains(c))),
    };
    names.split(' ').any(|one| one == name) && words.iter().any(|word| is_given(word.text()))
}

/// Whether a command that names no directory goes through the one it runs in.
pub(super) fn searches_here(command: &Command, name: &str, words: &[Word]) -> bool {
    let feeds = |one: &Redirection| matches!(one.direction, Direction::In | Direction::Text);
    let is_fed = command.is_fed || command.redirections.iter().any(feeds);
    let is_grep = GREPPING.contains(&name) && extent(command, name, words) == Extent::Tree;
    let is_finding = FINDING.contains(&name) && extent(command, name, words) == Extent::Tree;
    let is_git = name == "git" && (takes_whole_trees(name, words) || command.feeds) && !is_told_where(words);
    SEARCHING.contains(&name) && !is_fed || is_grep || is_finding || is_git
}

/// Whether git is told by words behind two dashes which files it is about. Before a pattern they say nothing.
fn is_told_where(words: &[Word]) -> bool {
    let Some(at) = words.iter().position(|word| word.text() == "--") else { return false };
    let operands = words[..at].iter().filter(|word| !word.text().starts_with('-')).count();
    let needed = if subcommand("git", words) == Some("ls-files") { 1 } else { 2 };
    let is_plain = |word: &Word| {
        word.known().is_some_and(|text| !text.starts_with(':') && !text.contains(['*', '?', '[']))
    };
    operands >= needed && at + 1 < words.len() && words[at + 1..].iter().all(is_plain)
}

/// Whether git shows or packs files that nothing names.
fn takes_whole_trees(name: &str, words: &[Word]) -> bool {
    name == "git" && subcommand(name, words).is_some_and(|second| TAKING.contains(&second))
}

/// Whether a command prints the names of what it finds below what it names.
pub(super) fn tells_names(name: &str, words: &[Word]) -> bool {
    let is_given = |options: &[&str]| words.iter().any(|word| options.contains(&word.text()));
    match name {
        _ if FINDING.contains(&name) => !is_given(&["-printf", "-exec", "-execdir", "-ok", "-okdir"]),
        "rg" => is_given(&["-l", "--files", "--files-with-matches"]),
        "git" => subcommand(name, words) == Some("ls-files"),
        _ => false,
    }
}

/// The words that a command prints, if it lists files under the names that it is given, or all where it runs. What is in
/// a directory that it is given is not known here.
pub(super) fn listed(command: &Command) -> Option<Vec<Word>> {
    let words =
        command.words.get(1..).filter(|_| command.name() == Some("ls") && command.redirections.is_empty())?;
    let (options, names): (Vec<&Word>, Vec<&Word>) =
        words.iter().partition(|word| word.text().starts_with('-'));
    let is_plain = |word: &&Word| {
        word.known().is_some_and(|text| text[1..].chars().all(|letter| "1dtrSUvX".contains(letter)))
    };
    let is_known = |word: &&Word| word.certainty() != Certainty::Unknown;
    if !options.iter().all(is_plain) || !names.iter().all(is_known) {
        return None;
    }
    Some(match names.is_empty() {
        true => vec![everything()],
        false => names.into_iter().cloned().collect(),
    })
}

/// The word that every name matches.
fn everything() -> Word {
    let mut builder = WordBuilder::default();
    builder.bare('*');
    builder.finish(None)
}

/// Commands whose words are no files.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "wait", "read", "shift", "set", "unset", "export", "date", "id", "uname", "ps", "pgrep", "pkill", "killall", "jobs",
    "ulimit", "umask", "hash", "command", "cd", "pushd", "popd", "chdir", "getopts", "local", "break", "continue", "nproc",
];

/// Whether a command is known to open none of the files that its words may name, and to run none of them.
pub(super) fn looks_at_none(name: &str) -> bool {
    NAMES.contains(&name) || OTHERS.contains(&name)
}

/// Whether nothing that a command names is opened by it.
pub(super) fn opens_nothing(name: &str, words: &[Word]) -> bool {
    // These name what git itself has names for.
    const REFERRING: &[&str] = &[
        "tag",
        "push",
        "fetch",
        "pull",
        "branch",
        "commit",
        "merge",
        "rebase",
        "status",
        "remote",
        "switch",
        "cherry-pick",
        "describe",
        "rev-parse",
    ];
    let is_referring = || subcommand(name, words).is_some_and(|second| REFERRING.contains(&second));
    looks_at_none(name) || name == "git" && is_referring()
}
