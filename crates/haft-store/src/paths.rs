//! Paths of changed files: kept exactly, since a file is restored by its path, and yet without secrets.
//!
//! A path that holds none is kept as it is. Otherwise a name stands for it, which tells it from other paths and shows
//! what may be shown of it, and the path itself is sealed.

use std::path::{Path, PathBuf};

use rusqlite::types::{Value as SqlValue, ValueRef};

use crate::fault::Fault;
use crate::files::Places;
use crate::redact::{REDACTED, Redactor};
use crate::seal::Seal;
use crate::seal::keys::Keys;

/// Stands before what tells a path from others.
const FINGERPRINT: char = '#';

/// A path as it is stored.
pub(crate) struct StoredPath {
    /// Text, or bytes where it is not Unicode. Equal paths have equal names.
    pub(crate) name: SqlValue,
    /// The path itself, where the name had to leave something out.
    pub(crate) sealed: Option<Vec<u8>>,
}

impl StoredPath {
    pub(crate) fn of(path: &Path, redactor: &Redactor, places: &Places) -> Result<StoredPath, Fault> {
        let text = path.to_string_lossy();
        let shown = redactor.redact(&text);
        // What only looks as if something had been left out would otherwise be taken for it.
        if shown == text && !text.contains(REDACTED) {
            let name = match path.to_str() {
                Some(text) => SqlValue::Text(text.to_owned()),
                None => SqlValue::Blob(bytes_of(path).to_vec()),
            };
            return Ok(StoredPath { name, sealed: None });
        }
        let seal = Seal::of(places)?;
        let mut sealed = bytes_of(path).to_vec();
        let name = format!("{shown}{FINGERPRINT}{}", seal.fingerprint(&sealed));
        seal.apply(&name, &mut sealed);
        Ok(StoredPath { name: SqlValue::Text(name), sealed: Some(sealed) })
    }
}

/// The path itself. One that lacks something, because it was stored when nothing was sealed or because the key is gone,
/// leads nowhere: it is relative.
pub(crate) fn exact(name: ValueRef<'_>, sealed: Option<Vec<u8>>, places: &Places) -> Result<PathBuf, Fault> {
    match (name, sealed) {
        (ValueRef::Text(name), Some(sealed)) => {
            let name = String::from_utf8_lossy(name);
            let opened = Keys::of(places)?.all().find_map(|seal| opened(seal, &name, &sealed));
            Ok(opened.unwrap_or_else(|| nowhere(&name)))
        }
        (ValueRef::Text(name), None) => {
            let text = String::from_utf8_lossy(name);
            let is_whole = !text.contains(REDACTED);
            Ok(if is_whole { PathBuf::from(&*text) } else { nowhere(&text) })
        }
        (name, _) => Ok(shown(name)),
    }
}

/// What may be shown of a path.
pub(crate) fn shown(name: ValueRef<'_>) -> PathBuf {
    match name {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => path_of(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => PathBuf::new(),
    }
}

fn nowhere(name: &str) -> PathBuf {
    name.trim_start_matches('/').into()
}

/// The path that was sealed under a name, if that was done with this key.
fn opened(seal: &Seal, name: &str, sealed: &[u8]) -> Option<PathBuf> {
    let (_, fingerprint) = name.rsplit_once(FINGERPRINT)?;
    let mut bytes = sealed.to_vec();
    seal.apply(name, &mut bytes);
    (seal.fingerprint(&bytes) == fingerprint).then(|| path_of(&bytes))
}

fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
