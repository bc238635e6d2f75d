//! Says once that what is written into a temporary directory is nobody else's and goes with the process.
//!
//! The sandbox gives each host a `/tmp` of its own. It stays so: one that is shared would let the code of one plugin reach
//! the programs of another, and of the person. But whoever writes a file there to look at it later looks in vain.

use std::path::PathBuf;

use super::super::host::host;
use super::files::absolute;

const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// So many directories are kept in mind; a line too many about the next one is no harm.
const MADE_MAX: usize = 1000;

/// What is known about temporary files.
#[derive(Default)]
pub(in super::super) struct Temporary {
    /// Directories that were made under names of their own, which nobody looks for later.
    made: Vec<PathBuf>,
    is_said: bool,
}

/// Takes note of a directory that was made for the moment.
pub(super) fn made(directory: &str) {
    let host = host();
    let mut temporary = host.temporary.borrow_mut();
    if temporary.made.len() < MADE_MAX {
        temporary.made.push(absolute(directory).into());
    }
}

/// Takes note of a file that was written.
pub(super) fn written(path: &str) {
    let host = host();
    if host.temporary.borrow().is_said {
        return;
    }
    let path = PathBuf::from(absolute(path));
    let is_temporary = TEMPORARY.iter().any(|directory| path.starts_with(directory));
    let is_meant = host.temporary.borrow().made.iter().any(|directory| path.starts_with(directory));
    if !is_temporary || is_meant || host.limits.readable.keeps(&path) {
        return;
    }
    host.temporary.borrow_mut().is_said = true;
    let words =
        "is only there for this plugin, and goes with its process; write below the project what is to stay";
    host.wire.log("warn", &format!("{} {words}", path.display()));
}
