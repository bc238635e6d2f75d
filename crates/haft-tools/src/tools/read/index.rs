//! A sparse index of lines: how many newlines come before every so many bytes of a file.
//!
//! With it the start of a page is found by reading one stride, wherever in the file it is.

use std::fs::File;
use std::io;

use crate::encoding::Newline;

/// Eight bytes are kept for each of these.
pub(super) const STRIDE_BYTES: u64 = 1 << 20;
/// Of half a mebibyte: files of 64 GiB are indexed to their end.
pub(super) const STRIDES_MAX: usize = 1 << 16;

/// What is known of the lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Index {
    stride_bytes: u64,
    /// How many newlines come before the first stride, the second, and so on.
    newlines: Vec<u64>,
    /// How many lines there are, if the end was seen.
    total: Option<u64>,
}

impl Index {
    /// Knows nothing yet.
    pub(super) fn new(stride_bytes: u64) -> Index {
        Index { stride_bytes, newlines: Vec::new(), total: None }
    }

    /// Takes up what was kept, unless it cannot be true.
    pub(super) fn restore(stride_bytes: u64, newlines: Vec<u64>, total: Option<u64>) -> Option<Index> {
        let is_plausible = newlines.first().is_none_or(|first| *first == 0)
            && newlines.is_sorted()
            && newlines.len() <= STRIDES_MAX
            && newlines.last().is_none_or(|last| total.is_none_or(|total| *last <= total));
        is_plausible.then_some(Index { stride_bytes, newlines, total })
    }

    /// The newlines before each stride, to be kept.
    pub(super) fn newlines(&self) -> &[u64] {
        &self.newlines
    }

    /// How many lines there are, if that is known.
    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// The last known place with fewer newlines before it: its offset, and how many.
    pub(super) fn before(&self, newlines: u64) -> Option<(u64, u64)> {
        let stride = self.newlines.partition_point(|before| *before < newlines).checked_sub(1)?;
        Some((stride as u64 * self.stride_bytes, self.newlines[stride]))
    }

    /// How many newlines come before the stride after the one at an offset, if that is known.
    pub(super) fn after(&self, offset: u64) -> Option<u64> {
        let stride = usize::try_from(offset / self.stride_bytes).ok()?;
        self.newlines.get(stride + 1).copied()
    }

    /// How far apart known places are.
    pub(super) fn stride_bytes(&self) -> u64 {
        self.stride_bytes
    }

    /// Takes down how many newlines come before an offset. False if something else is known of it.
    pub(super) fn note(&mut self, offset: u64, newlines: u64) -> bool {
        if !offset.is_multiple_of(self.stride_bytes) {
            return true;
        }
        let stride = usize::try_from(offset / self.stride_bytes).unwrap_or(usize::MAX);
        match self.newlines.get(stride) {
            Some(known) => *known == newlines,
            None => {
                if stride == self.newlines.len() && stride < STRIDES_MAX {
                    self.newlines.push(newlines);
                }
                true
            }
        }
    }

    /// Takes down that the text ends after so many lines. False if something else is known.
    pub(super) fn end(&mut self, lines: u64) -> bool {
        *self.total.get_or_insert(lines) == lines
    }
}

/// Which content an index is of, as far as the file system tells contents apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    /// Device, inode, size, the two times in seconds and nanoseconds, and what ends a line.
    fields: [i128; 8],
}

impl Identity {
    pub(super) const BYTES: usize = 8 * 16;

    pub(super) fn of(file: &File, newline: Newline) -> io::Result<Identity> {
        let stat = rustix::fs::fstat(file)?;
        Ok(Identity {
            fields: [
                i128::from(stat.st_dev),
                i128::from(stat.st_ino),
                i128::from(stat.st_size),
                i128::from(stat.st_mtime),
                i128::from(stat.st_mtime_nsec),
                i128::from(stat.st_ctime),
                i128::from(stat.st_ctime_nsec),
                newline as i128,
            ],
        })
    }

    /// When the file changed last, in seconds.
    pub(super) fn changed_at(&self) -> i128 {
        self.fields[3].max(self.fields[5])
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.fields.iter().flat_map(|field| field.to_le_bytes()).collect()
    }
}
