//! What can be wrong with a configuration, told together with the place where it stands.

use std::fmt;
use std::io;
use std::sync::Arc;

use haft_tools::web::BadAddress;

use super::text::Span;

/// Characters shown before, of and after what is marked in a line.
const EXCERPT_CHARS_MAX: usize = 60;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// Something is wrong at a place in a file or a variable.
    #[error(transparent)]
    Invalid(#[from] Box<Located>),
    /// A file is there and cannot be read.
    #[error("could not read {name}")]
    Read {
        /// The file.
        name: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something that is not a file has a configuration file's name.
    #[error("{name} is {kind}, expected a file")]
    NotAFile {
        /// The path.
        name: String,
        /// What it is instead.
        kind: &'static str,
    },
    /// A file that a variable names does not exist.
    #[error("{variable} names {name}, which does not exist")]
    Missing {
        /// The variable.
        variable: &'static str,
        /// The file.
        name: String,
    },
    /// A file of a project that is not trusted is a link to somewhere else.
    #[error(
        "{name} is a link out of the project, which is followed only once the project is trusted (haft trust)"
    )]
    LeadsOutside {
        /// The file.
        name: String,
    },
    /// A file is too large to be a configuration.
    #[error("{name} is larger than {max} bytes")]
    TooLarge {
        /// The file.
        name: String,
        /// The limit.
        max: u64,
    },
    /// A variable does not hold text.
    #[error("{variable} is not UTF-8 text")]
    NotText {
        /// The variable.
        variable: &'static str,
    },
}

/// A problem and where it is. Shown with the line it stands in and a caret under it.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    /// What is wrong.
    pub(crate) problem: Problem,
    place: Excerpt,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// The text is not JSON with comments.
    #[error("{message}{hint}")]
    Syntax {
        /// What the parser met.
        message: String,
        /// What may have led to it.
        hint: &'static str,
    },
    /// The file holds bytes that are no text.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// A control character stands where none belongs.
    #[error("unexpected control character {0:?}")]
    Control(char),
    /// A string goes over the end of its line.
    #[error("unterminated string, write a line break as \\n")]
    LineBreak,
    /// A number that cannot be represented.
    #[error("number out of range")]
    Number,
    /// Values within values within values.
    #[error("nested deeper than {max} levels")]
    Nesting {
        /// The limit.
        max: usize,
    },
    /// A key that the same object has already.
    #[error("duplicate key {key}, first written at {line}:{column}")]
    DuplicateKey {
        /// The key, as it was written.
        key: String,
        /// The line of the first.
        line: u32,
        /// The column of the first.
        column: u32,
    },
    /// A value of another kind.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What belongs here.
        expected: &'static str,
        /// What is here.
        found: String,
    },
    /// A text that is no address.
    #[error("expected an address: {0}")]
    Address(BadAddress),
    /// A word that is none of those that belong here.
    #[error("expected {expected}, found {found}{}", did_you_mean(.nearest.as_deref()))]
    Word {
        /// The words.
        expected: &'static str,
        /// The word that is here.
        found: String,
        /// The word that was probably meant.
        nearest: Option<String>,
    },
    /// A key that nothing reads.
    #[error("unknown key {key}{}", did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        /// The key, as it was written.
        key: String,
        /// The key that was probably meant.
        nearest: Option<String>,
    },
    /// A rule that can never apply, because the tool asks under another name.
    #[error("this rule has no effect: {key} asks for the permission \"{instead}\"")]
    Idle {
        /// The key of the rule, as it was written.
        key: String,
        /// The permission that is asked for.
        instead: &'static str,
    },
    /// A formatter or language server that is not built in, and that it is not known how to use.
    #[error("this has no effect: {name} is no {kind} that is built in, and has no {missing}{}", did_you_mean(.nearest.as_deref()))]
    IdleProgram {
        /// Its name, as it was written.
        name: String,
        /// What it is to be.
        kind: &'static str,
        /// What it would need.
        missing: &'static str,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// A custom command without a word to send.
    #[error("a command needs a template, the text that is sent")]
    NoTemplate,
    /// A custom command whose name nobody can type.
    #[error(
        "this has no effect: a command is named by letters, digits, \"-\", \"_\" and \".\", with \"/\" in between, found {name}"
    )]
    CommandName {
        /// The name, as it was written.
        name: String,
    },
    /// More rules than anyone can have written.
    #[error("more than {max} permission rules")]
    TooManyRules {
        /// The limit.
        max: usize,
    },
    /// A file that the configuration refers to cannot be taken in.
    #[error("could not read {path}: {reason}")]
    Reference {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// Taking in other files made the text too long.
    #[error("with what it refers to, the configuration is larger than {max} bytes")]
    Expanded {
        /// The limit.
        max: usize,
    },
    /// A variable that the configuration refers to is not set.
    #[error("the environment variable {name} is not set, an empty text is used")]
    Unset {
        /// The variable.
        name: String,
    },
    /// A variable that the configuration refers to is not text.
    #[error("the environment variable {name} is not UTF-8 text")]
    VariableNotText {
        /// The variable.
        name: String,
    },
    /// A path below the home directory, which is not known.
    #[error("there is no home directory to put here: set HOME")]
    NoHome,
    /// Further warnings that are not told one by one.
    #[error("{count} further warnings in this file are not shown")]
    More {
        /// How many.
        count: usize,
    },
}

/// A part of a line, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    name: Arc<str>,
    line: u32,
    column: u32,
    before: String,
    marked: String,
    after: String,
}

impl Located {
    /// Ties a problem to its place.
    pub(crate) fn new(problem: Problem, span: &Span) -> Located {
        Located { problem, place: Excerpt::of(span) }
    }
}

impl From<Located> for ConfigError {
    fn from(located: Located) -> ConfigError {
        ConfigError::Invalid(Box::new(located))
    }
}

impl std::error::Error for Located {}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excerpt { name, line, column, before, marked, after } = &self.place;
        let gutter = line.to_string();
        let indent = before.chars().count();
        let carets = marked.chars().count().max(1);
        writeln!(f, "{name}:{line}:{column}: {}", self.problem)?;
        writeln!(f, "  {gutter} | {before}{marked}{after}")?;
        write!(f, "  {:1$} | {2:3$}{4}", "", gutter.len(), "", indent, "^".repeat(carets))
    }
}

impl Excerpt {
    fn of(span: &Span) -> Excerpt {
        let [before, marked, after] = span.in_line();
        let before = before.trim_start();
        let kept = before.chars().count().saturating_sub(EXCERPT_CHARS_MAX);
        let (cut, before) = match before.char_indices().nth(kept) {
            Some((at, _)) if kept > 0 => ("…", &before[at..]),
            Some(_) | None => ("", before),
        };
        Excerpt {
            name: span.name().clone(),
            line: span.line,
            column: span.column,
            before: format!("{cut}{}", haft::visible(before)),
            marked: shown(&marked),
            after: shown(after.trim_end()),
        }
    }
}

/// Text from a file as it is put into a message: on one line, nothing hidden, not too long.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", haft::visible(&text[..end])),
        None => haft::visible(text),
    }
}

/// What is added to a message about a name that nobody has.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean \"{nearest}\"?")).unwrap_or_default()
}
