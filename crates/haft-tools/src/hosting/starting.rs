//! Starting a host: as commands are, in the workspace, with nothing of the network but what is configured.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use haft_sandbox::{Finished, Profile, Program, Sandbox, SandboxError, Watch};
use rustix::process::Pid;

use super::Hosting;
use crate::process::{Helper, Processes, ProfileName, besides, ends_within, own_profile, taken_away};
use crate::workspace::Workspace;

/// How long a supervisor may take to end what a host has started, and how often it is looked at meanwhile where the kernel
/// does not tell.
const ENDING_MAX: Duration = Duration::from_secs(5);
const LOOKING: Duration = Duration::from_micros(200);

/// A program that is to serve the code of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostStart {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables besides those that commands have.
    pub env: Vec<(OsString, OsString)>,
    /// What it must be able to read besides the workspace.
    pub readable: Vec<PathBuf>,
}

/// A host that was started. When it is dropped, it is killed with everything it started.
pub struct Hosted {
    /// What it is told.
    pub input: PipeWriter,
    /// What it says.
    pub output: PipeReader,
    /// What it writes beside that.
    pub words: PipeReader,
    /// Holds it.
    pub held: Held,
}

/// Holds a process: when this is dropped, it is killed with everything it started.
pub struct Held {
    child: Child,
    watch: Option<Watch>,
}

impl Held {
    /// Kills it with everything it started, and waits until nothing of it is left. Returns what there is to say of it.
    ///
    /// # Errors
    /// Where the sandbox could not be set up, so that nothing was run at all.
    pub fn end(mut self) -> Result<Vec<String>, SandboxError> {
        self.ended()
    }

    fn ended(&mut self) -> Result<Vec<String>, SandboxError> {
        let Some(watch) = self.watch.take() else { return Ok(Vec::new()) };
        watch.end();
        // The supervisor kills whatever is left and puts back what must not stay, and only then it ends. It is not
        // killed before that, unless it hangs.
        wait_for(&mut self.child);
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
        let Finished { removed, removed_besides, .. } = watch.finish()?;
        let said = removed.iter().map(|removed| taken_away(removed, "a plugin"));
        Ok(said.chain(besides(removed_besides)).collect())
    }
}

/// Waits until a process has ended, or for as long as it may take.
fn wait_for(child: &mut Child) {
    let until = Instant::now() + ENDING_MAX;
    if ends_within(Pid::from_child(child), ENDING_MAX) {
        return;
    }
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
        std::thread::sleep(LOOKING);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Whoever drops it does not want to know.
        let _unrun = self.ended();
    }
}

/// Why a host was not started.
#[derive(Debug, thiserror::Error)]
pub enum HostingError {
    /// This machine cannot confine it, and nobody agreed to do without.
    #[error("nothing would confine it: {0}")]
    Unconfined(SandboxError),
    /// It could not be confined as configured.
    #[error(transparent)]
    Sandbox(SandboxError),
    /// It could not be started.
    #[error("{0}")]
    Start(#[from] io::Error),
}

impl From<SandboxError> for HostingError {
    fn from(error: SandboxError) -> HostingError {
        match error {
            SandboxError::CannotEnforce { .. } => HostingError::Unconfined(error),
            other => HostingError::Sandbox(other),
        }
    }
}

impl Hosting {
    /// Where a program is that is named without its directory.
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        self.processes.on_path(name)
    }

    /// Whether commands may write where this program lies, so that what lies beside it may be theirs.
    pub fn are_programs_beside_writable(&self) -> bool {
        !self.processes.has_helper
    }

    /// Where the code of a host may read by itself; nothing where it may read everything.
    pub fn roots(&self) -> Vec<PathBuf> {
        if self.processes.confinement.profile == ProfileName::FullAccess {
            return Vec::new();
        }
        let own = [self.workspace.base(), self.workspace.directory()].map(Path::to_owned);
        let more = self.processes.confinement.writable.iter().cloned();
        own.into_iter().chain([std::env::temp_dir()]).chain(more).collect()
    }

    /// Starts a host. This blocks for as long as a start takes.
    pub fn start(&self, start: HostStart) -> Result<Hosted, HostingError> {
        let HostStart { program, args, env, readable } = start;
        let ready = self.ahead.take().unwrap_or_else(|| Ready::new(&self.processes, &self.workspace));
        let Ready { place, mut profile } = ready;
        if self.processes.confinement.profile != ProfileName::FullAccess {
            profile.readable.extend(readable.into_iter().filter(|path| path.is_dir() || path.is_file()));
        }
        let sandbox = self.processes.sandbox();
        let suggested = profile.suggested_env(sandbox.level());
        let suggested = suggested.into_iter().map(|(name, value)| (name.into(), value.into()));
        let all = self.processes.environment.iter().cloned().chain(suggested).chain(env).collect();
        let directory: &Path = self.workspace.directory();
        let program = Program { program: program.into(), args, env: all, cwd: directory.to_owned() };
        match place {
            Ok(place) => place.taken_by(&program, sandbox, &profile),
            Err(error) => {
                // That nothing confines here says more than that there is no helper.
                sandbox.check(&profile)?;
                Err(error)
            }
        }
    }
}

/// What a host needs before it is known which one, made ready on a thread of its own. Nothing is run by it but a helper
/// that waits, and that ends with this value if there is no host to hold.
#[derive(Clone, Default)]
pub struct Ahead(Arc<Mutex<Option<JoinHandle<Ready>>>>);

impl Ahead {
    /// Makes it ready for the next host.
    pub fn begin(processes: &Arc<Processes>, workspace: &Workspace) -> Ahead {
        let (processes, workspace) = (processes.clone(), workspace.clone());
        let making = std::thread::Builder::new().name("haft-ahead".to_owned());
        // Without a thread, it is made when it is needed.
        Ahead(Arc::new(Mutex::new(making.spawn(move || Ready::new(&processes, &workspace)).ok())))
    }

    /// Nobody needs it.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn take(&self) -> Option<Ready> {
        let making = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        making.and_then(|making| making.join().ok())
    }
}

/// What every host needs.
struct Ready {
    place: Result<Place, HostingError>,
    profile: Profile,
}

impl Ready {
    fn new(processes: &Processes, workspace: &Workspace) -> Ready {
        // The helper comes to be while it is found out what it is to hold the host to.
        let place = Place::made(processes.sandbox());
        Ready { place, profile: own_profile(processes, workspace) }
    }
}

/// Where a host will be: a helper that waits for it, and its streams.
struct Place {
    helper: Helper,
    /// What the host will read.
    taken: PipeReader,
    input: PipeWriter,
    output: PipeReader,
    words: PipeReader,
}

impl Place {
    fn made(sandbox: &Sandbox) -> Result<Place, HostingError> {
        let (taken, input) = io::pipe()?;
        let (output, printed) = io::pipe()?;
        let (words, said) = io::pipe()?;
        Ok(Place { helper: Helper::start(sandbox, printed, said)?, taken, input, output, words })
    }

    /// Has the host start.
    fn taken_by(
        self,
        program: &Program,
        sandbox: &Sandbox,
        profile: &Profile,
    ) -> Result<Hosted, HostingError> {
        let Place { helper, taken, input, output, words } = self;
        let (child, watch) = helper.hold(|idle| sandbox.instruct_reading(idle, taken, profile, program))?;
        Ok(Hosted { input, output, words, held: Held { child, watch: Some(watch) } })
    }
}
