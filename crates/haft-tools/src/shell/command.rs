//! A simple command as it was found, and why a rule about its text might say too little about what it does.

use std::path::PathBuf;

use super::word::Word;
use super::wrappers::unversioned;

/// Something in a script that runs, changes or opens something.
#[derive(Debug, Clone)]
pub struct Command {
    /// What it is.
    pub sort: Sort,
    /// Its text in the script with its redirections; for what another command runs, its words.
    pub text: String,
    /// Its words, the name first.
    pub words: Vec<Word>,
    /// Its words as they stand in the script, with their quotes.
    pub tokens: Vec<String>,
    /// The variables that are set for it alone.
    pub assignments: Vec<String>,
    /// What they are set to.
    pub values: Vec<Word>,
    /// Its redirections.
    pub redirections: Vec<Redirection>,
    /// Why no pattern narrower than `*` covers it.
    pub why: Vec<Why>,
    /// What it executes is not known at all.
    pub is_opaque: bool,
    /// How many commands it is wrapped in.
    pub depth: usize,
    /// What it runs, where a rule about it speaks of that too: a rule about what is in here can only forbid.
    pub within: Vec<Command>,
    /// What is unknown in it are names that a search came upon, below where it began.
    pub is_found: bool,
    /// Whether a pipe feeds it.
    pub is_fed: bool,
    /// The words that what feeds it may give it, if they are known.
    pub given: Vec<Word>,
    /// Whether the names that it prints are words of another command.
    pub feeds: bool,
    /// Which of its words are variables that the script never sets: the person has.
    pub inherited: Vec<usize>,
    /// Whether it runs what the same script writes.
    pub runs_written: bool,
    /// The directories it may run in; none if that is not known.
    pub directories: Vec<PathBuf>,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A simple command.
    Simple,
    /// A condition, which may evaluate more than it shows.
    Test,
    /// Arithmetic, which may evaluate more than it shows.
    Arithmetic,
    /// A variable that is set, and by which other programs are made to run something.
    Assignment,
    /// A variable that is set, and by which other programs are told a file.
    Setting,
    /// Redirections of something that is not a simple command.
    Redirections,
    /// A substitution that stands where none was expected.
    Overlooked,
    /// A script that could not be read.
    Unread,
}

/// One redirection.
#[derive(Debug, Clone)]
pub struct Redirection {
    /// What is done to the target.
    pub direction: Direction,
    /// The target.
    pub target: Word,
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A file is read.
    In,
    /// A file is written.
    Out,
    /// Text is fed.
    Text,
    /// One descriptor becomes another, which touches no file.
    Descriptor,
}

/// Why a rule about a command's text might say too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// A word is known only when it runs.
    Dynamic,
    /// It contains the output of another command.
    Substitution,
    /// It reads or writes a file by redirection.
    Redirection,
    /// It sets a variable.
    Assignment,
    /// It sets a variable by which other programs are made to run something.
    Environment,
    /// It runs other commands or code that is not its own.
    Executes,
    /// An option of it writes.
    Writes,
    /// It stands in a script that changes what its commands mean.
    Shadowed,
    /// Two ways to read the script do not agree about it.
    Unclear,
    /// The script has characters that cannot be seen.
    Hidden,
    /// It evaluates more than it shows.
    Evaluates,
    /// The script cannot be read.
    Unparsed,
}

impl Why {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Dynamic => "a word is known only when it runs",
            Why::Substitution => "it contains the output of another command",
            Why::Redirection => "it redirects to or from a file",
            Why::Assignment => "it sets a variable",
            Why::Environment => "it sets a variable that makes other programs run something",
            Why::Executes => "it runs other commands or code",
            Why::Writes => "it writes by an option",
            Why::Shadowed => "the script changes what its commands mean",
            Why::Unclear => "the script can be read in two ways",
            Why::Hidden => "the script has characters that cannot be seen",
            Why::Evaluates => "it evaluates more than it shows",
            Why::Unparsed => "the script cannot be read",
        }
    }
}

impl Command {
    pub(super) fn new(sort: Sort, text: impl Into<String>) -> Command {
        Command {
            sort,
            text: text.into(),
            words: Vec::new(),
            tokens: Vec::new(),
            assignments: Vec::new(),
            values: Vec::new(),
            redirections: Vec::new(),
            why: Vec::new(),
            is_opaque: false,
            depth: 0,
            within: Vec::new(),
            is_found: false,
            is_fed: false,
            given: Vec::new(),
            feeds: false,
            inherited: Vec::new(),
            runs_written: false,
            directories: Vec::new(),
        }
    }

    /// Whether its text says all that it does.
    pub fn is_plain(&self) -> bool {
        self.why.is_empty()
    }

    /// The name, without the directory it may be called by and without the version of an interpreter.
    pub fn name(&self) -> Option<&str> {
        let called = self.words.first()?.known()?;
        Some(unversioned(called.rsplit('/').next().unwrap_or(called)))
    }

    pub(super) fn because(&mut self, why: Why) {
        if let Err(at) = self.why.binary_search(&why) {
            self.why.insert(at, why);
        }
    }

    /// The words as the shell would read them back, one space between them.
    pub(super) fn spelled(&self) -> String {
        self.words.iter().map(Word::quoted).collect::<Vec<_>>().join(" ")
    }

    /// Whether it only changes the directory, by words that are known.
    pub fn only_moves(&self) -> bool {
        let moves = self.words.first().and_then(Word::known).is_some_and(|name| MOVING.contains(&name));
        moves && !self.is_opaque && self.why.iter().all(|why| matches!(why, Why::Unclear))
    }
}

/// Commands that change the directory.
pub(super) const MOVING: &[&str] = &["cd", "chdir", "popd", "pushd"];
