//! Putting back what a call that died half-way had changed. Nobody is asked: it is the end of what was agreed to.

use std::path::Path;

use haft::{BoxError, Change, Restorer, visible};

use super::commit::{Entry, commit};
use super::root::Root;
use crate::blocking::Stop;

/// Restores files wherever they are. No link on the way is followed, so what is restored is what was changed.
pub struct DiskRestorer;

impl Restorer for DiskRestorer {
    fn restore(&self, change: &Change) -> Result<(), BoxError> {
        let disk = Root::open(Path::new("/"))?;
        let relative = |path: &Path| disk.relative(path).ok_or("the path is not absolute");
        let after = change.restoring();
        let entry = Entry {
            root: &disk,
            relative: relative(&change.path)?,
            shown: visible(&change.path.to_string_lossy()),
            before: change.after.as_ref(),
            after: after.as_ref(),
            ready: None,
        };
        commit(vec![entry], &Stop::default())?;
        for directory in change.made_directories() {
            disk.remove_empty_directory(&relative(directory)?);
        }
        Ok(())
    }
}
