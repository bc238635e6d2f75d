//! Directories that have to stay where they are, because what they hold is known by its path.
//!
//! A mount moves along when the directory around it is renamed, and what is removed by its path would be looked for
//! behind a link that took the directory's place. A directory that is a mount itself can neither be renamed nor removed.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every directory below a writable one that leads to what is held, the outer before the inner.
pub(super) fn pins<'a>(writable: &[PathBuf], held: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let is_below = |path: &Path| writable.iter().any(|root| path.starts_with(root) && path != root);
    let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let mut pins = BTreeSet::new();
    let mut seen = HashSet::new();
    for path in held {
        // Much is held in the same directories, and whoever was here before has gone all the way up.
        let above =
            path.ancestors().skip(1).take_while(|part| is_below(part) && seen.insert(part.to_path_buf()));
        pins.extend(above.filter(|part| is_directory(part)).map(Path::to_path_buf));
    }
    pins.into_iter().collect()
}
