//! The one thread that writes. Whatever is queued when it looks is committed as one transaction, so that many callers
//! share one fsync; each piece of work has a savepoint, so that one that fails spoils nothing for the others.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::connection;
use crate::fault::{Fault, is_damage};
use crate::files::Places;
use crate::mark::Mark;

/// How much is committed at once.
const BATCH_MAX: usize = 256;
/// How long nothing must have been asked before the writer cleans up.
const IDLE: Duration = Duration::from_millis(250);
/// From this length of its log on, the database is brought up to date after a commit.
const LOG_PAGES: i32 = 1024;
/// From this length on, the log is also cut (16 MiB).
const LOG_PAGES_MAX: i32 = 4096;

/// What a commit must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The death of the process. This costs no fsync.
    Process,
    /// The loss of power.
    Disk,
}

/// Work that may wait until nobody else wants something.
pub(crate) type Chore = Box<dyn FnOnce(&mut Connection) + Send>;

/// The way to the writing thread. Dropping it waits until everything queued is written.
pub(crate) struct Writer {
    /// Unbounded, because whoever queues waits for the outcome, except for one word per dropped call or request.
    queue: Mutex<Option<Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    alive: watch::Receiver<()>,
}

impl Writer {
    /// Starts the thread. `chore` is done once, when there is nothing else to do or at the end.
    pub(crate) fn start(
        connection: Connection,
        places: Places,
        chore: Option<Chore>,
    ) -> std::io::Result<Writer> {
        let (queue, jobs) = channel();
        let (life, alive) = watch::channel(());
        let thread = std::thread::Builder::new().name("haft-store".to_owned()).spawn(move || {
            let _life = life;
            Desk::new(connection, places).work(&jobs, chore);
        })?;
        Ok(Writer { queue: Mutex::new(Some(queue)), thread: Mutex::new(Some(thread)), alive })
    }

    /// Queues work and waits for its outcome. What is queued is done even if nobody waits any more.
    pub(crate) fn write<T, W>(
        &self,
        durability: Durability,
        work: W,
    ) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (tell, outcome) = oneshot::channel();
        self.queue(durability, work, move |result| {
            // Whoever asked may have been dropped; the work is done all the same.
            let _unheard = tell.send(result);
        });
        async move { outcome.await.unwrap_or(Err(Fault::Closed)) }
    }

    /// Queues work that nobody waits for.
    pub(crate) fn post(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<(), Fault> + Send + 'static,
    ) {
        self.queue(durability, work, |_| {});
    }

    /// Takes no more work, and waits until what was queued is done.
    pub(crate) async fn close(&self) {
        self.shut();
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }

    fn queue<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
        tell: impl FnOnce(Result<T, Fault>) + Send + 'static,
    ) {
        let task = Box::new(Typed { work: Some(work), result: None, tell });
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // A job that cannot be queued is dropped, and with it the sender its caller listens to.
        if let Some(queue) = &*queue {
            let _closed = queue.send(Job { durability, task });
        }
    }

    fn shut(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shut();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A panic of the writer has failed every job it touched; there is nobody left to tell.
            let _panicked = thread.join();
        }
    }
}

struct Job {
    durability: Durability,
    task: Box<dyn Task>,
}

/// A piece of work and whoever waits for its outcome.
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

/// Where the writing is done.
struct Desk {
    connection: Connection,
    places: Places,
    durability: Option<Durability>,
    log_pages: Arc<AtomicI32>,
    next_checkpoint: i32,
    mark: Mark,
}

