//! New contents that go to the disk while it is being recorded what a call is about to change: in files that have no
//! name, so that nobody notices them, and nothing of them is left if it does not come to the change.
//!
//! They are a shortcut: where there is none, or none that fits, a commit writes the content itself.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use haft::permission::Consent;
use haft::{Attributes, Image};

use super::attributes;
use super::change::{ChangeSet, FileChange};
use super::root::Root;
use super::{Place, Workspace};
use crate::blocking::{Stop, blocking};

/// So many files of a change are written ahead: each is held open until it has its name.
const FILES_MAX: usize = 64;

/// Contents of a change that are on the disk already.
#[derive(Default)]
pub struct Readied(Vec<(PathBuf, Ready)>);

impl Readied {
    #[cfg(test)]
    pub(super) fn of(real: &Path, ready: Option<Ready>) -> Readied {
        Readied(ready.into_iter().map(|ready| (real.to_owned(), ready)).collect())
    }

    /// Takes what was made ready for a file.
    pub(super) fn take(&mut self, real: &Path) -> Option<Ready> {
        let at = self.0.iter().position(|(path, _)| path == real)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// A file without a name that holds what another is to hold.
pub(super) struct Ready {
    pub(super) file: File,
    /// The digest of what it holds.
    digest: String,
    /// What it was given.
    attributes: Attributes,
}

impl Ready {
    /// Whether it is what a commit would write: this image, for a file that has these attributes now.
    pub(super) fn fits(&self, image: &Image, standing: Option<&Attributes>) -> bool {
        self.digest == image.digest && image.attributes.as_ref().or(standing) == Some(&self.attributes)
    }
}

impl Workspace {
    /// Writes what the files are to hold, so far as that can be done without anybody's noticing.
    pub fn ready(&self, consent: &Consent<'_, ChangeSet>) -> impl Future<Output = Readied> + Send + use<> {
        let workspace = self.clone();
        let wanted: Vec<Wanted> =
            consent.target().files().iter().filter_map(Wanted::of).take(FILES_MAX).collect();
        blocking(move |stop| {
            let ready =
                |wanted: Wanted| Some((wanted.place.real().to_owned(), wanted.ready(&workspace, stop)?));
            Readied(wanted.into_iter().filter_map(ready).collect())
        })
    }
}

/// A content that is to be written.
struct Wanted {
    place: Place,
    image: Image,
    attributes: Attributes,
}

impl Wanted {
    fn of(file: &FileChange) -> Option<Wanted> {
        let image = file.after()?.clone();
        // Larger ones are in no memory, and would have to be read for it.
        image.content.as_ref()?.in_memory()?;
        // What a file has is kept. What a new one gets depends on its directory and on the process's mask, which not every
        // kernel heeds for files without a name.
        let standing = || file.before().and_then(|before| before.attributes.clone());
        let attributes = image.attributes.clone().or_else(standing)?;
        Some(Wanted { place: file.place().clone(), image, attributes })
    }

    /// Whatever fails here is met again by the commit, which says so.
    fn ready(self, workspace: &Workspace, stop: &Stop) -> Option<Ready> {
        let (root, relative) = workspace.root_of(self.place.real());
        let content = self.image.content.as_ref()?.in_memory()?;
        if stop.is_set() {
            return None;
        }
        let write = || {
            let mut file = unnamed(root, &relative)?;
            file.write_all(content)?;
            attributes::give(&self.attributes, &file)?;
            file.sync_all()?;
            io::Result::Ok(file)
        };
        let file = write().ok()?;
        Some(Ready { file, digest: self.image.digest, attributes: self.attributes })
    }
}

/// Makes a file without a name in the directory of another.
#[cfg(target_os = "linux")]
fn unnamed(root: &Root, relative: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let above = relative.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = root.open_directory(above)?;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(&directory, ".", flags, Mode::from_raw_mode(0o600))?.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_root: &Root, _relative: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
