//! Where hosts put their requests: the seam to whatever has the network, files and sessions.

use std::path::PathBuf;

use haft::{BoxFuture, ToolContext, ToolError};
use serde_json::{Value, json};

use crate::host::Launched;
use crate::words::{Said, Wish};

/// How a host is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgram {
    /// Which engine it is.
    pub engine: Engine,
    /// Directories that it must be able to read besides the workspace: where its file is, and what it imports.
    pub readable: Vec<PathBuf>,
}

/// What runs a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Our own, in a process of our own binary.
    Embedded,
    /// Bun, if it is on the path.
    Bun,
    /// Node, if it is on the path.
    Node,
}

impl Engine {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Embedded => "embedded",
            Engine::Bun => "bun",
            Engine::Node => "node",
        }
    }
}

/// Starts hosts and answers what they ask.
pub trait Desk: Send + Sync {
    /// Starts a host, confined as plugins are. This blocks for as long as a start takes.
    fn launch(&self, program: &HostProgram) -> Result<Launched, LaunchError>;

    /// Answers what a host asks.
    fn answer<'a>(&'a self, wish: Wish, behalf: Behalf) -> BoxFuture<'a, Result<Value, Unanswered>>;

    /// Hears what a host says, which must be quick.
    fn heard(&self, said: Said, context: Option<ToolContext>);
}

/// On whose behalf a host asks. No host says this of itself.
#[derive(Debug, Clone, Default)]
pub struct Behalf {
    /// The file that it serves.
    pub file: PathBuf,
    /// The call; none while a file is loaded or nothing is under way.
    pub context: Option<ToolContext>,
    /// The address of a request that haft has it carry.
    pub carries: Option<String>,
}

/// Why a host could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The engine is not on this machine.
    #[error("{} is not on the PATH", .0.as_str())]
    Absent(Engine),
    /// Nothing confines it, and nobody has agreed to that.
    #[error("{0}")]
    Unconfined(String),
    /// It could not be started.
    #[error("it could not be started: {0}")]
    Start(String),
}

/// Why a host's request came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// Consent was refused.
    #[error(transparent)]
    Consent(#[from] ToolError),
    /// It failed.
    #[error("{message}")]
    Failed {
        /// The class of the error, as JavaScript has it.
        name: &'static str,
        /// What went wrong.
        message: String,
        /// A code, as node has them.
        code: Option<String>,
    },
}

impl Unanswered {
    /// A failure without a code.
    pub fn failed(message: impl Into<String>) -> Unanswered {
        Unanswered::Failed { name: "Error", message: message.into(), code: None }
    }

    /// As the host is told.
    pub(crate) fn told(&self) -> Value {
        match self {
            Unanswered::Consent(error) => {
                json!({ "name": "PermissionError", "message": error.to_string(), "code": "EACCES" })
            }
            Unanswered::Failed { name, message, code } => {
                json!({ "name": name, "message": message, "code": code })
            }
        }
    }

    /// The refusal, if it is one.
    pub(crate) fn refusal(self) -> Option<ToolError> {
        match self {
            Unanswered::Consent(error) => Some(error),
            Unanswered::Failed { .. } => None,
        }
    }
}
