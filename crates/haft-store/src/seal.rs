//! Sealing: what files held is written so that only this data directory can read it.
//!
//! The journal has to keep files exactly as they were, secrets included. A key beside the database, which is made once
//! and never leaves it, keeps them out of whatever copies or searches the database alone. It is no protection from those
//! who can read the whole directory.
//!
//! Where the key is gone another one is made, so that new changes are kept. What was sealed before is said to be lost
//! until a person puts the old key back: in its place, or beside the new one.

pub(crate) mod keys;
pub(crate) mod pieces;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::clock::now_ms;
use crate::files::{self, Places};

const KEY_BYTES: usize = blake3::KEY_LEN;
const FINGERPRINT_DIGITS: usize = 24;
const NAME_DIGITS: usize = 16;
/// What names of keys are made for; another text makes other names.
const NAMING: &str = "haft-store: what tells one key from another";
/// The name of the file that is locked while a key is made, beside those of the processes.
const LOCK: &str = "key";

/// The key of a data directory.
#[derive(Clone)]
pub(crate) struct Seal([u8; KEY_BYTES]);

impl Seal {
    /// The key that is sealed with; makes one if there is none.
    pub(crate) fn of(places: &Places) -> io::Result<Seal> {
        match Seal::existing(places)? {
            Some(seal) => Ok(seal),
            None => make(places),
        }
    }

    /// The key that is sealed with, if there is one. A file that cannot be a key is none.
    pub(crate) fn existing(places: &Places) -> io::Result<Option<Seal>> {
        read(&places.key)
    }

    /// What tells the key from others, and tells nothing else of it.
    pub(crate) fn name(&self) -> String {
        let mut hex = blake3::Hash::from_bytes(self.derived(NAMING, &[])).to_hex().to_string();
        hex.truncate(NAME_DIGITS);
        hex
    }

    /// Seals a content, or opens it again. Contents are told apart by their digests, so no two share a stream.
    pub(crate) fn apply(&self, digest: &str, bytes: &mut [u8]) {
        Stream::new(self, digest).apply(bytes);
    }

    /// What tells bytes from others, and tells nothing else of them without the key.
    pub(crate) fn fingerprint(&self, bytes: &[u8]) -> String {
        let mut hex = blake3::keyed_hash(&self.0, bytes).to_hex().to_string();
        hex.truncate(FINGERPRINT_DIGITS);
        hex
    }

    /// A key of its own for a purpose and a thing, which parts of a fixed length name.
    fn derived(&self, purpose: &'static str, parts: &[&[u8]]) -> [u8; KEY_BYTES] {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(&self.0);
        for part in parts {
            hasher.update(part);
        }
        *hasher.finalize().as_bytes()
    }

    /// A reader that seals or opens what it reads.
    pub(crate) fn reader<R: Read>(&self, digest: &str, inner: R) -> Sealed<R> {
        Sealed { stream: Stream::new(self, digest), inner }
    }
}

/// A stream of bytes that nobody can foresee without the key.
struct Stream(blake3::OutputReader);

impl Stream {
    fn new(seal: &Seal, digest: &str) -> Stream {
        Stream(blake3::Hasher::new_keyed(&seal.0).update(digest.as_bytes()).finalize_xof())
    }

    fn apply(&mut self, bytes: &mut [u8]) {
        let mut mask = [0; 4096];
        for chunk in bytes.chunks_mut(mask.len()) {
            let mask = &mut mask[..chunk.len()];
            self.0.fill(mask);
            chunk.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= *mask);
        }
    }
}

/// Reads and seals.
pub(crate) struct Sealed<R> {
    stream: Stream,
    inner: R,
}

impl<R: Read> Read for Sealed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.stream.apply(&mut buffer[..read]);
        Ok(read)
    }
}

fn read(path: &Path) -> io::Result<Option<Seal>> {
    let mut key = Vec::new();
    let opened = File::open(path).and_then(|file| file.take(KEY_BYTES as u64 + 1).read_to_end(&mut key));
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let why = format!("the key {} cannot be read; see to its permissions: {error}", path.display());
            Err(io::Error::new(error.kind(), why))
        }
        Ok(_) => Ok(<[u8; KEY_BYTES]>::try_from(key).ok().filter(|key| *key != [0; KEY_BYTES]).map(Seal)),
    }
}

/// Makes a key. If another process is quicker, its key is the one. What stands in its place and cannot be one is moved
/// aside.
fn make(places: &Places) -> io::Result<Seal> {
    let lock = files::private_file_or_existing(&places.run.join(LOCK))?;
    lock.lock()?;
    if let Some(seal) = read(&places.key)? {
        return Ok(seal);
    }
    match fs::rename(&places.key, places.key_with(&format!("unusable-{}", now_ms()))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut key = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let unnamed = places.run.join(format!("{}.key", haft::CallId::mint()));
    let mut file = files::private_file(&unnamed)?;
    let written = file.write_all(&key).and_then(|()| file.sync_all());
    let named = written.and_then(|()| match fs::hard_link(&unnamed, &places.key) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => named,
    });
    files::remove(&unnamed)?;
    named?;
    files::sync_dir(&places.data)?;
    read(&places.key)?.ok_or_else(|| io::Error::other("the key that was just made is gone again; try again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_the_same_key_only() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::in_dir(dir.path());
        fs::create_dir(&places.run).unwrap();
        let seal = Seal::of(&places).unwrap();
        let text: Vec<u8> = b"secret ".repeat(2000);
        let mut bytes = text.clone();
        seal.apply("digest", &mut bytes);
        assert!(!bytes.windows(6).any(|window| window == b"secret"));
        let mut opened = Vec::new();
        Seal::of(&places).unwrap().reader("digest", bytes.as_slice()).read_to_end(&mut opened).unwrap();
        assert!(opened == text);
        Seal([7; 32]).apply("digest", &mut bytes);
        assert!(bytes != text);
    }

    #[test]
    fn what_cannot_be_a_key_is_moved_aside_and_another_is_made() {
        for useless in [&b""[..], b"cut", &[0; KEY_BYTES], &[7; KEY_BYTES + 1]] {
            let dir = tempfile::tempdir().unwrap();
            let places = Places::in_dir(dir.path());
            fs::create_dir(&places.run).unwrap();
            fs::write(&places.key, useless).unwrap();
            assert!(Seal::existing(&places).unwrap().is_none());
            let made = Seal::of(&places).unwrap();
            assert_eq!(Seal::of(&places).unwrap().name(), made.name());
            let aside = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
            let aside: Vec<_> =
                aside.filter(|path| path.to_string_lossy().contains("images.key.unusable-")).collect();
            assert_eq!(fs::read(&aside[0]).unwrap(), useless);
        }
    }

    #[test]
    fn a_name_tells_keys_apart_and_is_no_part_of_the_key() {
        let (one, other) = (Seal([1; KEY_BYTES]), Seal([2; KEY_BYTES]));
        assert_ne!(one.name(), other.name());
        assert_eq!(one.name(), Seal([1; KEY_BYTES]).name());
        assert!(!one.name().contains("0101"));
    }
}
