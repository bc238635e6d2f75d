//! What a program that nobody here knows might run: it may be a launcher, so its words may be a command, from any of
//! them on. A rule that denies such a command has it asked about, and nothing else follows from a guess.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::arity::arity;
use super::command::{Command, Sort};
use super::effects::{CHANGING, READING};
use super::operands::TEXT;
use super::trees::looks_at_none;
use super::word::Word;
use super::wrappers::{SHELLS, is_launcher, wrapper_of};

/// So many commands are guessed in one.
const GUESSES_MAX: usize = 64;
/// So many words make up one guess; rules speak of how commands begin.
const WORDS_MAX: usize = 12;
/// So much of a text is looked at for commands.
const TEXT_BYTES_MAX: usize = 4096;

/// Programs that are known to run none of their words.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "curl", "wget", "http", "https", "xh", "hg", "svn", "jj", "gh", "glab", "man", "info", "whatis", "apropos", "whereis", "help",
    "tldr", "ps", "pgrep", "pkill", "killall", "pidof", "id", "groups", "date", "cal", "uname", "hostname", "apt", "apt-get", "dpkg",
    "yum", "dnf", "pacman", "apk", "pip", "pip3", "logger", "notify-send", "figlet", "tput", "gzip", "gunzip", "zip", "xz", "zstd", "bzip2",
    "base64", "openssl", "gpg", "ssh-keygen", "chsh", "getent", "locate", "shellcheck", "shfmt", "rustfmt", "prettier", "eslint",
    "black", "ruff", "mypy", "flake8", "gofmt", "clang-format", "pytest", "jest", "rgrep", "zgrep", "zcat", "bat", "batcat", "vim", "nano",
    "unset", "set", "shift", "trap", "cpp", "ld", "nm", "objdump", "readelf", "ldd",
];

static KNOWN: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [OTHERS, TEXT, READING, CHANGING].into_iter().flatten().copied().collect());

/// The commands that a program may run because they stand among its words.
pub(super) fn guesses(command: &Command) -> Vec<String> {
    let Some(mut name) = command.name().filter(|_| command.sort == Sort::Simple && !command.is_opaque) else {
        return Vec::new();
    };
    let mut arguments = &command.words[1..];
    // A module of Python is a program of its own.
    if let [option, module, rest @ ..] = arguments
        && option.text() == "-m"
        && name.starts_with("python")
    {
        (name, arguments) = (module.text(), rest);
    }
    if arguments.is_empty() || KNOWN.contains(name) || looks_at_none(name) {
        return Vec::new();
    }
    // What these run is found by itself.
    if wrapper_of(name).is_some() || SHELLS.contains(&name) {
        return Vec::new();
    }
    let mut found = Vec::new();
    if matches!(name, "make" | "gmake" | "bmake") {
        // The programs that it calls are in variables.
        arguments.iter().filter(|word| !word.text().starts_with('-')).for_each(|word| {
            found.extend(
                word.known().and_then(|text| text.split_once('=')).map(|(_, value)| value.to_owned()),
            );
        });
    } else if arity(&[name]) < 2 && !is_launcher(name) {
        (0..arguments.len()).for_each(|at| guess(&arguments[at..], &mut found));
    }
    found
}

/// Adds the commands that may begin in the first of these words.
fn guess(words: &[Word], found: &mut Vec<String>) {
    let Some((first, rest)) = words.split_first() else { return };
    let Some(text) = first.known().filter(|text| !text.is_empty()) else { return };
    if text.contains(char::is_whitespace) {
        let code = text.get(..TEXT_BYTES_MAX).unwrap_or(text);
        let pieces =
            code.split([';', '|', '&', '\n', '(', ')', '{', '}', '`', '"', '\'', '!', '<', '>', '$', ',']);
        pieces.for_each(|piece| add(piece.split_whitespace(), found));
    }
    let attached = text
        .strip_prefix('-')
        .filter(|cluster| !cluster.starts_with('-'))
        .and_then(|cluster| cluster.get(1..));
    let value = text.split_once('=').map(|(_, value)| value);
    let last = text.rsplit_once(['=', ':', ',']).map(|(_, value)| value);
    let itself = (!text.starts_with('-')).then_some(text);
    for begun in [itself, value, last, attached].into_iter().flatten() {
        let following = rest.iter().map_while(Word::known);
        add(std::iter::once(begun).chain(following), found);
    }
}

/// Adds a command by what it is called and by its name.
fn add<'w>(words: impl Iterator<Item = &'w str>, found: &mut Vec<String>) {
    let words: Vec<&str> = words.take(WORDS_MAX).collect();
    let Some((called, rest)) = words.split_first() else { return };
    let is_name = called.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '~'));
    if !is_name || found.len() >= GUESSES_MAX {
        return;
    }
    let behind: String = rest.iter().map(|word| format!(" {word}")).collect();
    if let Some((_, name)) = called.rsplit_once('/') {
        found.push(format!("{name}{behind}"));
    }
    found.push(format!("{called}{behind}"));
}
