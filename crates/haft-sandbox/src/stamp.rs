//! What tells that a file is another one or was written, without reading it.

use std::ffi::OsString;
use std::path::PathBuf;

/// The stamps of some files, by their names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Stamps {
    each: Vec<Stamp>,
    /// Whether each would be another one, had its file been written since: it was changed long enough before it was
    /// looked at, and its file system tells. The clock of files stands still for milliseconds, or for seconds on some,
    /// and what is written twice meanwhile looks as if it was written once.
    do_tell: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Stamp {
    name: OsString,
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stamps {
    /// Whether whatever has the same stamps later is the same.
    pub(crate) fn do_tell(&self) -> bool {
        self.do_tell
    }

    /// Whether nothing is seen to have changed between two looks.
    #[cfg(target_os = "linux")]
    pub(crate) fn are_still(&self, later: &Stamps) -> bool {
        self.each == later.each
    }
}

/// Looks at files, where links lead to them.
#[cfg(unix)]
pub(crate) fn stamps(files: impl Iterator<Item = PathBuf>) -> Stamps {
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};
    const SETTLED_AFTER: Duration = Duration::from_secs(2);
    let since =
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(SETTLED_AFTER);
    let settled = (since.as_secs().cast_signed(), i64::from(since.subsec_nanos()));
    let mut stamps = Stamps { each: Vec::new(), do_tell: true };
    for path in files {
        let Ok(found) = std::fs::metadata(&path) else { continue };
        let changed = (found.ctime(), found.ctime_nsec());
        stamps.do_tell &= changed < settled && is_timely(&path);
        let name = path.file_name().unwrap_or_default().to_owned();
        let (device, inode, size) = (found.dev(), found.ino(), found.size());
        stamps.each.push(Stamp { name, device, inode, size, changed });
    }
    stamps
}

/// Files are always read.
#[cfg(not(unix))]
pub(crate) fn stamps(files: impl Iterator<Item = PathBuf>) -> Stamps {
    let stamp = |path: PathBuf| Stamp {
        name: path.file_name().unwrap_or_default().to_owned(),
        device: 0,
        inode: 0,
        size: 0,
        changed: (0, 0),
    };
    Stamps { each: files.map(stamp).collect(), do_tell: false }
}

/// Whether a file system sets the time of a file also where it is written through a mapping of memory. Some do not
/// (tmpfs), and of some only those know who serve them.
#[cfg(target_os = "linux")]
fn is_timely(path: &std::path::Path) -> bool {
    /// ext2 to ext4, XFS, Btrfs and F2FS.
    const TIMELY: [u64; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];
    // Some architectures have it with a sign.
    rustix::fs::statfs(path).is_ok_and(|found| TIMELY.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_timely(_path: &std::path::Path) -> bool {
    false
}
