//! The door: a machine that was tried, and commands that are held to a profile on it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::SandboxError;
use crate::os;
use crate::profile::{Access, Network, Profile};
use crate::report::{Level, Mechanism, Report, State};
use crate::spec::{Failure, Heard, Left, Program, Removed, Spec};

/// The longest argument or variable that the kernel hands to a program, with its end.
const TEXT_BYTES_MAX: usize = 128 << 10;

/// The running program as a helper: the link leads to it even if its file was replaced meanwhile.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// What this machine can confine, and how to do it.
#[derive(Debug, Clone)]
pub struct Sandbox {
    helper: os::Helper,
    level: Level,
    bubblewrap: Option<PathBuf>,
    /// Where it is remembered what was found.
    memory: Option<PathBuf>,
}

impl Sandbox {
    /// Tries this machine. The helper is the program `haft-helper` in the directory of this one, if it is of the same
    /// build and nobody else can have changed it; otherwise it is this very program, whose `main` calls
    /// [`maybe_become_helper`](crate::maybe_become_helper) first.
    pub fn probe() -> Sandbox {
        Sandbox::tried(&os::Helpers::of_this_program())
    }

    /// As [`probe`](Self::probe), but a machine that was found to hold everything is not tried again as long as nothing
    /// has changed that this depends on, which `file` remembers. Should it not hold after all, the command is not run.
    pub fn recalled(file: &Path) -> Sandbox {
        Sandbox::recalled_or_tried(&os::Helpers::of_this_program(), file)
    }

    /// The same with another program as the helper, whose `main` does as said above and which is of the same build.
    pub fn recalled_with_helper(helper: &Path, file: &Path) -> Sandbox {
        Sandbox::recalled_or_tried(&os::Helpers::only(helper), file)
    }

    /// Tries this machine with another program as the helper.
    pub fn with_helper(helper: &Path) -> Sandbox {
        Sandbox::tried(&os::Helpers::only(helper))
    }

    fn recalled_or_tried(helpers: &os::Helpers, file: &Path) -> Sandbox {
        let memory = Some(file.to_path_buf());
        if let Some(helper) = os::recalled(file, helpers) {
            return Sandbox { helper, level: Level::Namespaces, bubblewrap: os::bubblewrap(), memory };
        }
        let found = Sandbox { memory, ..Sandbox::tried(helpers) };
        if found.level == Level::Namespaces {
            os::remember(file, helpers, &found.helper);
        }
        found
    }

    fn tried(helpers: &os::Helpers) -> Sandbox {
        let bubblewrap = os::bubblewrap();
        let (level, helper) = os::strongest(helpers, bubblewrap.as_deref());
        Sandbox { helper, level, bubblewrap, memory: None }
    }

    /// The strongest way of confining that works here.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Tries everything there is, for whoever wants to know what is missing.
    pub fn report(&self) -> Report {
        os::report(&self.helper, self.level, self.bubblewrap.as_deref())
    }

    /// The same machine at a level that is no stronger than this.
    #[must_use]
    pub fn at_most(mut self, level: Level) -> Sandbox {
        self.level = self.level.min(level);
        self
    }

    /// A command that is held to `profile`, and finds nothing to read.
    ///
    /// # Errors
    /// Where the machine cannot hold it to all of the profile, and where the profile or the program makes no sense.
    pub fn command(&self, profile: &Profile, program: &Program) -> Result<Confined, SandboxError> {
        let (command, idle) = self.idle()?;
        Ok(Confined { command, watch: self.instructed(idle, profile, program, None)? })
    }

    /// The same for a command that reads `input`.
    ///
    /// # Errors
    /// As [`command`](Self::command).
    pub fn command_reading(
        &self,
        input: impl Into<OwnedFd>,
        profile: &Profile,
        program: &Program,
    ) -> Result<Confined, SandboxError> {
        let (command, idle) = self.idle()?;
        Ok(Confined { command, watch: self.instructed(idle, profile, program, Some(input.into()))? })
    }

    /// A command that starts a helper ahead of time, and what is needed to [`instruct`](Self::instruct) it later. To
    /// start a helper takes longer than to start most programs.
    ///
    /// Set where the program that it will run prints, on the command, and nothing else: the command's own input is how the
    /// helper is instructed.
    ///
    /// # Errors
    /// Where there are no descriptors left for it.
    pub fn idle(&self) -> Result<(Command, Idle), SandboxError> {
        let (command, inner) = os::idle(&self.helper).map_err(SandboxError::Prepare)?;
        Ok((command, Idle(inner)))
    }

    /// Has a helper that waits run a program that is held to `profile`, and finds nothing to read. Its process is then as
    /// [`Confined::into_parts`] says.
    ///
    /// # Errors
    /// As [`command`](Self::command), and where the helper is gone.
    pub fn instruct(&self, idle: Idle, profile: &Profile, program: &Program) -> Result<Watch, SandboxError> {
        self.instructed(idle, profile, program, None)
    }

    /// The same for a program that reads `input`.
    ///
    /// # Errors
    /// As [`instruct`](Self::instruct).
    pub fn instruct_reading(
        &self,
        idle: Idle,
        input: impl Into<OwnedFd>,
        profile: &Profile,
        program: &Program,
    ) -> Result<Watch, SandboxError> {
        self.instructed(idle, profile, program, Some(input.into()))
    }

