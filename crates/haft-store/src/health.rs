//! Whether the journal can still give back what it keeps, and which calls can no longer be undone where it cannot.

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft::{CallId, StoreError};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params};

use crate::fault::Fault;
use crate::files::Places;
use crate::images;
use crate::journal;
use crate::kept::{self, Kept, Trouble};
use crate::paths;
use crate::seal::keys::Keys;
use crate::store::Store;
use crate::writer::Durability;

/// So much is read of what is kept to find damage in it, the newest first.
const READ_BYTES_MAX: u64 = 64 << 20;

/// What is known of the journal's images.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalHealth {
    /// How many images there are. Of each it is known whether it is there, with its size and its key.
    pub images: u64,
    /// Their size.
    pub bytes: u64,
    /// How many of them were read to the end, the newest first.
    pub read: u64,
    /// Their size.
    pub read_bytes: u64,
    /// How many are not what was written.
    pub damaged: u64,
    /// How many are not there.
    pub missing: u64,
    /// How many are sealed with a key that is not there.
    pub key_lost: u64,
    /// How many paths, of those that hold a secret, are sealed with a key that is not there.
    pub paths_lost: u64,
    /// How many images the system does not let be read.
    pub unreadable: u64,
    /// The first that the system does not let be read, in words.
    pub first_unreadable: Option<String>,
    /// The calls that can therefore not be undone, or not altogether; the newest first. Those that are undone already are
    /// not among them.
    pub calls: Vec<CallId>,
    /// Where the key is, or should be.
    pub key: PathBuf,
}

impl JournalHealth {
    /// Whether all that is kept can be given back, as far as was looked.
    pub fn is_whole(&self) -> bool {
        self.troubled() == 0 && self.paths_lost == 0
    }

    /// Whether something is sealed with a key that is not there.
    pub fn needs_key(&self) -> bool {
        self.key_lost + self.paths_lost > 0
    }

    /// How many images cannot be read.
    pub fn troubled(&self) -> u64 {
        self.damaged + self.missing + self.key_lost + self.unreadable
    }

    /// What a person does who has a copy of a key that is gone.
    pub fn put_back(&self) -> String {
        kept::put_back(&self.key)
    }

    fn count(&mut self, trouble: &Trouble) {
        match trouble {
            Trouble::Damaged => self.damaged += 1,
            Trouble::Missing { .. } => self.missing += 1,
            Trouble::KeyLost { .. } => self.key_lost += 1,
            Trouble::Unreadable { .. } => {
                self.unreadable += 1;
                self.first_unreadable.get_or_insert_with(|| trouble.to_string());
            }
        }
    }
}

impl Store {
    /// Looks at everything that is kept to undo changes with, and reads the newest of it.
    pub fn journal_health(&self) -> Result<JournalHealth, StoreError> {
        let places = &self.0.places;
        self.read("look at the journal", |connection| {
            let mut health = JournalHealth { key: places.key.clone(), ..JournalHealth::default() };
            let mut calls = BTreeMap::new();
            for (kept, trouble) in look(connection, places, READ_BYTES_MAX, &mut health)? {
                health.count(&trouble);
                calls.extend(needing(connection, places, &kept.digest)?);
            }
            let lost = lost_paths(connection, places)?;
            health.paths_lost = lost.len() as u64;
            calls.extend(lost.into_iter().map(|lost| (lost.seq, lost.call)));
            health.calls = calls.into_values().rev().filter_map(|id| CallId::parse(&id).ok()).collect();
            Ok(health)
        })
    }

    /// How many images can be read by nobody any longer, since they are damaged, missing or sealed with a key that is
    /// gone; and their size. Reads all there are.
    pub fn unreadable_images(&self) -> Result<(u64, u64), StoreError> {
        let given_up = self.read("look at the journal", |connection| given_up(connection, &self.0.places))?;
        Ok((given_up.len() as u64, given_up.iter().map(|kept| kept.bytes).sum()))
    }

