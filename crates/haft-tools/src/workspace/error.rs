//! What can be wrong with a path or an effect, and which of it a model is told.

use std::io;

use haft::ToolError;

use crate::encoding::{NotText, Unencodable};

/// Why a path leads nowhere.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It is empty.
    #[error("the path is empty; name a file or a directory")]
    Empty,
    /// It holds a NUL, which no file name can.
    #[error("the path holds a NUL character, which no file name can")]
    Nul,
    /// No system has paths that long.
    #[error("the path has {bytes} bytes, more than any path can have")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It is haft's own.
    #[error(
        "{path} is where haft keeps its own data, which no tool looks at or changes; use the commands of haft"
    )]
    Withheld {
        /// The path.
        path: String,
    },
    /// It goes round in a circle.
    #[error("{path} is a loop of symbolic links")]
    Loop {
        /// The path.
        path: String,
    },
    /// Something on the way cannot be looked at.
    #[error("could not resolve {path}: {source}")]
    Unreachable {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// Why an effect did not come about.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path leads nowhere.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// Something on the way was replaced after the decision.
    #[error("{path} changed while it was being resolved; try again")]
    Moved {
        /// The path.
        path: String,
    },
    /// The content is not what was approved to be replaced.
    #[error("{path} changed since it was read for approval; read it again")]
    Changed {
        /// The path.
        path: String,
    },
    /// It is no file that can be read or replaced as a whole.
    #[error("{path} is {kind}, not a regular file")]
    Special {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A file was expected.
    #[error("{path} is a directory, not a file")]
    Directory {
        /// The path.
        path: String,
    },
    /// A directory was expected.
    #[error("{path} is not a directory")]
    NotDirectory {
        /// The path.
        path: String,
    },
    /// Nothing is there.
    #[error("{path} does not exist")]
    Missing {
        /// The path.
        path: String,
    },
    /// It is an interface of the kernel: it may hold secrets of this very process.
    #[error("{path} belongs to the kernel's interfaces (/proc, /sys, /dev), which file tools do not touch")]
    Kernel {
        /// The path.
        path: String,
    },
    /// Nobody may write it.
    #[error("{path} is read-only; change its mode first if it is meant to be written")]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// Replacing it would separate it from its other names.
    #[error("{path} has {links} hard links; replacing it would change only one of them")]
    HardLinked {
        /// The path.
        path: String,
        /// How many names it has.
        links: u64,
    },
    /// It is too large to be compared and replaced.
    #[error("{path} has {bytes} bytes, too many to be replaced safely")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// It is too large to be held in memory as a whole.
    #[error("{path} has more than {limit} bytes, too many to be edited piece by piece")]
    Unwieldy {
        /// The path.
        path: String,
        /// How many bytes it may have.
        limit: usize,
    },
    /// It is no text that can be edited.
    #[error("{path} cannot be edited: {source}")]
    NotText {
        /// The path.
        path: String,
        /// Why it is no text.
        source: NotText,
    },
    /// Its encoding does not have a character that is to be written.
    #[error("{path} was not written: {source}")]
    Unencodable {
        /// The path.
        path: String,
        /// Which character.
        source: Unencodable,
    },
    /// Other processes keep changing files in its directory.
    #[error("{path} could not be written: another process keeps its directory locked; try again")]
    Locked {
        /// The path.
        path: String,
    },
    /// Whoever wanted it changed gave up before it was.
    #[error("nothing was written: the call was cancelled")]
    Stopped,
    /// A glob does not parse.
    #[error("invalid pattern: {0}")]
    Pattern(#[source] ignore::Error),
    /// It is larger than any ignore file.
    #[error("{path} has more than {limit} bytes, too many for an ignore file")]
    IgnoreFile {
        /// The path.
        path: String,
        /// How many bytes it may have.
        limit: u64,
    },
    /// It could not be read.
    #[error("could not read {path}: {source}")]
    Read {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It could not be written, and is as it was.
    #[error("could not write {path}: {source}")]
    Write {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Its earlier content is no longer in the journal.
    #[error("what {path} held is not kept any longer, so it cannot be restored")]
    NotKept {
        /// The path.
        path: String,
    },
    /// One of several files could neither be changed with the others nor be put back.
    #[error(
        "{why}; and {path}, which had been changed already, could not be put back: {source}. What it held is beside it in a file whose name begins with .haft-tmp-"
    )]
    Torn {
        /// The path.
        path: String,
        /// Why the change failed.
        why: String,
        /// Why it could not be put back.
        source: io::Error,
    },
    /// It was written, but may not survive a loss of power.
    #[error("{path} was written, but could not be made durable: {source}")]
    NotDurable {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// All of these are facts about the machine that a model can act on or pass on; none of them is a bug of ours.
impl From<WorkspaceError> for ToolError {
    fn from(error: WorkspaceError) -> ToolError {
        match &error {
            WorkspaceError::Resolve(
                ResolveError::Empty
                | ResolveError::Nul
                | ResolveError::TooLong { .. }
                | ResolveError::Withheld { .. }
                | ResolveError::Loop { .. }
                | ResolveError::Unreachable { .. },
            )
            | WorkspaceError::Moved { .. }
            | WorkspaceError::Changed { .. }
            | WorkspaceError::Special { .. }
            | WorkspaceError::Directory { .. }
            | WorkspaceError::NotDirectory { .. }
            | WorkspaceError::Missing { .. }
            | WorkspaceError::Kernel { .. }
            | WorkspaceError::ReadOnly { .. }
            | WorkspaceError::HardLinked { .. }
            | WorkspaceError::TooLarge { .. }
            | WorkspaceError::Unwieldy { .. }
            | WorkspaceError::NotText { .. }
            | WorkspaceError::Unencodable { .. }
            | WorkspaceError::Locked { .. }
            | WorkspaceError::Stopped
            | WorkspaceError::Pattern(_)
            | WorkspaceError::IgnoreFile { .. }
            | WorkspaceError::Read { .. }
            | WorkspaceError::Write { .. }
            | WorkspaceError::NotKept { .. }
            | WorkspaceError::Torn { .. }
            | WorkspaceError::NotDurable { .. } => ToolError::Failure(error.to_string()),
        }
    }
}

impl From<ResolveError> for ToolError {
    fn from(error: ResolveError) -> ToolError {
        WorkspaceError::from(error).into()
    }
}
