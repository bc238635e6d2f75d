//! Files that a command would touch, as far as its words name them: every word of every command is considered.

use std::path::PathBuf;

use super::command::{Command, Direction, Redirection, Sort, Why};
use super::containers::outer;
use super::globs::{Matches, matches};
use super::operands::{TEXT, is_output, operands};
use super::options::subcommand;
use super::views::view;
use super::word::{Certainty, Word, is_address, is_addressed};

/// A file or directory that a command may touch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileEffect {
    /// Where, as an absolute path as it is spelled: `..` behind a link leads where the link leads.
    pub path: PathBuf,
    /// What happens to it.
    pub touch: Touch,
}

/// What a command does to a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Touch {
    /// It reads it.
    Looks,
    /// Nobody knows; it may change it.
    MayChange,
    /// It changes it: that is what the command is for.
    Changes,
}

/// Commands that only read what their words name.
#[rustfmt::skip]
pub(super) const READING: &[&str] = &[
    "ls", "cat", "head", "tail", "less", "more", "grep", "egrep", "fgrep", "rg", "ag", "ack", "wc", "stat", "file",
    "diff", "cmp", "find", "fd", "tree", "du", "df", "md5sum", "sha1sum", "sha256sum", "sha512sum", "od", "xxd",
    "hexdump", "strings", "jq", "yq", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "sort", "uniq", "cut", "tr", "nl",
    "tac", "rev", "comm", "join", "paste", "column", "fold", "realpath", "readlink", "test", "[", "echo", "printf",
    "cd", "pushd", "popd", "chdir", "pwd", "which", "type", "bat", "source", ".", "xargs", "env", "cksum", "b2sum",
    "exit", "rgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "pcregrep", "pcre2grep", "ugrep", "rga", "zcat",
    "bzcat", "xzcat", "zstdcat", "sha224sum", "sha384sum", "shasum",
];
/// Commands that are there to change what their words name.
#[rustfmt::skip]
pub(super) const CHANGING: &[&str] = &[
    "cp", "mv", "rm", "rmdir", "mkdir", "touch", "ln", "link", "unlink", "install", "rsync", "scp", "dd", "tee",
    "truncate", "fallocate", "shred", "chmod", "chown", "chgrp", "chattr", "setfacl", "mkfifo", "mknod", "mktemp",
    "tar", "unzip", "cpio", "patch", "split", "csplit", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "unlzma", "zstd",
    "unzstd", "lz4", "pigz", "compress", "uncompress",
];
/// Subcommands of git that change what their operands name.
pub(super) const GIT_CHANGING: &[&str] =
    &["mv", "rm", "checkout", "restore", "clean", "config", "init", "clone", "apply", "worktree"];
/// Devices that are no files.
pub(super) const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
];
/// Where programs are installed; to call one there is not to look around.
pub(super) const INSTALLED: &[&str] =
    &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// The files a command would touch, as often as it names them.
/// `left` is how many names on the disk may yet be looked at.
pub(super) fn effects(command: &Command, left: &mut usize) -> Vec<FileEffect> {
    let mut found = Vec::new();
    for redirection in &command.redirections {
        let touch = match redirection.direction {
            Direction::In => Touch::Looks,
            Direction::Out => Touch::Changes,
            Direction::Text | Direction::Descriptor => continue,
        };
        if redirection.target.certainty() != Certainty::Unknown {
            add(&mut found, command, redirection.target.beginning(), touch);
        }
        for path in redirection.target.alternatives().iter().flat_map(paths) {
            add(&mut found, command, &path, touch);
        }
        add_matches(&mut found, command, &redirection.target, touch, left);
    }
    if command.sort == Sort::Simple {
        arguments(command, &mut found, left);
    }
    found
}

fn arguments(command: &Command, found: &mut Vec<FileEffect>, left: &mut usize) {
    let Some((called, words)) = command.words.split_first() else { return };
    if let Some(program) = called.known().filter(|called| called.contains('/'))
        && !INSTALLED.iter().any(|installed| program.starts_with(installed))
    {
        add(found, command, program, Touch::Looks);
    }
    let name = command.name().unwrap_or_default();
    if TEXT.contains(&name) {
        return;
    }
    let touch = touch(command, name, words);
    let view = if name == "bwrap" { view(words, &command.directories) } else { None };
    let unchanged = view.map(|view| view.unchanged).unwrap_or_default();
    // It names no file, and writes one by which git can be made to run anything.
    if name == "git" && subcommand(name, words) == Some("config") && command.why.contains(&Why::Writes) {
        add(found, command, ".git/config", Touch::Changes);
    }
    // These take away or lead elsewhere what other working trees are found by.
    if name == "git" && subcommand(name, words) == Some("worktree") {
        let leads = |word: &Word| {
            word.known().is_none_or(|word| ["remove", "move", "prune", "repair"].contains(&word))
        };
        if words.iter().any(leads) {
            add(found, command, ".git/worktrees", Touch::Changes);
        }
    }
    for (at, word) in operands(name, words) {
        if unchanged.contains(&at) || separates(name, word.text()) {
            continue;
        }
        let named = || std::iter::once(word).chain(word.alternatives()).flat_map(paths).collect();
        for path in outer(name, words, at).unwrap_or_else(named) {
            add(found, command, &path, touch);
        }
        add_matches(found, command, word, touch, left);
    }
}

