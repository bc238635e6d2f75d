//! Repositories within a repository, as its index names them.
//!
//! Git looks into each of them for `git status` of the outer one, as its configuration there says, whether or not
//! `.gitmodules` knows of it. Whoever adds an entry therefore has the configuration of a repository believed that
//! nobody would have looked into.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::index::{Base, Entries, Wanted, entries, path};
use crate::repository::open_followed;
use crate::stamp::{Stamps, stamps};

/// An index that is larger is not read; one with a million files takes about a third of it.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// So much of a file is read that leads to a repository: a path, and what stands before it.
const POINTER_BYTES_MAX: u64 = 4096 + 16;
/// So much of a configuration is read for what it says of hashes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// So many indexes are remembered.
const REMEMBERED_MAX: usize = 256;

/// The repositories that an index has in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// Where they are, relative to the working tree.
    pub(crate) paths: BTreeSet<PathBuf>,
    /// Whether the index is as git writes it and not too large. If not, git may find more in it.
    pub(crate) is_usual: bool,
}

/// What indexes led to when they had these stamps, by the directories of their repositories.
pub(crate) type Seen = BTreeMap<PathBuf, (Stamps, Arc<Links>)>;

/// The repositories in the index of a repository, whose directories are given. The index may be spread over two files.
pub(crate) fn gitlinks(git: &[PathBuf]) -> Links {
    let (Some(own), Some(common)) = (git.first(), git.last()) else { return Links::default() };
    let Some(index) = open_file(&own.join("index")) else {
        return Links { is_usual: true, ..Links::default() };
    };
    let hash = hash_bytes(common);
    let Some(Entries { names, base, mut is_usual }) = read(index, hash, Wanted::Links) else {
        return Links::default();
    };
    let mut paths: BTreeSet<PathBuf> = names.into_iter().collect();
    // Without its base git does not take an index at all.
    if let Some(Base { hash: name, links }) = base
        && let Some(base) = open_file(&own.join(format!("sharedindex.{name}")))
    {
        let base = read(base, hash, Wanted::LinksAnd(&links)).unwrap_or_default();
        is_usual &= base.is_usual;
        paths.extend(base.names);
    }
    Links { paths, is_usual }
}

/// As [`gitlinks`], but an index that was read before is not read again.
pub(crate) fn remembered(git: &[PathBuf]) -> Arc<Links> {
    static KNOWN: Mutex<Seen> = Mutex::new(Seen::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = git.first() else { return Arc::default() };
    // The file that says how long hashes are counts too.
    let now = stamps(files(own).into_iter().chain(git.last().map(|common| common.join("config"))));
    if let Some((then, links)) = known().get(own)
        && then.are_surely(&now)
    {
        return links.clone();
    }
    let links = Arc::new(gitlinks(git));
    let mut known = known();
    if known.len() >= REMEMBERED_MAX {
        known.clear();
    }
    known.insert(own.clone(), (now, links.clone()));
    links
}

/// The files that an index is in.
pub(crate) fn files(git: &Path) -> Vec<PathBuf> {
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
fn open_file(path: &Path) -> Option<File> {
    let file = open_followed(path).ok()?;
    file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
}

/// Nothing, if it is too large.
fn read(file: File, hash: usize, wanted: Wanted<'_>) -> Option<Entries> {
    let len = file.metadata().ok()?.len();
    (len <= INDEX_BYTES_MAX).then(|| entries(file, len, hash, wanted))
}

/// How long the hashes of a repository are; only its configuration says so.
fn hash_bytes(common: &Path) -> usize {
    let mut config = Vec::new();
    let read = open_file(&common.join("config"))
        .and_then(|file| file.take(CONFIG_BYTES_MAX).read_to_end(&mut config).ok());
    let config = String::from_utf8_lossy(&config).to_ascii_lowercase();
    let is_long = |line: &str| {
        line.split_once('=').is_some_and(|(key, value)| {
            let value = value.split(['#', ';']).next().unwrap_or_default();
            key.trim().ends_with("objectformat") && value.trim().trim_matches('"') == "sha256"
        })
    };
    if read.is_some() && config.lines().any(is_long) { 32 } else { 20 }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{INDEX_BYTES_MAX, gitlinks};

    #[test]
    fn an_index_that_is_too_large_is_not_read_and_not_taken_for_usual() {
        let git = tempfile::tempdir().unwrap();
        let is_usual = || gitlinks(&[git.path().to_owned()]).is_usual;
        assert!(is_usual());
        let index = File::create(git.path().join("index")).unwrap();
        std::io::Write::write_all(&mut &index, b"DIRC\0\0\0\x02\0\0\0\0").unwrap();
        index.set_len(12 + 20).unwrap();
        assert!(is_usual());
        index.set_len(INDEX_BYTES_MAX + 1).unwrap();
        assert!(!is_usual());
    }
}
