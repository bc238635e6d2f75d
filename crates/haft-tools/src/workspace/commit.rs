//! Committing one file: temporary file beside it, sync, rename, sync of the directory.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::attributes;
use super::digest::Digest;
use super::draft::check_replaceable;
use super::error::WorkspaceError;
use super::file::LOOK;
use super::lock::lock;
use super::place::Place;
use super::root::{Made, Root};
use super::write::WriteTarget;

/// So many names are tried for a temporary file.
const NAMES_MAX: usize = 16;

/// Puts the target's bytes where they belong, or leaves everything as it was.
pub(super) fn commit(root: &Root, relative: &Path, target: &WriteTarget) -> Result<(), WorkspaceError> {
    let place = target.place();
    let (Some(above), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Err(WorkspaceError::Directory { path: place.shown() });
    };
    let (directory, made) = open_above(root, above, target).map_err(|error| sorted(place, error))?;
    lock(&directory, place)?;
    let standing = look_again(&directory, Path::new(name), target)?;

    let failed = |source: io::Error| WorkspaceError::Write { path: place.shown(), source };
    let mode = if standing.is_some() { 0o600 } else { 0o666 };
    let (temporary, mut file) =
        Temporary::create(&directory, &target.intent().temporary(), mode).map_err(failed)?;
    file.write_all(target.bytes()).map_err(failed)?;
    if let Some((old, stat)) = &standing {
        attributes::keep(old, stat, &file).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    match (temporary.rename(Path::new(name), standing.is_some()), &standing) {
        (Ok(()), _) => {}
        (Err(Errno::EXIST), None) => return Err(WorkspaceError::Changed { path: place.shown() }),
        (Err(error), _) => return Err(failed(error.into())),
    }
    let durable = sync(&directory).and(made.keep());
    durable.map_err(|error| WorkspaceError::NotDurable { path: place.shown(), source: error.into() })
}

/// Directories are made only for a file that is new.
fn open_above(root: &Root, above: &Path, target: &WriteTarget) -> Result<(OwnedFd, Made), Errno> {
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    match target.expected() {
        None => root.open_directory_making(above),
        Some(_) => Ok((root.open_directory(above)?, Made::default())),
    }
}

/// What stands there now, which must be what the change was planned on.
fn look_again(
    directory: &OwnedFd,
    name: &Path,
    target: &WriteTarget,
) -> Result<Option<(File, Stat)>, WorkspaceError> {
    let place = target.place();
    let changed = || WorkspaceError::Changed { path: place.shown() };
    let flags = LOOK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return if target.expected().is_none() { Ok(None) } else { Err(changed()) },
        Err(error) => return Err(sorted(place, error)),
    };
    let unreadable = |source: io::Error| WorkspaceError::Read { path: place.shown(), source };
    let stat = rustix::fs::fstat(&file).map_err(|error| unreadable(error.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(changed());
    }
    check_replaceable(place, &stat)?;
    let digest = Digest::of_reader(&file).map_err(unreadable)?;
    if target.expected() == Some(&digest) { Ok(Some((file, stat))) } else { Err(changed()) }
}

fn sorted(place: &Place, error: Errno) -> WorkspaceError {
    match error {
        Errno::LOOP | Errno::XDEV | Errno::AGAIN => WorkspaceError::Moved { path: place.shown() },
        error => WorkspaceError::Write { path: place.shown(), source: error.into() },
    }
}

/// A file that is removed again unless it is renamed to what it is for.
struct Temporary<'a> {
    directory: &'a OwnedFd,
    name: String,
    is_renamed: bool,
}

impl<'a> Temporary<'a> {
    /// Makes one with this mode, less what the process's mask takes away.
    fn create(directory: &'a OwnedFd, beginning: &str, mode: u32) -> io::Result<(Temporary<'a>, File)> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut tries = 0;
        loop {
            let name = format!("{beginning}-{:016x}", RandomState::new().hash_one(tries));
            match rustix::fs::openat(directory, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(fd) => return Ok((Temporary { directory, name, is_renamed: false }, File::from(fd))),
                Err(Errno::EXIST) if tries < NAMES_MAX => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rename(mut self, name: &Path, replaces: bool) -> Result<(), Errno> {
        let plainly = || rustix::fs::renameat(self.directory, &self.name, self.directory, name);
        let renamed = match replaces {
            true => plainly(),
            false => match self.rename_to_nothing(name) {
                // The file system cannot tell; the look before has to do.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => plainly(),
                renamed => renamed,
            },
        };
        self.is_renamed = renamed.is_ok();
        renamed
    }

    /// Fails if there is something by now.
    #[cfg(target_os = "linux")]
    fn rename_to_nothing(&self, name: &Path) -> Result<(), Errno> {
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(self.directory, &self.name, self.directory, name, flags)
    }

    #[cfg(not(target_os = "linux"))]
    fn rename_to_nothing(&self, _name: &Path) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // It is gone already, or the disk is: there is nothing more to do about it.
            let _gone = rustix::fs::unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Makes the names in a directory durable, where its file system can.
pub(super) fn sync(directory: &OwnedFd) -> Result<(), Errno> {
    match rustix::fs::fsync(directory) {
        Err(Errno::BADF | Errno::INVAL) => Ok(()),
        synced => synced,
    }
}
