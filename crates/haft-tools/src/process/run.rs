//! Running a command to its end: heard while it runs, stopped when its time is up, and gone with all it started.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft::permission::Permit;
use haft::preview::Budget;
use haft::{Event, Events, OutputStore, StoreError, ToolContext};
use haft_sandbox::{Program, SandboxError};
use tokio::sync::oneshot;

use super::Processes;
use super::capture::{Capture, Captured};
use super::confined::ConfinedCommand;
use crate::blocking::blocking;

/// Between being asked to end and being made to.
const GRACE: Duration = Duration::from_secs(2);
/// When everything of a command is gone, what it printed arrives within this time.
const DRAIN: Duration = Duration::from_secs(5);
/// How often, at most, listeners are told what a command prints.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// So much of it they are told at once.
const TOLD_BYTES_MAX: usize = 16 << 10;

/// The number of the signal that ends a process at once.
const KILL: i32 = 9;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Exited(i32),
    Signalled(i32),
    TimedOut,
}

/// A command that was run.
pub(crate) struct Ran {
    pub(crate) ending: Ending,
    pub(crate) captured: Captured,
    /// Protected paths that it made and that were removed.
    pub(crate) removed: Vec<String>,
    /// Hosts that it asked for and that are not granted.
    pub(crate) refused: Vec<String>,
    /// Whether it was ended because it wanted more memory than it may have.
    pub(crate) out_of_memory: bool,
}

/// Why a command was not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// There is no shell.
    #[error("no shell was found: neither one that is configured, nor $SHELL, nor bash, nor /bin/sh")]
    NoShell,
    /// Nothing was run.
    #[error("the command was not run: {0}")]
    Sandbox(#[from] SandboxError),
    /// It could not be started.
    #[error("the command could not be started: {0}")]
    Start(#[source] io::Error),
    /// What it printed could not be kept, so it was stopped.
    #[error(transparent)]
    Output(#[from] StoreError),
}

/// What a run needs besides the command.
pub(crate) struct Run {
    pub(crate) outputs: Arc<dyn OutputStore>,
    pub(crate) events: Events,
    pub(crate) context: ToolContext,
    pub(crate) timeout: Duration,
}

impl Processes {
    /// Runs what was agreed to. Dropping the future kills it and everything it started.
    pub(crate) async fn run(&self, permit: Permit<ConfinedCommand>, run: Run) -> Result<Ran, RunError> {
        let ConfinedCommand { command, profile, .. } = permit.into_target();
        let shell = self.shell().ok_or(RunError::NoShell)?;
        let mut environment = self.environment.clone();
        let suggested = profile.suggested_env(self.sandbox().report().level);
        environment.extend(suggested.into_iter().map(|(name, value)| (name.into(), value.into())));
        let program = Program {
            program: shell.into(),
            args: vec![OsString::from("-c"), command.script().into()],
            env: environment,
            cwd: command.workdir().real().to_owned(),
        };
        let (prepared, watch) = self.sandbox().command(&profile, &program)?.into_parts();
        let (reader, writer) = io::pipe().map_err(RunError::Start)?;
        let mut starting = tokio::process::Command::from(prepared);
        let also = writer.try_clone().map_err(RunError::Start)?;
        starting.stdin(Stdio::null()).stdout(writer).stderr(also).kill_on_drop(true);
        let mut child = starting.spawn().map_err(RunError::Start)?;
        // Its ends of the pipe must be the only ones.
        drop(starting);

        let (budget, kept_max, timeout) = (self.shown, self.kept_bytes_max, run.timeout);
        let (deaf, deafened) = oneshot::channel();
        let listening = tokio::spawn(blocking(move |_| {
            let heard = listen(reader, &run, budget, kept_max);
            if heard.is_err() {
                // Whoever waits may have ended already.
                let _ended = deaf.send(());
            }
            heard
        }));
        let ending = tokio::select! {
            status = child.wait() => ended(status.map_err(RunError::Start)?),
            () = tokio::time::sleep(timeout) => {
                stop(&mut child).await.map_err(RunError::Start)?;
                Ending::TimedOut
            }
            // What it prints cannot be kept any longer, so there is no point in its going on.
            Ok(()) = deafened => {
                child.kill().await.map_err(RunError::Start)?;
                Ending::Signalled(KILL)
            }
        };
        // Once the supervisor has ended, nothing that could hold the pipe is left.
        let heard = tokio::time::timeout(DRAIN, listening).await;
        let finished = watch.finish()?;
        let captured = match heard {
            Ok(Ok(heard)) => heard?.finish().await?,
            Ok(Err(_)) | Err(_) => {
                return Err(RunError::Start(io::Error::other("its output did not come to an end")));
            }
        };
        let removed = finished.removed.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let (refused, out_of_memory) = (finished.refused, finished.out_of_memory);
        Ok(Ran { ending, captured, removed, refused, out_of_memory })
    }
}

/// The shell only reads a script for so long.
const READING: Duration = Duration::from_secs(5);

impl Processes {
    /// What the shell says of a script that is no script: its exit code and its words. It runs nothing of it.
    pub(crate) async fn syntax_error(&self, target: &ConfinedCommand) -> Option<(i32, String)> {
        let program = Program {
            program: self.shell()?.into(),
            args: vec![OsString::from("-n"), OsString::from("-c"), target.command.script().into()],
            env: self.environment.clone(),
            cwd: "/".into(),
        };
        let profile = haft_sandbox::Profile::read_only();
        let (prepared, watch) = self.sandbox().command(&profile, &program).ok()?.into_parts();
        let mut reading = tokio::process::Command::from(prepared);
        reading.stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(READING, reading.output()).await.ok()?.ok()?;
        watch.finish().ok()?;
        let code = output.status.code().filter(|code| *code != 0)?;
        Some((code, String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}

fn ended(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Exited(-1),
    }
}

/// Asks a command to end, and makes it.
async fn stop(child: &mut tokio::process::Child) -> io::Result<()> {
    if let Some(pid) = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // It may have ended in this moment.
        let _gone = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        child.kill().await?;
    }
    Ok(())
}

/// Hears a command out, unless what it prints cannot be kept.
fn listen(mut reader: PipeReader, run: &Run, budget: Budget, kept_max: u64) -> Result<Capture, StoreError> {
    let mut capture = Capture::new(run.outputs.clone(), run.context.clone(), budget, kept_max);
    let mut teller = Teller { run, untold: Vec::new(), told: Instant::now() };
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => {
                capture.push(&buffer[..read])?;
                teller.push(&buffer[..read]);
            }
        }
    }
    teller.tell();
    Ok(capture)
}

/// Tells listeners what a command prints, in pieces that are neither too many nor too large.
struct Teller<'a> {
    run: &'a Run,
    untold: Vec<u8>,
    told: Instant,
}

impl Teller<'_> {
    fn push(&mut self, bytes: &[u8]) {
        self.untold.extend_from_slice(bytes);
        // Whoever watches a flood sees its end; all of it is retained.
        if self.untold.len() > 4 * TOLD_BYTES_MAX {
            let surplus = self.untold.len() - TOLD_BYTES_MAX;
            self.untold.drain(..surplus);
        }
        if self.told.elapsed() >= TELL_EVERY {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let untold = std::mem::take(&mut self.untold);
        if untold.is_empty() {
            return;
        }
        self.told = Instant::now();
        let last = &untold[untold.len().saturating_sub(TOLD_BYTES_MAX)..];
        self.run.events.tell(|| Event::Output {
            context: self.run.context.clone(),
            delta: String::from_utf8_lossy(last).into_owned(),
        });
    }
}