impl Desk {
    fn new(mut connection: Connection, places: Places) -> Desk {
        let log_pages = Arc::new(AtomicI32::new(0));
        let pages = log_pages.clone();
        let hooked = connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, length| {
            pages.store(length, Ordering::Relaxed);
            Ok(())
        }));
        drop(hooked); // Without the hook the log only grows; the next process cuts it.
        let mark = Mark::open(&places);
        Desk { connection, places, durability: None, log_pages, next_checkpoint: LOG_PAGES, mark }
    }

    fn work(&mut self, jobs: &Receiver<Job>, mut chore: Option<Chore>) {
        loop {
            let next = match chore.is_some() {
                true => jobs.recv_timeout(IDLE),
                false => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(job) => {
                    let mut batch = vec![job];
                    batch.extend(jobs.try_iter().take(BATCH_MAX - 1));
                    self.settle(batch);
                    self.checkpoint();
                }
                Err(RecvTimeoutError::Timeout) => self.clean(chore.take()),
                Err(RecvTimeoutError::Disconnected) => return self.clean(chore.take()),
            }
        }
    }

    fn clean(&mut self, chore: Option<Chore>) {
        if let Some(chore) = chore {
            // A chore is never worth an fsync; if even this is refused, so will be the chore.
            let _refused = self.harden(Durability::Process);
            chore(&mut self.connection);
        }
    }

    fn settle(&mut self, mut batch: Vec<Job>) {
        let committed = self.commit(&mut batch).map_err(|error| {
            self.suspect(is_damage(&error));
            Arc::new(error)
        });
        self.mark.note(&self.connection);
        for job in batch {
            job.task.tell(committed.clone());
        }
    }

    fn commit(&mut self, batch: &mut [Job]) -> rusqlite::Result<()> {
        let to_disk = batch.iter().any(|job| job.durability == Durability::Disk);
        self.harden(if to_disk { Durability::Disk } else { Durability::Process })?;
        self.say("BEGIN IMMEDIATE")?;
        let done = self.run_all(batch).and_then(|()| self.say("COMMIT"));
        if done.is_err() && !self.connection.is_autocommit() {
            self.say("ROLLBACK")?;
        }
        done
    }

    fn run_all(&mut self, batch: &mut [Job]) -> rusqlite::Result<()> {
        for job in batch {
            self.say("SAVEPOINT job")?;
            let outcome = job.task.run(&self.connection);
            let failed = outcome.is_err();
            let damaged = outcome.is_err_and(Fault::is_damage);
            self.suspect(damaged);
            // Some errors, a full disk among them, undo the whole transaction; then nothing of it may be told as done.
            if self.connection.is_autocommit() {
                return Err(gone());
            }
            if failed {
                self.say("ROLLBACK TO job")?;
            }
            self.say("RELEASE job")?;
        }
        Ok(())
    }

    /// Sets what the next commit survives. SQLite takes this only between transactions.
    fn harden(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.durability != Some(durability) {
            self.connection.execute_batch(match durability {
                Durability::Process => "PRAGMA synchronous = NORMAL",
                Durability::Disk => "PRAGMA synchronous = FULL",
            })?;
            self.durability = Some(durability);
        }
        Ok(())
    }

    /// Keeps the log short, after everybody has been told. What does not work now is tried again later.
    fn checkpoint(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        if pages < LOG_PAGES {
            self.next_checkpoint = LOG_PAGES;
        }
        if pages < self.next_checkpoint {
            return;
        }
        self.next_checkpoint = pages + LOG_PAGES;
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

    fn say(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }
}

fn gone() -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK);
    rusqlite::Error::SqliteFailure(error, Some("the transaction was rolled back".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn what_is_queued_while_the_writer_is_busy_is_committed_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut connection = Connection::open(dir.path().join("x.db")).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE number (n INTEGER UNIQUE)")
            .unwrap();
        let commits = Arc::new(AtomicUsize::new(0));
        let counter = commits.clone();
        let hook = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            false
        };
        connection.commit_hook(Some(hook)).unwrap();
        let writer = Writer::start(connection, Places::in_dir(dir.path()), None).unwrap();

        let insert = |n: i64| {
            move |connection: &Connection| Ok(connection.execute("INSERT INTO number VALUES (?1)", [n])?)
        };
        let (release, wait) = channel::<()>();
        let (begun, has_begun) = channel::<()>();
        let first = writer.write(Durability::Process, move |connection| {
            begun.send(()).unwrap();
            wait.recv().unwrap();
            insert(0)(connection)
        });
        has_begun.recv().unwrap();
        let queued: Vec<_> = (1..=20).map(|n| writer.write(Durability::Disk, insert(n))).collect();
        let twice = writer.write(Durability::Disk, insert(7));
        release.send(()).unwrap();

        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            first.await.unwrap();
            for outcome in queued {
                assert_eq!(outcome.await.unwrap(), 1);
            }
            assert!(twice.await.is_err(), "the one that fails is told so, and spoils nothing");
        });
        assert_eq!(commits.load(Ordering::Relaxed), 2);
        drop(writer);
        let connection = Connection::open(dir.path().join("x.db")).unwrap();
        let rows: i64 = connection.query_row("SELECT count(*) FROM number", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 21);
    }
}
