//! Why a command was not run.

use std::io;
use std::path::PathBuf;

use crate::report::Level;

/// Why a confined command could not be started. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot enforce what the profile asks for.
    #[error("this machine cannot hold a command to its profile ({level}): {}", missing.join("; "))]
    CannotEnforce {
        /// What the machine offers.
        level: Level,
        /// What is wanting, in words.
        missing: Vec<String>,
    },
    /// A path of the profile is not there.
    #[error("the profile names {path}, which cannot be used")]
    NoSuchPath {
        /// The path as it was given.
        path: PathBuf,
        /// Why it cannot be used.
        #[source]
        source: io::Error,
    },
    /// A path of the profile has no beginning.
    #[error("the profile names {path}, which is not absolute")]
    NotAbsolute {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The whole file system cannot be a workspace.
    #[error("the whole file system cannot be writable in a confined profile; use full access for that")]
    RootIsEverything,
    /// An argument or a variable contains a NUL byte or is longer than the kernel takes.
    #[error("{what} {reason}")]
    BadText {
        /// Which argument or variable.
        what: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The descriptors for the helper could not be made.
    #[error("could not prepare the sandbox's helper")]
    Prepare(#[source] io::Error),
    /// The helper could not set the sandbox up, so the command was not run.
    #[error("the sandbox could not be set up, so the command was not run: {0}")]
    Setup(String),
    /// The sandbox was set up, but the program could not be started in it.
    #[error("could not start {program} in the sandbox: {reason}")]
    Start {
        /// The program.
        program: String,
        /// What the kernel said.
        reason: String,
    },
}
