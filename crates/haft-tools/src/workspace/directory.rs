//! Opened directories and their entries.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{AtFlags, Dir, FileType};

use super::error::WorkspaceError;
use super::place::Place;

/// So many entries of a directory are looked at.
const ENTRIES_MAX: usize = 500_000;

/// A directory, opened for reading.
#[derive(Debug)]
pub struct OpenedDirectory {
    place: Place,
    fd: OwnedFd,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: OsString,
    /// Whether it is a directory, or a link to one.
    pub is_directory: bool,
}

/// The entries of a directory, in no order.
#[derive(Debug)]
pub struct Entries {
    /// The entries.
    pub entries: Vec<DirectoryEntry>,
    /// Whether there are more than were looked at.
    pub has_more: bool,
}

impl OpenedDirectory {
    pub(super) fn new(place: Place, fd: OwnedFd) -> OpenedDirectory {
        OpenedDirectory { place, fd }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Its entries, without `.` and `..`.
    pub fn entries(&self) -> Result<Entries, WorkspaceError> {
        self.read(ENTRIES_MAX).map_err(|source| WorkspaceError::Read { path: self.place.shown(), source })
    }

    /// At most so many entries.
    pub(super) fn read(&self, limit: usize) -> io::Result<Entries> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() == limit {
                return Ok(Entries { entries, has_more: true });
            }
            let is_directory = match entry.file_type() {
                FileType::Directory => true,
                // Following is harmless here: only whether it is a directory is learnt.
                FileType::Symlink | FileType::Unknown => self.leads_to_directory(name),
                FileType::RegularFile
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => false,
            };
            entries.push(DirectoryEntry { name: OsString::from_vec(name.to_bytes().to_vec()), is_directory });
        }
        Ok(Entries { entries, has_more: false })
    }

    fn leads_to_directory(&self, name: &std::ffi::CStr) -> bool {
        let found = rustix::fs::statat(self.fd.as_fd(), name, AtFlags::empty());
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }
}
