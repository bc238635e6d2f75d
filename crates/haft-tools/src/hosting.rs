//! What the code of plugins gets of a machine: a process under the profile of commands, the web by rule, and files
//! beyond both where somebody agrees.

mod fetching;
mod files;
mod starting;

use std::sync::Arc;

use haft::permission::Gate;

pub use fetching::{Arriving, Fetched, Fetching};
pub use files::{FileDone, FileOp, FileProblem, PLUGIN_FILE};
pub use starting::{Ahead, Held, HostStart, Hosted, HostingError};

use crate::process::Processes;
use crate::web::Web;
use crate::workspace::Workspace;

/// What hosts of plugins are given.
#[derive(Clone)]
pub struct Hosting {
    /// What lies in it is theirs to change.
    pub workspace: Workspace,
    /// How they are confined.
    pub processes: Arc<Processes>,
    /// Decides about everything beyond.
    pub gate: Gate,
    /// The way to the network.
    pub web: Web,
    /// What is ready for the next one.
    pub ahead: Ahead,
}
