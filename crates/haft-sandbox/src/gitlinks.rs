//! Repositories within a repository, as its index names them.
//!
//! Git looks into each of them for `git status` of the outer one, as its configuration there says, whether or not
//! `.gitmodules` knows of it. Whoever adds an entry therefore has the configuration of a repository believed that
//! nobody would have looked into.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::repository::open;

/// So much of an index is read; one with a million files takes about a third of it.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// So much of a file is read that leads to a repository: a path, and what stands before it.
const POINTER_BYTES_MAX: u64 = 4096;

/// Hashes have one of these lengths; the index does not say which.
const HASH_BYTES: [usize; 2] = [20, 32];

/// The paths, relative to the working tree, at which an index has repositories. The index may be spread over files.
pub(crate) fn gitlinks(git: &Path) -> BTreeSet<PathBuf> {
    files(git).iter().filter_map(|file| read(file)).flat_map(|bytes| entries(&bytes)).collect()
}

/// The files that an index is in.
pub(crate) fn files(git: &Path) -> Vec<PathBuf> {
    let mut files = vec![git.join("index")];
    let is_shared = |name: &OsStr| name.as_encoded_bytes().starts_with(b"sharedindex.");
    let beside = std::fs::read_dir(git).into_iter().flatten().flatten();
    files.extend(beside.filter(|entry| is_shared(&entry.file_name())).map(|entry| entry.path()));
    files
}

/// The directories of the repository that a working tree has: `.git`, or what a file of that name leads to, and what
/// that shares with others. They may be anywhere.
pub(crate) fn repository(tree: &Path) -> Vec<PathBuf> {
    let git = tree.join(".git");
    if std::fs::symlink_metadata(&git).is_err() {
        return Vec::new();
    }
    let own = match line(&git) {
        Some(line) => line.strip_prefix("gitdir:").map(|path| tree.join(path.trim())),
        None => Some(git),
    };
    let own = own.and_then(|own| own.canonicalize().ok());
    let common =
        own.as_ref().and_then(|own| own.join(line(&own.join("commondir"))?.trim()).canonicalize().ok());
    own.into_iter().chain(common).collect()
}

fn line(path: &Path) -> Option<String> {
    // Git follows links here.
    let path = path.canonicalize().ok()?;
    if !path.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    open(&path).ok()?.take(POINTER_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    open(path).ok()?.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn entries(index: &[u8]) -> Vec<PathBuf> {
    HASH_BYTES.iter().find_map(|hash| parse(index, *hash)).unwrap_or_default()
}

/// The entries that are repositories; none if these are not the entries of an index with such hashes.
fn parse(index: &[u8], hash: usize) -> Option<Vec<PathBuf>> {
    const STAT_BYTES: usize = 40;
    const MODE_AT: usize = 24;
    const KIND: u32 = 0o170_000;
    const KINDS: [u32; 4] = [0o100_000, 0o120_000, GITLINK, 0o040_000];
    const GITLINK: u32 = 0o160_000;
    const IS_EXTENDED: u8 = 0x40;
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let (version, count) = (number(4)?, number(8)?);
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut name, mut found) = (12, Vec::new(), Vec::new());
    for _ in 0..count {
        let start = at;
        let kind = number(start + MODE_AT)? & KIND;
        if !KINDS.contains(&kind) {
            return None;
        }
        at = start + STAT_BYTES + hash;
        let is_extended = version >= 3 && index.get(at)? & IS_EXTENDED != 0;
        at += if is_extended { 4 } else { 2 };
        if version == 4 {
            // Only what differs from the name before is written.
            let dropped = varint(index, &mut at)?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let rest = index.get(at..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&rest[..len]);
        at += len;
        at = if version == 4 { at + 1 } else { start + (at - start + 8) / 8 * 8 };
        if kind == GITLINK {
            found.extend(relative(&name));
        }
    }
    Some(found)
}

/// A number as git writes it for names and packs.
fn varint(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *index.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next()?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(value)
}

/// A path that leads to something within the working tree, as all that git makes do.
fn relative(name: &[u8]) -> Option<PathBuf> {
    let path = path(name);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && !name.is_empty()).then_some(path)
}

#[cfg(unix)]
fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
