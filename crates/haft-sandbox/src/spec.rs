//! The whole instruction for the helper: a resolved profile, how to enforce it, and what to run.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::profile::Profile;
use crate::report::Level;

/// What to run, where and with which environment. Nothing is inherited but the standard streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program: a path, or a name that is looked up in the `PATH` of `env`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The directory it starts in.
    pub cwd: PathBuf,
}

impl Program {
    /// Whether it is only asked whether a program could be started.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is ever tried there"))]
    pub(crate) fn is_none(&self) -> bool {
        self.program.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) level: Level,
    pub(crate) profile: Profile,
    pub(crate) program: Program,
    /// Where bubblewrap is, for the level that needs it.
    pub(crate) bubblewrap: Option<PathBuf>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// How much it is.
    pub bytes: u64,
    /// The digest of all of it.
    pub digest: blake3::Hash,
}

impl Content {
    /// The content that these bytes are.
    pub fn of(bytes: &[u8]) -> Content {
        Content { bytes: bytes.len() as u64, digest: blake3::hash(bytes) }
    }
}

/// A protected path that something was taken away from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The path.
    pub path: PathBuf,
    /// Where that is kept which was taken away, each time it was; nothing where it was empty, or too much to be kept.
    pub kept: Vec<PathBuf>,
}

/// What a command had left running when it ended, which was ended with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// How many processes there were.
    pub processes: u64,
    /// What they called themselves, each name once; the first few, if there are more. They may be anything.
    pub names: Vec<String>,
}

/// Why nothing was run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is ever started there"))]
pub(crate) enum Failure {
    /// The sandbox could not be set up.
    Setup(String),
    /// The program could not be started.
    Start(String),
}

/// What the helper told.
#[derive(Debug, Default)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is ever started there"))]
pub(crate) struct Heard {
    /// Why nothing was run.
    pub(crate) failure: Option<Failure>,
    /// Protected paths that were put back.
    pub(crate) removed: Vec<Removed>,
    /// How many more there were.
    pub(crate) removed_besides: u64,
    /// Hosts that were asked for and are not granted.
    pub(crate) refused: Vec<String>,
    /// Whether it was ended because it wanted more memory than it may have.
    pub(crate) out_of_memory: bool,
    /// What was ended because the command itself had ended.
    pub(crate) left: Left,
    /// Whether a helper of this very build says that all could be set up, which it is asked only in a trial. A program
    /// that knows nothing of this may end well too.
    pub(crate) is_tried: bool,
}
