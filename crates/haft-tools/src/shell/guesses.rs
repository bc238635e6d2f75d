//! What a program that nobody here knows might run: it may be a launcher, so its words may be a command, from any of
//! them on. A rule that denies such a command has it asked about, and nothing else follows from a guess.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::analysis::analyse;
use super::arity::arity;
use super::builtins::DECLARING;
use super::command::{Command, Sort};
use super::effects::{CHANGING, READING};
use super::held::is_number;
use super::operands::TEXT;
use super::surroundings::Surroundings;
use super::trees::looks_at_none;
use super::word::{Certainty, Word};
use super::wrappers::{SHELLS, is_interpreter, is_launcher, wrapper_of};

/// So many commands are guessed in one.
const GUESSES_MAX: usize = 512;
/// So many words make up one guess; rules speak of how commands begin.
const WORDS_MAX: usize = 12;
/// So much of a text is looked at for commands.
const TEXT_BYTES_MAX: usize = 4096;
/// So many shells among the words are followed.
const SHELLS_MAX: usize = 4;
/// So many programs that nobody knows may launch each other.
const DEPTH_MAX: usize = 3;
/// Shells whose names are mostly something else.
const SHORT: &[&str] = &["rc", "es", "nu", "ion", "osh", "ysh"];

/// Programs that are known to run none of their words.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "curl", "wget", "http", "https", "xh", "hg", "svn", "gh", "glab", "man", "info", "whatis", "apropos", "whereis", "help",
    "tldr", "ps", "pgrep", "pkill", "killall", "pidof", "id", "groups", "date", "cal", "uname", "hostname", "apt", "apt-get", "dpkg",
    "yum", "dnf", "pacman", "apk", "pip", "pip3", "logger", "notify-send", "figlet", "tput", "gzip", "gunzip", "zip", "xz", "zstd", "bzip2",
    "base64", "openssl", "ssh-keygen", "chsh", "getent", "locate", "shellcheck", "shfmt", "rustfmt", "prettier", "eslint",
    "black", "ruff", "mypy", "flake8", "gofmt", "clang-format", "pytest", "jest", "rgrep", "zgrep", "zcat", "bat", "batcat", "vim", "nano",
    "unset", "set", "shift", "trap", "ld", "nm", "objdump", "readelf", "ldd",
];

static KNOWN: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [OTHERS, TEXT, READING, CHANGING].into_iter().flatten().copied().collect());

/// What a program may run because of its words.
#[derive(Default)]
pub(super) struct Guesses {
    /// The commands that stand among them.
    pub(super) commands: Vec<String>,
    /// Whether it may be something else, too.
    pub(super) is_open: bool,
}

/// The commands that a program may run because they stand among its words.
pub(super) fn guesses(command: &Command) -> Guesses {
    let mut found = Guesses::default();
    found.take(command, 0);
    found
}

impl Guesses {
    fn take(&mut self, command: &Command, depth: usize) {
        let Some((name, from)) = guessed_from(command) else { return };
        let is_make = matches!(name, "make" | "gmake" | "bmake");
        if !is_make && (arity(&[name]) > 1 || is_launcher(name)) {
            return;
        }
        let words = self.told(command, name, from);
        if is_make {
            // The programs that it calls are in variables.
            let operands = words.iter().filter(|word| !word.starts_with('-'));
            let values = operands.filter_map(|word| word.split_once('='));
            self.commands.extend(values.map(|(_, value)| value.to_owned()));
            return;
        }
        for at in 0..words.len() {
            if self.commands.len() >= GUESSES_MAX {
                self.is_open = true;
                return;
            }
            self.guess(&words[at..]);
        }
        let shells: Vec<usize> = (0..words.len()).filter(|at| begins_shell(&words[*at..])).collect();
        if shells.len() > SHELLS_MAX || !shells.is_empty() && depth >= DEPTH_MAX {
            self.is_open = true;
            return;
        }
        shells.into_iter().for_each(|at| self.follow(&words[at..], depth));
    }

