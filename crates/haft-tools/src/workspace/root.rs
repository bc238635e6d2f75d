//! Opened roots: every file is reached from one, component by component, without following a link.
//!
//! A path was made canonical before anybody was asked. If a link appears in it afterwards, opening fails instead of
//! leading somewhere else.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::commit::sync;

/// A directory that was opened once.
pub(crate) struct Root {
    path: PathBuf,
    fd: OwnedFd,
}

impl Root {
    /// Opens a canonical path.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Root { path: path.to_owned(), fd })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path from the root, if the canonical path lies in it.
    pub(crate) fn relative(&self, real: &Path) -> Option<PathBuf> {
        let relative = real.strip_prefix(&self.path).ok()?;
        Some(if relative.as_os_str().is_empty() { PathBuf::from(".") } else { relative.to_owned() })
    }

    /// Opens what is at a relative path without links.
    pub(crate) fn open_at(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match self.open_beneath(relative, flags) {
            // The kernel has no such call, or a filter forbids it.
            Err(Errno::NOSYS | Errno::PERM) => self.walk(relative, flags),
            opened => opened,
        }
    }

    /// Opens a directory to change what is in it.
    pub(super) fn open_directory(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        readable(self.open_at(relative, passable_directory())?)
    }

    /// Opens a directory, making those that are missing, and adds them to what was made.
    pub(super) fn open_directory_making(&self, relative: &Path, made: &mut Made) -> Result<OwnedFd, Errno> {
        let mut at = self.fd.try_clone().map_err(|error| errno(&error))?;
        for name in relative.components() {
            let step = || rustix::fs::openat(&at, name.as_os_str(), passable_directory(), Mode::empty());
            let next = match step() {
                Err(Errno::NOENT) => {
                    match rustix::fs::mkdirat(&at, name.as_os_str(), Mode::from_raw_mode(0o777)) {
                        Ok(()) => {
                            let above = at.try_clone().map_err(|error| errno(&error))?;
                            made.0.push((above, name.as_os_str().to_owned()));
                        }
                        // Somebody else was quicker.
                        Err(Errno::EXIST) => {}
                        Err(error) => return Err(error),
                    }
                    step()?
                }
                opened => opened?,
            };
            at = next;
        }
        readable(at)
    }

    /// Removes a directory if it is there and nothing is in it.
    pub(super) fn remove_empty_directory(&self, relative: &Path) {
        let (Some(above), Some(name)) = (relative.parent(), relative.file_name()) else { return };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let remove = || remove_directory(&self.open_directory(above)?, name);
        // Something is in it, or it is gone: either way there is nothing to do. Tried twice, since nobody else would.
        let _stays = remove().or_else(|_| remove());
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&self.fd, relative, flags, Mode::empty(), resolve)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, _relative: &Path, _flags: OFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    /// The same by hand: each directory is opened from the one above it, and none of them may be a link.
    pub(super) fn walk(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut names: Vec<_> = relative.components().map(|component| component.as_os_str()).collect();
        let Some(last) = names.pop() else { return Err(Errno::NOENT) };
        let mut above: Option<OwnedFd> = None;
        for name in names {
            let at = above.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            let next = rustix::fs::openat(at, name, passable_directory(), Mode::empty())?;
            above = Some(next);
        }
        let at = above.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
        rustix::fs::openat(at, last, flags, Mode::empty())
    }
}

/// Directories that were made on the way to a file. Unless kept, those that are still empty are removed again.
#[derive(Default)]
#[must_use = "what was made is removed again unless it is kept"]
pub(super) struct Made(Vec<(OwnedFd, std::ffi::OsString)>);

impl Made {
    /// Keeps what was made, durably.
    pub(super) fn keep(mut self) -> Result<(), Errno> {
        let made = std::mem::take(&mut self.0);
        made.into_iter().try_for_each(|(above, _)| sync(&readable(above)?))
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for (above, name) in self.0.iter().rev() {
            // It is no longer empty, or already gone: either way it is not ours to remove. Tried twice, as above.
            let _kept = remove_directory(above, name).or_else(|_| remove_directory(above, name));
        }
    }
}

fn remove_directory(above: &OwnedFd, name: &std::ffi::OsStr) -> Result<(), Errno> {
    rustix::fs::unlinkat(above, name, rustix::fs::AtFlags::REMOVEDIR)
}

/// To be synced a directory has to be opened for reading; one that may not be listed stays as it is.
fn readable(directory: OwnedFd) -> Result<OwnedFd, Errno> {
    match rustix::fs::openat(&directory, ".", readable_directory(), Mode::empty()) {
        Err(Errno::ACCESS) => Ok(directory),
        opened => opened,
    }
}

fn readable_directory() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// To pass through a directory one need not be allowed to list it.
fn passable_directory() -> OFlags {
    #[cfg(target_os = "linux")]
    return OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    return readable_directory();
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
