//! A patch as it is meant, and the words its grammar is made of.

pub(super) const BEGIN: &str = "*** Begin Patch";
pub(super) const END: &str = "*** End Patch";
pub(super) const ADD: &str = "*** Add File:";
pub(super) const DELETE: &str = "*** Delete File:";
pub(super) const UPDATE: &str = "*** Update File:";
pub(super) const MOVE: &str = "*** Move to:";
pub(super) const END_OF_FILE: &str = "*** End of File";
/// What begins a chunk.
pub(super) const CHUNK: &str = "@@";
/// What begins every other marker.
pub(super) const MARKER: &str = "***";

/// What is to be done to files, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) files: Vec<FilePatch>,
}

/// What is to be done to one file. `line` is where in the patch it says so, counted from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePatch {
    /// Makes a file with this text, which is empty or ends with a newline.
    Add {
        path: String,
        text: String,
        line: usize,
    },
    Delete {
        path: String,
        line: usize,
    },
    /// Changes a file, or moves it, or both. There are no chunks only if it is moved as it is.
    Update {
        path: String,
        move_to: Option<String>,
        chunks: Vec<Chunk>,
        line: usize,
    },
}

impl FilePatch {
    pub(crate) fn path(&self) -> &str {
        match self {
            FilePatch::Add { path, .. } | FilePatch::Delete { path, .. } | FilePatch::Update { path, .. } => {
                path
            }
        }
    }

    pub(crate) fn line(&self) -> usize {
        match self {
            FilePatch::Add { line, .. } | FilePatch::Delete { line, .. } | FilePatch::Update { line, .. } => {
                *line
            }
        }
    }
}

/// A piece of a file that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Lines of the file that stand before the piece, each after the one before it.
    pub(crate) context: Vec<String>,
    pub(crate) lines: Vec<ChunkLine>,
    /// Whether the piece is meant to be the last of the file.
    pub(crate) is_end_of_file: bool,
    /// Where in the patch the chunk begins, counted from one.
    pub(crate) line: usize,
}

/// A line of a chunk, without its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkLine {
    pub(crate) mark: Mark,
    pub(crate) text: String,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Keep,
    Remove,
    Add,
}

impl Mark {
    /// Whether the line is in the file before the change.
    pub(crate) fn is_old(self) -> bool {
        match self {
            Mark::Keep | Mark::Remove => true,
            Mark::Add => false,
        }
    }

    /// Whether the line is in the file after the change.
    pub(crate) fn is_new(self) -> bool {
        match self {
            Mark::Keep | Mark::Add => true,
            Mark::Remove => false,
        }
    }
}