    /// The arguments from one on as far as they are known, with what braces and the variables of a script make of them.
    fn told<'w>(&mut self, command: &'w Command, name: &str, from: usize) -> Vec<&'w str> {
        let mut told = Vec::new();
        // A file that is run could be looked at, and its arguments are data.
        let is_file = is_interpreter(name) || DECLARING.contains(&name);
        for (at, word) in command.words.iter().enumerate().skip(from) {
            let is_known = match (word.alternatives(), word.values()) {
                _ if word.known().is_some() => push(&mut told, std::slice::from_ref(word)),
                ([], [value]) => push(&mut told, std::slice::from_ref(value)),
                ([], _) => false,
                (several, _) => push(&mut told, several),
            };
            let is_number = || command.tokens.get(at).is_some_and(|token| is_number(token));
            self.is_open |= !is_known && !is_file && !is_data(word) && !is_number();
        }
        told
    }

    /// Adds the commands that may begin in the first of these words.
    fn guess(&mut self, words: &[&str]) {
        let Some((text, rest)) = words.split_first().filter(|(text, _)| !text.is_empty()) else { return };
        if text.contains(char::is_whitespace) {
            if text.len() > TEXT_BYTES_MAX {
                self.is_open = true;
                return;
            }
            let pieces = text
                .split([';', '|', '&', '\n', '(', ')', '{', '}', '`', '"', '\'', '!', '<', '>', '$', ',']);
            pieces.for_each(|piece| self.add(piece.split_whitespace()));
        }
        let attached = text
            .strip_prefix('-')
            .filter(|cluster| !cluster.starts_with('-'))
            .and_then(|cluster| cluster.get(1..));
        let value = text.split_once('=').map(|(_, value)| value);
        let last = text.rsplit_once(['=', ':', ',']).map(|(_, value)| value);
        let itself = (!text.starts_with('-')).then_some(*text);
        for begun in [itself, value, last, attached].into_iter().flatten() {
            self.add(std::iter::once(begun).chain(rest.iter().copied()));
        }
    }

    /// Adds a command by what it is called and by its name.
    fn add<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        let words: Vec<&str> = words.take(WORDS_MAX).collect();
        let Some((called, rest)) = words.split_first() else { return };
        let is_name = called.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '~'));
        if !is_name {
            return;
        }
        if self.commands.len() >= GUESSES_MAX {
            self.is_open = true;
            return;
        }
        let behind: String = rest.iter().map(|word| format!(" {word}")).collect();
        if let Some((_, name)) = called.rsplit_once('/') {
            self.commands.push(format!("{name}{behind}"));
        }
        self.commands.push(format!("{called}{behind}"));
    }

    /// Adds what a shell runs that begins in the first of these words.
    fn follow(&mut self, words: &[&str], depth: usize) {
        let quoted = words[1..].iter().map(|word| format!(" '{}'", word.replace('\'', r"'\''")));
        let script: String = std::iter::once(words[0].to_owned()).chain(quoted).collect();
        // It matters what is run, and not where.
        let analysis = analyse(&script, &Surroundings { directory: "/".into(), home: None });
        for command in analysis.commands.iter().flat_map(|one| std::iter::once(one).chain(&one.within)) {
            self.is_open |= command.is_opaque || !command.words.iter().all(is_text);
            self.add(command.words.iter().map_while(Word::known));
            self.take(command, depth + 1);
        }
    }
}

/// The name of a program that nobody here knows, and from which of its words on it may launch something.
fn guessed_from(command: &Command) -> Option<(&str, usize)> {
    let mut name = command.name().filter(|_| command.sort == Sort::Simple && !command.is_opaque)?;
    let mut from = 1;
    // A module of Python is a program of its own.
    if let [option, module, ..] = &command.words[1..]
        && option.text() == "-m"
        && name.starts_with("python")
    {
        (name, from) = (module.text(), 3);
    }
    // What wrappers and shells run is found by itself.
    let is_known =
        KNOWN.contains(name) || looks_at_none(name) || wrapper_of(name).is_some() || SHELLS.contains(&name);
    (command.words.len() > from && !is_known).then_some((name, from))
}

/// Adds words if all of them are known, and says whether they are.
fn push<'w>(told: &mut Vec<&'w str>, words: &'w [Word]) -> bool {
    let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
    let is_known = known.is_some();
    told.extend(known.into_iter().flatten());
    is_known
}

/// Whether names that match a word can only be data: no command is called by a name with an ending.
fn is_data(word: &Word) -> bool {
    let last = word.text().rsplit('/').next().unwrap_or_default();
    matches!(word.certainty(), Certainty::Glob(_)) && last.contains('.')
}

/// Whether a word is known, or is the name of files that match it.
fn is_text(word: &Word) -> bool {
    word.certainty() != Certainty::Unknown
}

/// Whether these words begin with a shell.
fn begins_shell(words: &[&str]) -> bool {
    let Some((called, rest)) = words.split_first() else { return false };
    let name = called.rsplit('/').next().unwrap_or(called);
    SHELLS.contains(&name) && (!SHORT.contains(&name) || rest.iter().any(|word| word.starts_with("-c")))
}