    fn instructed(
        &self,
        idle: Idle,
        profile: &Profile,
        program: &Program,
        input: Option<OwnedFd>,
    ) -> Result<Watch, SandboxError> {
        let profile = profile.resolved()?;
        self.judge(&profile)?;
        check_text(program)?;
        let spec = Spec {
            level: self.level,
            profile,
            program: program.clone(),
            bubblewrap: self.bubblewrap.clone(),
        };
        let inner = idle.0.instruct(&spec, input).map_err(SandboxError::Prepare)?;
        let program = program.program.to_string_lossy().into_owned();
        Ok(Watch { inner, program, memory: self.memory.clone() })
    }

    /// Whether commands can be held to `profile` here.
    ///
    /// # Errors
    /// Where they cannot, with what is missing.
    pub fn check(&self, profile: &Profile) -> Result<(), SandboxError> {
        self.judge(&profile.resolved()?)
    }

    /// Whether a command can be held to single hosts here, rather than to no network or all of it.
    pub fn holds_hosts(&self) -> bool {
        self.level == Level::Namespaces
    }

    /// Fails closed: what cannot be held is not promised.
    fn judge(&self, profile: &Profile) -> Result<(), SandboxError> {
        let level = self.level;
        let mut missing: Vec<String> = Vec::new();
        match (profile.access, level) {
            (Access::Full, _) | (Access::Confined, Level::Bubblewrap | Level::Namespaces) => {}
            (Access::Confined, Level::None) => {
                missing.push(
                    "there is nothing to confine it with; allow full access to run it at all".to_owned(),
                );
                missing.extend(self.report().missing().map(describe));
            }
            (Access::Confined, Level::LandlockOnly) => {
                let within = |path: &Path| profile.writable.iter().any(|root| path.starts_with(root));
                if profile.protected.iter().any(|protected| within(&protected.path)) {
                    missing.push("protected paths in a writable directory need namespaces".to_owned());
                }
                if !profile.hidden.is_empty() {
                    missing.push("hidden paths need namespaces".to_owned());
                }
            }
        }
        if matches!(profile.network, Network::Hosts(_)) && !self.holds_hosts() {
            missing.push("single hosts need namespaces of its own".to_owned());
        }
        if missing.is_empty() { Ok(()) } else { Err(SandboxError::CannotEnforce { level, missing }) }
    }
}

fn describe(mechanism: &Mechanism) -> String {
    match &mechanism.state {
        State::Works(detail) | State::Missing(detail) => format!("{}: {detail}", mechanism.name),
    }
}

/// A helper that waits to be told what to run. Dropping this ends it.
#[derive(Debug)]
pub struct Idle(os::Idle);

/// A command that was not started yet.
#[derive(Debug)]
pub struct Confined {
    command: Command,
    watch: Watch,
}

impl Confined {
    /// The command to start and what holds it.
    ///
    /// Set standard output and error on the command and nothing else; then start it with `std` or convert it for another
    /// runtime, and drop it. Its process is a supervisor: it ends as the program ended, by the same code or signal,
    /// and only when nothing is left of what the program started. It passes on the signals it is sent; `SIGKILL`
    /// kills it and the whole tree.
    pub fn into_parts(self) -> (Command, Watch) {
        (self.command, self.watch)
    }
}

/// Holds a command: when this is dropped, or this process dies, the command is killed with all it started.
#[derive(Debug)]
pub struct Watch {
    inner: os::Watch,
    program: String,
    memory: Option<PathBuf>,
}

impl Watch {
    /// Has the supervisor kill the command with all it started, at once. What it tells can still be heard.
    pub fn end(&self) {
        self.inner.end();
    }

    /// What the helper told, to be asked when its process has ended.
    ///
    /// # Errors
    /// Where the sandbox could not be set up or the program not be started: then nothing was run, and the exit
    /// status says nothing.
    pub fn finish(self) -> Result<Finished, SandboxError> {
        let Heard { failure, removed, removed_besides, refused, out_of_memory, left, is_tried: _ } =
            self.inner.told().map_err(SandboxError::Prepare)?;
        match failure {
            Some(Failure::Setup(why)) => {
                // What was remembered may be what is wrong.
                self.memory.as_deref().map(os::forget);
                Err(SandboxError::Setup(why))
            }
            Some(Failure::Start(reason)) => Err(SandboxError::Start { program: self.program, reason }),
            None => Ok(Finished { removed, removed_besides, refused, out_of_memory, left }),
        }
    }
}

/// What there is to say about a command that was run, besides its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Protected paths that were made or changed while the command ran, and that were put back; the first hundred, if there
    /// are more.
    pub removed: Vec<Removed>,
    /// How many more there were.
    pub removed_besides: u64,
    /// Hosts that it asked the proxy for and that are not granted, each as it would have to be granted.
    pub refused: Vec<String>,
    /// Whether it was ended because it wanted more memory than it may have.
    pub out_of_memory: bool,
    /// What it had left running when it ended by itself, which was ended then.
    pub left: Left,
}

/// What the kernel would refuse anyway, said in words and before anything happens.
fn check_text(program: &Program) -> Result<(), SandboxError> {
    let check = |what: String, text: &OsStr| {
        let reason = if text.as_encoded_bytes().contains(&0) {
            "contains a NUL byte"
        } else if text.len() >= TEXT_BYTES_MAX {
            "is longer than the 128 KiB that the kernel takes"
        } else {
            return Ok(());
        };
        Err(SandboxError::BadText { what, reason })
    };
    check("the program".to_owned(), &program.program)?;
    for (index, argument) in program.args.iter().enumerate() {
        check(format!("argument {}", index + 1), argument)?;
    }
    for (name, value) in &program.env {
        check(format!("the variable {}", name.to_string_lossy()), value)?;
        check("the name of a variable".to_owned(), name)?;
    }
    Ok(())
}
