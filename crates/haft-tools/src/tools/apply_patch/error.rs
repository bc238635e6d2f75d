//! Why a patch cannot be read. Each message says which line of the patch is meant and how to mend it.

use thiserror::Error;

/// How every refusal begins that is not about the patch as a whole.
pub(crate) const UNVERIFIED: &str = "apply_patch verification failed: ";

/// What is wrong with the text of a patch. Lines of it are counted from one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum PatchError {
    #[error("patchText is required: the text of a patch, from `*** Begin Patch` to `*** End Patch`")]
    Missing,
    #[error(
        "patch rejected: empty patch; write at least one `*** Add File: `, `*** Update File: ` or `*** Delete File: ` between the markers"
    )]
    Empty,
    #[error(
        "Invalid patch format: missing Begin/End markers; no line is `*** Begin Patch`, which begins a patch"
    )]
    NoBegin,
    #[error(
        "Invalid patch format: missing Begin/End markers; no line after line {begin} is `*** End Patch`, so the patch may have been cut off: send it whole"
    )]
    NoEnd { begin: usize },
    #[error("a second patch begins at line {line} of the patch: put everything between one pair of markers")]
    SecondPatch { line: usize },
    #[error("Invalid patch line {line}: {text}\n{hint}")]
    Line { line: usize, text: String, hint: &'static str },
    #[error(
        "Invalid add file line {line} for {path}: {text}\nEvery line of an added file begins with `+`, also an empty one"
    )]
    AddLine { path: String, line: usize, text: String },
    #[error("Invalid update chunk line {line}, in hunk {hunk} of {path}: {text}\n{hint}")]
    ChunkLine { path: String, hunk: usize, line: usize, text: String, hint: &'static str },
    #[error("Invalid {kind} file path: line {line} of the patch names no file after the colon")]
    Path { kind: &'static str, line: usize },
    #[error(
        "Invalid update hunk for {path}: expected at least one @@ chunk after line {line} of the patch; write `@@`, then the lines to keep (` `), remove (`-`) and add (`+`)"
    )]
    NoChunks { path: String, line: usize },
    #[error(
        "Invalid update hunk for {path}: hunk {hunk}, at line {line} of the patch, has no lines; after `@@` come the lines to keep (` `), remove (`-`) and add (`+`)"
    )]
    EmptyChunk { path: String, hunk: usize, line: usize },
}

impl PatchError {
    /// What the model is told.
    pub(crate) fn told(&self) -> String {
        match self {
            PatchError::Missing | PatchError::Empty => self.to_string(),
            PatchError::NoBegin
            | PatchError::NoEnd { .. }
            | PatchError::SecondPatch { .. }
            | PatchError::Line { .. }
            | PatchError::AddLine { .. }
            | PatchError::ChunkLine { .. }
            | PatchError::Path { .. }
            | PatchError::NoChunks { .. }
            | PatchError::EmptyChunk { .. } => format!("{UNVERIFIED}{self}"),
        }
    }
}
