//! Processes: started under a profile of the sandbox, heard to the end, and gone with everything they started.

mod capture;
mod confined;
mod filter;
mod helper;
mod lacking;
mod listen;
mod own_programs;
mod run;
mod running;
mod screen;
mod serve;
mod shell;
mod shown;
mod standby;
mod start;
mod taken_away;
mod terminal;
mod traces;
mod waiting;
mod wishes;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use haft::preview::Budget;
use haft_sandbox::{HostGrant, Level, Sandbox};

pub(crate) use confined::{ConfinedCommand, own_profile};
pub(crate) use filter::{Filter, FilterError};
pub(crate) use helper::{Helper, ends_within};
pub(crate) use lacking::{Lacking, Reached};
pub use own_programs::OwnPrograms;
pub(crate) use own_programs::untrusted;
pub(crate) use run::{Ran, RunError};
pub(crate) use running::{Ending, Fate, Running};
pub(crate) use serve::Serving;
pub(crate) use shell::is_program;
pub(crate) use shown::{Retained, Shown};
pub(crate) use start::{Start, Streams};
pub(crate) use taken_away::{besides, taken_away};
pub(crate) use traces::Traces;
pub(crate) use wishes::{NetworkWish, Wishes};

/// How commands are run in a location.
pub struct Processes {
    /// What a command's environment holds: no secrets, and nothing that makes programs load others.
    pub environment: Vec<(OsString, OsString)>,
    /// The shell to use, if one is configured.
    pub shell: Option<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// What no command may look into.
    pub hidden: Vec<PathBuf>,
    /// Where that is kept which is taken away from protected paths, out of reach of commands.
    pub custody: Option<PathBuf>,
    /// Directories whose configuration is believed wherever they lie, so that no command may change it.
    pub believed: Vec<PathBuf>,
    /// Directories of which everything is believed: the person's own configuration. No command may change or make them.
    pub configuration: Vec<PathBuf>,
    /// Whose own formatters and language servers are run.
    pub own_programs: OwnPrograms,
    /// How commands are confined.
    pub confinement: Confinement,
    /// How long a command may take unless it says otherwise.
    pub timeout: Duration,
    /// After this time a command goes on in the background, where there is one, instead of being waited for.
    pub background_after: Option<Duration>,
    /// How much of an output is shown.
    pub shown: Budget,
    /// How much of an output is kept; a command that prints more is stopped.
    pub kept_bytes_max: u64,
    /// Whether somebody who can judge it is asked for what a command turns out to lack. Where nobody is there, or
    /// somebody who says yes to everything, only a rule can grant it.
    pub asks_again: bool,
    /// The strongest way to confine that is used; a weaker one is for trying what would happen elsewhere.
    pub level_max: Level,
    /// The file that remembers that this machine was tried, so that not every process has to.
    pub trial: Option<PathBuf>,
    /// Whether a program beside this one may be the helper: not where commands may write, who could put one there.
    pub has_helper: bool,
    /// Whether a helper waits for the next command. That is quicker where there is a next one.
    pub keeps_helper: bool,
    sandbox: OnceLock<Sandbox>,
    /// The shell that was found where none is configured.
    found: OnceLock<PathBuf>,
    standby: standby::Standby,
}

/// How commands are confined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confinement {
    /// How much commands may do.
    pub profile: ProfileName,
    /// Directories that may be changed besides the workspace.
    pub writable: Vec<PathBuf>,
    /// Whether commands have the network without asking.
    pub network: bool,
    /// Hosts that they may reach without asking.
    pub hosts: Vec<HostGrant>,
    /// How much memory a command may use; `None` is half of the machine's.
    pub memory_bytes: Option<u64>,
}

/// A profile by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProfileName {
    /// Nothing can be changed.
    ReadOnly,
    /// The workspace can be changed.
    #[default]
    WorkspaceWrite,
    /// Everything: a person has switched the sandbox off.
    FullAccess,
}

impl Processes {
    /// Commands with this environment and nothing configured.
    pub fn new(environment: Vec<(OsString, OsString)>, shown: Budget) -> Processes {
        Processes {
            environment,
            shell: None,
            home: None,
            hidden: Vec::new(),
            custody: None,
            believed: Vec::new(),
            configuration: Vec::new(),
            own_programs: OwnPrograms::Everywhere,
            confinement: Confinement::default(),
            timeout: Duration::from_secs(120),
            background_after: None,
            shown,
            kept_bytes_max: 4 << 30,
            asks_again: false,
            level_max: Level::Namespaces,
            trial: None,
            has_helper: true,
            keeps_helper: false,
            standby: standby::Standby::default(),
            sandbox: OnceLock::new(),
            found: OnceLock::new(),
        }
    }

    /// The same, confined by this sandbox instead of the one that is found when it is first needed.
    #[must_use]
    pub fn confined_by(self, sandbox: Sandbox) -> Processes {
        Processes { sandbox: OnceLock::from(sandbox), ..self }
    }

    /// Where a program is that is named without its directory.
    pub(crate) fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.iter().find(|(variable, _)| variable == "PATH");
        let path = path.map_or(OsStr::new(""), |(_, path)| path);
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|path| is_program(path))
    }

    /// What this machine can confine. It is tried once, when it is first asked.
    pub fn sandbox(&self) -> &Sandbox {
        self.sandbox.get_or_init(|| {
            let own = Path::new(haft_sandbox::THIS_PROGRAM);
            let found = match (self.trial.as_deref(), self.has_helper) {
                (Some(file), true) => Sandbox::recalled(file),
                (Some(file), false) => Sandbox::recalled_with_helper(own, file),
                (None, true) => Sandbox::probe(),
                (None, false) => Sandbox::with_helper(own),
            };
            found.at_most(self.level_max)
        })
    }
}
