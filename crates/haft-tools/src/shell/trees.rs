//! How far into a directory that it names a command goes, as data.

use super::command::{Command, Direction, Redirection};
use super::options::subcommand;
use super::word::Word;

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
    "mv", "ln", "rsync", "tar", "bsdtar", "gtar", "rg", "ag", "ack", "rgrep", "cpio", "pax", "7z", "7za", "ditto",
];
/// Commands that do so if an option says so.
#[rustfmt::skip]
const RECURSIVE: &[(&str, &str, &str)] = &[
    ("cp", "rRa", "recursive archive"),
    ("scp", "r", ""),
    ("rm", "rR", "recursive"),
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
const SEARCHING: &[&str] = &["rg", "ag", "ack", "rgrep"];
/// Those that do so if an option says so.
const GREPPING: &[&str] = &["grep", "egrep", "fgrep"];
/// Subcommands of git that take whole trees.
const TAKING: &[&str] = &["grep", "archive"];
/// Those that print the names of what they find.
const FINDING: &[&str] = &["find", "fd", "fdfind"];

/// How far a command goes into the directories among its operands.
pub(super) fn extent(command: &Command, name: &str, words: &[Word]) -> Extent {
    let is_finding = FINDING.contains(&name);
    if is_finding && (command.feeds || words.iter().any(|word| ACTING.contains(&word.text()))) {
        return Extent::Tree;
    }
    let walks = WALKING.contains(&name)
        || RECURSIVE.iter().any(|row| is_recursive(row, name, words))
        || takes_whole_trees(name, words);
    match walks {
        true => Extent::Tree,
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
    SEARCHING.contains(&name) && !is_fed || is_grep || is_finding || takes_whole_trees(name, words)
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

/// Whether nothing that a command names is opened by it.
pub(super) fn opens_nothing(name: &str, words: &[Word]) -> bool {
    #[rustfmt::skip]
    const OTHERS: &[&str] = &[
        "wait", "read", "shift", "set", "unset", "export", "date", "id", "uname", "ps", "pgrep", "pkill", "killall", "jobs",
        "ulimit", "umask", "hash", "command", "cd", "pushd", "popd", "chdir", "getopts", "local", "break", "continue", "nproc",
    ];
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
    NAMES.contains(&name) || OTHERS.contains(&name) || name == "git" && is_referring()
}
