//! Which processes are alive. Each holds a lock on a file of its own, and the system lets go of it for the dead.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::now_ms;
use crate::files;

/// A lock that never got its name belongs to a process that died while starting.
const UNNAMED_AGE_MAX: Duration = Duration::from_secs(3600);
/// How many leftovers one start clears away.
const STALE_MAX: usize = 1000;

/// This process, as others see it: alive until this is ended or dropped, or the process dies.
pub(crate) struct Process {
    id: String,
    path: PathBuf,
    lock: Mutex<Option<File>>,
}

impl Process {
    pub(crate) fn begin(run: &Path) -> io::Result<Process> {
        let id = mint();
        let unnamed = run.join(format!("{id}.tmp"));
        let path = lock_path(run, &id);
        let lock = files::private_file(&unnamed)?;
        // Locked before it has its name, so that nobody finds a lock that is not held and takes us for dead.
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("a new file is locked already")),
        }
        fs::rename(&unnamed, &path)?;
        Ok(Process { id, path, lock: Mutex::new(Some(lock)) })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Says that this process does no more.
    pub(crate) fn end(&self) {
        if let Some(lock) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A file that stays is not locked and is cleared away by the next start.
            let _stays = files::remove(&self.path);
            drop(lock);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Which processes were found alive, each asked once.
pub(crate) struct Census<'a> {
    run: &'a Path,
    known: HashMap<String, bool>,
}

impl<'a> Census<'a> {
    pub(crate) fn new(run: &'a Path) -> Census<'a> {
        Census { run, known: HashMap::new() }
    }

    pub(crate) fn is_alive(&mut self, id: &str) -> bool {
        if let Some(known) = self.known.get(id) {
            return *known;
        }
        let alive = is_process_id(id) && is_locked(&lock_path(self.run, id));
        self.known.insert(id.to_owned(), alive);
        alive
    }
}

/// Clears away the locks of the dead.
pub(crate) fn clear_stale(run: &Path) -> io::Result<()> {
    for entry in fs::read_dir(run)?.take(STALE_MAX) {
        let entry = entry?;
        let name = entry.file_name();
        let Some((id, ending)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
        let stale = is_process_id(id)
            && match ending {
                "lock" => !is_locked(&entry.path()),
                "tmp" => entry.metadata().is_ok_and(|metadata| files::age(&metadata) > UNNAMED_AGE_MAX),
                _ => false,
            };
        if stale {
            files::remove(&entry.path())?;
        }
    }
    Ok(())
}

fn lock_path(run: &Path, id: &str) -> PathBuf {
    run.join(format!("{id}.lock"))
}

/// Whether somebody holds the lock. Where that cannot be told, somebody may.
fn is_locked(path: &Path) -> bool {
    match File::open(path) {
        // Shared, so that two who look at once do not take each other for the owner.
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Ids come back out of the database and the names of files, and become part of a path.
pub(crate) fn is_process_id(id: &str) -> bool {
    id.strip_prefix("prc_")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn mint() -> String {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).expect("the operating system has randomness");
    format!("prc_{:012x}{:016x}", now_ms(), u64::from_ne_bytes(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let run = tempfile::tempdir().unwrap();
        let process = Process::begin(run.path()).unwrap();
        assert!(Census::new(run.path()).is_alive(process.id()));
        process.end();
        assert!(!Census::new(run.path()).is_alive(process.id()));
    }

    #[test]
    fn only_the_locks_of_the_dead_are_cleared_away() {
        let run = tempfile::tempdir().unwrap();
        let alive = Process::begin(run.path()).unwrap();
        let dead = run.path().join("prc_dead.lock");
        let foreign = run.path().join("notes.txt");
        fs::write(&dead, "").unwrap();
        fs::write(&foreign, "").unwrap();
        clear_stale(run.path()).unwrap();
        assert!(!dead.exists() && foreign.exists());
        assert!(Census::new(run.path()).is_alive(alive.id()));
    }

    #[test]
    fn an_id_that_is_a_path_is_nobody() {
        let run = tempfile::tempdir().unwrap();
        for id in ["../../etc/passwd", "prc_", "prc_../x", ""] {
            assert!(!Census::new(run.path()).is_alive(id), "{id}");
        }
    }
}
