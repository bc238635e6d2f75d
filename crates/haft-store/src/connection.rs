//! Connections to the database: how they are opened, how long they wait for others, how the log is kept short.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::fault::Fault;

/// How long a connection waits for other processes.
const WAIT: Duration = Duration::from_secs(15);
/// The first wait, by which each further one is longer, up to the longest.
const WAIT_STEP: Duration = Duration::from_micros(250);
const WAIT_STEPS_MAX: u32 = 40;
/// How much of the log file is left on the disk when it is started over.
const LOG_BYTES_MAX: i64 = 16 << 20;
/// Statements that are kept prepared.
const STATEMENTS: usize = 64;

/// Opens the database for reading and writing. The file must exist.
pub(crate) fn open_writing(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    patient(&mut connection)?;
    // The log is brought into the database after commits, not within them.
    connection.execute_batch("PRAGMA wal_autocheckpoint = 0")?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    Ok(connection)
}

/// Opens the database for reading.
pub(crate) fn open_reading(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    patient(&mut connection)?;
    Ok(connection)
}

fn open(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Closing the last connection would bring the log into the database, with an fsync that nobody needs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement is planned anew for each value that it is given, in case a table says something about it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Waits for other processes in short steps: they hold the lock for the time of a commit.
fn patient(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|tries: i32| {
        let tries = u32::try_from(tries).unwrap_or(u32::MAX);
        let goes_on = waited(tries) < WAIT;
        if goes_on {
            std::thread::sleep(step(tries));
        }
        goes_on
    }))
}

fn step(tries: u32) -> Duration {
    WAIT_STEP * (tries.min(WAIT_STEPS_MAX - 1) + 1)
}

/// How long so many tries have waited.
fn waited(tries: u32) -> Duration {
    let growing = tries.min(WAIT_STEPS_MAX);
    WAIT_STEP * (growing * (growing + 1) / 2) + WAIT_STEP * WAIT_STEPS_MAX * (tries - growing)
}

/// Brings the log into the database as far as that disturbs nobody.
pub(crate) fn checkpoint(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE).map(drop)
}

/// Brings all of the log into the database and cuts it, unless that would have to wait for somebody.
pub(crate) fn cut_log(connection: &mut Connection) -> rusqlite::Result<()> {
    waiting_for_nobody(connection, cut)
}

/// Does something that fails where it would have to wait for other processes.
pub(crate) fn waiting_for_nobody<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    connection.busy_timeout(Duration::ZERO)?;
    let done = work(connection);
    patient(connection)?;
    done
}

/// The same, and waits for others as every write does. Whoever else is bringing the log in just now is waited for here:
/// SQLite's own waiting is only for those who read and write.
pub(crate) fn cut_log_patiently(connection: &mut Connection) -> rusqlite::Result<()> {
    for tries in 0.. {
        match cut(connection) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited(tries) < WAIT =>
            {
                std::thread::sleep(step(tries));
            }
            ended => return ended,
        }
    }
    Ok(())
}

fn cut(connection: &Connection) -> rusqlite::Result<()> {
    connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::TRUNCATE).map(drop)
}

/// A connection for reading, opened when it is first needed. Reads take microseconds and wait for no writer.
pub(crate) struct Reader {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Reader {
    pub(crate) fn new(path: PathBuf) -> Reader {
        Reader { path, connection: Mutex::new(None) }
    }

    /// Opens the connection and reads the schema, before somebody waits for it.
    pub(crate) fn warm_up(&self) {
        // Whoever reads first opens it, and is told what is wrong.
        let _later = self.read(|view| Ok(view.prepare("SELECT 1 FROM sqlite_schema").map(drop)?));
    }

    /// Reads in one view of the database.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut place = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match &mut *place {
            Some(connection) => connection,
            empty => empty.insert(open_reading(&self.path)?),
        };
        let view = connection.unchecked_transaction()?;
        let result = work(&view)?;
        view.finish()?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_adds_up_to_the_whole_wait() {
        let tries = (0..).find(|tries| waited(*tries) >= WAIT).unwrap();
        let total: Duration = (0..tries).map(step).sum();
        assert_eq!(total, waited(tries));
        assert!(total < WAIT + step(tries));
    }
}
