//! Opening: a new store is made, an older one migrated, a damaged one set aside, a newer one left alone.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use haft::{CallId, SessionId};
use rusqlite::Connection;

use crate::clock::now_ms;
use crate::connection;
use crate::fault::is_damage;
use crate::files::{self, Places};
use crate::kept;
use crate::mark::Mark;
use crate::migrate::{MIGRATIONS, Schema, migrate, schema, written_by};

/// How long one process waits while another creates, migrates or sets aside.
const OPENING_WAIT: Duration = Duration::from_secs(30);

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory cannot be used.
    #[error("could not use {path} to keep the record in")]
    Directory {
        /// The directory or file that could not be made or opened.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The database cannot be used.
    #[error("could not open the store {path}")]
    Database {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The database was written by a newer haft.
    #[error(
        "the store {path} has schema {found}, written by haft {by}, and this haft knows only schema {known}; \
         use that version or newer, or another data directory"
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema that this version knows.
        known: u32,
        /// The version of haft that wrote it.
        by: String,
    },
    /// The database belongs to another program.
    #[error("{path} is a database of another program; move it away, or use another data directory")]
    Foreign {
        /// The database file.
        path: PathBuf,
    },
    /// The database is damaged and could not be moved out of the way.
    #[error("the store {path} is damaged and could not be set aside")]
    NotSetAside {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What calls of dead processes did could not be found out.
    #[error("the interrupted calls in {path} could not be reconciled")]
    Reconcile {
        /// The database file.
        path: PathBuf,
        /// Why.
        #[source]
        source: haft::StoreError,
    },
}

/// Something that opening had to put right, and that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The database was damaged and was moved out of the way.
    SetAside {
        /// Where it was.
        file: PathBuf,
        /// Where it is now.
        kept: PathBuf,
        /// What was wrong with it.
        why: String,
    },
    /// The record lost its end: its log was damaged, taken away, or not yet on the disk when the power failed.
    Shrunk {
        /// The database.
        file: PathBuf,
        /// How many events are missing.
        lost: u64,
        /// What is left of the log, for a person to look at.
        kept: Option<PathBuf>,
    },
    /// The key that what files held is sealed with is gone.
    KeyLost {
        /// Where it was.
        key: PathBuf,
    },
    /// A process died, and whether its call changed what it was about to change is unknown.
    OutcomeUnknown {
        /// The call.
        call: CallId,
        /// Its session.
        session: SessionId,
        /// Its tool.
        tool: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::SetAside { file, kept, why } => write!(
                f,
                "the store {} was damaged ({why}) and a new one was begun; the old one is kept as {}",
                file.display(),
                kept.display()
            ),
            Notice::Shrunk { file, lost, kept } => {
                write!(f, "the store {} lost its last {lost} events", file.display())?;
                match kept {
                    Some(kept) => write!(f, "; what is left of its log is kept as {}", kept.display()),
                    None => Ok(()),
                }
            }
            Notice::KeyLost { key } => write!(
                f,
                "the key {} is gone, and without it changes made until now cannot be undone: put it back from a \
                 backup; `haft doctor` says which calls that concerns, and new ones are kept with a new key",
                key.display()
            ),
            Notice::OutcomeUnknown { call, tool, .. } => write!(
                f,
                "{} {call} was interrupted, and whether it took effect is unknown; look before you repeat it",
                haft::visible(tool)
            ),
        }
    }
}

/// Makes the directories of a store.
pub(crate) fn make_directories(places: &Places) -> Result<(), OpenError> {
    for path in [&places.data, &places.outputs, &places.run] {
        files::private_dir(path).map_err(|source| OpenError::Directory { path: path.clone(), source })?;
    }
    Ok(())
}

/// Opens the database for writing, with the newest schema.
pub(crate) fn database(places: &Places) -> Result<(Connection, Vec<Notice>), OpenError> {
    let settled = places.database.exists() && !places.suspect.exists();
    if settled
        && let Ok(connection) = connection::open_writing(&places.database)
        && let Ok(Schema::Version(version)) = schema(&connection)
        && version as usize == MIGRATIONS.len()
    {
        return Ok((connection, Vec::new()));
    }
    let _alone = alone(places)?;
    prepare(places)
}

