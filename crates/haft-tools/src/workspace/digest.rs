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

    /// Digests what a reader has left.
    pub(super) fn of_reader(mut reader: impl Read) -> io::Result<Digest> {
        let mut hasher = blake3::Hasher::new();
        io::copy(&mut reader, &mut hasher)?;
        Ok(Digest(hasher.finalize()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}
