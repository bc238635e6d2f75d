//! What is to be said, and the files that it names: mentioned in it, or named on the command line.

use haft_tools::Workspace;
use haft_tools::workspace::{Kind, ResolveError};

use super::mentions::mentions;
use super::naming::By;
use crate::exit::Failure;

/// What is to be said, before its files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    /// What was typed.
    pub(crate) line: String,
    /// What is said.
    pub(super) text: String,
    pub(super) files: Vec<Named>,
    /// What was piped in.
    pub(super) stdin: Option<String>,
}

/// A file to attach, and whose word it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) path: String,
    pub(crate) by: By,
}

impl Draft {
    /// The same files with another text.
    pub(crate) fn saying(self, text: String) -> Draft {
        Draft { text, ..self }
    }

    /// Takes a prompt apart. A file that is not there is an error before anything is sent.
    pub(crate) fn new(
        workspace: &Workspace,
        text: String,
        files: &[String],
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mentioned = Draft::mentioned(workspace, &text);
        let files = files.iter().cloned().chain(mentioned);
        let draft = Draft::with(workspace, unescaped(&text), files.map(Named::by_person), stdin)?;
        Ok(Draft { line: text, ..draft })
    }

    /// The files that a text mentions.
    pub(crate) fn mentioned(workspace: &Workspace, text: &str) -> Vec<String> {
        mentions(text, |path| exists(workspace, path))
    }

    /// A prompt that was piped in. Whoever wrote it need not be the person, so what it mentions is not consented to.
    pub(crate) fn piped(workspace: &Workspace, text: &str, files: &[String]) -> Result<Draft, Failure> {
        let files = files.iter().cloned().map(Named::by_person);
        Draft::with(workspace, unescaped(text), files, None)
    }

    /// A text with these files. A file that is not there is an error.
    pub(crate) fn with(
        workspace: &Workspace,
        text: String,
        files: impl IntoIterator<Item = Named>,
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mut all: Vec<Named> = Vec::new();
        for Named { path, by } in files {
            if let Err(error @ ResolveError::Withheld { .. }) = workspace.resolve(&path) {
                return Err(Failure::usage(format_args!("{path:?} cannot be attached: {error}")));
            }
            if !exists(workspace, &path) {
                let message = format!("there is no file {path:?} to attach");
                return Err(Failure::usage(message)
                    .hint(r"paths are relative to the working directory; write \@ where no file is meant"));
            }
            if !all.iter().any(|known| known.path == path) {
                all.push(Named { path, by });
            }
        }
        Ok(Draft { line: text.clone(), text, files: all, stdin })
    }
}

impl Named {
    pub(crate) fn by_person(path: String) -> Named {
        Named { path, by: By::Person }
    }
}

/// What was written, without the signs that no file is meant.
pub(crate) fn unescaped(text: &str) -> String {
    text.replace(r"\@", "@")
}

fn exists(workspace: &Workspace, path: &str) -> bool {
    match workspace.resolve(path) {
        Ok(place) => !matches!(place.kind(), Kind::Missing),
        // Whether it is there is not told, but that it is meant is plain.
        Err(ResolveError::Withheld { .. }) => true,
        Err(_) => false,
    }
}