/// Creates, migrates or sets aside. Nobody else does so meanwhile, so whatever is found is still true when acted on.
fn prepare(places: &Places) -> Result<(Connection, Vec<Notice>), OpenError> {
    let failed = |source| OpenError::Database { path: places.database.clone(), source };
    let found = match places.suspect.exists() {
        true => thorough_look(places).and_then(|()| ready(places)),
        false => ready(places),
    };
    let damage = match found {
        Ok(outcome) => return outcome.map(|connection| (connection, Vec::new())),
        Err(error) if is_damage(&error) => error,
        Err(error) => return Err(failed(error)),
    };
    let kept = set_aside(places)
        .map_err(|source| OpenError::NotSetAside { path: places.database.clone(), source })?;
    let notice = Notice::SetAside { file: places.database.clone(), kept, why: damage.to_string() };
    let connection = ready(places).map_err(failed)??;
    Ok((connection, vec![notice]))
}

/// Opens a database that is ready for use, or says why it is none of ours. An error may mean damage.
fn ready(places: &Places) -> rusqlite::Result<Result<Connection, OpenError>> {
    let path = || places.database.clone();
    if let Err(source) = make_file(places) {
        return Ok(Err(OpenError::Directory { path: path(), source }));
    }
    let had_record = Mark::open(places).marked().is_some_and(|events| events > 0);
    let mut connection = connection::open_writing(&places.database)?;
    let known = MIGRATIONS.len() as u32;
    match schema(&connection)? {
        Schema::Version(version) if version == known => {}
        Schema::Version(found) if found > known => {
            let by = written_by(&connection).unwrap_or_else(|| "of an unknown version".to_owned());
            return Ok(Err(OpenError::Newer { path: path(), found, known, by }));
        }
        Schema::Nothing if had_record => {
            return Err(damaged("the database is empty, and there was a record"));
        }
        Schema::Version(_) | Schema::Nothing => {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            migrate(&mut connection, MIGRATIONS)?;
            // Without it, what is lost with the key is told as damaged; that is all.
            let _unnoted = kept::note_key(&connection, places);
            // The schema goes to the database itself, so that no damage to the log can take it away. Somebody who reads
            // meanwhile is in the way; then it goes there later.
            let _later = connection::cut_log(&mut connection);
        }
        Schema::Foreign => return Ok(Err(OpenError::Foreign { path: path() })),
    }
    Ok(Ok(connection))
}

/// Makes an empty database file that only the owner can read, and its place in the directory durable.
fn make_file(places: &Places) -> io::Result<()> {
    if places.database.exists() {
        return Ok(());
    }
    files::private_file_or_existing(&places.database)?;
    files::sync_dir(&places.data)?;
    match places.data.parent() {
        // Without the right to read the directory above, the system has to see to it alone.
        Some(above) => files::sync_dir(above).or(Ok(())),
        None => Ok(()),
    }
}

/// Reads all of a database that another process found damaged.
fn thorough_look(places: &Places) -> rusqlite::Result<()> {
    if !places.database.exists() {
        return Ok(());
    }
    let connection = connection::open_writing(&places.database)?;
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    match verdict.as_str() {
        "ok" => {
            // A mark that stays only costs the next start another look.
            let _stays = files::remove(&places.suspect);
            Ok(())
        }
        _ => Err(damaged(&verdict)),
    }
}

fn damaged(why: &str) -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(error, Some(why.to_owned()))
}

/// Moves the database and its log out of the way, to names that nothing has.
fn set_aside(places: &Places) -> io::Result<PathBuf> {
    let free = |stamp: i64| {
        let ending = format!(".corrupt-{stamp}");
        (!places.database_with(&ending).exists()).then_some(ending)
    };
    let ending = (now_ms()..).find_map(free).unwrap_or_default();
    let kept = places.database_with(&ending);
    fs::rename(&places.database, &kept)?;
    for part in ["-wal", "-shm"] {
        match fs::rename(places.database_with(part), places.database_with(&format!("{ending}{part}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    files::remove(&places.suspect)?;
    files::remove(&places.mark)?;
    files::sync_dir(&places.data)?;
    Ok(kept)
}

/// Waits for the right to create, migrate or set aside. It ends with the file.
fn alone(places: &Places) -> Result<File, OpenError> {
    let failed = |source| OpenError::Directory { path: places.opening.clone(), source };
    let file = files::private_file_or_existing(&places.opening).map_err(failed)?;
    let deadline = Instant::now() + OPENING_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if Instant::now() > deadline => {
                return Err(failed(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process has been preparing the store for too long",
                )));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Leaves word that the file needs a thorough look when it is opened next.
pub(crate) fn mark_suspect(places: &Places) -> Result<(), OpenError> {
    let failed = |source| OpenError::Directory { path: places.suspect.clone(), source };
    files::private_file_or_existing(&places.suspect).map(drop).map_err(failed)
}
