//! What can go wrong with a host, told apart by whose fault it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft::{Invalid, Issue, ToolError};
use serde_json::Value;

use crate::source_place::{LineColumn, Source};
use crate::words::{InputIssue, Problem};

/// Directories that every host has for itself.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];

/// Why nothing came of a request to a host.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// The file cannot be loaded.
    #[error("{0}")]
    Load(Fault),
    /// The arguments are not what the tool takes.
    #[error("the arguments are invalid")]
    Input(Invalid),
    /// The file's own code threw something.
    #[error("{0}")]
    Failure(String),
    /// A person or a rule refused something that it asked for.
    #[error(transparent)]
    Refused(ToolError),
    /// It took too long.
    #[error("it took longer than {} s and was stopped", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It ran without listening.
    #[error("it ran for {} s without a pause, as an endless loop does, and was stopped; \
             await what takes long (`exec` in place of `execSync`), or raise `plugins.busy_seconds` in haft.jsonc", .0.as_secs_f32())]
    Busy(Duration),
    /// The engine failed.
    #[error("{0}")]
    Defect(String),
    /// The file changed while it was loaded.
    #[error("it changed while it was loaded")]
    Changed,
    /// The process is gone.
    #[error("its process is gone: {0}")]
    Gone(Arc<str>),
    /// What it answered is not an answer to what it was asked.
    #[error("its answer makes no sense: {0}")]
    Nonsense(String),
}

/// A mistake in a file, where it is, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// The file it is in.
    pub file: Option<PathBuf>,
    /// Its line and column, from one.
    pub place: Option<(u32, u32)>,
    /// What to do about it.
    pub fix: Option<String>,
    /// Whether another engine might do better.
    pub is_unsupported: bool,
    /// The export that is wrong, by which its place can be found.
    pub(crate) export: Option<String>,
    /// Whether it is the file itself that was not found, and nothing that it imports.
    pub(crate) is_missing: bool,
    /// Whether it took so long to find this out that the same content is not tried again by itself.
    pub(crate) is_remembered: bool,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault {
            message: message.into(),
            file: None,
            place: None,
            fix: None,
            is_unsupported: false,
            export: None,
            is_missing: false,
            is_remembered: false,
        }
    }

    pub(crate) fn of(mut self, file: &Path) -> Fault {
        self.file = Some(file.to_owned());
        self
    }

    pub(crate) fn at(mut self, place: Option<LineColumn>) -> Fault {
        self.place = place.or(self.place);
        self
    }

    /// Finds where the export is that is wrong, unless a place is known.
    pub(crate) fn located(self) -> Fault {
        match (&self.place, &self.file, &self.export) {
            (None, Some(file), Some(export)) => {
                let place = Source::read(file).export(export);
                self.at(place)
            }
            _ => self,
        }
    }

    /// What is really wrong where a file that is there was not found: its code does not see what we see.
    pub(crate) fn of_unseen(self, file: &Path) -> Fault {
        let real = match file.canonicalize() {
            Ok(real) if self.is_missing => real,
            Ok(_) | Err(_) => return self,
        };
        let why = match PRIVATE.iter().find(|private| real.starts_with(private)) {
            Some(private) => format!("{private} is private and empty for its code"),
            None => "the sandbox does not show that to its code".to_owned(),
        };
        let message = format!("it is really {}, and {why}", real.display());
        Fault { message, ..self }.fix("move or copy it next to the link, or to a directory that lasts")
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Fault {
        self.fix = Some(fix.into());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let Some((line, column)) = self.place {
                write!(f, ":{line}:{column}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(f, " ({fix})"))
    }
}

impl From<Problem> for HostError {
    fn from(problem: Problem) -> HostError {
        match problem {
            Problem::Load { message, file, line, column, fix, export } => {
                let place = line.map(|line| (line, column.unwrap_or(1)));
                HostError::Load(Fault { file, place, fix, export, ..Fault::new(message) })
            }
            Problem::Module { message, module, file, line, column, unsupported } => {
                let place = line.map(|line| (line, column.unwrap_or(1)));
                let fix = match unsupported {
                    true => "put bun or node on the PATH, which haft then runs it with".to_owned(),
                    false => install(&module),
                };
                // The file itself is asked for by its whole path, and by nobody.
                let path = Path::new(&module);
                let is_missing = file.as_deref().map_or(path.is_absolute(), |file| file == path);
                let fault = Fault::new(message).fix(fix);
                HostError::Load(Fault { file, place, is_unsupported: unsupported, is_missing, ..fault })
            }
            Problem::Input { issues, message } => {
                HostError::Input(Invalid { issues: issues.into_iter().map(issue).collect(), words: message })
            }
            Problem::Failure { name, message, stack } => {
                // What is thrown on purpose says all there is to say; of a slip, everybody needs to know where it is.
                let is_slip = name.is_some_and(|name| name.ends_with("Error") && name != "Error");
                let place = stack.filter(|_| is_slip);
                let place =
                    place.as_deref().and_then(|stack| stack.lines().find(|line| line.contains("at ")));
                HostError::Failure(match place {
                    Some(place) => format!("{message}\n{}", place.trim()),
                    None => message,
                })
            }
            Problem::Defect { message } | Problem::Protocol { message } => HostError::Defect(message),
        }
    }
}

/// How to get what is missing.
fn install(module: &str) -> String {
    if module.starts_with(['.', '/']) {
        return "create the file, or correct the path".to_owned();
    }
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = module.split('/').take(parts).collect();
    format!("npm install {} in the directory of the file", package.join("/"))
}

fn issue(InputIssue { path, message }: InputIssue) -> Issue {
    let mut at = String::new();
    for step in &path {
        match step {
            Value::Number(index) => at.push_str(&format!("[{index}]")),
            Value::String(key) if at.is_empty() => at.push_str(key),
            Value::String(key) => at.push_str(&format!(".{key}")),
            other => at.push_str(&format!(".{other}")),
        }
    }
    Issue { path: at, problem: message }
}

impl HostError {
    /// As a call ends with it: what the tool's code says is a failure, what the engine does is a defect.
    pub(crate) fn of_call(self, file: &Path) -> ToolError {
        let named = |what: String| ToolError::defect(format!("the tool in {}: {what}", file.display()));
        match self {
            HostError::Input(invalid) => ToolError::Invalid(invalid),
            HostError::Failure(message) => ToolError::Failure(message),
            HostError::Refused(error) => error,
            HostError::Changed => ToolError::Stale,
            HostError::Load(fault) => {
                ToolError::Failure(format!("the tool's file cannot be loaded: {fault}"))
            }
            other @ (HostError::TimedOut(_)
            | HostError::Busy(_)
            | HostError::Defect(_)
            | HostError::Gone(_)
            | HostError::Nonsense(_)) => named(other.to_string()),
        }
    }
}
