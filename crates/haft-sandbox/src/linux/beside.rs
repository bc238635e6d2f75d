//! Programs of ours that lie beside this one.
//!
//! Such a program deserves the trust that this one has if whoever can have put or changed it could have done the same to this
//! one: it belongs to root or to whoever runs this, nobody else may write to it, and it lies in the same directory, which is
//! not open to everybody. It is opened once and judged by what was opened.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open, openat};

use crate::sandbox::THIS_PROGRAM;

const ANYBODY_WRITES: u32 = 0o002;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
const TAKES_ANOTHER_IDENTITY: u32 = 0o6000;

/// A program in the directory of this one that may be trusted as this one is.
#[derive(Debug)]
pub struct Beside {
    path: PathBuf,
    pub(super) file: File,
    pub(super) made: Made,
}

impl Beside {
    /// The program of this name, or why there is none to use.
    ///
    /// # Errors
    /// Where it is missing, and where somebody else can have put or changed it; in words.
    pub fn find(name: &str) -> Result<Beside, String> {
        let own =
            fs::read_link(THIS_PROGRAM).map_err(|error| format!("this program is not found: {error}"))?;
        let directory = own.parent().ok_or("this program is in no directory")?;
        let path = directory.join(name);
        let lost = |error| format!("{}: {error}", path.display());
        let opened = open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.map_err(lost)?;
        // Whatever lies there must not keep us waiting.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&opened, name, flags, Mode::empty()).map_err(lost)?;
        let (directory, file) = (File::from(opened), File::from(file));
        let found = (directory.metadata(), file.metadata());
        let (Ok(directory), Ok(found)) = found else { return Err(format!("{} is gone", path.display())) };
        judged(&directory, &found).map_err(|why| format!("{} {why}", path.display()))?;
        Ok(Beside { path, file, made: Made::of(&found) })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its first bytes, so many if it has them.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn beginning(&self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut beginning = vec![0; bytes];
        let read = self.file.read_at(&mut beginning, 0)?;
        beginning.truncate(read);
        Ok(beginning)
    }

    /// Whether nothing happened to it since it was judged. A program that runs cannot be written to, but this one does
    /// not always run.
    pub(super) fn is_as_it_was(&self) -> bool {
        self.file.metadata().is_ok_and(|found| Made::of(&found) == self.made)
    }
}

/// What tells a file from all others and from what it was before: the last of it cannot be set by anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Made {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Made {
    pub(super) fn of(found: &Metadata) -> Made {
        Made {
            file: (found.dev(), found.ino()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

/// Whether a program may be trusted as the one that it lies beside.
fn judged(directory: &Metadata, file: &Metadata) -> Result<(), &'static str> {
    let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&file.uid());
    if !file.is_file() {
        Err("is not a file")
    } else if !is_ours {
        Err("belongs to somebody else")
    } else if file.mode() & OTHERS_WRITE != 0 {
        Err("can be written to by others")
    } else if file.mode() & TAKES_ANOTHER_IDENTITY != 0 {
        Err("would run as somebody else")
    } else if directory.mode() & (ANYBODY_WRITES | STICKY) == ANYBODY_WRITES {
        Err("is in a directory that anybody can write to")
    } else {
        Ok(())
    }
}
