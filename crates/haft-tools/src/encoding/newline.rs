//! Newlines as bytes: where lines end is found without decoding them.

/// What ends a line, in bytes. No other character of these encodings has it in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Newline {
    /// One byte: UTF-8, and every legacy encoding that is recognised.
    Byte,
    /// UTF-16, the lower byte first.
    Little,
    /// UTF-16, the higher byte first.
    Big,
}

impl Newline {
    /// Where the newlines of a part end. The part begins between two characters.
    pub(crate) fn ends(self, part: &[u8]) -> impl Iterator<Item = usize> {
        let is_one = move |at: &usize| match self {
            Newline::Byte => true,
            Newline::Little => at.is_multiple_of(2) && part.get(at + 1) == Some(&0),
            Newline::Big => at % 2 == 1 && part[at - 1] == 0,
        };
        let behind = if self == Newline::Little { 2 } else { 1 };
        memchr::memchr_iter(b'\n', part).filter(is_one).map(move |at| at + behind)
    }

    /// How many newlines a part has.
    pub(crate) fn count(self, part: &[u8]) -> u64 {
        let count = match self {
            Newline::Byte => memchr::memchr_iter(b'\n', part).count(),
            Newline::Little | Newline::Big => self.ends(part).count(),
        };
        count as u64
    }
}
