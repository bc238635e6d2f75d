//! Where the writing is done: jobs and the connection they are done with.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::{Connection, ErrorCode};

use super::{Chore, Durability};
use crate::connection;
use crate::fault::{Fault, is_damage};
use crate::files::Places;
use crate::mark::Mark;

/// From this length of its log on, the database is brought up to date after a commit.
const LOG_PAGES: i32 = 1024;
/// From this length on, the log is also cut (16 MiB).
const LOG_PAGES_MAX: i32 = 4096;

/// A piece of work, what it must survive, and whoever waits for its outcome.
pub(super) struct Job {
    durability: Durability,
    task: Box<dyn Task>,
}

impl Job {
    pub(super) fn new<T: Send + 'static>(
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
        tell: impl FnOnce(Result<T, Fault>) + Send + 'static,
    ) -> Job {
        Job { durability, task: Box::new(Typed { work: Some(work), result: None, tell }) }
    }
}

trait Task: Send {
    /// Does the work inside the transaction.
    fn run(&mut self, connection: &Connection) -> Result<(), &Fault>;
    /// Tells the outcome, once it is known whether the transaction was committed.
    fn tell(self: Box<Self>, committed: Result<(), Arc<rusqlite::Error>>);
}

struct Typed<T, W, R> {
    work: Option<W>,
    result: Option<Result<T, Fault>>,
    tell: R,
}

impl<T, W, R> Task for Typed<T, W, R>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, Fault> + Send,
    R: FnOnce(Result<T, Fault>) + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), &Fault> {
        match self.work.take() {
            Some(work) => self.result.insert(work(connection)).as_ref().map(drop),
            None => Ok(()),
        }
    }

    fn tell(self: Box<Self>, committed: Result<(), Arc<rusqlite::Error>>) {
        (self.tell)(match (self.result, committed) {
            (Some(Err(fault)), _) => Err(fault),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Ok(_)) | None, Err(error)) => Err(Fault::NotCommitted(error)),
            (None, Ok(())) => Err(Fault::Closed),
        });
    }
}

/// Jobs whose outcome is known, and not yet told.
pub(super) struct Done {
    jobs: Vec<Job>,
    committed: Result<(), Arc<rusqlite::Error>>,
}

impl Done {
    pub(super) fn tell(self) {
        for job in self.jobs {
            job.task.tell(self.committed.clone());
        }
    }
}

/// The connection, and what it was last used for.
pub(super) struct Desk {
    connection: Connection,
    places: Places,
    durability: Option<Durability>,
    log_pages: Arc<AtomicI32>,
    next_checkpoint: i32,
    /// Whether the log begins anew, for which SQLite waits for the disk whatever the commit must survive.
    begins_log: bool,
    mark: Mark,
    /// How often something was done, so that a quiet time can be told from a busy one.
    pub(super) stirred: u64,
}

