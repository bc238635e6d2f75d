//! Configuration that is there to stay. What a command makes under a protected name is taken away again within moments;
//! another haft that reads it just then must not believe it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use haft::permission::Layer;

use super::Config;

/// A file that has been there for so long is there to stay.
const SETTLED: Duration = Duration::from_secs(1);
/// One that has not is looked at again after so long, in which what must not be there goes away.
const WAIT: Duration = Duration::from_millis(150);

/// A file of the project that was read and is not there to stay.
pub(crate) fn unsettled(config: &Config) -> Option<PathBuf> {
    let projects = config.sources().iter().filter(|source| source.layer == Layer::Project);
    let read: Vec<&Path> = projects.filter_map(|source| source.path.as_deref()).collect();
    let found: Vec<Option<Standing>> = read.iter().map(|path| Standing::of(path)).collect();
    if let Some(gone) = found.iter().position(Option::is_none) {
        return Some(read[gone].to_owned());
    }
    if found.iter().flatten().all(|standing| standing.is_settled()) {
        return None;
    }
    std::thread::sleep(WAIT);
    let stays = |(path, before): (&&Path, &Option<Standing>)| Standing::of(path) == *before;
    let moved = read.iter().zip(&found).position(|pair| !stays(pair))?;
    Some(read[moved].to_owned())
}

/// By what a file is known to be the same, and to have been left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    place: (u64, u64),
    /// When anything about it changed last, in seconds and nanoseconds; also its names count.
    changed: (i64, i64),
}

impl Standing {
    fn of(path: &Path) -> Option<Standing> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Standing { place: (found.dev(), found.ino()), changed: (found.ctime(), found.ctime_nsec()) })
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(self.changed.0).unwrap_or_default();
        // A clock that was put back says nothing.
        now.as_secs().checked_sub(changed).is_some_and(|age| age > SETTLED.as_secs())
    }
}
