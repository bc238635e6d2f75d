//! Confinement of child processes by the kernel: what a profile grants, and no more.
//!
//! ```no_run
//! use haft_sandbox::{Profile, Program, Sandbox};
//!
//! haft_sandbox::maybe_become_helper(); // first thing in `main`
//! let sandbox = Sandbox::probe();
//! let profile = Profile::workspace_write(["/home/me/project"]);
//! let program = Program {
//!     program: "make".into(),
//!     args: vec!["test".into()],
//!     env: vec![("PATH".into(), "/usr/bin:/bin".into())],
//!     cwd: "/home/me/project".into(),
//! };
//! let (mut command, watch) = sandbox.command(&profile, &program)?.into_parts();
//! let status = command.status()?; // or hand it to another runtime
//! watch.finish()?; // an error here means that nothing was run
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! The program starts itself again, or a small program of the same build that lies beside it, as a *helper*, which has one thread and so may do what a fork of a program with
//! threads may not. The helper stays outside as the *supervisor*; it starts an *init* in new user, mount, process, IPC,
//! host name, control group and (unless granted) network namespaces. Init makes the view of the file system, drops all
//! capabilities, restricts itself by Landlock and a seccomp filter, starts the command and reaps. When the command
//! ends, init ends, and the kernel ends whatever else is in the namespace. When the supervisor dies, init dies; when
//! the process that asked dies or drops its [`Watch`], the supervisor kills init.
//!
//! Starting the helper takes longer than starting most programs, so one can be started ahead ([`Sandbox::idle`]). It does
//! nothing until it is told what to run, and ends when nobody is left to tell it.
//!
//! # What a caller should know
//!
//! - Hand over pipes or `/dev/null` as standard streams, not files: a file's mode can be changed through a descriptor.
//! - The environment is the caller's affair. Caches are offered in the home directory; [`Profile::suggested_env`] has
//!   variables that make up for what a sandbox lacks.
//! - A refusal is an error code that the program sees; [`refusals`] reads paths and hosts out of what it prints.
//!
//! `docs/sandbox.md` says what is confined at which level, and what is not.

#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod os;
#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod os;

mod bitmap;
mod credentials;
mod defaults;
mod error;
mod gitlinks;
#[cfg(target_os = "linux")]
mod harmless;
mod hosts;
mod index;
mod object_format;
mod profile;
mod refusal;
mod report;
mod repository;
mod sandbox;
mod spec;
mod stamp;
mod trees;

pub use defaults::{DIRECTORIES, FILES, secrets};
pub use error::SandboxError;
pub use hosts::{HostGrant, NoHost, is_public};
pub use os::{Beside, Vouching, remove_taken, taken};
pub use profile::{Absent, Access, Caches, Limits, Network, Profile, Protected, Temp};
pub use refusal::{Refusal, refusals};
pub use report::{Level, Mechanism, Report, State};
pub use repository::{OF_GIT, OfGit, PARTS, may_be_repository};
pub use sandbox::{Confined, Finished, Idle, Sandbox, THIS_PROGRAM, Watch};
pub use spec::{Content, Left, Program, Removed};
pub use trees::working_trees;

/// Never returns if this process was started as the sandbox's helper. To be called first thing in `main`, before
/// any thread is started.
pub fn maybe_become_helper() {
    os::become_helper();
}

/// Has the threads of this process share the memory that they have freed, so that it stays small however long it runs.
/// To be called before any thread is started.
pub fn share_memory_among_threads() {
    os::share_memory();
}

/// Names what the sandbox is built of: two programs with the same name of a build can be each other's helpers.
pub fn build() -> &'static str {
    os::BUILD
}

/// Keeps other processes of the same user from looking into this one, and its memory from ending up in a core file.
/// To be called after [`maybe_become_helper`]: the helper must be open to itself.
///
/// # Errors
/// Where the kernel refuses, which it has no reason to.
pub fn harden_this_process() -> std::io::Result<()> {
    os::harden()
}
