//! Repositories within a repository, as its index names them.
//!
//! Git looks into each of them for `git status` of the outer one, as its configuration there says, whether or not
//! `.gitmodules` knows of it. Whoever adds an entry therefore has the configuration of a repository believed that
//! nobody would have looked into.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::index::{Base, Entries, Wanted, entries, path};
use crate::object_format::hash_bytes;
use crate::repository::open_followed;
use crate::stamp::{Stamps, stamps};

/// An index that is larger is not read; one with a million files takes about a third of it.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// So much of a file is read that leads to a repository: a path, and what stands before it.
const POINTER_BYTES_MAX: u64 = 4096 + 16;
/// So much is remembered of indexes: how many, and how many bytes of names.
const SEEN_MAX: usize = 1 << 13;
const SEEN_BYTES_MAX: usize = 16 << 20;

/// The repositories that an index has in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// Where they are, relative to the working tree, each once.
    pub(crate) paths: Vec<PathBuf>,
    /// Directories that may have more of them, of which only commits tell.
    pub(crate) directories: Vec<PathBuf>,
    /// Whether the index is as git writes it and not too large. If not, git may find more in it.
    pub(crate) is_usual: bool,
}

/// By what an index is known: its stamps, and how long its hashes are. Many repositories may have the same one.
pub(crate) type Key = (Stamps, usize);

/// How an index is known that had these stamps just now.
pub(crate) fn key(git: &[PathBuf], now: Stamps) -> Key {
    (now, git.last().map_or(0, |common| hash_bytes(common)))
}

/// What indexes led to.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    links: HashMap<Key, Arc<Links>>,
    name_bytes: usize,
}

impl Seen {
    pub(crate) fn get(&self, key: &Key) -> Option<Arc<Links>> {
        self.links.get(key).cloned()
    }

    pub(crate) fn insert(&mut self, key: Key, links: Arc<Links>) {
        let names = links.paths.iter().chain(&links.directories);
        let bytes: usize = names.map(|name| name.as_os_str().len()).sum();
        if self.links.len() >= SEEN_MAX || self.name_bytes + bytes > SEEN_BYTES_MAX {
            self.clear();
        }
        self.name_bytes += bytes;
        self.links.insert(key, links);
    }

    /// What an index leads to that had these stamps just now. One that was seen is not read again. So many bytes may be
    /// read; nothing, if that is not enough.
    #[cfg(target_os = "linux")]
    pub(crate) fn links(&mut self, git: &[PathBuf], now: Stamps, left: &mut u64) -> Option<Arc<Links>> {
        let key = key(git, now);
        if let Some(links) = self.get(&key) {
            return Some(links);
        }
        let links = Arc::new(gitlinks(git, key.1, left)?);
        self.insert(key, links.clone());
        Some(links)
    }

    pub(crate) fn clear(&mut self) {
        *self = Seen::default();
    }
}

/// The repositories in the index of a repository, whose directories and length of hashes are given. The index may be
/// spread over two files. So many bytes may be read; nothing, if that is not enough.
pub(crate) fn gitlinks(git: &[PathBuf], hash: usize, left: &mut u64) -> Option<Links> {
    let Some(own) = git.first() else { return Some(Links::default()) };
    let Some(index) = open_file(&own.join("index")) else {
        return Some(Links { is_usual: true, ..Links::default() });
    };
    let mut found = read(index, hash, Wanted::Links, left)?;
    // Without its base git does not take an index at all.
    if let Some(Base { hash: name, links }) = found.base.take()
        && let Some(base) = open_file(&own.join(format!("sharedindex.{name}")))
    {
        let base = read(base, hash, Wanted::LinksAnd(&links), left)?;
        found.is_usual &= base.is_usual;
        found.names.extend(base.names);
        found.directories.extend(base.directories);
    }
    let Entries { names: mut paths, directories, is_usual, base: _ } = found;
    // In the order of git, which is by bytes.
    paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    paths.dedup();
    Some(Links { paths, directories, is_usual })
}

