//! Taking away what a command put where it must not, while the command may still be fighting for it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, openat, openat2, renameat, unlinkat};

/// How deep a directory is removed. A deeper one keeps its harmless name.
const DEPTH_MAX: usize = 256;

/// Moves something out of its place at once, whatever it is; returns where it is now, if it is still anywhere.
pub(super) fn displace(path: &Path, number: usize) -> Option<PathBuf> {
    let (above, name) = (open_above(path).ok()?, path.file_name()?);
    if unlinkat(&above, name, AtFlags::empty()).is_ok() {
        return None;
    }
    // A directory may be large, or locked against being emptied; its name can be changed all the same.
    let aside = path.with_file_name(format!(".haft-removed-{}-{number}", std::process::id()));
    let rename = || renameat(&above, name, &above, aside.file_name()?).ok();
    if rename().is_some() {
        return Some(aside);
    }
    // The directory itself may be locked, which does not keep git from reading it.
    unlock(&above).ok()?;
    if unlinkat(&above, name, AtFlags::empty()).is_ok() {
        return None;
    }
    rename().map(|()| aside)
}

/// Lets its owner change a directory, by descriptor, so that it is this one and nothing that was put in its place.
fn unlock(directory: &OwnedFd) -> io::Result<()> {
    let itself = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let mode = fs::metadata(&itself)?.permissions().mode();
    fs::set_permissions(itself, fs::Permissions::from_mode(mode & 0o7777 | 0o700))
}

/// Opens the directory that something is in. No link is followed to it: a command could have put one there that leads
/// to where it may change nothing itself.
pub(super) fn open_above(path: &Path) -> io::Result<OwnedFd> {
    let above = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

/// Removes a directory with all below, even where its modes forbid it. No link is followed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    remove_at(&open_above(path)?, Path::new(name), DEPTH_MAX)
}

fn remove_at(above: &OwnedFd, name: &Path, depth: usize) -> io::Result<()> {
    if unlinkat(above, name, AtFlags::empty()).is_ok() {
        return Ok(());
    }
    let Some(depth) = depth.checked_sub(1) else { return Err(io::Error::other("too deep")) };
    let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(above, name, OFlags::PATH | directory, Mode::empty())?;
    unlock(&found)?;
    let listed = openat(found.as_fd(), ".", OFlags::RDONLY | directory, Mode::empty())?;
    for entry in Dir::read_from(&listed)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            remove_at(&found, Path::new(OsStr::from_bytes(name.to_bytes())), depth)?;
        }
    }
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}
