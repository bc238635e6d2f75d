//! Files that a script writes and then runs: what is in them nobody has looked at, though they are files.
//!
//! In which order it does that is not asked: a loop or a function may turn it round.

mod running;
mod unpacking;

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command::{Command, Direction, Sort, Why};
use super::effects::{CHANGING, DEVICES, READING};
use super::held::destination;
use super::operands::TEXT;
use super::variables::is_dangerous;
use super::walk::lexical;
use super::word::{Certainty, Word, is_address};
use super::wrappers::is_interpreter;
use running::{code, compiles, loaded};
use unpacking::{Unpacked, packed, unpacked, unpacks};

/// Commands that put something where their words say, besides those whose options do.
const PUTTING: &[&str] =
    &["cp", "mv", "ln", "link", "install", "rsync", "scp", "tee", "sponge", "dd", "patch", "wget"];
/// What these write is in other files, where it could be looked at.
const UNPACKING: &[&str] =
    &["tar", "bsdtar", "gtar", "zip", "unzip", "7z", "7za", "unrar", "cpio", "git", "find", "openssl"];
/// Options of these behind which the name of what they write stands, as of any other command.
const NAMING: &[(&str, &[&str])] = &[
    ("find", &["-fprintf", "-fprint", "-fprint0", "-fls"]),
    ("openssl", &["-out", "-keyout", "-writerand"]),
];
/// Names of what is read from whoever stands before in a pipe.
const INPUT: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
/// What compilers call a program that nobody gave a name.
const MADE: &[&str] = &["a.out", "rust_out"];
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
    ("zig", &["build.zig"]),
    ("swift", &["Package.swift"]),
    ("sbt", &["build.sbt"]),
    ("bundle", &["Gemfile"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("git", &[".gitattributes", ".gitmodules"]),
];

/// So many words of one command are taken down.
const NAMES_MAX: usize = 256;
/// So many letters of options stand in one word.
const CLUSTER_MAX: usize = 8;
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
    if every(commands).any(|command| unpacks(command) && written.is_unpacked(command)) {
        written.take_anything();
    }
    let ruled = written.ruled();
    let made: Vec<PathBuf> = every(commands).flat_map(|command| written.made(command, &ruled)).collect();
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
        } else if makes_programs(command) && written.is_named(command) {
            command.runs_written = true;
        }
    }
}

fn every(commands: &[Command]) -> impl Iterator<Item = &Command> {
    commands.iter().flat_map(|command| std::iter::once(command).chain(&command.within))
}

fn makes_programs(command: &Command) -> bool {
    let words = command.words.get(1..).unwrap_or_default();
    command.name().is_some_and(|name| compiles(name, words))
}

/// Files by their names without what these end in.
type Ruled<'p> = HashMap<&'p OsStr, Vec<&'p PathBuf>>;

/// What a script writes.
#[derive(Default)]
struct Written {
    paths: HashSet<PathBuf>,
    /// How paths begin that are written in parts.
    beginnings: Vec<PathBuf>,
    /// The last parts of the paths.
    names: HashSet<OsString>,
    /// Whether it writes something else, too.
    is_open: bool,
    /// Whether it writes more than is taken down, so that anything may be among it.
    is_anything: bool,
}

impl Written {
    fn is_any(&self) -> bool {
        self.is_open || !self.paths.is_empty() || !self.beginnings.is_empty()
    }

