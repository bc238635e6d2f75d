//! The content that was written last, and its digest. A file that is edited again mostly holds what the last edit left,
//! and to see that takes a quarter of the time of digesting it.

use std::sync::{Mutex, PoisonError};

use haft::Image;

use super::digest::Digest;
use super::image;

/// Smaller contents are digested in no time, and larger ones are not worth the memory.
const SMALLEST_BYTES: u64 = 64 << 10;
const LARGEST_BYTES: u64 = 4 << 20;

#[derive(Default)]
pub(super) struct LastWritten(Mutex<Option<Image>>);

impl LastWritten {
    /// Remembers a content in the place of the one before.
    pub(super) fn remember(&self, image: &Image) {
        if (SMALLEST_BYTES..=LARGEST_BYTES).contains(&image.bytes) && image::bytes(image).is_some() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(image.clone());
        }
    }

    /// The digest of bytes, whatever they are.
    pub(super) fn digest(&self, bytes: &[u8]) -> String {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match last.filter(|last| image::bytes(last) == Some(bytes)) {
            Some(last) => last.digest,
            None => Digest::of(bytes).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, LARGEST_BYTES, LastWritten, SMALLEST_BYTES, image};

    #[test]
    fn a_digest_is_that_of_the_bytes_whatever_was_written_last() {
        let last = LastWritten::default();
        let mut bytes = vec![7; SMALLEST_BYTES as usize];
        let check = |bytes: &[u8]| assert_eq!(last.digest(bytes), Digest::of(bytes).to_string());
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            last.remember(&image::of_bytes(bytes.clone()));
            check(&bytes);
            bytes[at] ^= 1;
            check(&bytes);
            check(&bytes[..at]);
        }
        for length in [SMALLEST_BYTES - 1, LARGEST_BYTES + 1] {
            last.remember(&image::of_bytes(vec![1; length as usize]));
            assert_eq!(last.0.lock().unwrap().as_ref().unwrap().bytes, SMALLEST_BYTES);
        }
    }
}
