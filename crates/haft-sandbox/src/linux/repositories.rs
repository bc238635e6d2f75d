//! Directories that must not become a repository of git, and repositories that must stay one.
//!
//! Whoever completes a repository around a person's working directory has their next `git status` run something, and
//! so has whoever damages `.git` so that git looks further. Neither can be refused by a mount: the parts have everyday
//! names, and git itself replaces `HEAD` all the time. So what became of a directory is looked at, and undone.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::removal;
use crate::repository::{self, PARTS, is_whole, may_be_repository};

/// So much of a file is kept to be put back.
const KEPT_BYTES_MAX: u64 = 64 << 10;

/// A directory with a `HEAD` or without, as it was before the command.
pub(super) struct Directory {
    head: PathBuf,
    before: Before,
}

enum Before {
    Repository(Kept),
    /// No repository: the names that were not there, and what stood under `HEAD`.
    Other(Vec<&'static str>, Option<Kept>),
    /// Neither surely one nor surely none.
    Unclear,
}

pub(super) enum Kept {
    File(Vec<u8>),
    Link(PathBuf),
}

impl Directory {
    /// Looks at the directory that a `HEAD` is in, or would be in.
    pub(super) fn of(head: &Path) -> Option<Directory> {
        let directory = head.parent()?;
        let kept = keep(head);
        let before = match (is_whole(directory), kept) {
            (true, Some(kept)) => Before::Repository(kept),
            (false, kept) if !may_be_repository(directory) => {
                let is_absent = |name: &&str| fs::symlink_metadata(directory.join(name)).is_err();
                Before::Other(["HEAD"].into_iter().chain(PARTS).filter(is_absent).collect(), kept)
            }
            (true | false, _) => Before::Unclear,
        };
        Some(Directory { head: head.to_path_buf(), before })
    }

    /// Where nothing must stand in the way of looking after it.
    pub(super) fn head(&self) -> &PathBuf {
        &self.head
    }

    /// Takes away what made a repository of a directory that was none; returns what that was.
    pub(super) fn undo(&self, displace: impl Fn(&Path)) -> Vec<PathBuf> {
        let (Before::Other(absent, kept), Some(directory)) = (&self.before, self.head.parent()) else {
            return Vec::new();
        };
        let mut undone = Vec::new();
        for path in absent.iter().map(|name| directory.join(name)) {
            if !may_be_repository(directory) {
                return undone;
            }
            if fs::symlink_metadata(&path).is_ok() {
                displace(&path);
                undone.push(path);
            }
        }
        if may_be_repository(directory) {
            displace(&self.head);
            kept.iter().for_each(|kept| put(&self.head, kept));
            undone.push(self.head.clone());
        }
        undone
    }

    /// Makes a repository whole again that was one; returns what was put back. To be called when the command is gone.
    pub(super) fn mend(&self, displace: impl Fn(&Path)) -> Vec<PathBuf> {
        let (Before::Repository(kept), Some(directory)) = (&self.before, self.head.parent()) else {
            return Vec::new();
        };
        // Whoever removed all of it was allowed to.
        if !directory.is_dir() || is_whole(directory) {
            return Vec::new();
        }
        let mut mended = Vec::new();
        if !repository::is_head(&self.head) {
            displace(&self.head);
            put(&self.head, kept);
            mended.push(self.head.clone());
        }
        for path in ["objects", "refs"].map(|name| directory.join(name)) {
            if !path.is_dir() {
                displace(&path);
                make_directory(&path).ok();
                mended.push(path);
            }
        }
        mended
    }
}

fn keep(path: &Path) -> Option<Kept> {
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_symlink() {
        return fs::read_link(path).ok().map(Kept::Link);
    }
    if !found.is_file() || found.len() > KEPT_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    repository::open(path).ok()?.take(KEPT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(Kept::File(bytes))
}

/// What cannot be put back is gone, which is no harm to anybody but the command.
pub(super) fn put(path: &Path, kept: &Kept) {
    match kept {
        Kept::Link(target) => symlink(target, path).ok(),
        Kept::File(bytes) => make_file(path).and_then(|mut file| file.write_all(bytes)).ok(),
    };
}

fn make_file(path: &Path) -> io::Result<fs::File> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(removal::open_above(path)?, name, flags, Mode::from_raw_mode(0o644))?.into())
}

fn make_directory(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(mkdirat(removal::open_above(path)?, name, Mode::from_raw_mode(0o755))?)
}
