//! What was taken away from protected paths while commands ran, and is kept for whoever misses it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Something that is kept.
pub(super) struct Taken {
    /// The directory that it lies in by itself.
    directory: PathBuf,
    bytes: u64,
    at_ms: i64,
}

impl Taken {
    /// All of it, the oldest first.
    pub(super) fn all(custody: &Path) -> Vec<Taken> {
        let of = |directory: PathBuf| {
            let name = directory.file_name()?.to_str()?;
            let at_ms = name.split_once('-')?.0.parse().ok()?;
            Some(Taken { bytes: size(&directory), at_ms, directory })
        };
        let mut all: Vec<Taken> = haft_sandbox::taken(custody).into_iter().filter_map(of).collect();
        all.sort_by_key(|taken| taken.at_ms);
        all
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The thing itself, under its own name.
    pub(super) fn path(&self) -> PathBuf {
        let mut entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        entries.next().map_or_else(|| self.directory.clone(), |entry| entry.path())
    }

    /// Whether it was kept for so many days.
    pub(super) fn is_older_than(&self, days: u32, now_ms: i64) -> bool {
        self.at_ms < now_ms.saturating_sub(i64::from(days) * 24 * 3600 * 1000)
    }

    /// Removes it.
    pub(super) fn remove(&self) -> io::Result<()> {
        haft_sandbox::remove_taken(&self.directory)
    }

    pub(super) fn document(&self) -> Value {
        json!({ "path": self.path().to_string_lossy(), "bytes": self.bytes, "at": self.at_ms })
    }
}

fn size(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    if !found.is_dir() {
        return found.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).sum()
}