    /// Takes down what a command writes.
    fn take(&mut self, command: &Command) {
        let name = command.name().unwrap_or_default();
        for redirection in command.redirections.iter().filter(|one| one.direction == Direction::Out) {
            self.put(command, &redirection.target, &redirection.target.texts());
        }
        match unpacked(command) {
            Unpacked::Nothing => {}
            Unpacked::Names(names) => names.iter().for_each(|name| self.add(command, name)),
            Unpacked::Anything => self.take_anything(),
        }
        for (_, options) in NAMING.iter().filter(|(named, _)| *named == name) {
            let is_one = |text: &str| options.contains(&text.replacen("--", "-", 1).as_str());
            let behind = command.words.windows(2).filter(|pair| is_one(pair[0].text()));
            behind.for_each(|pair| self.put(command, &pair[1], &named(&pair[1])));
            let is_whole =
                |word: &&Word| word.text().split_once('=').is_some_and(|(option, _)| is_one(option));
            command.words.iter().filter(is_whole).for_each(|word| self.put(command, word, &named(word)));
        }
        // Code that nobody sees becomes a program.
        if makes_programs(command) && command.words.iter().any(|word| INPUT.contains(&word.text())) {
            MADE.iter().for_each(|made| self.add(command, made));
            command.words.iter().skip(1).for_each(|word| self.put(command, word, &named(word)));
        }
        if matches!(name, "split" | "csplit") {
            self.take_parts(command, name);
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

    /// Takes down what a command writes in parts, under names that begin as it is told, or as they always do.
    fn take_parts(&mut self, command: &Command, name: &str) {
        if self.is_anything {
            return;
        }
        const VALUED: &[&str] = &["-a", "-b", "-C", "-l", "-n", "-t", "-f", "-k"];
        let words = &command.words[1..];
        let is_value = |at: usize| at > 0 && VALUED.contains(&words[at - 1].text());
        let is_operand = |at: &usize| !is_value(*at) && !is_option(words[*at].text());
        let prefix = match name {
            "split" => (0..words.len()).filter(is_operand).nth(1).map(|at| &words[at]),
            _ => words.iter().position(|word| word.text() == "-f").and_then(|at| words.get(at + 1)),
        };
        self.is_open |= prefix.is_some_and(|word| word.known().is_none());
        let mut texts = prefix.map(Word::texts).unwrap_or_default();
        // What a long option takes may be a word of its own, or the beginning itself.
        let longs = || words.iter().filter(|word| word.text().starts_with("--"));
        if prefix.is_none() || longs().next().is_some() {
            texts.push("x".to_owned());
        }
        texts.extend(longs().filter(|_| name == "csplit").flat_map(named));
        self.beginnings.extend(texts.iter().flat_map(|text| paths(command, text)));
        if self.beginnings.len() > NAMES_MAX {
            self.take_anything();
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
        let begins = |beginning: &PathBuf| {
            let (path, beginning) = (path.as_os_str(), beginning.as_os_str());
            path.as_encoded_bytes().starts_with(beginning.as_encoded_bytes())
        };
        self.is_anything
            || path.ancestors().any(|path| self.paths.contains(path))
            || self.beginnings.iter().any(begins)
    }

    /// Whether one of the places that a text may lead to from where a command runs is written.
    fn has_text(&self, command: &Command, text: &str) -> bool {
        paths(command, text).iter().any(|path| self.has(path))
    }

    /// Whether a command names something that is written.
    fn is_named(&self, command: &Command) -> bool {
        let words = command.words.iter().skip(1);
        words.flat_map(named).any(|text| self.has_text(command, &text))
    }

    /// Whether what a command unpacks is written.
    fn is_unpacked(&self, command: &Command) -> bool {
        let fed = command.redirections.iter().filter(|one| one.direction == Direction::In);
        let fed = fed.flat_map(|one| one.target.texts());
        packed(command).flat_map(named).chain(fed).any(|text| self.has_text(command, &text))
    }

    /// What a compiler makes of what is written.
    fn made(&self, command: &Command, ruled: &Ruled<'_>) -> Vec<PathBuf> {
        let name = command.name().unwrap_or_default();
        let words = command.words.get(1..).unwrap_or_default();
        if matches!(name, "make" | "gmake" | "bmake") {
            return made_by_rules(words, ruled);
        }
        if !compiles(name, words) || !self.is_named(command) {
            return Vec::new();
        }
        let texts = words.iter().flat_map(named);
        let stems = words.iter().filter_map(|word| word.text().rsplit('/').next()?.split_once('.'));
        let stems = stems
            .flat_map(|(stem, _)| ["", ".js", ".mjs", ".jar", ".o"].map(|ending| format!("{stem}{ending}")));
        let made = texts.chain(stems).chain(MADE.iter().map(ToString::to_string));
        made.flat_map(|text| paths(command, &text)).collect()
    }

    /// What is written of which make can make something without being told how.
    fn ruled(&self) -> Ruled<'_> {
        const ENDINGS: &[&str] =
            &["c", "cc", "cpp", "C", "m", "s", "S", "f", "F", "r", "p", "mod", "l", "y", "sh", "o"];
        let mut ruled = Ruled::new();
        for path in &self.paths {
            let is_ruled = path.extension().is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one));
            if let Some(stem) = path.file_stem().filter(|_| is_ruled) {
                ruled.entry(stem).or_default().push(path);
            }
        }
        ruled
    }

