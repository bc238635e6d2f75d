//! Ignore files that are none.
//!
//! A walk opens every ignore file it meets, and reads it to its end. Where a FIFO or a device has that name, or a link to
//! one, it would wait for ever or never come to the end; so no such directory is entered.

use std::path::{Path, PathBuf};

use haft::visible;

use super::error::WorkspaceError;
use super::place::{Kind, Place};

/// What a walk reads of each directory.
const NAMES: &[&str] = &[".gitignore", ".ignore", ".git/info/exclude"];
/// No ignore file is larger. One that is would be compiled into as much memory many times over.
const BYTES_MAX: u64 = 4 << 20;

/// Whether the walk can enter a directory.
pub(super) fn has_sound_ignore_files(directory: &Path) -> bool {
    unsound(directory).is_none()
}

/// Whether the walk can begin: it also reads the ignore files of every directory above.
pub(super) fn check_ignore_files(place: &Place) -> Result<(), WorkspaceError> {
    match place.real().ancestors().find_map(unsound) {
        None => Ok(()),
        Some((path, Kind::Special(kind))) => Err(WorkspaceError::Special { path: shown(&path), kind }),
        Some((path, Kind::File | Kind::Directory | Kind::Missing)) => {
            Err(WorkspaceError::IgnoreFile { path: shown(&path), limit: BYTES_MAX })
        }
    }
}

fn unsound(directory: &Path) -> Option<(PathBuf, Kind)> {
    NAMES.iter().find_map(|name| {
        let path = directory.join(name);
        let found = path.metadata().ok()?;
        match Kind::of(found.file_type()) {
            Kind::File if found.len() > BYTES_MAX => Some((path, Kind::File)),
            kind @ Kind::Special(_) => Some((path, kind)),
            Kind::File | Kind::Directory | Kind::Missing => None,
        }
    })
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
