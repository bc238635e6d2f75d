//! Custom tools and plugins in JavaScript and TypeScript, as opencode has them.
//!
//! Each file is served by a process of its own, which holds one engine and speaks lines of JSON. This side finds the
//! files ([`Places`]), remembers what they offer without running them (`manifest`), registers their tools (`offers`),
//! starts hosts when something is needed of them (`served`, `host`) and answers what those ask for ([`Desk`]).

mod desk;
mod discovery;
mod error;
mod hooks;
mod host;
mod manifest;
mod offers;
mod package;
mod plugins;
mod served;
mod words;

pub use desk::{Desk, Engine, HostProgram, LaunchError, Unanswered};
pub use discovery::{CodeFile, Owner, Places, Role, Spec, Unfound};
pub use error::Fault;
pub use hooks::{AskingPlugins, HookError};
pub use host::Launched;
pub use plugins::{Outcome, Parts, Plugins, Report};
pub use served::PluginLimits;
pub use words::{ClientCall, Fetch, FileWish, Loaded, LoadedTool, Permission, Said, Skipped, Wish};

/// The hidden command by which haft's own binary becomes a host.
pub const HOST_COMMAND: &str = "plugin-host";

/// Becomes a host, if that is what this process was started for.
pub fn maybe_become_host() -> Option<std::process::ExitCode> {
    None
}

/// The program that serves a file in Bun or Node.
pub fn host_script() -> &'static str {
    ""
}
