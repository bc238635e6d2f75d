//! Digests of contents: BLAKE3 of the exact bytes, in hexadecimal.

use std::fmt;
use std::io::{self, Read};

/// The digest of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest(blake3::Hash);

impl Digest {
    /// Digests bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(blake3::hash(bytes))
    }

    /// Reads a digest back.
    pub(crate) fn parse(hex: &str) -> Option<Digest> {
        blake3::Hash::from_hex(hex).ok().map(Digest)
    }

    /// Digests what a reader has left.
    pub(super) fn of_reader(reader: impl Read) -> io::Result<Digest> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(Digest(hasher.finalize()))
    }
}

/// The digest of what a reader has left, as text.
pub(crate) fn digest_of(reader: impl Read) -> io::Result<String> {
    Digest::of_reader(reader).map(|digest| digest.to_string())
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}
