//! What tells that a file is another one or was written, without reading it.

use std::path::PathBuf;

/// The stamps of some files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamps(Vec<Option<Stamp>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    path: PathBuf,
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
    /// Whether it was changed long enough before it was looked at. The clock of files stands still for milliseconds, or
    /// for seconds on some, and what is written twice meanwhile looks as if it was written once.
    is_settled: bool,
}

impl Stamps {
    /// Whether nothing was changed between two looks. Where that cannot be known, it was.
    pub(crate) fn are_surely(&self, later: &Stamps) -> bool {
        let is_settled = |stamp: &Option<Stamp>| stamp.as_ref().is_none_or(|stamp| stamp.is_settled);
        let what = |stamps: &Stamps| {
            let each = stamps.0.iter().flatten().cloned();
            each.map(|stamp| Stamp { is_settled: true, ..stamp }).collect::<Vec<_>>()
        };
        self.0.iter().all(is_settled) && what(self) == what(later)
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
    let stamp = |path: PathBuf| {
        let found = std::fs::metadata(&path).ok()?;
        let changed = (found.ctime(), found.ctime_nsec());
        let (device, inode, size) = (found.dev(), found.ino(), found.size());
        Some(Stamp { path, device, inode, size, changed, is_settled: changed < settled })
    };
    Stamps(files.map(stamp).collect())
}

/// Files are always read.
#[cfg(not(unix))]
pub(crate) fn stamps(files: impl Iterator<Item = PathBuf>) -> Stamps {
    let stamp = |path: PathBuf| {
        Some(Stamp { path, device: 0, inode: 0, size: 0, changed: (0, 0), is_settled: false })
    };
    Stamps(files.map(stamp).collect())
}