/// Whether a word is an option with a slash that separates something.
fn separates(name: &str, text: &str) -> bool {
    let option = match name {
        "cut" | "paste" | "xargs" => "-d/",
        "sort" | "join" => "-t/",
        "awk" | "gawk" | "mawk" | "nawk" => "-F/",
        "column" | "seq" => "-s/",
        _ => return false,
    };
    text == option
}

/// Whether a command may touch files that nothing in it names.
pub(super) fn is_dynamic(command: &Command) -> bool {
    let is_unknown = |word: &Word| {
        let alternatives = word.alternatives();
        let is_open = |word: &Word| word.certainty() == Certainty::Unknown;
        if alternatives.is_empty() { is_open(word) } else { alternatives.iter().any(is_open) }
    };
    let opens = |one: &Redirection| matches!(one.direction, Direction::In | Direction::Out);
    if command.redirections.iter().any(|one| opens(one) && is_unknown(&one.target)) {
        return true;
    }
    if command.sort != Sort::Simple {
        return command.is_opaque
            && matches!(command.sort, Sort::Unread | Sort::Overlooked | Sort::Assignment);
    }
    let name = command.name().unwrap_or_default();
    let Some((called, words)) = command.words.split_first() else { return false };
    if is_unknown(called) || command.is_opaque {
        return true;
    }
    // Where it runs is not known, so it is not known what any name in it names.
    if TEXT.contains(&name) {
        return false;
    }
    command.directories.is_empty()
        || operands(name, words)
            .into_iter()
            .any(|(at, word)| is_unknown(word) && !command.is_found && !is_output(command, at + 1))
}

/// What a command does to its operands.
fn touch(command: &Command, name: &str, words: &[Word]) -> Touch {
    let changes = |is_so: bool| if is_so { Touch::Changes } else { Touch::Looks };
    match name {
        "git" => changes(subcommand(name, words).is_none_or(|subcommand| GIT_CHANGING.contains(&subcommand))),
        _ if READING.contains(&name) => changes(command.why.contains(&Why::Writes)),
        _ if CHANGING.contains(&name) => Touch::Changes,
        _ => Touch::MayChange,
    }
}

/// Everything in a word that may be a path: the word, the value of an option, what follows a colon or an at sign.
fn paths(word: &Word) -> Vec<String> {
    let text = match word.certainty() {
        Certainty::Exact => word.text(),
        // Up to the directory in which the names are.
        Certainty::Glob(from) => match word.text()[..from].rsplit_once('/') {
            Some(("", _)) => "/",
            Some((directory, _)) => directory,
            None => return Vec::new(),
        },
        Certainty::Unknown => return Vec::new(),
    };
    let mut found = Vec::new();
    if text.is_empty() || is_address(text) {
        return found;
    }
    if !text.starts_with('-') {
        found.push(text.to_owned());
    }
    let looks_like_one = |part: &str| {
        part.starts_with(['/', '~']) || part.starts_with("./") || part.starts_with("../") || part == ".."
    };
    let value = text.split_once('=').map(|(_, value)| value);
    let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let behind = |letters: usize| cluster.char_indices().nth(letters).map(|(at, _)| &cluster[at..]);
    let first = behind(1).filter(|rest| looks_like_one(rest) || rest.starts_with('.') && rest.len() > 1);
    // Behind a second letter stands no program of sed, and no word is so short.
    let is_cluster = cluster.chars().take(2).all(|c| c.is_ascii_alphabetic()) && !cluster.starts_with("es");
    let attached = first.or_else(|| behind(2).filter(|rest| is_cluster && looks_like_one(rest)));
    // What a form is filled with.
    let filled = text.split_once("=<").map(|(_, file)| file.split(';').next().unwrap_or(file));
    let filled = filled.filter(|file| looks_like_one(file));
    let parts = value.into_iter().chain(attached).chain(filled);
    found.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    let pieces = text.split([':', '@', ',', '=']).skip(1).filter(|piece| looks_like_one(piece));
    let pieces = pieces.filter(|piece| !is_addressed(text, piece));
    found.extend(pieces.map(str::to_owned));
    found.dedup();
    found
}

/// Adds what wildcards match that lead to hidden names or back out: by what stands before them nobody sees that.
fn add_matches(found: &mut Vec<FileEffect>, command: &Command, word: &Word, touch: Touch, left: &mut usize) {
    for one in std::iter::once(word).chain(word.alternatives()) {
        let Certainty::Glob(_) = one.certainty() else { continue };
        if !one.text().split('/').any(|part| part.starts_with('.') && part != ".") {
            continue;
        }
        for directory in &command.directories {
            let paths = match matches(directory, one.text(), false, left) {
                Matches::All(paths) => paths,
                // The worst that may be among them.
                Matches::TooMany => vec![directory.join(".git")],
            };
            found.extend(paths.into_iter().map(|path| FileEffect { path, touch }));
        }
    }
}

fn add(found: &mut Vec<FileEffect>, command: &Command, path: &str, touch: Touch) {
    if path.is_empty() || path.contains('\0') || DEVICES.contains(&path) || path.starts_with("/dev/fd/") {
        return;
    }
    let mut push = |path: PathBuf| found.push(FileEffect { path, touch });
    if path.starts_with('/') {
        push(PathBuf::from(path));
        return;
    }
    for directory in &command.directories {
        push(directory.join(path));
    }
}