impl Desk {
    pub(super) fn new(mut connection: Connection, places: Places) -> Desk {
        let log_pages = Arc::new(AtomicI32::new(0));
        let pages = log_pages.clone();
        let hooked = connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, length| {
            pages.store(length, Ordering::Relaxed);
            Ok(())
        }));
        drop(hooked); // Without the hook the log only grows; the next process cuts it.
        let mark = Mark::open(&places);
        Desk {
            connection,
            places,
            durability: None,
            log_pages,
            next_checkpoint: LOG_PAGES,
            begins_log: true,
            mark,
            stirred: 0,
        }
    }

    /// Does work that is never worth an fsync; if even this is refused, so will be the work.
    pub(super) fn clean(&mut self, chore: Chore) {
        let _refused = self.harden(Durability::Process);
        chore(&mut self.connection);
        self.begins_log = true;
    }

    /// Does all of the jobs as one transaction.
    pub(super) fn settle(&mut self, mut jobs: Vec<Job>) -> Done {
        let begun = self.begin(&jobs);
        let committed = begun.and_then(|()| self.finish(&mut jobs));
        self.begins_log = committed.is_err();
        self.done(jobs, committed)
    }

    /// Does a job if neither the disk nor anybody else has to be waited for; otherwise it is given back.
    pub(super) fn settle_at_once(&mut self, job: Job) -> Result<Done, Job> {
        if self.begins_log {
            return Err(job);
        }
        let mut jobs = vec![job];
        let begun = self.harden(Durability::Process).and_then(|()| {
            connection::waiting_for_nobody(&mut self.connection, |connection| say(connection, BEGIN))
        });
        let committed = match (begun, jobs.pop()) {
            (Err(error), Some(job)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                return Err(job);
            }
            (begun, job) => {
                jobs.extend(job);
                begun.and_then(|()| self.finish(&mut jobs))
            }
        };
        Ok(self.done(jobs, committed))
    }

    fn done(&mut self, jobs: Vec<Job>, committed: rusqlite::Result<()>) -> Done {
        let committed = committed.map_err(|error| {
            self.suspect(is_damage(&error));
            Arc::new(error)
        });
        self.mark.note(&self.connection);
        self.stirred += 1;
        Done { jobs, committed }
    }

    fn begin(&mut self, jobs: &[Job]) -> rusqlite::Result<()> {
        let to_disk = jobs.iter().any(|job| job.durability == Durability::Disk);
        self.harden(if to_disk { Durability::Disk } else { Durability::Process })?;
        say(&self.connection, BEGIN)
    }

    fn finish(&self, jobs: &mut [Job]) -> rusqlite::Result<()> {
        let _unless_it_panics = RollBackOnPanic(&self.connection);
        let done = match jobs {
            // One that is alone has the whole transaction for its savepoint.
            [alone] => self
                .run(alone)
                .and_then(|worked| say(&self.connection, if worked { "COMMIT" } else { "ROLLBACK" })),
            several => self.run_all(several).and_then(|()| say(&self.connection, "COMMIT")),
        };
        if done.is_err() && !self.connection.is_autocommit() {
            say(&self.connection, "ROLLBACK")?;
        }
        done
    }

    fn run_all(&self, jobs: &mut [Job]) -> rusqlite::Result<()> {
        for job in jobs {
            say(&self.connection, "SAVEPOINT job")?;
            if !self.run(job)? {
                say(&self.connection, "ROLLBACK TO job")?;
            }
            say(&self.connection, "RELEASE job")?;
        }
        Ok(())
    }

    /// Does a job in the transaction; returns whether it worked.
    fn run(&self, job: &mut Job) -> rusqlite::Result<bool> {
        let outcome = job.task.run(&self.connection);
        let worked = outcome.is_ok();
        self.suspect(outcome.is_err_and(Fault::is_damage));
        // Some errors, a full disk among them, undo the whole transaction; then nothing of it may be told as done.
        if self.connection.is_autocommit() { Err(gone()) } else { Ok(worked) }
    }

    /// Sets what the next commit survives. SQLite takes this only between transactions.
    fn harden(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.durability != Some(durability) {
            self.connection.execute_batch(match durability {
                Durability::Brief | Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Disk => "PRAGMA synchronous = FULL",
            })?;
            self.durability = Some(durability);
        }
        Ok(())
    }

    /// Whether the log has become so long that it is to be shortened.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.log_pages.load(Ordering::Relaxed) >= self.next_checkpoint
    }

    /// Keeps the log short, after everybody has been told. What does not work now is tried again later.
    pub(super) fn checkpoint(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < LOG_PAGES {
            self.next_checkpoint = LOG_PAGES;
        }
        if pages < self.next_checkpoint {
            return;
        }
        self.next_checkpoint = pages + LOG_PAGES;
        self.begins_log = true;
        let _later = match pages < LOG_PAGES_MAX {
            true => connection::checkpoint(&mut self.connection),
            false => connection::cut_log(&mut self.connection),
        };
    }

    /// Leaves word for the next start that the file needs a thorough look.
    fn suspect(&self, damaged: bool) {
        if damaged {
            // Without the mark the damage is still reported, by every call that meets it.
            let _unmarked = crate::files::private_file_or_existing(&self.places.suspect);
        }
    }
}

/// Gives up a transaction in which work panicked: others would have to wait for it as long as this process lives.
struct RollBackOnPanic<'a>(&'a Connection);

impl Drop for RollBackOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.0.is_autocommit() {
            // Whoever waits is told by the panic itself.
            let _stays = say(self.0, "ROLLBACK");
        }
    }
}

const BEGIN: &str = "BEGIN IMMEDIATE";

fn say(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn gone() -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK);
    rusqlite::Error::SqliteFailure(error, Some("the transaction was rolled back".to_owned()))
}
