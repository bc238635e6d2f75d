//! What was displaced while a command runs: it lies beside its place under a name that means nothing, and is brought to
//! where it is kept when every process of the command is gone.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::removal::{self, Fate};
use super::taken::{Keeping, Unkept};

/// So many things are remembered, of one path and in all.
const OF_A_PATH_MAX: usize = 8;
const IN_ALL_MAX: usize = 512;
/// So much of one is removed while a command runs, which could fill it meanwhile.
const REMOVED_AT_ONCE_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Asides {
    custody: Option<PathBuf>,
    roots: Vec<PathBuf>,
    /// The paths they were at, and where they are now.
    displaced: RefCell<Vec<(PathBuf, PathBuf)>>,
}

impl Asides {
    /// Within directories that the command may change, and lock.
    pub(super) fn new(custody: Option<PathBuf>, roots: Vec<PathBuf>) -> Asides {
        Asides { custody, roots, displaced: RefCell::default() }
    }

    /// Whether this is one of them.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.displaced.borrow().iter().any(|(_, aside)| aside == path)
    }

    /// Moves something out of its place, to beside a path that it is at or below. Whether that could be done.
    pub(super) fn displace(&self, path: &Path, beside: &Path) -> bool {
        let mut displaced = self.displaced.borrow_mut();
        // Of one path the first ones and the last ones are kept, however often a command tries.
        let same: Vec<usize> = (0..displaced.len()).filter(|at| displaced[*at].0 == path).collect();
        if let Some(at) = same.get(OF_A_PATH_MAX / 2).filter(|_| same.len() >= OF_A_PATH_MAX) {
            let_go(&displaced.remove(*at).1);
        }
        let has_room = displaced.len() < IN_ALL_MAX;
        let fate = if self.custody.is_some() && has_room { Fate::Kept } else { Fate::Gone };
        match removal::displace(path, beside, fate) {
            Ok(Some(aside)) if has_room => displaced.push((path.to_path_buf(), aside)),
            Ok(Some(aside)) => let_go(&aside),
            Ok(None) => {}
            Err(_) => return false,
        }
        true
    }

    /// Brings them to where they are kept, and says where that is; what there is nothing in goes.
    pub(super) fn kept(&self) -> HashMap<PathBuf, Vec<PathBuf>> {
        let mut keeping = self.custody.as_deref().map(Keeping::within);
        let mut all: HashMap<PathBuf, Vec<PathBuf>> = HashMap::new();
        for (path, aside) in self.displaced.take() {
            let _open = removal::open_up(&aside, &self.roots);
            let name = Path::new(path.file_name().unwrap_or_default());
            match keeping.as_mut().map(|keeping| keeping.keep(&aside, name)) {
                Some(Ok(kept)) => all.entry(path).or_default().push(kept),
                // Too large, or there is no room: it stays, under a name that means nothing.
                Some(Err(Unkept::Whole)) => all.entry(path).or_default().push(aside),
                // What cannot be removed has a name that means nothing, too.
                Some(Err(Unkept::Empty)) | None => drop(removal::remove(&aside)),
            }
        }
        all
    }
}

/// What is large stays, under a name that means nothing.
fn let_go(aside: &Path) {
    removal::remove_up_to(aside, REMOVED_AT_ONCE_MAX).ok();
}
