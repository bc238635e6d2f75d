//! Indexes of lines that were made, kept for the next page: a few in memory, some more in the cache directory.
//!
//! They only save time. An index is used for exactly the content it was made of, and one that is damaged is none.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;

use super::index::{Identity, Index, STRIDE_BYTES, STRIDES_MAX};

/// In memory, the latest.
const REMEMBERED_MAX: usize = 8;
/// In the cache directory, the latest.
const FILES_MAX: usize = 64;
/// A file that changed so recently may change again without its times telling.
const SETTLED_SECONDS: i128 = 2;

const DIRECTORY: &str = "lines";
const MAGIC: &[u8] = b"haft lines 1\n";
const DIGEST_BYTES: usize = 32;
/// No total is kept as this.
const UNKNOWN: u64 = u64::MAX;

/// The indexes of files that were read.
pub(super) struct Indexes {
    /// The latest last.
    remembered: Mutex<Vec<(Identity, Index)>>,
    directory: Option<PathBuf>,
    settled_seconds: i128,
}

impl Indexes {
    /// Keeps indexes below a directory too, if there is one.
    pub(super) fn new(cache: Option<&Path>) -> Indexes {
        Indexes {
            remembered: Mutex::default(),
            directory: cache.map(|cache| cache.join(DIRECTORY)),
            settled_seconds: SETTLED_SECONDS,
        }
    }

    /// What is known of the lines of a content.
    pub(super) fn recall(&self, identity: &Identity) -> Option<Index> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let known = remembered.iter().find(|(known, _)| known == identity).map(|(_, index)| index.clone());
        drop(remembered);
        known.or_else(|| parse(&read(&self.path(identity)?).ok()?, identity))
    }

    /// Keeps what is known of the lines of a content. What cannot be kept is made again next time.
    pub(super) fn keep(&self, identity: &Identity, index: &Index) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i128::from(since.as_secs()));
        if now - identity.changed_at() < self.settled_seconds {
            return;
        }
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.retain(|(known, _)| known != identity);
        remembered.push((*identity, index.clone()));
        let surplus = remembered.len().saturating_sub(REMEMBERED_MAX);
        remembered.drain(..surplus);
        drop(remembered);
        if let (Some(directory), Some(path)) = (&self.directory, self.path(identity)) {
            let _cache = write(directory, &path, &bytes(identity, index));
        }
    }

    fn path(&self, identity: &Identity) -> Option<PathBuf> {
        let name = blake3::hash(&identity.bytes()).to_hex();
        Some(self.directory.as_ref()?.join(&name[..DIGEST_BYTES]))
    }
}

/// As it is kept: what it is, of which content, the total, the newlines, and a digest of all this.
fn bytes(identity: &Identity, index: &Index) -> Vec<u8> {
    let numbers = [index.total().unwrap_or(UNKNOWN)].into_iter().chain(index.newlines().iter().copied());
    let mut bytes = [MAGIC, &identity.bytes()].concat();
    bytes.extend(numbers.flat_map(u64::to_le_bytes));
    let digest = blake3::hash(&bytes);
    bytes.extend(digest.as_bytes());
    bytes
}

fn parse(bytes: &[u8], identity: &Identity) -> Option<Index> {
    let (content, digest) = bytes.split_last_chunk::<DIGEST_BYTES>()?;
    if blake3::hash(content).as_bytes() != digest {
        return None;
    }
    let numbers = content.strip_prefix(MAGIC)?.strip_prefix(identity.bytes().as_slice())?;
    let (numbers, rest) = numbers.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let total = numbers.next()?;
    let total = (total != UNKNOWN).then_some(total);
    if rest.is_empty() { Index::restore(STRIDE_BYTES, numbers.collect(), total) } else { None }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let limit = MAGIC.len() + Identity::BYTES + 8 * (STRIDES_MAX + 1) + DIGEST_BYTES;
    let flags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces the file, so that a reader finds the old one, the new one, or none.
fn write(directory: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    // Another thread, or another process of the same number, may be writing it too; only what is ours is removed.
    let temporary = path.with_extension(haft::CallId::mint().as_str());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        fs::remove_file(&temporary)?;
    }
    written.and_then(|()| prune(directory))
}

/// Removes the oldest files.
fn prune(directory: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        files.push((entry.metadata()?.modified()?, entry.path()));
    }
    files.sort();
    let surplus = files.len().saturating_sub(FILES_MAX);
    files[..surplus].iter().try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests;
