//! Sealing: what files held is written so that only this data directory can read it.
//!
//! The journal has to keep files exactly as they were, secrets included. A key beside the database, which is made once
//! and never leaves it, keeps them out of whatever copies or searches the database alone. It is no protection from those
//! who can read the whole directory.

pub(crate) mod pieces;

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::files::{self, Places};

const KEY_BYTES: usize = blake3::KEY_LEN;
const FINGERPRINT_DIGITS: usize = 24;

/// The key of a data directory.
#[derive(Clone)]
pub(crate) struct Seal([u8; KEY_BYTES]);

impl Seal {
    /// The key of a data directory; makes one if there is none.
    pub(crate) fn of(places: &Places) -> io::Result<Seal> {
        match read(&places.key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(places)?;
                read(&places.key)
            }
            read => read,
        }
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

fn read(path: &Path) -> io::Result<Seal> {
    let key = fs::read(path)?;
    let key = key.try_into().map_err(|_| io::Error::other(format!("{} is no key", path.display())))?;
    Ok(Seal(key))
}

/// Makes a key. If another process is quicker, its key is the one.
fn make(places: &Places) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let unnamed = places.run.join(format!("{}.key", haft::CallId::mint()));
    let mut file = files::private_file(&unnamed)?;
    let written = file.write_all(&key).and_then(|()| file.sync_all());
    let named = written.and_then(|()| match fs::hard_link(&unnamed, &places.key) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => named,
    });
    files::remove(&unnamed)?;
    named?;
    files::sync_dir(&places.data)
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
}
