//! Files of outputs that were never finished, or that nothing refers to: what processes that died left behind.
//!
//! The name of an unfinished file says which process writes it, and that process holds a lock for as long as it lives.
//! So there is no waiting before a dead one's goes, and none of a living one goes, however long it is silent.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use haft::OutputId;

use crate::files::Places;
use crate::outputs::path_of;
use crate::process::{Census, is_process_id};

/// The start of the name of a file that is still being written.
const UNFINISHED: &str = ".unfinished-";
/// A file of nobody knows whom belongs to something that is under way, unless it is older than this.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// A file that may go.
#[derive(Debug)]
pub(crate) struct Leftover {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// Where a process writes an output until it is whole.
pub(crate) fn unfinished(outputs: &Path, process: &str, id: &OutputId) -> PathBuf {
    outputs.join(format!("{UNFINISHED}{process}-{id}"))
}

/// The files that may go. Those of `known` outputs are referred to. What cannot be looked at stays.
pub(crate) fn find(places: &Places, known: &HashSet<String>, now_ms: i64) -> io::Result<Vec<Leftover>> {
    let outputs = &places.outputs;
    let mut census = Census::new(&places.run);
    let mut found = Vec::new();
    for shelf in fs::read_dir(outputs)?.filter_map(Result::ok) {
        if shelf.file_type().is_ok_and(|kind| kind.is_dir()) {
            for entry in fs::read_dir(shelf.path()).into_iter().flatten().filter_map(Result::ok) {
                let name = entry.file_name();
                let ours = name.to_str().is_some_and(|name| path_of(outputs, name) == Some(entry.path()));
                if ours && !name.to_str().is_some_and(|name| known.contains(name)) && is_old(&entry, now_ms) {
                    found.extend(leftover(&entry));
                }
            }
        } else if let Some(rest) = shelf.file_name().to_string_lossy().strip_prefix(UNFINISHED) {
            let writer = rest.split_once('-').map(|(process, _)| process).filter(|id| is_process_id(id));
            let may_go = match writer {
                Some(process) => !census.is_alive(process),
                None => is_old(&shelf, now_ms),
            };
            found.extend(Some(&shelf).filter(|_| may_go).and_then(leftover));
        }
    }
    Ok(found)
}

/// Nothing if it has just gone, or is no file.
fn leftover(entry: &DirEntry) -> Option<Leftover> {
    let metadata = entry.metadata().ok().filter(|metadata| !metadata.is_dir());
    metadata.map(|metadata| Leftover { path: entry.path(), bytes: metadata.len() })
}

fn is_old(entry: &DirEntry, now_ms: i64) -> bool {
    let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
    let changed = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    changed.is_some_and(|at| now_ms - ms(at) > ms(LEFTOVER))
}
