//! What appears under a protected name that was absent: whose it is, file by file.
//!
//! It is the command's, unless somebody vouches for its content, or it appeared while the command did nothing at all. What
//! was found to be somebody else's once stays so until it changes; then it is looked at anew. A file with several names is
//! the command's in any case: whoever has another name for it can write it at any time.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use super::removal::open_above;
use super::vouching::Vouched;
use crate::spec::Content;

/// More than this under one name is nobody's but the command's: it is looked at again and again.
const ENTRIES_MAX: usize = 4096;
const BYTES_MAX: u64 = 8 << 20;
const DEPTH_MAX: usize = 32;

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
    size: u64,
    changed: (i64, i64),
}

/// By what something is somebody else's.
#[derive(Clone, Copy)]
pub(super) enum By<'a> {
    /// By what was said of its content, or by what was found before.
    Word(&'a Vouched),
    /// By nothing: all that is there is taken in.
    Stillness,
}

/// Whether what is known is looked into again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// Not if its times say that nobody wrote it: the command did nothing.
    Times,
    /// Always: what is written through a mapping of memory does not show in them.
    Content,
}

/// What was found under a name.
#[derive(Default)]
pub(super) struct Found {
    /// What of it is the command's: all of it, or single files of it.
    pub(super) of_the_command: Vec<PathBuf>,
    /// Whether somebody is just writing something there.
    pub(super) is_pending: bool,
}

impl Newcomers {
    /// Judges what stands under a name. Nothing is read of what nobody has vouched for.
    pub(super) fn judge(&self, path: &Path, vouched: &Vouched, care: Care) -> Found {
        let Ok(verdict) = self.judged(path, By::Word(vouched), care) else {
            // What cannot be looked at is the command's: a command can see to that.
            return Found { of_the_command: vec![path.to_path_buf()], is_pending: false };
        };
        let is_pending = verdict.is_pending;
        let of_the_command =
            if verdict.is_left() { verdict.of_the_command } else { vec![path.to_path_buf()] };
        Found { of_the_command, is_pending }
    }

    /// Takes in all that stands under a name, if the command was still until that was looked at.
    pub(super) fn admit(&self, path: &Path, was_still: impl Fn() -> bool) -> bool {
        if !was_still() {
            return false;
        }
        let before = self.0.borrow().clone();
        let is_admitted = self
            .judged(path, By::Stillness, Care::Content)
            .is_ok_and(|verdict| verdict.of_the_command.is_empty());
        if is_admitted && was_still() {
            return true;
        }
        *self.0.borrow_mut() = before;
        false
    }

    /// Forgets what was found under a name at which nothing is any more.
    pub(super) fn forget(&self, path: &Path) {
        self.0.borrow_mut().retain(|known, _| !known.starts_with(path));
    }

    fn judged(&self, path: &Path, by: By<'_>, care: Care) -> io::Result<Verdict> {
        let (above, name) = (open_above(path)?, path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        let seen = HashSet::new();
        let mut judge = Judge { by, care, admitted: &self.0, seen, entries: ENTRIES_MAX, bytes: BYTES_MAX };
        let verdict = judge.entry(&above, Path::new(name), path, DEPTH_MAX)?;
        let seen = judge.seen;
        self.0.borrow_mut().retain(|known, _| !known.starts_with(path) || seen.contains(known));
        Ok(verdict)
    }
}

/// What was found out of a file, or of a directory with all below it.
#[derive(Default)]
struct Verdict {
    /// Whether any of it is somebody else's.
    is_anybodys: bool,
    /// Whether any of it is just being written by somebody else.
    is_pending: bool,
    of_the_command: Vec<PathBuf>,
}

struct Judge<'a> {
    by: By<'a>,
    care: Care,
    admitted: &'a RefCell<HashMap<PathBuf, Admitted>>,
    seen: HashSet<PathBuf>,
    entries: usize,
    bytes: u64,
}

