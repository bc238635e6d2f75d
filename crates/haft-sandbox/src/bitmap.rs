//! Compressed bitmaps (EWAH), by which git says which entries of an index a part of it replaces.

/// Which bits are set, in their order.
pub(crate) struct Ones<'a> {
    words: std::slice::ChunksExact<'a, u8>,
    /// Where the next word begins.
    at: u64,
    /// Words of ones that are left of a run, and words as they are that follow it.
    ones: u64,
    literal: u64,
    word: u64,
}

const WORD_BITS: u64 = 64;

/// Takes a bitmap off the front of what git wrote; nothing, if there is none.
pub(crate) fn take<'a>(bytes: &mut &'a [u8]) -> Option<Ones<'a>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let len = usize::try_from(number(4)?).ok()?.checked_mul(8)?;
    let words = bytes.get(8..)?.get(..len)?;
    // Where its last marker is follows.
    *bytes = bytes.get(8 + len + 4..)?;
    Some(Ones { words: words.chunks_exact(8), at: 0, ones: 0, literal: 0, word: 0 })
}

impl Iterator for Ones<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            if self.word != 0 {
                let bit = self.word.trailing_zeros();
                self.word &= self.word - 1;
                return Some(self.at - WORD_BITS + u64::from(bit));
            }
            if self.ones > 0 {
                self.ones -= 1;
                self.word = u64::MAX;
                self.at += WORD_BITS;
                continue;
            }
            let next = u64::from_be_bytes(self.words.next()?.try_into().ok()?);
            if self.literal > 0 {
                self.literal -= 1;
                self.word = next;
                self.at += WORD_BITS;
                continue;
            }
            // A marker: the bit of a run, how long it is, and how many words follow as they are.
            let run = next >> 1 & u64::from(u32::MAX);
            self.literal = next >> 33;
            match next & 1 {
                0 => self.at += run * WORD_BITS,
                _ => self.ones = run,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::take;

    #[test]
    fn runs_and_words_are_read_in_turn() {
        let words: [u64; 4] = [1 << 33 | 2 << 1, 0b101, 1 | 1 << 1 | 1 << 33, 7];
        let mut bytes = [0_u32.to_be_bytes(), 4_u32.to_be_bytes()].concat();
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        bytes.extend([0; 4]);
        bytes.push(b'x');
        let mut rest = bytes.as_slice();
        let found: Vec<u64> = take(&mut rest).unwrap().collect();
        assert_eq!(rest, b"x");
        assert_eq!(found[..4], [128, 130, 192, 193]);
        assert_eq!(found.len(), 2 + 64 + 3);
        assert!(take(&mut &bytes[..20]).is_none());
    }
}
