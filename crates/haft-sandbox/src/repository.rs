//! What git takes for a repository, found without running git, and what of one makes git run something.
//!
//! Git looks for `.git` in a directory and then takes the directory itself for a repository without a working tree, if
//! it has a `HEAD` that is one, `objects` and `refs`. Its configuration then names programs that `git status` runs.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::profile::Absent;

/// A file or directory in a repository's own directory.
#[derive(Debug, Clone, Copy)]
pub struct OfGit {
    /// Its path there.
    pub name: &'static str,
    /// How it is held where it is not there.
    pub absent: Absent,
    /// Whether it is a directory, of which everything counts.
    pub is_directory: bool,
    /// Whether it leads git from a working tree to a repository, or configures that working tree alone.
    pub leads: bool,
}

/// What makes git run something or look elsewhere. Git fails where it finds a directory in place of some of these files,
/// so they are not masked.
pub const OF_GIT: &[OfGit] = &[
    OfGit { name: "hooks", absent: Absent::MaskWithin, is_directory: true, leads: false },
    OfGit { name: "config", absent: Absent::MaskWithin, is_directory: false, leads: false },
    OfGit { name: "config.worktree", absent: Absent::Remove, is_directory: false, leads: true },
    OfGit { name: "commondir", absent: Absent::Remove, is_directory: false, leads: true },
    OfGit { name: "gitdir", absent: Absent::Remove, is_directory: false, leads: true },
    OfGit { name: "info/attributes", absent: Absent::Remove, is_directory: false, leads: false },
];

/// What git knows a repository by, besides `HEAD`: the first stands for the other two.
pub const PARTS: [&str; 3] = ["commondir", "objects", "refs"];

/// Git reads so much of a `HEAD`.
const HEAD_BYTES_MAX: u64 = 255;

/// Whether git may take a directory itself for a repository. Where that cannot be known, it may.
pub fn may_be_repository(directory: &Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    let [elsewhere, objects, refs] = PARTS;
    is_head(&directory.join("HEAD")) && (has(elsewhere) || has(objects) && has(refs))
}

/// Whether git takes the directory of a repository for one as it is.
pub(crate) fn is_whole(directory: &Path) -> bool {
    is_head(&directory.join("HEAD")) && ["objects", "refs"].iter().all(|name| directory.join(name).is_dir())
}

/// Whether a path is a `HEAD` for git: it names a reference or a commit.
pub(crate) fn is_head(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    if found.is_symlink() {
        return fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("refs/"));
    }
    if !found.is_file() {
        return false;
    }
    let mut start = Vec::new();
    match open(path).and_then(|file| file.take(HEAD_BYTES_MAX).read_to_end(&mut start)) {
        Ok(_) => names_something(&start),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

fn names_something(start: &[u8]) -> bool {
    const HASH_DIGITS: usize = 40;
    let is_hash = start.len() >= HASH_DIGITS && start[..HASH_DIGITS].iter().all(u8::is_ascii_hexdigit);
    let reference = start.strip_prefix(b"ref:").map(<[u8]>::trim_ascii_start);
    is_hash || reference.is_some_and(|name| name.starts_with(b"refs/"))
}

/// Opens a file that may have become something else meanwhile, without waiting for anybody.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

/// The same where git would follow links. What is no file is not even opened: a device could do something then.
#[cfg(target_os = "linux")]
pub(crate) fn open_followed(path: &Path) -> std::io::Result<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let found = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
    if !found.metadata()?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    OpenOptions::new().read(true).open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_followed(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::names_something;

    #[test]
    fn a_head_is_what_git_takes_for_one() {
        let hash = "0123456789abcdef0123456789ABCDEF01234567";
        for head in ["ref: refs/heads/main\n", "ref:refs/x", "ref:\t refs/", hash, &format!("{hash}\n")] {
            assert!(names_something(head.as_bytes()), "{head:?}");
        }
        for other in ["", "\n", "ref: heads/main", "refs/heads/main", &hash[1..], "a file of that name"] {
            assert!(!names_something(other.as_bytes()), "{other:?}");
        }
    }
}
