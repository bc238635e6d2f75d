//! Protected paths that cannot simply be mounted over: what is absent, and what is a link.
//!
//! Nothing can be mounted where there is nothing. So there are two ways, and the profile says which for each path.
//!
//! *Mask*: an empty directory is put there while the command runs, mounted read-only, and taken away after; git and
//! other tools pass over empty directories. Several commands may share one; the last to end removes it. A helper
//! that is killed itself leaves its empty directories behind, and the next one that protects the same path takes
//! them over: they are known by their mode and time.
//!
//! *Remove*: what appears under the name is taken away soon, and looked for again when every process of the command is
//! gone. It is looked for from time to time: the kernel would tell at once, but takes 13 ms to stop doing so. What is known
//! to be somebody else's stays (`newcomers.rs`), and whatever is taken away is kept (`taken.rs`).
//!
//! Directories that must not become repositories (`repositories.rs`), and those that nothing may be added to, are looked
//! at in the same way.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Pid;

use super::asides::Asides;
use super::embedded::Embedded;
use super::newcomers::{Care, Newcomers};
use super::removal;
use super::repositories::Directory;
use super::stillness::{Stillness, is_counted, is_local};
use super::vouching::{Earlier, Vouched};
use crate::profile::{Absent, Profile, Protected};
use crate::spec::Removed;

/// The mode and time by which an empty directory is known to be ours.
const MODE: u32 = 0o555;
const TIME: u64 = 86_400 * 366;

/// Attempts to get hold of a directory that another command is just removing.
const ATTEMPTS_MAX: usize = 100;

/// So long is waited before it is looked again whether somebody has written what they were about to.
const WRITING: Duration = Duration::from_millis(2);
/// So long at most: whoever holds the command does not wait for ever either.
const WRITING_MAX: Duration = Duration::from_secs(2);

/// So many paths are told at most, and so many that were added to one directory are looked at in one look.
const REMOVED_MAX: usize = 4096;
const ADDED_MAX: usize = 256;

/// What must be undone when the command has ended.
#[derive(Default)]
pub(super) struct Guard {
    placeholders: Vec<(PathBuf, File)>,
    links: Vec<(PathBuf, PathBuf)>,
    unwanted: Vec<PathBuf>,
    repositories: Vec<Directory>,
    closed: Vec<Closed>,
    embedded: Embedded,
    newcomers: Newcomers,
    /// Whether all of the command slept when it was looked at last.
    stillness: RefCell<Option<Stillness>>,
    /// Whether that can be told on this machine.
    is_counted: bool,
    roots: Vec<PathBuf>,
    custody: Option<PathBuf>,
    /// What was vouched for before.
    earlier: Earlier,
    removed: RefCell<BTreeSet<PathBuf>>,
    asides: Asides,
    /// Paths to mount read-only, all of which exist.
    pub(super) read_only: Vec<PathBuf>,
}

/// When what a command did is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// While it runs: it may be in the midst of something.
    Passing,
    /// When every process of it is gone.
    Last,
}

/// A look at everything: which one, and until when others are waited for.
#[derive(Clone, Copy)]
struct Looking {
    look: Look,
    until: Instant,
}

/// A directory that nothing may be added to.
struct Closed {
    path: PathBuf,
    /// Some name in it, because what leads to a name stays where it is.
    inside: PathBuf,
    known: HashSet<OsString>,
}

impl Guard {
    /// Looks at every protected path within a writable directory, and puts placeholders where they are needed.
    pub(super) fn raise(profile: &Profile) -> io::Result<Guard> {
        let mut guard = Guard {
            embedded: Embedded::within(&profile.writable),
            is_counted: is_counted(),
            roots: profile.writable.clone(),
            custody: profile.custody.clone(),
            asides: Asides::new(profile.custody.clone(), profile.writable.clone()),
            earlier: profile.custody.as_deref().map(Earlier::of).unwrap_or_default(),
            ..Guard::default()
        };
        for protected in &profile.protected {
            let path = &protected.path;
            if let Absent::Gitlinks | Absent::GitlinksWithin = protected.absent {
                guard.embedded.watch(path, protected.absent);
                continue;
            }
            let Some(root) = profile.writable.iter().find(|root| path.starts_with(root) && path != *root)
            else {
                continue;
            };
            match protected.absent {
                Absent::Repository => guard.repositories.extend(Directory::of(path)),
                Absent::Mask
                | Absent::MaskWithin
                | Absent::Remove
                | Absent::Additions
                | Absent::Gitlinks
                | Absent::GitlinksWithin => guard.hold(protected, root, profile)?,
            }
        }
        Ok(guard)
    }

