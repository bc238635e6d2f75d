//! What the store holds, how large it is, and whether it is sound.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use haft::{CallId, StoreError};
use rusqlite::Connection;

use crate::background::off_thread;
use crate::clock::now_ms;
use crate::connection;
use crate::fault::Fault;
use crate::files::Places;
use crate::leftovers;
use crate::store::Store;
use crate::sweep;

/// So many free pages (1 MiB) make it worthwhile to write the database anew.
const WORTHWHILE_PAGES: u64 = 256;

/// So much has to fit on the disk for the store to be said to work: a few outputs and the records of their calls.
const TRIAL_BYTES: usize = 256 << 10;

/// What a store holds and how large it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// The database file.
    pub database_bytes: u64,
    /// The database's log, which is part of it.
    pub log_bytes: u64,
    /// Images and documents within the database.
    pub media_bytes: u64,
    /// How many outputs are retained.
    pub outputs: u64,
    /// Their size.
    pub outputs_bytes: u64,
    /// What files held before and after changes, to undo them with.
    pub journal_bytes: u64,
    /// How many sessions there are.
    pub sessions: u64,
    /// How many calls there are.
    pub calls: u64,
    /// How many events there are.
    pub events: u64,
    /// How many grants are saved.
    pub grants: u64,
    /// How many outputs a sweep would remove now.
    pub sweepable: u64,
    /// Their size.
    pub sweepable_bytes: u64,
    /// How many files of outputs processes left behind that died.
    pub leftovers: u64,
    /// Their size.
    pub leftovers_bytes: u64,
    /// Databases that were damaged and set aside, with their sizes. Only a person removes them.
    pub set_aside: Vec<(PathBuf, u64)>,
}

impl Store {
    /// What the store holds and how large it is.
    pub fn usage(&self) -> Result<Usage, StoreError> {
        let places = &self.0.places;
        let size = |path: &std::path::Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        self.read("measure", |connection| {
            let plan = sweep::plan(connection, places, self.0.retention, now_ms())?;
            let leftovers = leftovers::find(places, &sweep::known(connection)?, now_ms())?;
            Ok(Usage {
                database_bytes: size(&places.database),
                log_bytes: size(&places.database_with("-wal")),
                media_bytes: number(connection, "SELECT coalesce(sum(length(bytes)), 0) FROM media")?,
                outputs: number(connection, "SELECT count(*) FROM output")?,
                outputs_bytes: number(connection, "SELECT coalesce(sum(bytes), 0) FROM output")?,
                journal_bytes: crate::images::total(connection)?,
                sessions: number(connection, "SELECT count(*) FROM session")?,
                calls: number(connection, "SELECT count(*) FROM call")?,
                events: number(connection, "SELECT count(*) FROM event")?,
                grants: number(connection, "SELECT count(*) FROM grant_")?,
                sweepable: plan.len() as u64,
                sweepable_bytes: plan.iter().map(|output| output.bytes).sum(),
                leftovers: leftovers.len() as u64,
                leftovers_bytes: leftovers.iter().map(|leftover| leftover.bytes).sum(),
                set_aside: self.set_aside()?,
            })
        })
    }

    /// Gives back to the disk what removed calls left behind in the database. Returns how much that was. Others may use
    /// the store meanwhile; they wait while the database is written anew.
    pub async fn compact(&self) -> Result<u64, StoreError> {
        let places = self.0.places.clone();
        let compacted = off_thread(move || {
            let size = || fs::metadata(&places.database).map_or(0, |metadata| metadata.len());
            let before = size();
            let mut connection = connection::open_writing(&places.database)?;
            let free: u64 = number(&connection, "PRAGMA freelist_count")?;
            if free >= WORTHWHILE_PAGES {
                connection.execute_batch("VACUUM")?;
                // The new database is in its log until nobody reads the old one.
                let _later = connection::cut_log_patiently(&mut connection);
            }
            Ok(before.saturating_sub(size()))
        });
        compacted.await.map_err(|fault| self.0.put("compact the database", fault))
    }

    /// What is wrong with the store, in words. Nothing, if it is sound. Reads all of it.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = self.read("check", |connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
            let said =
                statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            Ok(said.into_iter().filter(|line| line != "ok").collect::<Vec<_>>())
        })?;
        let outputs = &self.0.places.outputs;
        let missing = self.read("check the outputs", |connection| {
            let mut statement = connection.prepare("SELECT id FROM output")?;
            let ids =
                statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            let is_missing =
                |id: &String| !crate::outputs::path_of(outputs, id).is_some_and(|path| path.exists());
            Ok(ids.into_iter().filter(is_missing).collect::<Vec<_>>())
        })?;
        problems.extend(missing.into_iter().map(|id| format!("the file of the output {id} is missing")));
        Ok(problems)
    }

    /// Whether more can be written, found out by doing it: a full disk is not seen before something is written to it.
    ///
    /// # Errors
    /// With what the disk says, where it does not take a little more.
    pub fn try_writing(&self) -> Result<(), StoreError> {
        let Places { data, outputs, images, .. } = &self.0.places;
        // The journal has a directory once something large was kept; it may be elsewhere, by a link, or somebody else's.
        let directories = [data, outputs, images].into_iter().filter(|directory| directory.exists());
        directories.into_iter().try_for_each(|directory| {
            let what = || format!("nothing more can be written to {}", directory.display());
            let advice = |error: &io::Error| match error.kind() {
                io::ErrorKind::PermissionDenied => "see to its permissions",
                io::ErrorKind::ReadOnlyFilesystem => "its disk can only be read",
                _ => "make room on its disk",
            };
            write_trial(directory)
                .map_err(|error| StoreError::new(format!("{}; {}", what(), advice(&error)), error))
        })
    }

    fn set_aside(&self) -> Result<Vec<(PathBuf, u64)>, Fault> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0.places.data)?.filter_map(Result::ok) {
            let is_set_aside = entry.file_name().to_string_lossy().starts_with("haft.db.corrupt-");
            // One that a person removes just now is none any more.
            found.extend(entry.metadata().ok().filter(|_| is_set_aside).map(|now| (entry.path(), now.len())));
        }
        found.sort();
        Ok(found)
    }
}

/// Writes a file to the disk. Nothing is left of it, whatever happens.
fn write_trial(directory: &Path) -> io::Result<()> {
    // Another thread, or a process that another machine calls by the same number, may be trying too.
    let tried = directory.join(format!("trial-{}", CallId::mint()));
    let mut file = File::create_new(&tried)?;
    fs::remove_file(&tried)?;
    file.write_all(&vec![0; TRIAL_BYTES])?;
    file.sync_data()
}

fn number(connection: &Connection, query: &str) -> Result<u64, Fault> {
    Ok(connection.query_row(query, [], |row| row.get::<_, i64>(0))?.unsigned_abs())
}
