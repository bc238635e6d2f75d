//! Taking away what a command put where it must not, while the command may still be fighting for it.

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fstat, openat, openat2, renameat,
    renameat_with, unlinkat,
};

/// How deep a directory is removed. A deeper one keeps its harmless name.
const DEPTH_MAX: usize = 256;

/// What becomes of something that is displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes for good, as soon as possible.
    Gone,
    /// It is put aside whole.
    Kept,
}

/// Moves something out of its place at once, whatever it is; returns where it is now, if it is still anywhere: beside a
/// path that it is at, or below.
///
/// # Errors
/// Where it could not be moved. It may be gone, too.
pub(super) fn displace(path: &Path, beside: &Path, fate: Fate) -> io::Result<Option<PathBuf>> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let (above, there) = (open_above(path)?, open_above(beside)?);
    let unlink = || unlinkat(&above, name, AtFlags::empty());
    if fate == Fate::Gone && unlink().is_ok() {
        return Ok(None);
    }
    // A directory may be large, or locked against being emptied; its name can be changed all the same. Nobody can guess
    // the other name, to be there first.
    let other = format!(".haft-removed-{}", nonce());
    let aside = beside.with_file_name(&other);
    let rename = || renameat(&above, name, &there, &*other);
    if rename().is_ok() {
        return Ok(Some(aside));
    }
    // The directories themselves may be locked, which does not keep git from reading them; so may one that is to come to
    // another directory, which changes it.
    let itself = openat(&above, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let is_directory = FileType::from_raw_mode(fstat(&itself)?.st_mode) == FileType::Directory;
    let _unlocked = (Unlocked::of(&above)?, Unlocked::of(&there)?);
    let moved = is_directory.then(|| Unlocked::of(&itself)).transpose()?;
    let renamed = if fate == Fate::Gone && unlink().is_ok() { return Ok(None) } else { rename() };
    drop(moved);
    match renamed {
        Ok(()) => Ok(Some(aside)),
        // Better nothing than something that is believed: there may be no room for another name.
        Err(_) => Ok(unlink().map(|()| None)?),
    }
}

/// A name that nobody else has or can guess.
pub(super) fn nonce() -> String {
    // The keys of a hasher are random, and different each time.
    let word = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", word(), word())
}

/// Gives a file another name beside it that means nothing; whether that could be done.
pub(super) fn keep_beside(path: &Path) -> bool {
    let keep = || {
        let (above, name) = (open_above(path).ok()?, path.file_name()?);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_millis();
        let mut aside = name.to_owned();
        aside.push(format!(".haft-removed-{since}"));
        let rename = || renameat_with(&above, name, &above, &*aside, RenameFlags::NOREPLACE).ok();
        rename().or_else(|| {
            let _unlocked = Unlocked::of(&above).ok()?;
            rename()
        })
    };
    keep().is_some()
}

/// A directory that its owner may change until this is dropped, and the mode it had if that was another one.
struct Unlocked {
    itself: String,
    before: Option<u32>,
}

impl Unlocked {
    /// By descriptor, so that it is this directory and nothing that was put in its place.
    fn of(directory: &OwnedFd) -> io::Result<Unlocked> {
        let itself = format!("/proc/self/fd/{}", directory.as_raw_fd());
        let mode = fs::metadata(&itself)?.permissions().mode() & 0o7777;
        let before = (mode & 0o700 != 0o700).then_some(mode);
        if before.is_some() {
            fs::set_permissions(&itself, fs::Permissions::from_mode(mode | 0o700))?;
        }
        Ok(Unlocked { itself, before })
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        if let Some(mode) = self.before {
            fs::set_permissions(&self.itself, fs::Permissions::from_mode(mode)).ok();
        }
    }
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
    remove_up_to(path, usize::MAX)
}

/// The same, if there is not more than that in it: whoever fills it meanwhile could keep this busy.
pub(super) fn remove_up_to(path: &Path, mut entries: usize) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let above = open_above(path)?;
    // Where it is somebody else's, it may be open to all.
    let _unlocked = Unlocked::of(&above).ok();
    remove_at(&above, Path::new(name), DEPTH_MAX, &mut entries)
}

/// A directory that is open as long as this is held.
pub(super) struct OpenedUp {
    _unlocked: Unlocked,
    // Dropped last: the other one goes by it.
    _directory: OwnedFd,
}

/// Opens up every directory on the way to a path that a command may have locked, the outermost first.
pub(super) fn open_up(path: &Path, roots: &[PathBuf]) -> Vec<OpenedUp> {
    let is_within = |part: &&Path| roots.iter().any(|root| part.starts_with(root));
    let mut within: Vec<&Path> = path.ancestors().skip(1).filter(is_within).collect();
    within.reverse();
    let open = |part: &Path| {
        let directory = open_above(&part.join("anything")).ok()?;
        Some(OpenedUp { _unlocked: Unlocked::of(&directory).ok()?, _directory: directory })
    };
    within.into_iter().filter_map(open).collect()
}

fn remove_at(above: &OwnedFd, name: &Path, depth: usize, entries: &mut usize) -> io::Result<()> {
    *entries = entries.checked_sub(1).ok_or_else(|| io::Error::other("there is too much of it"))?;
    if unlinkat(above, name, AtFlags::empty()).is_ok() {
        return Ok(());
    }
    let Some(depth) = depth.checked_sub(1) else { return Err(io::Error::other("too deep")) };
    let directory = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(above, name, OFlags::PATH | directory, Mode::empty())?;
    let _unlocked = Unlocked::of(&found)?;
    let listed = openat(found.as_fd(), ".", OFlags::RDONLY | directory, Mode::empty())?;
    for entry in Dir::read_from(&listed)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            remove_at(&found, Path::new(OsStr::from_bytes(name.to_bytes())), depth, entries)?;
        }
    }
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::{Fate, displace, remove};

    #[test]
    fn a_directory_is_as_locked_as_it_was() {
        let above = tempfile::tempdir().unwrap();
        let mode = || fs::metadata(above.path()).unwrap().permissions().mode() & 0o7777;
        fs::create_dir(above.path().join("aside")).unwrap();
        fs::set_permissions(above.path(), Permissions::from_mode(0o555)).unwrap();
        // Nothing is there, which looks as what cannot be moved.
        let absent = above.path().join("absent");
        assert!(displace(&absent, &absent, Fate::Gone).is_err());
        assert_eq!(mode(), 0o555);
        remove(&above.path().join("aside")).unwrap();
        assert!(!above.path().join("aside").exists());
        assert_eq!(mode(), 0o555);
        fs::set_permissions(above.path(), Permissions::from_mode(0o755)).unwrap();
    }
}
