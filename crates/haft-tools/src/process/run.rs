//! Running a command to its end, or as long as it may take.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use haft::StoreError;
use haft_sandbox::{Program, SandboxError};

use super::Processes;
use super::capture::Captured;
use super::confined::ConfinedCommand;
use super::running::{Ending, Fate, Running};
use super::traces::Traces;

/// A command that was run.
pub(crate) struct Ran {
    pub(crate) ending: Ending,
    pub(crate) captured: Captured,
    pub(crate) traces: Traces,
    /// Whether it waited for input when its time was up. `None` if that is not known.
    pub(crate) waited_for_input: Option<bool>,
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
    /// It was started, and failed before it ran.
    #[error(transparent)]
    Failed(Arc<RunError>),
    /// What it printed could not be kept, so it was stopped.
    #[error(transparent)]
    Output(#[from] StoreError),
}

impl Running {
    /// Waits for its end, for so long at most.
    pub(crate) async fn ended_within(&self, limit: Duration) -> Option<Fate> {
        tokio::time::timeout(limit, self.ended()).await.ok()
    }

    /// Hears a command out that has ended.
    pub(crate) async fn finish(self, fate: Fate) -> Result<Ran, RunError> {
        match fate {
            Fate::Ended(ending, traces) => {
                let captured = self.heard().await?;
                Ok(Ran { ending, captured, traces, waited_for_input: None })
            }
            Fate::Failed(error) => Err(RunError::Failed(error)),
        }
    }

    /// Stops a command whose time is up.
    pub(crate) async fn time_out(self) -> Result<Ran, RunError> {
        let waited_for_input = self.waits_for_input();
        let fate = self.stop().await;
        let ran = self.finish(fate).await?;
        Ok(Ran { ending: Ending::TimedOut, waited_for_input, ..ran })
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
        reading.kill_on_drop(true);
        let output = tokio::time::timeout(READING, reading.output()).await.ok()?.ok()?;
        watch.finish().ok()?;
        let code = output.status.code().filter(|code| *code != 0)?;
        Some((code, String::from_utf8_lossy(&output.stderr).into_owned()))
    }
}
