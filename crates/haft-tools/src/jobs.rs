//! Jobs: commands that run in the background, owned by this process and ended with it.
//!
//! A session sees its own jobs only. What a job prints is kept as that of any command is: each reading gives all that
//! came since the one before, in bounded memory.

mod job;
mod typed;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::{Inbox, JobId, SessionId};

pub(crate) use job::{Job, JobState};
pub(crate) use typed::Typed;

use crate::process::Running;

/// So many jobs run at a time.
const RUNNING_MAX: usize = 16;
/// So many that have ended are remembered of a session.
const ENDED_PER_SESSION_MAX: usize = 16;
/// So many that have ended are remembered at all.
const ENDED_MAX: usize = 64;

/// The jobs of one process. Dropping this kills all of them, with everything they started, and waits until they are gone.
#[derive(Default)]
pub struct Jobs(Mutex<Table>);

#[derive(Default)]
struct Table {
    /// In the order they were started.
    jobs: Vec<Arc<Job>>,
    reserved: usize,
}

/// Why there is no such job, or no new one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobError {
    /// There are enough.
    #[error(
        "{RUNNING_MAX} jobs run already, and no more can; wait for one of them, or end one with the tool jobs (action kill)"
    )]
    TooMany,
    /// There is none of that id in the session.
    #[error("there is no job {0:?} in this session; the action list shows those there are")]
    Unknown(String),
}

/// What there is to know of a command that becomes a job.
pub(crate) struct Description {
    pub(crate) session: SessionId,
    pub(crate) command: String,
    pub(crate) directory: PathBuf,
}

/// A place among the running jobs, kept free for one that is being started.
pub(crate) struct Slot<'j>(&'j Jobs);

impl Jobs {
    /// Keeps a place free for another job.
    pub(crate) fn reserve(&self) -> Result<Slot<'_>, JobError> {
        let mut table = self.table();
        let running = table.jobs.iter().filter(|job| job.is_running()).count();
        if running + table.reserved >= RUNNING_MAX {
            return Err(JobError::TooMany);
        }
        table.reserved += 1;
        Ok(Slot(self))
    }

    /// The jobs of a session, in the order they were started.
    pub(crate) fn of(&self, session: &SessionId) -> Vec<Arc<Job>> {
        self.table().jobs.iter().filter(|job| job.session() == session).cloned().collect()
    }

    /// One of the jobs of a session.
    pub(crate) fn find(&self, session: &SessionId, id: &str) -> Result<Arc<Job>, JobError> {
        let found = self.of(session).into_iter().find(|job| job.id().as_str() == id);
        found.ok_or_else(|| JobError::Unknown(id.to_owned()))
    }

    /// Ends the jobs of a session that nobody will ask for any more, with everything they started. Returns at once.
    pub fn end_of(&self, session: &SessionId) {
        let jobs: Vec<Arc<Job>> = self.table().jobs.extract_if(.., |job| job.session() == session).collect();
        jobs.iter().for_each(|job| job.end());
        if jobs.is_empty() {
            return;
        }
        // They are waited for elsewhere, so that whoever ends the session need not.
        std::thread::spawn(move || jobs.iter().for_each(|job| job.wait_until_gone()));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Gives the place to a command that was started.
    pub(crate) fn fill(self, running: Running, description: Description, inbox: &Inbox) -> Arc<Job> {
        let job = Arc::new(Job::new(JobId::mint(), running, description, inbox.clone()));
        let forgotten = {
            let mut table = self.0.table();
            table.jobs.push(job.clone());
            table.forget(job.session())
        };
        // Outside the lock: a job that goes away waits for its threads.
        drop(forgotten);
        job
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.table().reserved -= 1;
    }
}

impl Table {
    /// Takes out the oldest of the jobs that have ended, where they are too many.
    fn forget(&mut self, session: &SessionId) -> Vec<Arc<Job>> {
        let ended = |job: &&Arc<Job>| !job.is_running();
        let all = self.jobs.iter().filter(ended).count();
        let own = self.jobs.iter().filter(|job| job.session() == session).filter(ended).count();
        let (mut of_all, mut of_own) =
            (all.saturating_sub(ENDED_MAX), own.saturating_sub(ENDED_PER_SESSION_MAX));
        let surplus = |job: &mut Arc<Job>| {
            let is_own = job.session() == session;
            if job.is_running() || (of_all == 0 && !(is_own && of_own > 0)) {
                return false;
            }
            of_all = of_all.saturating_sub(1);
            of_own = of_own.saturating_sub(usize::from(is_own));
            true
        };
        self.jobs.extract_if(.., surplus).collect()
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let jobs = std::mem::take(&mut self.table().jobs);
        // All are told before any is waited for.
        jobs.iter().for_each(|job| job.end());
        jobs.iter().for_each(|job| job.wait_until_gone());
    }
}

#[cfg(test)]
mod tests;
