//! Where the files of images lie, and which of them are known to be whole.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files;
use crate::seal::{Seal, pieces};

/// So many files are known at a time.
const KNOWN_MAX: usize = 1024;

/// The file of an image. Only a digest becomes part of a path.
pub(crate) fn path_of(images: &Path, digest: &str) -> Option<PathBuf> {
    is_digest(digest).then(|| images.join(digest))
}

/// Where earlier versions had it: in one of many directories, each of which had to be waited for when it was made.
pub(crate) fn earlier_path_of(images: &Path, digest: &str) -> Option<PathBuf> {
    is_digest(digest).then(|| images.join(&digest[..2]).join(digest))
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The files that this process has written or read to their end, by what the file system said of them then.
#[derive(Default)]
pub(crate) struct Whole(Mutex<HashMap<String, Stamp>>);

#[derive(PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
    /// The name of the key that it is sealed with.
    sealed_by: String,
}

impl Stamp {
    fn of(metadata: &Metadata, seal: &Seal) -> Stamp {
        Stamp {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            sealed_by: seal.name(),
        }
    }
}

impl Whole {
    /// Whether a file holds an image. It is read to its end unless that was done before and it is the same since.
    pub(crate) fn holds(&self, path: &Path, seal: &Seal, digest: &str, bytes: u64) -> bool {
        let Ok(file) = File::open(path) else { return false };
        let Ok(metadata) = file.metadata() else { return false };
        let stamp = Stamp::of(&metadata, seal);
        let is_known = self.lock().get(digest) == Some(&stamp);
        if is_known {
            return true;
        }
        // Whoever wrote it may not have waited for the disk yet.
        let is_durable = || file.sync_all().and_then(|()| path.parent().map_or(Ok(()), files::sync_dir));
        let is_whole = pieces::is_whole(seal, digest, bytes, &file) && is_durable().is_ok();
        if is_whole {
            self.insert(digest, stamp);
        }
        is_whole
    }

    /// Notes that a file was just written.
    pub(crate) fn note(&self, file: &File, seal: &Seal, digest: &str) {
        // What is not known is read before it is relied on.
        if let Ok(metadata) = file.metadata() {
            self.insert(digest, Stamp::of(&metadata, seal));
        }
    }

    fn insert(&self, digest: &str, stamp: Stamp) {
        let mut known = self.lock();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(digest.to_owned(), stamp);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::Places;

    #[test]
    fn a_file_that_was_whole_is_read_again_once_it_changed() {
        let directory = tempfile::tempdir().unwrap();
        let places = Places::in_dir(directory.path());
        fs::create_dir(&places.run).unwrap();
        let seal = Seal::of(&places).unwrap();
        let text = b"kept ".repeat(50_000);
        let digest = crate::digest(&text);
        let path = directory.path().join(&digest);
        let mut sealed = Vec::new();
        pieces::seal(&seal, &digest, text.as_slice(), &mut sealed).unwrap();
        fs::write(&path, &sealed).unwrap();
        let whole = Whole::default();
        let holds = || whole.holds(&path, &seal, &digest, text.len() as u64);
        assert!(holds() && holds());
        let damage = |sealed: &[u8]| {
            let aside = directory.path().join("aside");
            fs::write(&aside, sealed).unwrap();
            fs::rename(&aside, &path).unwrap();
        };
        sealed[70_000] ^= 1;
        damage(&sealed);
        assert!(!holds());
        sealed[70_000] ^= 1;
        damage(&sealed);
        assert!(holds());
        whole.note(&File::open(&path).unwrap(), &seal, "of another");
        fs::remove_file(&path).unwrap();
        assert!(!holds(), "it is gone");
    }
}
