//! What a program that nobody here knows might run: it may be a launcher, so its words may be a command, from any of
//! them on. A rule that denies such a command has it asked about, and nothing else follows from a guess.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::analysis::{Analysis, analyse};
use super::arity::arity;
use super::builtins::DECLARING;
use super::command::{Command, Sort};
use super::containers;
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

/// Whether a program is known to run none of its words.
pub(super) fn runs_none(name: &str) -> bool {
    KNOWN.contains(name)
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
        let sets = matches!(name, "make" | "gmake" | "bmake" | "cmake");
        let is_container = containers::is_entered(name, &command.words[1..]);
        if !sets && !is_container && (arity(&[name]) > 1 || is_launcher(name)) {
            return;
        }
        let was_open = self.is_open;
        let words = self.told(command, name, from);
        if sets {
            // Most of what cmake is told is no program.
            if name == "cmake" {
                self.is_open = was_open || calls_unknown(command);
            }
            self.set(name, &words);
            return;
        }
        if is_container {
            self.enter(&words);
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

    /// Adds the programs that are called by what variables are set to.
    fn set(&mut self, name: &str, words: &[&str]) {
        let is_setting = |word: &&&str| name == "cmake" || !word.starts_with('-');
        let values = words.iter().filter(is_setting).filter_map(|word| word.split_once('='));
        for (_, value) in values {
            self.commands.push(value.to_owned());
            // A list is a command with its words.
            let listed: Vec<&str> = value.split([';', ' ']).filter(|_| name == "cmake").collect();
            self.is_open |= listed.iter().any(|word| begins_shell(&[*word]));
            (0..listed.len().min(WORDS_MAX)).for_each(|at| self.add(listed[at..].iter().copied()));
        }
    }

    /// Adds what is run in a container: the words from any on may be it.
    fn enter(&mut self, words: &[&str]) {
        let within = containers::within(words);
        // No program is called by a name that sets a variable.
        let may_start = |at: &usize| !within[*at].starts_with('-') && !within[*at].contains('=');
        let starts: Vec<usize> = (0..within.len()).filter(may_start).collect();
        self.is_open |= starts.len() > containers::WORDS_MAX || containers::is_replaced(words);
        if self.is_open {
            return;
        }
        for at in starts {
            for command in every(&analysed(&within[at..])) {
                self.is_open |= command.is_opaque || !command.words.iter().all(is_text);
                self.add(command.words.iter().map_while(Word::known));
            }
        }
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
            // What the person has set for compilers is theirs, and where a container has a directory runs nothing.
            let is_theirs = || takes_flags(name) && command.inherited.contains(&at);
            let is_shared = || containers::is_shared(command, at);
            let is_other = || is_data(word) || is_number() || is_theirs() || is_shared();
            self.is_open |= !is_known && !is_file && !is_other();
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
            // Several options in one variable are several words.
            if text.starts_with('-') {
                let words: Vec<&str> = text.split_whitespace().take(WORDS_MAX).collect();
                (1..words.len()).for_each(|at| self.add(words[at..].iter().copied()));
            }
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
        for command in every(&analysed(words)) {
            self.is_open |= command.is_opaque || !command.words.iter().all(is_text);
            self.add(command.words.iter().map_while(Word::known));
            self.take(command, depth + 1);
        }
    }
}

/// What these words do as a command. It matters what is run, and not where.
fn analysed(words: &[&str]) -> Analysis {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    analyse(&quoted.join(" "), &Surroundings { directory: "/".into(), home: None })
}

fn every(analysis: &Analysis) -> impl Iterator<Item = &Command> {
    analysis.commands.iter().flat_map(|one| std::iter::once(one).chain(&one.within))
}

/// Whether cmake is told something that is known only when it runs, besides what a variable is set to that calls nothing.
fn calls_unknown(command: &Command) -> bool {
    #[rustfmt::skip]
    const CALLED: &[&str] = &[
        "COMPILER", "LAUNCH", "RULE_", "LINKER", "PROGRAM", "COMMAND", "TOOL", "FLAGS", "TIDY", "CHECK", "INCLUDE", "EMULATOR", "EXECUTABLE",
    ];
    let sets_data = |word: &Word| {
        let set = word.beginning().strip_prefix("-D").and_then(|set| set.split_once('='));
        set.is_some_and(|(name, _)| !CALLED.iter().any(|part| name.contains(part)))
    };
    let is_one = |word: &Word| word.known().is_some_and(|text| !text.contains(char::is_whitespace));
    let is_told = |word: &Word| match (word.alternatives(), word.values()) {
        ([], [value]) => is_one(value),
        ([], _) => word.known().is_some(),
        (several, _) => several.iter().all(is_one),
    };
    // Names that match are no options if they do not begin as one.
    let is_name = |word: &Word| {
        matches!(word.certainty(), Certainty::Glob(_))
            && !matches!(word.beginning().chars().next(), None | Some('-'))
    };
    let is_number = |at: usize| command.tokens.get(at).is_some_and(|token| is_number(token));
    let is_open = |(at, word): (usize, &Word)| {
        !is_told(word) && !is_name(word) && !sets_data(word) && !is_number(at) && !is_place(command, at)
    };
    command.words.iter().enumerate().skip(1).any(is_open)
}

/// Whether a word of cmake is one word whatever it holds, and says where to build.
fn is_place(command: &Command, at: usize) -> bool {
    let before = command.words[at - 1].known().unwrap_or_default();
    let inside = command.tokens.get(at).and_then(|token| token.strip_prefix('"')?.strip_suffix('"'));
    ["-B", "-S", "--build"].contains(&before) && inside.is_some_and(|inside| !inside.contains(['"', '@']))
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

/// Whether a program compiles, so that what it is told by variables is mostly the person's.
pub(super) fn takes_flags(name: &str) -> bool {
    const COMPILERS: &[&str] =
        &["gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "gfortran", "tcc", "rustc", "ld", "as"];
    COMPILERS.contains(&name)
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
