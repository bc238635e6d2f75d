//! Files that a script writes and then runs: what is in them nobody has looked at, though they are files.
//!
//! In which order it does that is not asked: a loop or a function may turn it round.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command::{Command, Direction, Sort, Why};
use super::effects::{CHANGING, DEVICES, READING};
use super::held::destination;
use super::operands::TEXT;
use super::options::is_given;
use super::variables::is_dangerous;
use super::walk::lexical;
use super::word::{Certainty, Word, is_address};
use super::wrappers::is_interpreter;

/// Commands that put something where their words say, besides those whose options do.
const PUTTING: &[&str] =
    &["cp", "mv", "ln", "link", "install", "rsync", "scp", "tee", "sponge", "dd", "patch", "wget"];
/// What these write is in other files, where it could be looked at.
const UNPACKING: &[&str] =
    &["tar", "bsdtar", "gtar", "zip", "unzip", "7z", "7za", "unrar", "cpio", "git", "find", "openssl"];
/// Commands that run what files say which their words name, besides interpreters.
#[rustfmt::skip]
const LOADING: &[&str] = &[
    "make", "gmake", "bmake", "just", "cmake", "ninja", "ctest", "gradle", "gradlew", "mvn", "mvnw",
    "dc", "m4", "gnuplot", "ansible-playbook", "bazel", "rake", "enable", "expect", "xmllint", "tox", "nox", "prove",
];
/// Options of interpreters that take the next word.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "-W", "-X", "-o", "-O", "-r", "-I", "-l", "-C", "+o", "+O", "--require", "--import", "--loader", "--rcfile", "--init-file",
];
/// Commands that make programs of what their words name.
const COMPILING: &[&str] = &[
    "gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "rustc", "go", "ghc", "nim", "zig", "ocamlc",
    "ocamlopt", "gfortran", "as", "ld", "cpp", "nasm", "javac", "swiftc",
];
/// Files that commands run without being told so.
const UNTOLD: &[(&str, &[&str])] = &[
    ("make gmake bmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("npm pnpm yarn bun npx", &["package.json", ".npmrc", ".yarnrc", ".pnp.cjs"]),
    ("cargo", &["build.rs", "Cargo.toml", "config.toml"]),
    ("cmake", &["CMakeLists.txt"]),
    ("ninja", &["build.ninja"]),
    ("pytest python python3", &["conftest.py", "sitecustomize.py", "usercustomize.py"]),
    ("tox nox", &["tox.ini", "noxfile.py"]),
    ("rake", &["Rakefile"]),
    ("gradle gradlew", &["build.gradle", "build.gradle.kts", "settings.gradle"]),
    ("mvn mvnw", &["pom.xml"]),
    ("gulp grunt", &["gulpfile.js", "Gruntfile.js"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("direnv", &[".envrc"]),
    ("git", &[".gitattributes", ".gitmodules"]),
];

/// So many words of one command are taken down.
const NAMES_MAX: usize = 256;
/// So many names below the places that one command may put them in.
const JOINED_MAX: usize = 4096;

/// Marks the commands of a script that run what it writes.
pub(super) fn mark(commands: &mut [Command]) {
    let mut written = Written::default();
    every(commands).for_each(|command| written.take(command));
    if !written.is_any() {
        return;
    }
    // What is made of what was written is written, too.
    let made: Vec<PathBuf> = every(commands).flat_map(|command| written.made(command)).collect();
    written.paths.extend(made);
    written.names = written.paths.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
    let finds_elsewhere =
        every(commands).any(|command| command.assignments.iter().any(|name| name == "PATH"));
    for command in commands {
        let runs = |command: &Command| written.is_run(command, finds_elsewhere);
        let within = command.within.iter().any(runs);
        if runs(command) || within {
            command.is_opaque = true;
            command.runs_written = true;
            command.because(Why::Executes);
            if command.sort == Sort::Setting {
                command.sort = Sort::Assignment;
            }
        } else if COMPILING.contains(&command.name().unwrap_or_default()) && written.is_named(command) {
            command.runs_written = true;
        }
    }
}

fn every(commands: &[Command]) -> impl Iterator<Item = &Command> {
    commands.iter().flat_map(|command| std::iter::once(command).chain(&command.within))
}

/// What a script writes.
#[derive(Default)]
struct Written {
    paths: HashSet<PathBuf>,
    /// The last parts of the paths.
    names: HashSet<OsString>,
    /// Whether it writes something else, too.
    is_open: bool,
    /// Whether it writes more than is taken down, so that anything may be among it.
    is_anything: bool,
}

impl Written {
    fn is_any(&self) -> bool {
        self.is_open || !self.paths.is_empty()
    }

    /// Takes down what a command writes.
    fn take(&mut self, command: &Command) {
        let name = command.name().unwrap_or_default();
        for redirection in command.redirections.iter().filter(|one| one.direction == Direction::Out) {
            self.put(command, &redirection.target, &redirection.target.texts());
        }
        let writes =
            PUTTING.contains(&name) || command.why.contains(&Why::Writes) && !UNPACKING.contains(&name);
        if !writes || command.sort != Sort::Simple {
            return;
        }
        let words = &command.words[1..];
        if words.len() > NAMES_MAX {
            return self.take_anything();
        }
        for word in words {
            self.put(command, word, &named(word));
        }
        // What is copied keeps its name.
        let names: Vec<&str> =
            words.iter().filter_map(|word| word.text().trim_end_matches('/').rsplit('/').next()).collect();
        let places = places(name, words);
        if names.len() * places.len() > JOINED_MAX {
            return self.take_anything();
        }
        for place in places {
            names.iter().for_each(|name| self.add(command, &format!("{place}/{name}")));
        }
    }

    /// Notes that whatever is run later may have been written.
    fn take_anything(&mut self) {
        (self.is_open, self.is_anything) = (true, true);
    }

    fn put(&mut self, command: &Command, word: &Word, texts: &[String]) {
        texts.iter().for_each(|text| self.add(command, text));
        let is_unknown = |word: &Word| word.certainty() == Certainty::Unknown;
        let is_open = match word.values() {
            [] => is_unknown(word) && word.alternatives().is_empty(),
            values => values.iter().any(is_unknown),
        };
        // What a program of its own has to say is no script that somebody wrote here.
        let name = command.name().unwrap_or_default();
        let is_given =
            [TEXT, READING, CHANGING, PUTTING].iter().any(|list| list.contains(&name)) || name == "curl";
        self.is_open |= is_open && is_given;
    }

    fn add(&mut self, command: &Command, text: &str) {
        if text.is_empty() || text == "/" || DEVICES.contains(&text) {
            return;
        }
        for path in paths(command, text.trim_start_matches("./")) {
            // Where a command runs is no file.
            if !command.directories.iter().any(|directory| directory.starts_with(&path)) {
                self.paths.insert(path);
            }
        }
    }

    /// Whether a path is written, or lies in something that is.
    fn has(&self, path: &Path) -> bool {
        self.is_anything || path.ancestors().any(|path| self.paths.contains(path))
    }

    /// Whether a command names something that is written.
    fn is_named(&self, command: &Command) -> bool {
        let words = command.words.iter().skip(1);
        words.flat_map(named).any(|text| paths(command, &text).iter().any(|path| self.has(path)))
    }

    /// What a compiler makes of what is written.
    fn made(&self, command: &Command) -> Vec<PathBuf> {
        let name = command.name().unwrap_or_default();
        if !COMPILING.contains(&name) || !self.is_named(command) {
            return Vec::new();
        }
        let texts = command.words.iter().skip(1).flat_map(named);
        let stems = command.words.iter().filter_map(|word| word.text().rsplit('/').next()?.split_once('.'));
        let stems: Vec<String> = stems.map(|(stem, _)| stem.to_owned()).collect();
        let made = texts.chain(stems).chain(["a.out".to_owned()]);
        made.flat_map(|text| paths(command, &text)).collect()
    }

    /// Whether a command runs something that is written.
    fn is_run(&self, command: &Command, finds_elsewhere: bool) -> bool {
        let values = command.assignments.iter().zip(&command.values).filter(|(name, _)| is_dangerous(name));
        let settings = command.values.iter().filter(|_| command.sort == Sort::Setting);
        let mut set = values.map(|(_, value)| value).chain(settings).flat_map(named);
        if set.any(|text| paths(command, &text).iter().any(|path| self.has(path))) {
            return true;
        }
        let Some(called) = command.words.first().filter(|_| command.sort == Sort::Simple) else {
            return false;
        };
        let by_path = called.texts().into_iter().filter(|text| text.contains('/'));
        let is_there = |text: String| paths(command, &text).iter().any(|path| self.has(path));
        let mut by_path = by_path.peekable();
        if by_path.peek().is_some()
            && (self.is_open && !called.text().starts_with("/usr/") || by_path.any(is_there))
        {
            return true;
        }
        let name = command.name().unwrap_or_default();
        let is_untold = |(names, files): &(&str, &[&str])| {
            names.split(' ').any(|one| one == name) && files.iter().any(|file| self.has_name(file))
        };
        if UNTOLD.iter().any(is_untold) || finds_elsewhere && self.has_name(called.text()) {
            return true;
        }
        let loads = code(name, &command.words[1..]);
        let is_loaded = |word: &Word| {
            named(word).iter().any(|text| paths(command, text).iter().any(|path| self.has(path)))
        };
        let sets = name == "git" && command.words.iter().any(|word| word.text().contains("include"));
        loads.iter().any(is_loaded)
            || sets && self.is_named(command)
            || self.is_open && is_interpreter(name) && !loads.is_empty()
    }

    fn has_name(&self, name: &str) -> bool {
        self.is_anything || self.names.contains(OsStr::new(name))
    }
}

/// Where a command may put what its words name, besides under these very names.
fn places(name: &str, words: &[Word]) -> Vec<String> {
    let mut places = match destination(name, words) {
        Some(to) => to.into_texts(),
        // These make it where they run.
        None if matches!(name, "ln" | "wget") => vec![".".to_owned()],
        None => Vec::new(),
    };
    // Some files are run because of their names, wherever that is.
    places.push(String::new());
    places
}

/// The words of a command that may name what it runs: to what is a program for interpreters, others follow as data.
fn code<'w>(name: &str, words: &'w [Word]) -> &'w [Word] {
    let options: &[&str] = match name {
        "sed" | "gsed" => &["-f", "--file"],
        "awk" | "gawk" | "mawk" | "nawk" => &["-f", "--file", "-E", "--exec", "-i", "--include"],
        _ => &[],
    };
    if LOADING.contains(&name) || options.iter().any(|option| is_given(option, name, words, 0)) {
        return words;
    }
    if !options.is_empty() || !is_interpreter(name) {
        return &[];
    }
    let is_value = |at: usize| at > 0 && VALUED.contains(&words[at - 1].text());
    let first = (0..words.len()).find(|at| !words[*at].text().starts_with('-') && !is_value(*at));
    first.map_or(words, |at| &words[..=at])
}

/// What in a word may name a file: the word, the value of an option, the last part of an address.
fn named(word: &Word) -> Vec<String> {
    let mut found = Vec::new();
    for text in word.texts() {
        if text.contains("://") {
            found.extend(text.rsplit('/').next().map(str::to_owned));
        }
        if is_address(&text) {
            continue;
        }
        found.extend(text.split_once('=').map(|(_, value)| value.to_owned()));
        match text.strip_prefix('-') {
            Some(cluster) => found.extend(cluster.get(1..).map(str::to_owned)),
            None => found.push(text),
        }
    }
    found.retain(|text| !text.is_empty());
    found
}

/// Where a text may lead, from where a command may run.
fn paths(command: &Command, text: &str) -> Vec<PathBuf> {
    command.directories.iter().map(|directory| lexical(&directory.join(text))).collect()
}