    fn hold(&mut self, protected: &Protected, root: &Path, profile: &Profile) -> io::Result<()> {
        let path = &protected.path;
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() && protected.absent == Absent::Additions => {
                let (inside, known) = (path.join("added"), names(path).collect());
                self.closed.push(Closed { path: path.clone(), inside, known });
            }
            Ok(found) if found.is_symlink() => self.link(path, profile)?,
            // One of ours: held, or left behind.
            Ok(found) if is_placeholder(&found) => self.mask(path)?,
            Ok(_) => self.read_only.push(path.clone()),
            Err(_) => self.absent(path, root, protected.absent)?,
        }
        Ok(())
    }

    /// Paths at which nothing is mounted: whoever put something else in the place of a directory above them would lead
    /// those astray who look after them.
    pub(super) fn looked_after(&self) -> impl Iterator<Item = &PathBuf> {
        let links = self.links.iter().map(|(path, _)| path);
        let heads = self.repositories.iter().map(Directory::head);
        self.unwanted.iter().chain(links).chain(heads).chain(self.closed.iter().map(|closed| &closed.inside))
    }

    /// Whether [`undo`](Guard::undo) is to be called from time to time.
    pub(super) fn is_watchful(&self) -> bool {
        self.looked_after().next().is_some() || self.embedded.is_watchful()
    }

    /// Takes away what is not wanted, and puts links back that lead elsewhere. `head` is the process that stands for the
    /// command, as long as there is one.
    pub(super) fn undo(&self, look: Look, head: Option<Pid>) {
        self.turn_newcomers_away(look, head);
        for directory in &self.repositories {
            self.removed.borrow_mut().extend(directory.undo(|path| self.displace(path)));
        }
        self.removed.borrow_mut().extend(self.embedded.undo(look, &|path| self.displace(path)));
        for (path, target) in &self.links {
            if fs::read_link(path).is_ok_and(|now| now == *target) {
                continue;
            }
            self.displace(path);
            if std::os::unix::fs::symlink(target, path).is_ok() {
                self.removed.borrow_mut().insert(path.clone());
            }
        }
    }

    /// Takes away what has appeared under names that were absent, but for what is somebody else's.
    fn turn_newcomers_away(&self, look: Look, head: Option<Pid>) {
        if self.unwanted.is_empty() && self.closed.is_empty() {
            return;
        }
        let now = head.filter(|_| self.is_counted).and_then(Stillness::of);
        let before = self.stillness.replace(now);
        // Asked when everything was looked at: so it covers all the time since it was looked at before.
        let was_still = || head.is_some_and(|head| before.is_some() && Stillness::of(head) == before);
        let looking = Looking { look, until: Instant::now() + WRITING_MAX };
        for path in &self.unwanted {
            self.turn_away(path, looking, was_still);
        }
        for Closed { path: directory, known, .. } in &self.closed {
            let added =
                names(directory).filter(|name| !known.contains(name)).map(|name| directory.join(name));
            let added: Vec<PathBuf> = added.filter(|path| !self.asides.has(path)).take(ADDED_MAX).collect();
            added.iter().for_each(|path| self.turn_away(path, looking, was_still));
        }
    }

    fn turn_away(&self, path: &Path, looking: Looking, was_still: impl Fn() -> bool) {
        let Looking { look, until } = looking;
        let mut _open = Vec::new();
        match fs::symlink_metadata(path) {
            Err(error) if is_absence(&error) => return self.newcomers.forget(path),
            // A command may have locked the way to it, which does not keep the person from opening it again.
            Err(_) => _open = removal::open_up(path, &self.roots),
            Ok(_) => {}
        }
        // A server may make a file for somebody who sleeps.
        let was_still = || path.parent().is_some_and(is_local) && was_still();
        let care = if look == Look::Passing && was_still() { Care::Times } else { Care::Content };
        if self.newcomers.judge(path, &Vouched::default(), care).of_the_command.is_empty() {
            return;
        }
        let mut found = self.newcomers.judge(path, &self.vouched(), care);
        // At last nobody looks again, so they are waited for, and not for long.
        while found.is_pending && look == Look::Last {
            let is_late = Instant::now() >= until;
            std::thread::sleep(WRITING);
            let vouched = self.vouched();
            let vouched = if is_late { vouched.without_pending() } else { vouched };
            found = self.newcomers.judge(path, &vouched, care);
        }
        let mut is_left = found.is_pending;
        if !found.is_pending && !found.of_the_command.is_empty() && self.newcomers.admit(path, was_still) {
            return;
        }
        for unwanted in found.of_the_command {
            // Beside all that is looked at.
            match self.asides.displace(&unwanted, path) {
                true => self.note(unwanted),
                false => is_left |= fs::symlink_metadata(path).is_ok(),
            }
        }
        if is_left {
            // It is there already, so it says nothing if it is there again.
            self.stillness.take();
        }
    }

    /// Notes what was taken away; of very much it is enough to know that there was more.
    fn note(&self, path: PathBuf) {
        let mut removed = self.removed.borrow_mut();
        if removed.len() < REMOVED_MAX {
            removed.insert(path);
        }
    }

    fn vouched(&self) -> Vouched {
        self.custody.as_deref().map(|custody| Vouched::said(custody, &self.earlier)).unwrap_or_default()
    }

    fn link(&mut self, path: &Path, profile: &Profile) -> io::Result<()> {
        self.links.push((path.to_path_buf(), fs::read_link(path)?));
        // What the link stands for is what would be run.
        if let Ok(real) = path.canonicalize()
            && profile.writable.iter().any(|root| real.starts_with(root) && real != *root)
        {
            self.read_only.push(real);
        }
        Ok(())
    }

    fn absent(&mut self, path: &Path, root: &Path, absent: Absent) -> io::Result<()> {
        match absent {
            Absent::Remove => self.unwanted.push(path.to_path_buf()),
            Absent::MaskWithin if path.parent().is_some_and(Path::is_dir) => self.mask(path)?,
            Absent::MaskWithin => {}
            Absent::Mask => self.mask(first_missing(path, root))?,
            Absent::Additions if path.parent().is_some_and(Path::is_dir) => {
                self.unwanted.push(path.to_path_buf());
            }
            Absent::Additions | Absent::Repository | Absent::Gitlinks | Absent::GitlinksWithin => {}
        }
        Ok(())
    }

    fn mask(&mut self, path: &Path) -> io::Result<()> {
        if self.placeholders.iter().any(|(held, _)| held == path) {
            return Ok(());
        }
        match placeholder(path) {
            Ok(Some(file)) => self.placeholders.push((path.to_path_buf(), file)),
            // Somebody made it meanwhile: then it is protected as what it is.
            Ok(None) => {}
            // Where we cannot write, the command cannot either.
            Err(error) if is_refused(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
        self.read_only.push(path.to_path_buf());
        Ok(())
    }

    /// Takes everything away again; returns what had appeared and was taken away. Every process of the command must be
    /// gone.
    pub(super) fn lower(self) -> Vec<Removed> {
        for (path, file) in &self.placeholders {
            // Others that still use it hold it shared; the last one removes it.
            let alone = file.unlock().is_ok() && file.try_lock().is_ok();
            if alone && same(path, file) {
                // Fails where it is no longer empty, and then it is no longer ours.
                fs::remove_dir(path).ok();
            }
        }
        self.undo(Look::Last, None);
        for directory in &self.repositories {
            self.removed.borrow_mut().extend(directory.mend(|path| self.displace(path)));
        }
        let mut kept = self.asides.kept();
        let removed = self.removed.take().into_iter();
        removed.map(|path| Removed { kept: kept.remove(&path).unwrap_or_default(), path }).collect()
    }

    fn displace(&self, path: &Path) {
        self.asides.displace(path, path);
    }
}

/// The uppermost part of a path that does not exist.
fn first_missing<'a>(path: &'a Path, root: &Path) -> &'a Path {
    let missing = path.ancestors().take_while(|part| *part != root && fs::symlink_metadata(part).is_err());
    missing.last().unwrap_or(path)
}

/// Makes or takes over an empty directory and holds it; none, if something else is there.
fn placeholder(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..ATTEMPTS_MAX {
        match fs::DirBuilder::new().mode(MODE).create(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let directory = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path);
        let file = match directory {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // Another is just removing it.
                std::thread::yield_now();
                continue;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if !same(path, &file) {
            continue;
        }
        if fs::read_dir(path)?.next().is_some() {
            return Ok(None);
        }
        file.set_permissions(fs::Permissions::from_mode(MODE))?;
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(TIME))?;
        return Ok(Some(file));
    }
    Err(io::Error::other(format!("{} cannot be held", path.display())))
}

fn names(directory: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

fn is_placeholder(found: &fs::Metadata) -> bool {
    found.is_dir()
        && found.mode() & 0o7777 == MODE
        && found.mtime() == i64::try_from(TIME).unwrap_or_default()
}

/// Whether a path still leads to an open file.
fn same(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(here)) = (fs::symlink_metadata(path), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (here.dev(), here.ino())
}

/// Whether it says that nothing is there: not that it cannot be seen.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
