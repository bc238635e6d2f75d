//! The store itself: what it is made of, how it is opened, how it is closed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft::{CallId, Restorer, StoreError};
use rusqlite::Connection;

use crate::connection::Reader;
use crate::fault::Fault;
use crate::files::Places;
use crate::mark::Mark;
use crate::open::{self, Notice, OpenError};
use crate::process::{self, Process};
use crate::redact::Redactor;
use crate::shelf::Whole;
use crate::writer::{Durability, Writer};
use crate::{kept, reconcile, sweep};

/// What a store is opened with.
#[derive(Clone)]
pub struct StoreOptions {
    /// The directory that holds everything. It is made if there is none.
    pub data_dir: PathBuf,
    /// The project whose sessions and grants these are.
    pub project: String,
    /// The directory that new sessions work in.
    pub directory: String,
    /// Takes secrets out of whatever is written.
    pub redactor: Redactor,
    /// How long outputs are kept, and how many.
    pub retention: Retention,
    /// How much is kept to undo changes with.
    pub journal: JournalBounds,
    /// Puts back what calls of dead processes had changed half-way.
    pub restorer: Arc<dyn Restorer>,
}

/// How much is kept to undo changes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalBounds {
    /// What was used last longer ago goes.
    pub days: u32,
    /// Beyond this total, what was used longest ago goes.
    pub bytes: u64,
}

impl Default for JournalBounds {
    fn default() -> JournalBounds {
        JournalBounds { days: 30, bytes: 1 << 30 }
    }
}

/// How long retained outputs are kept, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Older ones may be swept.
    pub days: u32,
    /// Beyond this total, the oldest may be swept.
    pub total_bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 7, total_bytes: 1 << 30 }
    }
}

/// Keeps everything, durably. Cloning it is cheap; dropping the last one waits until everything is written.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    /// First, so that it is dropped first: this process counts as alive until everything is written.
    pub(crate) writer: Writer,
    pub(crate) reader: Arc<Reader>,
    pub(crate) process: Process,
    pub(crate) places: Places,
    pub(crate) project: String,
    pub(crate) directory: String,
    pub(crate) redactor: Redactor,
    pub(crate) retention: Retention,
    pub(crate) journal: JournalBounds,
    pub(crate) restorer: Arc<dyn Restorer>,
    /// Calls that are about to change something; their ends go to the disk.
    acting: Mutex<HashSet<CallId>>,
    pub(crate) whole: Whole,
}

impl Store {
    /// Opens the store in a directory and reconciles the calls of processes that died. The notices are for people.
    pub fn open(options: StoreOptions) -> Result<(Store, Vec<Notice>), OpenError> {
        let places = Places::in_dir(&options.data_dir);
        open::make_directories(&places)?;
        let process = Process::begin(&places.run)
            .map_err(|source| OpenError::Directory { path: places.run.clone(), source })?;
        let (connection, notices) = prepared(&places, &*options.restorer)?;

        // Leftovers that stay do no harm; the next start tries again.
        let _stay = process::clear_stale(&places.run);
        let chore = sweep::due(&connection, &places, options.retention, options.journal);
        let reader = Arc::new(Reader::new(places.database.clone()));
        let warm_up = {
            let reader = reader.clone();
            move || reader.warm_up()
        };
        let writer = Writer::start(connection, places.clone(), warm_up, chore)
            .map_err(|source| OpenError::Directory { path: places.data.clone(), source })?;
        let shared = Shared {
            writer,
            reader,
            process,
            places,
            project: options.project,
            directory: options.directory,
            redactor: options.redactor,
            retention: options.retention,
            journal: options.journal,
            restorer: options.restorer,
            acting: Mutex::default(),
            whole: Whole::default(),
        };
        Ok((Store(Arc::new(shared)), notices))
    }

    /// Takes no more work, waits until everything is written, and gives up this process's claim on its calls.
    pub async fn close(&self) {
        self.0.writer.close().await;
        self.0.process.end();
    }

    /// What takes secrets out of everything that is kept, and may be told of more of them.
    pub fn redactor(&self) -> Redactor {
        self.0.redactor.clone()
    }

    /// The data directory.
    pub fn data_dir(&self) -> &Path {
        &self.0.places.data
    }

    /// Writes, and puts what goes wrong into words. What is done here or queued is so at once, in the order of the calls.
    pub(crate) fn write<T, W>(
        &self,
        what: &'static str,
        durability: Durability,
        work: W,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let shared = self.0.clone();
        let outcome = shared.writer.write(durability, work);
        async move { outcome.await.map_err(|fault| shared.put(what, fault)) }
    }

    /// Reads, and puts what goes wrong into words.
    pub(crate) fn read<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.0.reader.read(work).map_err(|fault| self.0.put(what, fault))
    }

    /// Notes that a call changes something from now on.
    pub(crate) fn note_acting(&self, call: &CallId) {
        self.0.acting().insert(call.clone());
    }

    /// What the end of a call must survive. Asking ends the note.
    pub(crate) fn durability_of_end(&self, call: &CallId) -> Durability {
        match self.0.acting().remove(call) {
            true => Durability::Disk,
            false => Durability::Brief,
        }
    }
}

impl Shared {
    fn acting(&self) -> std::sync::MutexGuard<'_, HashSet<CallId>> {
        self.acting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, what: &str, fault: Fault) -> StoreError {
        if fault.is_damage() {
            // Without the mark the damage is reported all the same.
            let _unmarked = open::mark_suspect(&self.places);
        }
        fault.into_error(format!("could not {what} in {}", self.places.database.display()))
    }
}

/// Opens the database and reconciles. A database that turns out damaged on the way is looked at again, thoroughly.
fn prepared(places: &Places, restorer: &dyn Restorer) -> Result<(Connection, Vec<Notice>), OpenError> {
    let failed = |fault: Fault| OpenError::Reconcile {
        path: places.database.clone(),
        source: fault.into_error("could not settle the calls of dead processes".to_owned()),
    };
    let (mut connection, mut notices) = open::database(places)?;
    let shrunk = Mark::open(places).check(&connection, places);
    notices.extend(shrunk.map_err(|error| failed(error.into()))?);
    // What is damaged is found by what follows, too.
    notices.extend(kept::missed_key(&connection, places).ok().flatten());
    match reconcile::all(&mut connection, places, restorer) {
        Ok(unknown) => {
            notices.extend(unknown);
            Ok((connection, notices))
        }
        Err(fault) if fault.is_damage() => {
            drop(connection);
            open::mark_suspect(places)?;
            let (mut connection, notices) = open::database(places)?;
            reconcile::all(&mut connection, places, restorer).map_err(failed)?;
            Ok((connection, notices))
        }
        Err(fault) => Err(failed(fault)),
    }
}