    /// Forgets the images that can be read by nobody any longer, and the paths that nobody can. Returns how many images, and
    /// their size.
    pub async fn forget_unreadable_images(&self) -> Result<(u64, u64), StoreError> {
        let found = self.read("look at the journal", |connection| given_up(connection, &self.0.places))?;
        let places = self.0.places.clone();
        let forgotten = self
            .write("forget what cannot be read", Durability::Process, move |connection| {
                let keys = Keys::of(&places)?;
                let (mut count, mut bytes) = (0, 0);
                for kept in found {
                    // Somebody may have kept it anew meanwhile.
                    let Some(kept) = kept::row(connection, &kept.digest)? else { continue };
                    // What a call under way needs may be on its way to the disk.
                    if images::is_needed_now(connection, &kept.digest)? {
                        continue;
                    }
                    if is_given_up(&kept.read(connection, &places, &keys)?) {
                        count += 1;
                        bytes += kept.bytes;
                        connection.execute("DELETE FROM image WHERE digest = ?1", [&kept.digest])?;
                    }
                }
                for lost in lost_paths(connection, &places)? {
                    let forget = "UPDATE intent SET sealed = NULL WHERE call = ?1 AND path = ?2";
                    connection.execute(forget, params![lost.call, lost.path])?;
                }
                Ok((count, bytes))
            })
            .await?;
        self.tidy_images()?;
        Ok(forgotten)
    }
}

/// The images that cannot be read, found by looking at each and by reading so much of them, the newest first.
fn look(
    connection: &Connection,
    places: &Places,
    read_bytes_max: u64,
    health: &mut JournalHealth,
) -> Result<Vec<(Kept, Trouble)>, Fault> {
    let keys = Keys::of(places)?;
    let mut statement =
        connection.prepare(&format!("SELECT {} FROM image ORDER BY used_ms DESC, digest", kept::COLUMNS))?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let kept = Kept::of(row)?;
        health.images += 1;
        health.bytes += kept.bytes;
        let mut looked = kept.glance(places, &keys);
        if looked.is_ok() && health.read_bytes.saturating_add(kept.bytes) <= read_bytes_max {
            health.read += 1;
            health.read_bytes += kept.bytes;
            looked = kept.read(connection, places, &keys)?;
        }
        if let Err(trouble) = looked {
            found.push((kept, trouble));
        }
    }
    Ok(found)
}

/// The images that nobody can read any longer.
fn given_up(connection: &Connection, places: &Places) -> Result<Vec<Kept>, Fault> {
    let found = look(connection, places, u64::MAX, &mut JournalHealth::default())?;
    Ok(found.into_iter().filter(|(_, trouble)| is_final(trouble)).map(|(kept, _)| kept).collect())
}

fn is_given_up(looked: &Result<(), Trouble>) -> bool {
    looked.as_ref().is_err_and(is_final)
}

/// Whether nothing that a person can set right in place stands in the way.
fn is_final(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Damaged | Trouble::Missing { .. } | Trouble::KeyLost { .. } => true,
        Trouble::Unreadable { .. } => false,
    }
}

/// The calls that need an image to be undone and are not undone already, by their places in the record.
fn needing(connection: &Connection, places: &Places, digest: &str) -> Result<Vec<(i64, String)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT call.seq, call.id, intent.path, call.state = 'completed'
         FROM intent JOIN call ON call.id = intent.call
         WHERE intent.before = ?1 AND call.state IN ('completed', 'error')",
    )?;
    let mut rows = statement.query([digest])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, id, path) = (row.get(0)?, row.get::<_, String>(1)?, row.get(2)?);
        // A call that failed may have changed nothing.
        let was_made = row.get::<_, bool>(3)? || journal::is_made_at(connection, places, &id, &path)?;
        if was_made && journal::undone_by(connection, places, &id, &path, 0)?.is_none() {
            found.push((seq, id));
        }
    }
    Ok(found)
}

/// A change of a file whose path is sealed with a key that is not there.
struct LostPath {
    seq: i64,
    call: String,
    path: SqlValue,
}

/// The changes of files whose paths are lost, as long as what these held is kept.
fn lost_paths(connection: &Connection, places: &Places) -> Result<Vec<LostPath>, Fault> {
    let mut statement = connection.prepare(
        "SELECT call.seq, call.id, intent.path, intent.sealed FROM intent JOIN call ON call.id = intent.call
         WHERE intent.sealed IS NOT NULL AND call.state IN ('completed', 'error')
           AND EXISTS (SELECT 1 FROM image WHERE digest = intent.before OR digest = intent.after)",
    )?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if paths::exact(row.get_ref(2)?, row.get(3)?, places)?.is_relative() {
            found.push(LostPath { seq: row.get(0)?, call: row.get(1)?, path: row.get(2)? });
        }
    }
    Ok(found)
}
