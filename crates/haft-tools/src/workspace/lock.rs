//! Locking a directory against other processes, so that what a commit compared is what it replaces.
//!
//! The lock is advisory and belongs to the opened directory: it ends when that is closed, however the process ends.
//! Where a file system has no locks, comparing just before the rename has to do.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::commit::go_on;
use super::error::WorkspaceError;
use crate::blocking::Stop;

const WAIT: Duration = Duration::from_millis(2);
/// About ten seconds; a commit takes milliseconds.
const TRIES_MAX: usize = 5000;

/// Locks an opened directory until it is closed.
pub(super) fn lock(directory: &OwnedFd, shown: &str, stop: &Stop) -> Result<(), WorkspaceError> {
    for _try in 0..TRIES_MAX {
        go_on(stop)?;
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => thread::sleep(WAIT),
            // Locked, or there are no locks here.
            Ok(()) | Err(_) => return Ok(()),
        }
    }
    Err(WorkspaceError::Locked { path: shown.to_owned() })
}
