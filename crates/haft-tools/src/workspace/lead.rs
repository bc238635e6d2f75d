//! Files that a search comes upon: first as leads, which cost next to nothing, then as candidates to be shown.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::Workspace;
use super::error::WorkspaceError;
use super::file::{Found, LOOK, is_of_the_kernel};
use super::place::{Kind, Place};
use super::root::Root;

/// Where a search takes place.
pub(super) struct Ground<'a> {
    workspace: &'a Workspace,
    place: &'a Place,
    root: &'a Root,
    /// The file system it begins on, if no interface of the kernel lies there.
    plain: Option<u64>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(workspace: &'a Workspace, place: &'a Place, opened: &impl AsFd) -> Ground<'a> {
        let (root, _) = workspace.root_of(place.real());
        let is_plain = place.real() != Path::new("/") && !is_of_the_kernel(place.real(), opened);
        let device = || rustix::fs::fstat(opened).ok().map(|stat| stat.st_dev);
        Ground { workspace, place, root, plain: if is_plain { device() } else { None } }
    }

    pub(super) fn place(&self) -> &Place {
        self.place
    }

    /// The file at a path that lies in it.
    pub(super) fn lead<'b>(&'b self, real: &'b Path) -> Option<Lead<'b>> {
        let relative = below(real, self.place.real()).filter(|_| !self.workspace.is_withheld(real))?;
        Some(Lead { ground: self, real, relative, modified: Cell::new(None) })
    }
}

/// A file that a permitted search came upon.
pub(crate) struct Lead<'a> {
    ground: &'a Ground<'a>,
    pub(super) real: &'a Path,
    relative: &'a Path,
    modified: Cell<Option<SystemTime>>,
}

/// A file that was opened to be searched.
pub(crate) struct OpenedLead {
    pub(crate) file: File,
    /// Its size when it was opened.
    pub(crate) size: u64,
}

/// Why a file was not opened to be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// It is no longer there.
    Gone,
    /// It may not be read, or is no file that can be.
    Unreadable,
}

impl Lead<'_> {
    /// Its path, relative to the directory that is searched.
    pub(crate) fn relative(&self) -> &Path {
        self.relative
    }

    /// Opens it for reading, by the same rules as every place.
    pub(crate) fn open(&self) -> Result<OpenedLead, Unopened> {
        let Ground { root, plain, .. } = self.ground;
        let relative = below(self.real, root.path()).ok_or(Unopened::Unreadable)?;
        let fd = root.open_at(relative, LOOK).map_err(|error| match error {
            Errno::NOENT | Errno::NOTDIR => Unopened::Gone,
            _ => Unopened::Unreadable,
        })?;
        let stat = rustix::fs::fstat(&fd).map_err(|_| Unopened::Unreadable)?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        let is_plain = *plain == Some(stat.st_dev) || !is_of_the_kernel(self.real, &fd);
        if !is_file || !is_plain {
            return Err(Unopened::Unreadable);
        }
        self.modified.set(Some(modified(&stat)));
        Ok(OpenedLead { file: File::from(fd), size: u64::try_from(stat.st_size).unwrap_or(0) })
    }

    /// When it was changed last. A file that is gone by now is as old as can be.
    pub(super) fn modified(&self) -> SystemTime {
        let look = || rustix::fs::lstat(self.real).ok().map(|stat| modified(&stat));
        self.modified.get().or_else(look).unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// A file that a permitted search found.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(super) place: Place,
}

impl Candidate {
    /// The file at a path below a directory that was searched, or the file itself that was.
    pub(super) fn below(workspace: &Workspace, base: &Place, relative: &Path) -> Candidate {
        if relative.as_os_str().is_empty() {
            return Candidate { place: base.clone() };
        }
        let (spelled, real) = (base.spelled().join(relative), base.real().join(relative));
        Candidate { place: Place::new(workspace, spelled, real, Kind::File) }
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Opens it for reading.
    pub(crate) fn open(&self, workspace: &Workspace) -> Result<File, WorkspaceError> {
        match workspace.open_place(&self.place)? {
            Found::File(file, _) => Ok(file.into_file()),
            Found::Directory(_) => Err(WorkspaceError::Directory { path: self.place.shown() }),
            Found::Missing => Err(WorkspaceError::Missing { path: self.place.shown() }),
        }
    }

    /// Whether it really lies where it was found. While a walk goes by path, somebody may put a link in its way.
    pub(crate) fn is_there(&self, workspace: &Workspace) -> bool {
        workspace.is_without_links(&self.place)
    }
}

/// The path from a directory, by the bytes: both are canonical. `strip_prefix` takes its time, and this is done for
/// every file.
fn below<'a>(real: &'a Path, directory: &Path) -> Option<&'a Path> {
    let rest = real.as_os_str().as_bytes().strip_prefix(directory.as_os_str().as_bytes())?;
    let relative = match rest {
        [b'/', relative @ ..] => relative,
        // It is the directory itself, or the directory is the root of the disk.
        rest if rest.is_empty() || directory == Path::new("/") => rest,
        _ => return None,
    };
    Some(Path::new(OsStr::from_bytes(relative)))
}

fn modified(stat: &Stat) -> SystemTime {
    #[allow(
        clippy::useless_conversion,
        clippy::unnecessary_fallible_conversions,
        reason = "its type differs from system to system"
    )]
    let nanoseconds = Duration::from_nanos(u64::try_from(stat.st_mtime_nsec).unwrap_or(0));
    match u64::try_from(stat.st_mtime) {
        Ok(seconds) => SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + nanoseconds,
        Err(_) => SystemTime::UNIX_EPOCH,
    }
}
