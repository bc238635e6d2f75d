//! Where a path leads: first by its letters, then through every link on the way.
//!
//! A path that does not exist is resolved as far as it does. Nothing is expanded: `~` and `file://` are names like
//! any other, because what a shell or a browser would make of them is not what was approved.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use haft::visible;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::error::ResolveError;
use super::place::Kind;

/// As long as the kernel takes paths.
pub(super) const PATH_BYTES_MAX: usize = 4096;
/// As many links as the kernel follows.
const LINKS_MAX: usize = 40;

/// The absolute path by its letters: joined to the directory, without `.` and `..`.
pub(super) fn lexical(directory: &Path, path: &str) -> Result<PathBuf, ResolveError> {
    if path.is_empty() {
        return Err(ResolveError::Empty);
    }
    if path.contains('\0') {
        return Err(ResolveError::Nul);
    }
    if path.len() > PATH_BYTES_MAX {
        return Err(ResolveError::TooLong { bytes: path.len() });
    }
    Ok(normal(&directory.join(path)))
}

/// The path without `.` and `..`, by its letters.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => normal.push(component),
        }
    }
    normal
}

/// Whether an absolute path is surely free of links, as far as anything is there. It takes one question to the kernel
/// where following the path takes one for each name in it.
pub(super) fn has_no_links(path: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => normal(path) == path,
        Err(_) => false,
    }
}

/// The path without links, and what is there. The part that does not exist is kept as it is spelled.
pub(super) fn canonical(path: &Path) -> Result<(PathBuf, Kind), ResolveError> {
    followed(path, |_| {})
}

/// The same, with every link on the way told.
pub(super) fn followed(
    path: &Path,
    mut on_the_way: impl FnMut(&Path),
) -> Result<(PathBuf, Kind), ResolveError> {
    let shown = || visible(&path.to_string_lossy());
    let unreachable = |source| ResolveError::Unreachable { path: shown(), source };
    let mut rest: VecDeque<OsString> = names(path);
    let mut at = PathBuf::from("/");
    let mut kind = Kind::Directory;
    let mut links = 0;
    // How many components there were when the first missing one was met.
    let mut missing: Option<usize> = None;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            at.pop();
            // Back on ground that exists, so links count again.
            missing = missing.filter(|depth| at.components().count() >= *depth);
            continue;
        }
        at.push(name);
        if missing.is_some() {
            continue;
        }
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > LINKS_MAX {
                    return Err(ResolveError::Loop { path: shown() });
                }
                on_the_way(&at);
                let target = fs::read_link(&at).map_err(unreachable)?;
                at.pop();
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                names(&target).into_iter().rev().for_each(|name| rest.push_front(name));
            }
            Ok(found) => kind = Kind::of(found.file_type()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                missing = Some(at.components().count());
            }
            Err(error) => return Err(unreachable(error)),
        }
    }
    let kind = match missing {
        Some(_) => Kind::Missing,
        // After a `..` the last thing looked at is not where the path ends.
        None => fs::symlink_metadata(&at).map_or(kind, |found| Kind::of(found.file_type())),
    };
    Ok((at, kind))
}

fn names(path: &Path) -> VecDeque<OsString> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.collect()
}
