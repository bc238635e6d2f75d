//! Temporary files beside the file they are for. Each is removed again unless it takes that file's place.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::attributes;
use super::image::from_start;

/// So many names are tried for a temporary file.
const NAMES_MAX: usize = 16;

/// A file that is removed again unless it is renamed to what it is for.
pub(super) struct Temporary {
    directory: Arc<OwnedFd>,
    name: String,
    stays: bool,
}

impl Temporary {
    /// Makes an empty one with this mode, less what the process's mask takes away.
    pub(super) fn create(
        directory: &Arc<OwnedFd>,
        beginning: &str,
        mode: u32,
    ) -> io::Result<(Temporary, File)> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (made, fd) = Temporary::named(directory, beginning, |name| {
            rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(mode))
        })?;
        Ok((made, File::from(fd)))
    }

    /// Gives a file a name that has none yet, durably.
    pub(super) fn of_unnamed(
        directory: &Arc<OwnedFd>,
        beginning: &str,
        file: &File,
    ) -> io::Result<Temporary> {
        // The kernel lets those who own a file name it by this path; by the descriptor alone only the superuser may.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = Temporary::named(directory, beginning, |name| {
            rustix::fs::linkat(CWD, path.as_str(), directory, name, AtFlags::SYMLINK_FOLLOW)
        });
        let (made, ()) = linked?;
        // That it has a name now has to reach the disk by itself: without a journal, or with one that leaves out what no
        // name leads to, it would be an empty file after a loss of power. Its content is there already.
        file.sync_all()?;
        Ok(made)
    }

    /// Gives what stands under a name another name: a link where the file system has them, otherwise a copy.
    pub(super) fn of_standing(
        directory: &Arc<OwnedFd>,
        beginning: &str,
        name: &Path,
        standing: &File,
    ) -> io::Result<Temporary> {
        let linked = Temporary::named(directory, beginning, |aside| {
            rustix::fs::linkat(directory, name, directory, aside, AtFlags::empty())
        });
        match linked {
            Ok((aside, ())) => Ok(aside),
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK | Errno::ACCESS) => {
                let (aside, mut file) = Temporary::create(directory, beginning, 0o600)?;
                io::copy(&mut from_start(standing), &mut file)?;
                attributes::keep(standing, &rustix::fs::fstat(standing)?, &file)?;
                file.sync_all()?;
                Ok(aside)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Moves what stands under a name out of the way.
    pub(super) fn by_renaming(
        directory: &Arc<OwnedFd>,
        beginning: &str,
        name: &Path,
    ) -> Result<Temporary, Errno> {
        let moved = Temporary::named(directory, beginning, |aside| {
            rename_to_nothing(directory.as_fd(), name, directory.as_fd(), Path::new(aside))
        });
        moved.map(|(aside, ())| aside)
    }

    fn named<T>(
        directory: &Arc<OwnedFd>,
        beginning: &str,
        make: impl Fn(&str) -> Result<T, Errno>,
    ) -> Result<(Temporary, T), Errno> {
        let mut tries = 0;
        loop {
            let name = format!("{beginning}-{:016x}", RandomState::new().hash_one(tries));
            match make(&name) {
                Ok(made) => {
                    return Ok((Temporary { directory: directory.clone(), name, stays: false }, made));
                }
                Err(Errno::EXIST) if tries < NAMES_MAX => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the place of what stands under a name.
    pub(super) fn rename(mut self, name: &Path) -> Result<(), Errno> {
        let renamed = rustix::fs::renameat(&self.directory, &self.name, &self.directory, name);
        self.stays = renamed.is_ok();
        renamed
    }

    /// Takes a name that nothing has; fails if something does by now.
    pub(super) fn rename_to_nothing(mut self, name: &Path) -> Result<(), Errno> {
        let at = self.directory.as_fd();
        let renamed = rename_to_nothing(at, Path::new(&self.name), at, name);
        self.stays = renamed.is_ok();
        renamed
    }

    /// Takes its old name again, whatever has it by now. It is the only copy, so it stays if that fails.
    pub(super) fn return_over(mut self, name: &Path) -> Result<(), Errno> {
        self.stays = true;
        rustix::fs::renameat(&self.directory, &self.name, &self.directory, name)
    }

    /// Takes its old name again, which must be free. It is the only copy, so it stays if that fails.
    pub(super) fn return_to_nothing(mut self, name: &Path) -> Result<(), Errno> {
        self.stays = true;
        let at = self.directory.as_fd();
        rename_to_nothing(at, Path::new(&self.name), at, name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.stays {
            let remove = || rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
            // Tried twice, since nobody else would remove it. Otherwise it is gone already, or the disk is.
            let _gone = remove().or_else(|_| remove());
        }
    }
}

/// Renames to a name that must be free.
pub(super) fn rename_to_nothing(
    from: BorrowedFd<'_>,
    old: &Path,
    to: BorrowedFd<'_>,
    new: &Path,
) -> Result<(), Errno> {
    match rename_exclusively(from, old, to, new) {
        // The file system cannot tell; the look before has to do.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rustix::fs::renameat(from, old, to, new),
        renamed => renamed,
    }
}

#[cfg(target_os = "linux")]
fn rename_exclusively(from: BorrowedFd<'_>, old: &Path, to: BorrowedFd<'_>, new: &Path) -> Result<(), Errno> {
    rustix::fs::renameat_with(from, old, to, new, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(target_os = "linux"))]
fn rename_exclusively(
    _from: BorrowedFd<'_>,
    _old: &Path,
    _to: BorrowedFd<'_>,
    _new: &Path,
) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