/// The stamps of an index.
pub(crate) fn looks(git: &[PathBuf]) -> Stamps {
    stamps(git.first().into_iter().flat_map(|own| files(own)))
}

/// The files that an index is in.
fn files(git: &Path) -> Vec<PathBuf> {
    let mut files = vec![git.join("index")];
    let is_shared = |name: &OsStr| name.as_encoded_bytes().starts_with(b"sharedindex.");
    let beside = fs::read_dir(git).into_iter().flatten().flatten();
    files.extend(beside.filter(|entry| is_shared(&entry.file_name())).map(|entry| entry.path()));
    files.sort();
    files
}

/// The directories of the repository that a working tree has: `.git`, or what a file of that name leads to, and what
/// that shares with others. They may be anywhere.
pub(crate) fn repository(tree: &Path) -> Vec<PathBuf> {
    let git = tree.join(".git");
    if fs::symlink_metadata(&git).is_err() {
        return Vec::new();
    }
    let own = match pointer(&git) {
        Some(line) => line.strip_prefix(b"gitdir: ").map(|name| tree.join(path(name))),
        None => Some(git),
    };
    let own = own.and_then(|own| own.canonicalize().ok());
    let common = own
        .as_ref()
        .and_then(|own| own.join(path(&pointer(&own.join("commondir"))?)).canonicalize().ok())
        .filter(|common| Some(common) != own.as_ref());
    own.into_iter().chain(common).collect()
}

/// What stands in a file that leads elsewhere, as git reads it: all but the ends of lines at its end.
pub(crate) fn pointer(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(POINTER_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    while let Some(b'\n' | b'\r') = bytes.last() {
        bytes.pop();
    }
    let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(len);
    Some(bytes)
}

/// Git follows links here, and so do we; whatever is no file is nothing.
pub(crate) fn open_file(path: &Path) -> Option<File> {
    let file = open_followed(path).ok()?;
    file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
}

/// One that is too large is not read and not usual; nothing, if it is larger than what is left to be read.
fn read(file: File, hash: usize, wanted: Wanted<'_>, left: &mut u64) -> Option<Entries> {
    let Some(len) = file.metadata().ok().map(|found| found.len()).filter(|len| *len <= INDEX_BYTES_MAX)
    else {
        return Some(Entries::default());
    };
    *left = left.checked_sub(len)?;
    Some(entries(file, len, hash, wanted))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use super::{INDEX_BYTES_MAX, Seen, gitlinks, looks};

    const EMPTY: &[u8] = b"DIRC\0\0\0\x02\0\0\0\0";

    #[test]
    fn an_index_that_is_too_large_is_not_read_and_not_taken_for_usual() {
        let git = tempfile::tempdir().unwrap();
        let is_usual = || gitlinks(&[git.path().to_owned()], 20, &mut (1 << 30)).unwrap().is_usual;
        assert!(is_usual());
        let index = File::create(git.path().join("index")).unwrap();
        std::io::Write::write_all(&mut &index, EMPTY).unwrap();
        index.set_len(12 + 20).unwrap();
        assert!(is_usual());
        index.set_len(INDEX_BYTES_MAX + 1).unwrap();
        assert!(!is_usual());
    }

    #[test]
    fn an_index_that_many_have_is_read_once_and_no_more_than_was_agreed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("index"), [EMPTY, &[0; 20]].concat()).unwrap();
        let made = |name: &str| {
            let git: PathBuf = dir.path().join(name);
            fs::create_dir(&git).unwrap();
            [git]
        };
        let (mut seen, mut left) = (Seen::default(), 50);
        for name in ["a", "b", "c"] {
            let git = made(name);
            std::os::unix::fs::symlink("../index", git[0].join("index")).unwrap();
            assert!(seen.links(&git, looks(&git), &mut left).unwrap().is_usual);
            assert_eq!(left, 50 - 32);
        }
        let git = made("d");
        fs::copy(dir.path().join("index"), git[0].join("index")).unwrap();
        assert!(seen.links(&git, looks(&git), &mut left).is_none());
    }
}
