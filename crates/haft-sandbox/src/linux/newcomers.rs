//! What appears under a protected name that was absent: whose it is, file by file.
//!
//! It is the command's, unless somebody vouches for its content, or it appeared while the command did nothing at all. What
//! was found to be somebody else's once stays so until it changes; then it is looked at anew.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use super::guard::Look;
use super::removal::open_above;
use super::vouching::Vouched;

/// More than this is nobody's but the command's.
const ENTRIES_MAX: usize = 16 << 10;
const BYTES_MAX: u64 = 64 << 20;
const DEPTH_MAX: usize = 64;
/// The clock of files stands still for milliseconds. What changed so recently may change again without another time.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// What was found to be somebody else's.
#[derive(Default)]
pub(super) struct Newcomers(RefCell<HashMap<PathBuf, Admitted>>);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Admitted {
    stamp: Stamp,
    /// Of a file.
    content: Option<blake3::Hash>,
}

/// What tells that a file is another one or was written, as far as its times do.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: (u64, u64),
    size: i64,
    changed: (i64, i64),
}

/// By what something is somebody else's.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    /// By what was said of its content.
    Word(&'a Vouched),
    /// By nothing: all that is there is taken in.
    Stillness,
}

impl Newcomers {
    /// What of that which stands under a name is the command's: all of it, or single files of it.
    pub(super) fn of_the_command(&self, path: &Path, look: Look, vouched: &Vouched) -> Vec<PathBuf> {
        match self.judged(path, look, By::Word(vouched)) {
            Ok(Verdict { is_anybodys: true, of_the_command }) => of_the_command,
            // Also what cannot be looked at: a command can see to that.
            Ok(Verdict { is_anybodys: false, .. }) | Err(_) => vec![path.to_path_buf()],
        }
    }

    /// Takes in all that stands under a name, if the command was still until that was looked at.
    pub(super) fn admit(&self, path: &Path, was_still: impl FnOnce() -> bool) -> bool {
        let before = self.0.borrow().clone();
        if self.judged(path, Look::Passing, By::Stillness).is_ok() && was_still() {
            return true;
        }
        *self.0.borrow_mut() = before;
        false
    }

    fn judged(&self, path: &Path, look: Look, by: By<'_>) -> io::Result<Verdict> {
        let (above, name) = (open_above(path)?, path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        let mut judge = Judge { look, by, admitted: &self.0, entries: ENTRIES_MAX, bytes: BYTES_MAX };
        judge.entry(&above, Path::new(name), path, DEPTH_MAX)
    }
}

/// What was found out of a file, or of a directory with all below it.
#[derive(Default)]
struct Verdict {
    /// Whether any of it is somebody else's.
    is_anybodys: bool,
    of_the_command: Vec<PathBuf>,
}

struct Judge<'a> {
    look: Look,
    by: By<'a>,
    admitted: &'a RefCell<HashMap<PathBuf, Admitted>>,
    entries: usize,
    bytes: u64,
}

impl Judge<'_> {
    fn entry(&mut self, above: &OwnedFd, name: &Path, path: &Path, depth: usize) -> io::Result<Verdict> {
        let too_much = || io::Error::other("there is too much of it");
        self.entries = self.entries.checked_sub(1).ok_or_else(too_much)?;
        let depth = depth.checked_sub(1).ok_or_else(too_much)?;
        let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => self.directory(above, name, path, depth),
            FileType::RegularFile => {
                let is_theirs = self.file(above, name, path, &found)?;
                Ok(Verdict::of(path, is_theirs))
            }
            _ => {
                let is_theirs = self.is_known(path, &found) || matches!(self.by, By::Stillness);
                if is_theirs {
                    self.admit(path, &found, None);
                }
                Ok(Verdict::of(path, is_theirs))
            }
        }
    }

    fn directory(&mut self, above: &OwnedFd, name: &Path, path: &Path, depth: usize) -> io::Result<Verdict> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(above, name, flags, Mode::empty())?;
        let found = fstat(&directory)?;
        let is_admitted = |judge: &Self| {
            judge.admitted.borrow().get(path).is_some_and(|known| known.stamp.identity == identity(&found))
        };
        let is_own = matches!(self.by, By::Stillness) || is_admitted(self);
        let mut verdict = Verdict { is_anybodys: is_own, of_the_command: Vec::new() };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = Path::new(std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()));
            if name == Path::new(".") || name == Path::new("..") {
                continue;
            }
            let below = self.entry(&directory, name, &path.join(name), depth)?;
            verdict.is_anybodys |= below.is_anybodys;
            verdict.of_the_command.extend(below.of_the_command);
        }
        if !verdict.is_anybodys {
            return Ok(Verdict::of(path, false));
        }
        self.admit(path, &found, None);
        Ok(verdict)
    }

    fn file(&mut self, above: &OwnedFd, name: &Path, path: &Path, found: &Stat) -> io::Result<bool> {
        let is_settled = self.look == Look::Passing && is_settled(found);
        if is_settled && self.is_known(path, found) {
            return Ok(true);
        }
        let content = self.content(above, name)?;
        let known = self.admitted.borrow().get(path).and_then(|known| known.content);
        let is_theirs = match self.by {
            By::Word(vouched) => known == Some(content) || vouched.content(path) == Some(&content),
            By::Stillness => true,
        };
        if is_theirs {
            self.admit(path, found, Some(content));
        }
        Ok(is_theirs)
    }

    fn is_known(&self, path: &Path, found: &Stat) -> bool {
        self.admitted.borrow().get(path).is_some_and(|known| known.stamp == stamp(found))
    }

    fn admit(&self, path: &Path, found: &Stat, content: Option<blake3::Hash>) {
        let admitted = Admitted { stamp: stamp(found), content };
        self.admitted.borrow_mut().insert(path.to_path_buf(), admitted);
    }

    /// What was opened is what is read, and reading it waits for nobody.
    fn content(&mut self, above: &OwnedFd, name: &Path) -> io::Result<blake3::Hash> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(above, name, flags, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no file any more"));
        }
        let mut hasher = blake3::Hasher::new();
        let mut read = File::from(file).take(self.bytes + 1);
        hasher.update_reader(&mut read)?;
        let left = read.limit().checked_sub(1);
        self.bytes = left.ok_or_else(|| io::Error::other("there is too much of it"))?;
        Ok(hasher.finalize())
    }
}

impl Verdict {
    fn of(path: &Path, is_somebody_elses: bool) -> Verdict {
        let of_the_command = if is_somebody_elses { Vec::new() } else { vec![path.to_path_buf()] };
        Verdict { is_anybodys: is_somebody_elses, of_the_command }
    }
}

#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    reason = "their types differ from machine to machine"
)]
fn stamp(found: &Stat) -> Stamp {
    let changed = (found.st_ctime as i64, found.st_ctime_nsec as i64);
    Stamp { identity: identity(found), size: found.st_size as i64, changed }
}

#[allow(clippy::unnecessary_cast, reason = "their types differ from machine to machine")]
fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino as u64)
}

fn is_settled(found: &Stat) -> bool {
    let since =
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(SETTLED_AFTER);
    stamp(found).changed < (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
}
