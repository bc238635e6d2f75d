//! Custom tools and plugins in JavaScript and TypeScript, as opencode has them.
//!
//! Each file is served by a process of its own, which holds one engine and speaks lines of JSON. This side finds the
//! files ([`Places`]), remembers what they offer without running them (`manifest`), registers their tools (`offers`),
//! starts hosts when something is needed of them (`served`, `host`) and answers what those ask for ([`Desk`]).
//! [`engine`] is what runs inside such a process.

mod auth;
mod desk;
mod discovery;
mod embedded;
pub mod engine;
mod error;
mod facts;
mod hooks;
mod host;
mod manifest;
mod offers;
mod package;
mod plugins;
mod report;
mod runtimes;
mod served;
mod source_place;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

pub use auth::{Authorized, CarryError, Chunks, Logging, Options, Outcome as AuthOutcome, Reply, Request};
pub use desk::{Behalf, Desk, Engine, HostProgram, LaunchError, Unanswered};
pub use discovery::{CodeFile, Owner, Places, Role, Spec, Unfound};
pub use error::Fault;
pub use hooks::{AskingPlugins, HookError};
pub use host::{Holds, Launched};
pub use plugins::{Parts, Plugins};
pub use report::{Outcome, Report, Unused};
pub use runtimes::{host_command, own_modules};
pub use served::PluginLimits;
pub use words::{
    AuthKind, AuthMethod, AuthOffer, AuthOption, AuthPrompt, AuthWish, ClientCall, Fetch, FileWish, Loaded,
    LoadedTool, OwnModules, Permission, Said, Skipped, Streamed, Strip, Wish,
};

/// The hidden command by which haft's own binary becomes a host.
pub const HOST_COMMAND: &str = "plugin-host";

/// Becomes a host, if that is what this process was started for.
pub fn maybe_become_host() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != HOST_COMMAND {
        return None;
    }
    let memory = args.next().and_then(|bytes| bytes.to_str()?.parse().ok());
    let shipped = engine::Limits::default();
    let roots: Vec<PathBuf> = args.map(PathBuf::from).collect();
    let readable = if roots.is_empty() { shipped.readable } else { engine::Readable::below(roots) };
    let limits = engine::Limits { memory_bytes: memory.unwrap_or(shipped.memory_bytes), readable, ..shipped };
    Some(engine::serve(rustix::stdio::stdin(), std::io::stdout(), limits))
}