    /// Whether a command runs something that is written.
    fn is_run(&self, command: &Command, finds_elsewhere: bool) -> bool {
        let values = command.assignments.iter().zip(&command.values).filter(|(name, _)| is_dangerous(name));
        let settings = command.values.iter().filter(|_| command.sort == Sort::Setting);
        let mut set = values.map(|(_, value)| value).chain(settings).flat_map(named);
        if set.any(|text| self.has_text(command, &text)) {
            return true;
        }
        let Some(called) = command.words.first().filter(|_| command.sort == Sort::Simple) else {
            return false;
        };
        let mut by_path = called.texts().into_iter().filter(|text| text.contains('/')).peekable();
        if by_path.peek().is_some()
            && (self.is_open && !called.text().starts_with("/usr/")
                || by_path.any(|text| self.has_text(command, &text)))
        {
            return true;
        }
        let name = command.name().unwrap_or_default();
        let words = &command.words[1..];
        let is_untold = |(names, files): &(&str, &[&str])| {
            names.split(' ').any(|one| one == name) && files.iter().any(|file| self.has_name(file))
        };
        if UNTOLD.iter().any(is_untold) || finds_elsewhere && self.has_name(called.text()) {
            return true;
        }
        let sets = name == "git" && words.iter().any(|word| word.text().contains("include"));
        loaded(name, words).iter().any(|text| self.has_text(command, text))
            || sets && self.is_named(command)
            || self.is_open && is_interpreter(name) && !code(name, words).is_empty()
    }

    /// Whether something of this name is written. What git is told by files nobody takes for granted to have been.
    fn has_name(&self, name: &str) -> bool {
        self.is_anything && !name.starts_with(".git") || self.names.contains(OsStr::new(name))
    }
}

/// What make makes by rules of its own of what its words name, wherever it runs.
fn made_by_rules(words: &[Word], ruled: &Ruled<'_>) -> Vec<PathBuf> {
    let texts: Vec<String> = words.iter().flat_map(named).collect();
    let targets: HashSet<&OsStr> = texts
        .iter()
        .flat_map(|text| [Path::new(text).file_stem(), Path::new(text).file_name()])
        .flatten()
        .collect();
    let paths = targets.into_iter().filter_map(|target| ruled.get(target)).flatten();
    paths.flat_map(|path| ["", "o"].map(|ending| path.with_extension(ending))).collect()
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
            // It may stand behind any letter.
            Some(cluster) => {
                let behind = cluster.char_indices().skip(1).take(CLUSTER_MAX);
                found.extend(behind.map(|(at, _)| cluster[at..].to_owned()));
            }
            None => found.push(text),
        }
    }
    found.retain(|text| !text.is_empty());
    found
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text.len() > 1
}

/// Where a text may lead, from where a command may run.
fn paths(command: &Command, text: &str) -> Vec<PathBuf> {
    command.directories.iter().map(|directory| lexical(&directory.join(text))).collect()
}
