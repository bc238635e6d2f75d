//! Opened files: regular ones, opened without waiting for anybody.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use super::error::WorkspaceError;
use super::place::{Kind, Place};
use super::{Workspace, root::Root};

/// Reading never waits: not for the other end of a FIFO, not for a device.
pub(super) const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// A regular file, opened for reading.
#[derive(Debug)]
pub struct OpenedFile {
    place: Place,
    file: File,
    size: u64,
}

impl OpenedFile {
    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its size when it was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its bytes.
    pub fn into_file(self) -> File {
        self.file
    }
}

/// What was found at a place when it was opened.
pub(super) enum Found {
    File(OpenedFile, Box<Stat>),
    Directory(OwnedFd),
    Missing,
}

impl Workspace {
    /// Opens a place. What is neither a file nor a directory is refused.
    pub(super) fn open_place(&self, place: &Place) -> Result<Found, WorkspaceError> {
        let (root, relative) = self.root_of(place.real());
        open(root, &relative, place)
    }

    /// Whether something lies at a place, reached without following a link.
    pub(super) fn is_without_links(&self, place: &Place) -> bool {
        let (root, relative) = self.root_of(place.real());
        #[cfg(target_os = "linux")]
        let flags = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let flags = LOOK;
        // What may not be opened was not reached by a link either.
        !matches!(
            root.open_at(&relative, flags),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)
        )
    }
}

fn open(root: &Root, relative: &Path, place: &Place) -> Result<Found, WorkspaceError> {
    let path = || place.shown();
    // A device must not even be opened: opening one may already do something.
    if let Kind::Special(kind) = place.kind() {
        return Err(WorkspaceError::Special { path: path(), kind });
    }
    let fd = match root.open_at(relative, LOOK) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Found::Missing),
        Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => return Err(WorkspaceError::Moved { path: path() }),
        // A socket, or a device without a driver, that took the file's place.
        Err(Errno::NXIO) => return Err(WorkspaceError::Special { path: path(), kind: "a special file" }),
        Err(error) => return Err(WorkspaceError::Read { path: path(), source: error.into() }),
    };
    let unreadable = |error: Errno| WorkspaceError::Read { path: path(), source: io::Error::from(error) };
    let stat = rustix::fs::fstat(&fd).map_err(unreadable)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            if is_of_the_kernel(place.real(), &fd) {
                return Err(WorkspaceError::Kernel { path: path() });
            }
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            Ok(Found::File(OpenedFile { place: place.clone(), file: File::from(fd), size }, Box::new(stat)))
        }
        FileType::Directory => Ok(Found::Directory(fd)),
        FileType::Fifo => Err(WorkspaceError::Special { path: path(), kind: "a FIFO" }),
        FileType::CharacterDevice => {
            Err(WorkspaceError::Special { path: path(), kind: "a character device" })
        }
        FileType::BlockDevice => Err(WorkspaceError::Special { path: path(), kind: "a block device" }),
        FileType::Socket => Err(WorkspaceError::Special { path: path(), kind: "a socket" }),
        FileType::Symlink | FileType::Unknown => {
            Err(WorkspaceError::Special { path: path(), kind: "a special file" })
        }
    }
}

/// Has the time of reading a file not noted, where the file is the person's own. To note it is a change of the disk, which
/// waits for others.
pub(super) fn read_without_a_trace(file: &File) {
    #[cfg(target_os = "linux")]
    rustix::fs::fcntl_setfl(file, LOOK | OFlags::NOATIME).ok();
    #[cfg(not(target_os = "linux"))]
    let _noted = file;
}

/// Whether a file is an interface of the kernel. The file system it lies on tells also where it is mounted elsewhere.
pub(crate) fn is_of_the_kernel(real: &Path, fd: impl AsFd) -> bool {
    is_in_a_tree_of_the_kernel(real) || lies_on_kernel_file_system(fd)
}

/// Whether a path lies where interfaces of the kernel usually are.
pub(crate) fn is_in_a_tree_of_the_kernel(real: &Path) -> bool {
    let is_shared_memory = real.starts_with("/dev/shm");
    !is_shared_memory && ["/proc", "/sys", "/dev"].iter().any(|tree| real.starts_with(tree))
}

#[cfg(target_os = "linux")]
fn lies_on_kernel_file_system(fd: impl AsFd) -> bool {
    const SYSFS_MAGIC: u64 = 0x6265_6572;
    rustix::fs::fstatfs(fd).is_ok_and(|found| {
        let kind = found.f_type as u64;
        kind == rustix::fs::PROC_SUPER_MAGIC as u64 || kind == SYSFS_MAGIC
    })
}

#[cfg(not(target_os = "linux"))]
fn lies_on_kernel_file_system(_fd: impl AsFd) -> bool {
    false
}
