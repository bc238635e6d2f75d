//! One job: a command that runs, or has run, in the background.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use haft::{Inbox, JobId, MessageId, Note, Part, SessionId, StoreError};

use super::Description;
use crate::process::{Ending, Fate, Running, Shown, Traces};

/// Exit codes that mean an end by one of the two signals that end a job.
const SIGNALLED: [i32; 2] = [128 + 9, 128 + 15];

/// A command in the background.
pub(crate) struct Job {
    id: JobId,
    session: SessionId,
    command: String,
    directory: PathBuf,
    running: Running,
    is_killed: AtomicBool,
    inbox: Inbox,
    /// What the model is told in the next process, unless it has seen the end before.
    lost: MessageId,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobState {
    /// It runs.
    Running,
    /// It ended with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signalled(i32),
    /// It was ended on demand.
    Killed,
    /// It was not run, or what it printed could not be kept.
    Failed(String),
}

impl Job {
    pub(super) fn new(id: JobId, running: Running, description: Description, inbox: Inbox) -> Job {
        let Description { session, command, directory } = description;
        let note = Note::new(vec![Part::synthetic(format!(
            "The background job {id} is gone: the process that ran it has ended. Start it again if it is needed:\n{command}"
        ))]);
        inbox.foresee(&session, &note);
        Job {
            id,
            session,
            command,
            directory,
            running,
            is_killed: AtomicBool::new(false),
            inbox,
            lost: note.id,
        }
    }

    /// Takes note that the model knows how the job stands.
    pub(crate) fn was_told(&self, state: &JobState) {
        if *state != JobState::Running {
            self.inbox.dismiss(&self.session, &self.lost);
        }
    }

    pub(crate) fn id(&self) -> &JobId {
        &self.id
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// The script it runs.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// Where it runs.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// How long ago its command was started, be it in the foreground.
    pub(crate) fn age(&self) -> Duration {
        self.running.age()
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.fate().is_none()
    }

    pub(crate) fn state(&self) -> JobState {
        match self.running.fate() {
            None => JobState::Running,
            Some(_) if self.running.is_lost() => {
                JobState::Failed("what it printed could not be kept, so it was ended".to_owned())
            }
            Some(Fate::Failed(why)) => JobState::Failed(why.to_string()),
            Some(Fate::Ended(ending, _)) if self.was_killed(ending) => JobState::Killed,
            Some(Fate::Ended(Ending::Exited(code), _)) => JobState::Exited(code),
            Some(Fate::Ended(Ending::Signalled(signal), _)) => JobState::Signalled(signal),
            Some(Fate::Ended(Ending::TimedOut, _)) => JobState::Killed,
        }
    }

    /// Whether it ended because it was made to, and not by itself when it was asked to.
    fn was_killed(&self, ending: Ending) -> bool {
        let by_signal = match ending {
            Ending::Signalled(_) | Ending::TimedOut => true,
            // As bubblewrap tells of a signal.
            Ending::Exited(code) => SIGNALLED.contains(&code),
        };
        by_signal && self.is_killed.load(Ordering::Relaxed)
    }

    /// What is known of it besides, once it has ended.
    pub(crate) fn traces(&self) -> Traces {
        match self.running.fate() {
            Some(Fate::Ended(_, traces)) => traces,
            Some(Fate::Failed(_)) | None => Traces::default(),
        }
    }

    /// What it printed since it was last read.
    pub(crate) async fn read(&self) -> Result<Shown, StoreError> {
        Ok(self.running.heard().await?.into())
    }

    /// Waits for its end, for so long at most.
    pub(crate) async fn wait(&self, limit: Duration) {
        self.running.ended_within(limit).await;
    }

    /// Whether it waits for something that it can be sent.
    pub(crate) fn waits_for_input(&self) -> bool {
        self.is_running() && self.running.waits_for_input() == Some(true)
    }

    /// Whether it can be sent anything.
    pub(crate) fn has_input(&self) -> bool {
        self.running.has_input()
    }

    /// Asks it to end, and makes it, with everything it started.
    pub(crate) async fn kill(&self) {
        if self.is_running() {
            self.is_killed.store(true, Ordering::Relaxed);
            self.running.stop().await;
        }
    }

    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.running.send(bytes)
    }

    pub(super) fn close_input(&self) -> io::Result<()> {
        self.running.close_input()
    }

    pub(super) fn end(&self) {
        self.running.end();
    }

    pub(super) fn wait_until_gone(&self) {
        self.running.wait_until_gone();
    }
}
