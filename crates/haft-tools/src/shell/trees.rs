//! How far into a directory that it names a command goes, as data.

use super::command::{Command, Direction, Redirection};
use super::interpreters::archives;
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
    "mv", "ln", "rsync", "tar", "bsdtar", "gtar", "rg", "ag", "ack", "rgrep", "cpio", "pax", "7z", "7za", "ditto", "rga", "rar",
    "rclone", "restic", "borg", "mksquashfs", "genisoimage", "mkisofs", "jar", "asar",
];
/// Commands that do so if an option says so.
#[rustfmt::skip]
const RECURSIVE: &[(&str, &str, &str)] = &[
    ("cp", "rRa", "recursive archive"),
    ("scp", "r", ""),
    ("rm", "rR", "recursive"),
    ("gzip gunzip zstd unzstd zstdcat pigz lz4 unlz4 lz4cat lrzip", "r", "recursive"),
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
const CHANGING: &[&str] = &["checkout", "restore", "rm", "mv", "clean", "clone"];
/// Those that look at names, or at what git itself has names for.
pub(super) const LOOKING: &[&str] = &["check-ignore", "check-attr", "ls-files", "status", "rev-parse"];
/// Those that print the names of what they find.
const FINDING: &[&str] = &["find", "fd", "fdfind"];

/// Letters of options that take nothing.
const GREP_FLAGS: &str = "rRniIlLvwxcoqshHEFGPabzTUyZu";
const RG_FLAGS: &str = "FHILNPSUVabchilnopqsuvwxz0.";
const FD_FLAGS: &str = "HIuisgaplLF01qh";
/// Long options of searches that take nothing.
#[rustfmt::skip]
const LONG_FLAGS: &[&str] = &[
    "", "recursive", "line-number", "ignore-case", "word-regexp", "files-with-matches", "hidden", "no-ignore", "fixed-strings", "count",
    "invert-match", "only-matching", "no-heading", "heading", "files", "smart-case", "follow", "vimgrep", "text", "quiet",
    "with-filename", "no-filename", "json", "stats", "multiline", "unrestricted", "extended-regexp", "perl-regexp", "no-messages",
    "absolute-path", "full-path",
];
/// The same of fd alone; to the others they are followed by something.
const FD_LONG_FLAGS: &[&str] = &["glob"];

/// How far a command goes into the directories among its operands.
pub(super) fn extent(command: &Command, name: &str, words: &[Word]) -> Extent {
    let is_finding = FINDING.contains(&name);
    let acts = |word: &Word| ACTING.contains(&word.text()) || name != "find" && runs_each(word.text());
    if command.feeds || is_finding && words.iter().any(acts) {
        return Extent::Tree;
    }
    let changes =
        || name == "git" && subcommand(name, words).is_some_and(|second| CHANGING.contains(&second));
    let walks = WALKING.contains(&name)
        || RECURSIVE.iter().any(|row| is_recursive(row, name, words))
        || takes_whole_trees(name, words)
        || archives(name, words, "create")
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

/// Whether the words of a search say where it starts. What may be a pattern or the value of an option says nothing.
pub(super) fn is_started(name: &str, words: &[Word]) -> bool {
    match name {
        "find" => {
            let is_global =
                |word: &&Word| matches!(word.text(), "-H" | "-L" | "-P") || word.text().starts_with("-O");
            let first = words.get(words.iter().take_while(is_global).count());
            first.is_some_and(|word| !word.text().starts_with(['-', '(', '!']))
        }
        // What it runs stands behind all else, and a pattern before it.
        "fd" | "fdfind" => {
            let until = words.iter().position(|word| runs_each(word.text())).unwrap_or(words.len());
            sure_operands(name, FD_FLAGS, &words[..until]) > 1
        }
        _ => {
            let is_grep = GREPPING.contains(&name) || name == "rgrep";
            let flags = if is_grep { GREP_FLAGS } else { RG_FLAGS };
            let patterns = usize::from(!words.iter().any(|word| gives_pattern(word.text())));
            sure_operands(name, flags, words) > patterns
        }
    }
}

/// How many words are surely operands of a search.
fn sure_operands(name: &str, flags: &str, words: &[Word]) -> usize {
    let is_sure = |at: &usize| {
        let before = at.checked_sub(1).map_or("", |before| words[before].text());
        !words[*at].text().starts_with('-') && !may_take_word(name, flags, before)
    };
    (0..words.len()).filter(is_sure).count()
}

/// Whether an option of a search may take the next word.
fn may_take_word(name: &str, flags: &str, option: &str) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        let is_flag = LONG_FLAGS.contains(&long) || (name.starts_with("fd") && FD_LONG_FLAGS.contains(&long));
        return !is_flag && !long.contains('=');
    }
    let cluster = option.strip_prefix('-').unwrap_or_default();
    // What stands behind a letter that takes something is what it takes.
    let valued = cluster.char_indices().find(|(_, letter)| !flags.contains(*letter));
    valued.is_some_and(|(at, letter)| at + letter.len_utf8() == cluster.len())
}

/// Whether an option of a search brings its pattern, or says that there is none.
fn gives_pattern(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => matches!(long.split('=').next(), Some("regexp" | "file" | "files")),
        None => option.strip_prefix('-').is_some_and(|cluster| cluster.ends_with(['e', 'f'])),
    }
}

/// Whether an option makes fd run something for what it finds.
fn runs_each(option: &str) -> bool {
    let cluster = option.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
    option.starts_with("--exec") || cluster.is_some_and(|cluster| cluster.contains(['x', 'X']))
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

/// Whether git shows, packs or copies files that nothing names.
fn takes_whole_trees(name: &str, words: &[Word]) -> bool {
    let is_given = |options: &[&str]| words.iter().any(|word| options.contains(&word.text()));
    let second = if name == "git" { subcommand(name, words) } else { None };
    match second {
        Some("worktree") => is_given(&["add"]),
        Some("bundle") => is_given(&["create"]),
        Some("checkout-index") => {
            let is_all = |word: &Word| word.text().starts_with('-') && word.text().contains('a');
            is_given(&["--all"]) || words.iter().any(is_all)
        }
        Some(second) => TAKING.contains(&second),
        None => false,
    }
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
