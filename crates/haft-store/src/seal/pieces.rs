//! Large contents, sealed piece by piece: any size takes little memory, and what was cut off, damaged or exchanged on the
//! disk is an error where it is read.
//!
//! A piece is its bytes, encrypted, and a tag that vouches for them. Every piece but the last has the same size, and the last
//! one is smaller, if need be empty, so that an end that is missing is missed. The key is the file's own, made of a salt at
//! its beginning and of the digest: the same number of a piece never stands for two different pieces, also where a content
//! turned out not to be the one that was digested.

use std::io::{self, Read, Write};

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, MAX_TAG_LEN, NONCE_LEN, Nonce, UnboundKey};

use super::Seal;
use crate::kept::Trouble;

/// The size of a piece, without its tag.
const PIECE_BYTES: usize = 128 << 10;
const TAG_BYTES: usize = MAX_TAG_LEN;
const SALT_BYTES: usize = 16;
/// What the keys are for; another text makes other keys.
const PURPOSE: &str = "haft-store: images that are sealed piece by piece";

/// How long a content of so many bytes is when it is sealed.
pub(crate) fn sealed_bytes(bytes: u64) -> u64 {
    SALT_BYTES as u64 + bytes + (bytes / PIECE_BYTES as u64 + 1) * TAG_BYTES as u64
}

/// Seals all there is to read.
pub(crate) fn seal(seal: &Seal, digest: &str, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
    to.write_all(&salt)?;
    let key = key(seal, digest, &salt)?;
    let mut piece = Vec::with_capacity(PIECE_BYTES + TAG_BYTES);
    for number in 0.. {
        piece.clear();
        (&mut from).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
        let is_last = piece.len() < PIECE_BYTES;
        let tag = key
            .seal_in_place_separate_tag(nonce(number), Aad::empty(), &mut piece)
            .map_err(|_| io::Error::other("a piece could not be sealed"))?;
        piece.extend_from_slice(tag.as_ref());
        to.write_all(&piece)?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Reads what was sealed.
pub(crate) struct Opened<R> {
    from: R,
    key: LessSafeKey,
    number: u64,
    piece: Vec<u8>,
    /// How much of the piece was read already.
    read: usize,
    is_last: bool,
}

impl<R: Read> Opened<R> {
    pub(crate) fn new(seal: &Seal, digest: &str, mut from: R) -> io::Result<Opened<R>> {
        let mut salt = [0; SALT_BYTES];
        from.read_exact(&mut salt).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => error,
        })?;
        let (key, piece) = (key(seal, digest, &salt)?, Vec::with_capacity(PIECE_BYTES + TAG_BYTES));
        Ok(Opened { from, key, number: 0, piece, read: 0, is_last: false })
    }

    fn next_piece(&mut self) -> io::Result<()> {
        self.piece.clear();
        self.read = 0;
        (&mut self.from).take((PIECE_BYTES + TAG_BYTES) as u64).read_to_end(&mut self.piece)?;
        let opened = self.key.open_in_place(nonce(self.number), Aad::empty(), &mut self.piece);
        let bytes = opened.map(|bytes| bytes.len()).map_err(|_| damaged())?;
        self.piece.truncate(bytes);
        self.number += 1;
        self.is_last = bytes < PIECE_BYTES;
        Ok(())
    }
}

impl<R: Read> Read for Opened<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.piece.len() {
            if self.is_last {
                return Ok(0);
            }
            self.next_piece()?;
        }
        let read = (&self.piece[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

/// Whether a file holds this content, sealed, to its end. The tags vouch for every byte.
pub(crate) fn is_whole(seal: &Seal, digest: &str, bytes: u64, from: impl Read) -> bool {
    let opened =
        Opened::new(seal, digest, from).and_then(|mut opened| io::copy(&mut opened, &mut io::sink()));
    opened.is_ok_and(|found| found == bytes)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Trouble::Damaged)
}

fn key(seal: &Seal, digest: &str, salt: &[u8]) -> io::Result<LessSafeKey> {
    let key = UnboundKey::new(&AES_256_GCM, &seal.derived(PURPOSE, &[digest.as_bytes(), salt]));
    key.map(LessSafeKey::new).map_err(|_| io::Error::other("there is no key for an image"))
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealed(bytes: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::new();
        seal(&Seal([7; 32]), "digest", bytes, &mut sealed).unwrap();
        sealed
    }

    fn opened(key: u8, digest: &str, sealed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Opened::new(&Seal([key; 32]), digest, sealed)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn text(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at / 7) as u8).collect()
    }

    #[test]
    fn what_is_sealed_is_opened_by_the_same_key_and_digest_only() {
        for bytes in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
            let sealed = sealed(&text(bytes));
            assert_eq!(sealed.len() as u64, sealed_bytes(bytes as u64));
            assert!(opened(7, "digest", &sealed).unwrap() == text(bytes), "{bytes}");
            assert!(opened(8, "digest", &sealed).is_err() && opened(7, "other", &sealed).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn nothing_that_happened_to_it_goes_unnoticed(
            bytes in 0..3 * PIECE_BYTES + 9, at in any::<prop::sample::Index>(), bit in 0..8u8,
        ) {
            let whole = sealed(&text(bytes));
            let at = at.index(whole.len());
            prop_assert!(opened(7, "digest", &whole[..at]).is_err());
            let mut damaged = whole;
            damaged[at] ^= 1 << bit;
            prop_assert!(opened(7, "digest", &damaged).is_err());
        }
    }

    #[test]
    fn no_two_files_are_sealed_alike() {
        let (one, other) = (sealed(&text(9)), sealed(&text(9)));
        assert_ne!(one[..SALT_BYTES], other[..SALT_BYTES]);
        assert_ne!(one[SALT_BYTES..], other[SALT_BYTES..]);
    }

    #[test]
    fn pieces_that_changed_places_are_noticed() {
        let mut sealed = sealed(&text(3 * PIECE_BYTES));
        let (first, rest) = sealed[SALT_BYTES..].split_at_mut(PIECE_BYTES + TAG_BYTES);
        first.swap_with_slice(&mut rest[..PIECE_BYTES + TAG_BYTES]);
        assert!(opened(7, "digest", &sealed).is_err());
    }
}
