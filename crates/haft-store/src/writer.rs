//! The way to the database for whoever writes.
//!
//! One thread waits for the disk. Whatever is queued when it looks is committed as one transaction, so that many callers
//! share one fsync; each piece of work has a savepoint, so that one that fails spoils nothing for the others. What is
//! brief and costs no fsync is done at once by whoever wants it, if nobody else is writing: to wake a thread and to be
//! woken by it takes longer.

mod desk;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::fault::Fault;
use crate::files::Places;
use desk::{Desk, Job};

/// How much is committed at once.
const BATCH_MAX: usize = 256;
/// How long nothing must have been asked before the writer cleans up.
const IDLE: Duration = Duration::from_millis(250);

/// What a commit must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The death of the process, by so little work that whoever wants it does it here and now, if nobody has to be waited
    /// for. This costs no fsync.
    Brief,
    /// The death of the process. This costs no fsync either.
    Process,
    /// The loss of power.
    Disk,
}

/// Work that may wait until nobody else wants something.
pub(crate) type Chore = Box<dyn FnOnce(&mut Connection) + Send>;

/// The way to the database. Dropping it waits until everything queued is written.
pub(crate) struct Writer {
    /// Whoever holds it writes. It is poisoned by a panic, and then nothing is written any more.
    desk: Arc<Mutex<Desk>>,
    /// Unbounded, because whoever queues waits for the outcome, except for one word per dropped call or request.
    queue: Mutex<Option<Sender<Errand>>>,
    /// How many jobs are queued and not done; none is overtaken.
    queued: Arc<AtomicUsize>,
    thread: Mutex<Option<JoinHandle<()>>>,
    alive: watch::Receiver<()>,
}

/// What the thread is asked for.
enum Errand {
    Job(Job),
    /// To shorten the log.
    Checkpoint,
}

impl Writer {
    /// Starts the thread. `first` is what it does before it looks for work; `chore` is done once, when there is nothing else
    /// to do or at the end.
    pub(crate) fn start(
        connection: Connection,
        places: Places,
        first: impl FnOnce() + Send + 'static,
        chore: Option<Chore>,
    ) -> std::io::Result<Writer> {
        let (queue, errands) = channel();
        let (life, alive) = watch::channel(());
        let desk = Arc::new(Mutex::new(Desk::new(connection, places)));
        let queued = Arc::new(AtomicUsize::new(0));
        let thread = std::thread::Builder::new().name("haft-store".to_owned()).spawn({
            let worker = Worker { desk: desk.clone(), queued: queued.clone() };
            move || {
                let _life = life;
                first();
                worker.work(&errands, chore);
            }
        })?;
        let (queue, thread) = (Mutex::new(Some(queue)), Mutex::new(Some(thread)));
        Ok(Writer { desk, queue, queued, thread, alive })
    }

    /// Does work in its turn, and waits for its outcome. What is queued is done even if nobody waits any more.
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
        let job = Job::new(durability, work, move |result| {
            // Whoever asked may have been dropped; the work is done all the same.
            let _unheard = tell.send(result);
        });
        let left = match durability {
            Durability::Brief => self.try_here(job),
            Durability::Process | Durability::Disk => Some(job),
        };
        if let Some(job) = left {
            self.queue(job);
        }
        async move { outcome.await.unwrap_or(Err(Fault::Closed)) }
    }

    /// Queues work that nobody waits for.
    pub(crate) fn post(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<(), Fault> + Send + 'static,
    ) {
        self.queue(Job::new(durability, work, |_| {}));
    }

    /// Takes no more work, and waits until what was queued is done. The connection goes with the last writer.
    pub(crate) async fn close(&self) {
        self.shut();
        let mut alive = self.alive.clone();
        while alive.changed().await.is_ok() {}
    }

    /// Does a job on this thread. Gives it back if somebody else is writing or about to.
    fn try_here(&self, job: Job) -> Option<Job> {
        // What this thread has queued before is counted, so nothing of one caller changes places.
        if self.queued.load(Ordering::Acquire) > 0 {
            return Some(job);
        }
        let Ok(mut desk) = self.desk.try_lock() else { return Some(job) };
        // Whoever closes waits for the desk, so that nothing is written behind their back.
        if self.is_shut() {
            return Some(job);
        }
        let done = catch_unwind(AssertUnwindSafe(move || {
            let done = desk.settle_at_once(job);
            (done, desk.is_checkpoint_due())
        }));
        // The thread would have died of a panic; whoever waits for it is told the same.
        let (done, is_checkpoint_due) = done.ok()?;
        if is_checkpoint_due {
            self.send(Errand::Checkpoint);
        }
        done.map(desk::Done::tell).err()
    }

    fn queue(&self, job: Job) {
        self.queued.fetch_add(1, Ordering::AcqRel);
        self.send(Errand::Job(job));
    }

    /// What cannot be sent is dropped, and with it the sender whoever waits listens to.
    fn send(&self, errand: Errand) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = &*queue {
            let _closed = queue.send(errand);
        }
    }

    fn is_shut(&self) -> bool {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).is_none()
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

/// The thread that waits for the disk.
struct Worker {
    desk: Arc<Mutex<Desk>>,
    queued: Arc<AtomicUsize>,
}

impl Worker {
    fn work(&self, errands: &Receiver<Errand>, mut chore: Option<Chore>) {
        let mut stirred = 0;
        loop {
            let next = match chore.is_some() {
                true => errands.recv_timeout(IDLE),
                false => errands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if let Ok(errand) = next {
                let mut jobs = Vec::new();
                for errand in std::iter::once(errand).chain(errands.try_iter().take(BATCH_MAX - 1)) {
                    match errand {
                        Errand::Job(job) => jobs.push(job),
                        Errand::Checkpoint => {}
                    }
                }
                self.settle(jobs);
                continue;
            }
            // Poisoned, it is of no use to anybody.
            let Ok(mut desk) = self.desk.lock() else { return };
            let is_over = next.is_err_and(|why| why == RecvTimeoutError::Disconnected);
            let is_quiet = std::mem::replace(&mut stirred, desk.stirred) == desk.stirred;
            if let Some(chore) = chore.take_if(|_| is_over || is_quiet) {
                desk.clean(chore);
            }
            if is_over {
                return;
            }
        }
    }

    fn settle(&self, jobs: Vec<Job>) {
        let settled = jobs.len();
        if settled > 0 {
            let done = self.desk.lock().ok().map(|mut desk| desk.settle(jobs));
            // Whoever is told may want to write more, and need not queue for it.
            self.queued.fetch_sub(settled, Ordering::AcqRel);
            if let Some(done) = done {
                done.tell();
            }
        }
        if let Ok(mut desk) = self.desk.lock() {
            desk.checkpoint();
        }
    }
}

#[cfg(test)]
mod tests;