impl Judge<'_> {
    fn entry(&mut self, above: &OwnedFd, name: &Path, path: &Path, depth: usize) -> io::Result<Verdict> {
        self.entries = self.entries.checked_sub(1).ok_or_else(too_much)?;
        let depth = depth.checked_sub(1).ok_or_else(too_much)?;
        self.seen.insert(path.to_path_buf());
        let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Directory {
            return self.directory(above, name, path, depth);
        }
        if let By::Word(vouched) = self.by
            && vouched.is_pending(path)
        {
            return Ok(Verdict { is_pending: true, ..Verdict::default() });
        }
        let is_theirs = match kind {
            FileType::RegularFile => found.st_nlink == 1 && self.file(above, name, path, &found)?,
            _ => self.other(path, &found),
        };
        Ok(Verdict::of(path, is_theirs))
    }

    fn directory(&mut self, above: &OwnedFd, name: &Path, path: &Path, depth: usize) -> io::Result<Verdict> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(above, name, flags, Mode::empty())?;
        let found = fstat(&directory)?;
        let (is_own, is_pending) = match self.by {
            By::Stillness => (true, false),
            By::Word(vouched) => {
                let known = self.known(path);
                let is_known = known.is_some_and(|known| known.stamp.identity == stamp(&found).identity);
                let is_pending = vouched.is_pending_below(path);
                if !is_known && !is_pending && !self.may_hold_known(path, vouched) {
                    return Ok(Verdict::of(path, false));
                }
                (is_known, is_pending)
            }
        };
        let mut verdict = Verdict { is_anybodys: is_own, is_pending, of_the_command: Vec::new() };
        for entry in Dir::read_from(&directory)? {
            let entry = entry?;
            let name = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
            if name == Path::new(".") || name == Path::new("..") {
                continue;
            }
            let below = self.entry(&directory, name, &path.join(name), depth)?;
            verdict.is_anybodys |= below.is_anybodys;
            verdict.is_pending |= below.is_pending;
            verdict.of_the_command.extend(below.of_the_command);
        }
        if !verdict.is_left() {
            return Ok(Verdict::of(path, false));
        }
        if verdict.is_anybodys {
            self.admit(path, &found, None);
        }
        Ok(verdict)
    }

    fn file(&mut self, above: &OwnedFd, name: &Path, path: &Path, found: &Stat) -> io::Result<bool> {
        let known = self.known(path).filter(|known| known.stamp == stamp(found));
        if known.is_some() && self.care == Care::Times {
            return Ok(true);
        }
        let is_theirs = match self.by {
            By::Stillness => {
                let content = self.content(above, name)?;
                self.admit(path, found, Some(content.digest));
                true
            }
            By::Word(vouched) => {
                let said = vouched.content(path).filter(|said| said.bytes == stamp(found).size);
                if known.is_none() && said.is_none() {
                    return Ok(false);
                }
                let content = self.content(above, name)?;
                let is_known = known.is_some_and(|known| known.content == Some(content.digest));
                let is_theirs = is_known || said == Some(content);
                if is_theirs {
                    self.admit(path, found, Some(content.digest));
                }
                is_theirs
            }
        };
        Ok(is_theirs)
    }

    /// A link, or anything else that holds nothing that could be written.
    fn other(&self, path: &Path, found: &Stat) -> bool {
        let is_theirs = match self.by {
            By::Stillness => true,
            By::Word(_) => self.known(path).is_some_and(|known| known.stamp == stamp(found)),
        };
        if is_theirs {
            self.admit(path, found, None);
        }
        is_theirs
    }

    /// Whether anything below a directory could be somebody else's. If not, it need not be looked into, however much is in it.
    fn may_hold_known(&self, path: &Path, vouched: &Vouched) -> bool {
        vouched.has_below(path) || self.admitted.borrow().keys().any(|known| known.starts_with(path))
    }

    fn known(&self, path: &Path) -> Option<Admitted> {
        self.admitted.borrow().get(path).copied()
    }

    fn admit(&self, path: &Path, found: &Stat, content: Option<blake3::Hash>) {
        let admitted = Admitted { stamp: stamp(found), content };
        self.admitted.borrow_mut().insert(path.to_path_buf(), admitted);
    }

    /// What was opened is what is read, and reading it waits for nobody.
    fn content(&mut self, above: &OwnedFd, name: &Path) -> io::Result<Content> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(above, name, flags, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no file any more"));
        }
        let mut hasher = blake3::Hasher::new();
        let mut read = File::from(file).take(self.bytes + 1);
        hasher.update_reader(&mut read)?;
        let left = read.limit().checked_sub(1).ok_or_else(too_much)?;
        let bytes = self.bytes - left;
        self.bytes = left;
        Ok(Content { bytes, digest: hasher.finalize() })
    }
}

impl Verdict {
    /// Whether some of it stays, and with it what it lies in.
    fn is_left(&self) -> bool {
        self.is_anybodys || self.is_pending
    }

    fn of(path: &Path, is_somebody_elses: bool) -> Verdict {
        let of_the_command = if is_somebody_elses { Vec::new() } else { vec![path.to_path_buf()] };
        Verdict { is_anybodys: is_somebody_elses, is_pending: false, of_the_command }
    }
}

fn too_much() -> io::Error {
    io::Error::other("there is too much of it")
}

#[allow(clippy::unnecessary_cast, reason = "their types differ from machine to machine")]
fn stamp(found: &Stat) -> Stamp {
    Stamp {
        identity: (found.st_dev as u64, found.st_ino as u64),
        size: (found.st_size as i64).cast_unsigned(),
        changed: (found.st_ctime as i64, found.st_ctime_nsec as i64),
    }
}
