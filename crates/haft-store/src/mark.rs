//! A mark beside the database: how far the record had come.
//!
//! SQLite takes the log of a database as far as it is sound and forgets the rest without a word. A record that lost its
//! end that way, or whose log was taken away, is found out because it has fallen behind its mark.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension};

use crate::clock::now_ms;
use crate::files::{self, Places};
use crate::open::Notice;

/// The mark of one store. Where it cannot be kept nothing is noticed, and nothing else fails.
pub(crate) struct Mark {
    file: Option<File>,
    reached: u64,
}

impl Mark {
    pub(crate) fn open(places: &Places) -> Mark {
        Mark { file: files::private_file_or_existing(&places.mark).ok(), reached: 0 }
    }

    /// Notes how far the record has come, after a commit.
    pub(crate) fn note(&mut self, connection: &Connection) {
        if let (Some(file), Ok(now)) = (&self.file, last(connection))
            && now > self.reached
        {
            self.reached = now;
            // A mark that stays behind notices less; that is all.
            let _behind = file.write_all_at(&now.to_le_bytes(), 0);
        }
    }

    /// Whether the record has fallen behind. Must be asked before anything is written: what is left of the log is kept
    /// for a person to look at.
    pub(crate) fn check(
        &mut self,
        connection: &Connection,
        places: &Places,
    ) -> rusqlite::Result<Option<Notice>> {
        // The mark is read first: whoever moves it on has committed before.
        let Some(marked) = self.marked() else { return Ok(None) };
        let reached = last(connection)?;
        if reached >= marked {
            return Ok(None);
        }
        let log = places.database_with("-wal");
        let kept = places.database_with(&format!("-wal.damaged-{}", now_ms()));
        let kept: Option<PathBuf> = fs::copy(&log, &kept).is_ok().then_some(kept);
        if let Some(file) = &self.file {
            let _stays = file.write_all_at(&reached.to_le_bytes(), 0);
        }
        Ok(Some(Notice::Shrunk { file: places.database.clone(), lost: marked - reached, kept }))
    }

    /// How many events there had been, if that is known.
    pub(crate) fn marked(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.as_ref()?.read_exact_at(&mut bytes, 0).ok()?;
        Some(u64::from_le_bytes(bytes))
    }
}

/// The place of the last event there ever was, also if it has been removed.
fn last(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'event'")?;
    let last: Option<i64> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0).unsigned_abs())
}
