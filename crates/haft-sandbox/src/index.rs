//! The index of a repository, read as strictly as git writes it.
//!
//! Git itself reads more than it writes: lengths that are wrong, flags that the version does not have, paths that lead
//! out of the working tree. Whoever reads such an index otherwise than git does misses what git finds in it, so it is
//! told to be unusual, and nobody has to guess.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::bitmap;

/// Which entries a caller wants the names of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// Those that are repositories.
    Links,
    /// These besides, by their places in order.
    LinksAnd(&'a [u64]),
}

/// What an index has in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    /// The wanted names, relative to the working tree.
    pub(crate) names: Vec<PathBuf>,
    /// Directories that stand there as one entry each, with whatever a commit has in them.
    pub(crate) directories: Vec<PathBuf>,
    /// What the index is a change to.
    pub(crate) base: Option<Base>,
    /// Whether it is as git writes it. If not, more may be in it.
    pub(crate) is_usual: bool,
}

/// The index that another one is a change to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// The name of a file beside it ends so.
    pub(crate) hash: String,
    /// The places of those entries in it that have become repositories.
    pub(crate) links: Vec<u64>,
}

/// So much of an index is held at a time. Most of one with many files is passed over.
const HELD_BYTES: usize = 256 << 10;
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;
const KIND: u32 = 0o170_000;
const GITLINK: u32 = 0o160_000;
const DIRECTORY: u32 = 0o040_000;
const KINDS: [u32; 4] = [0o100_000, 0o120_000, GITLINK, DIRECTORY];
const IS_EXTENDED: u16 = 0x4000;
const NAME_BYTES_MAX: u16 = 0x0fff;
const HASH_BYTES_MAX: usize = 32;
/// A longer path leads nowhere.
pub(crate) const PATH_BYTES_MAX: usize = 4096;
/// So long may any name be. Git writes also those that lead nowhere.
const ANY_NAME_BYTES_MAX: usize = 1 << 20;
/// So many names are wanted of an index, and so many bytes of them: a name may begin as the one before, so a small index
/// may have many long ones.
pub(crate) const NAMES_MAX: usize = 1 << 16;
const NAMES_BYTES_MAX: usize = 4 << 20;
/// So much is read of what follows the entries, which is some bits for each.
const EXTENSION_BYTES_MAX: u64 = 16 << 20;

/// Reads an index that has so many bytes, and hashes of so many.
pub(crate) fn entries(index: impl Read + Seek, len: u64, hash: usize, wanted: Wanted<'_>) -> Entries {
    let mut found = Entries::default();
    let index = BufReader::with_capacity(HELD_BYTES, index);
    let names = (NAMES_MAX, NAMES_BYTES_MAX);
    found.is_usual = Reader { index, at: 0, len, hash, wanted, names }.read(&mut found).is_some();
    found
}

struct Reader<'a, R> {
    index: BufReader<R>,
    at: u64,
    len: u64,
    hash: usize,
    wanted: Wanted<'a>,
    /// How many names may still be wanted, and how many bytes of them.
    names: (usize, usize),
}

impl<R: Read + Seek> Reader<'_, R> {
    /// Nothing, if something is unusual.
    fn read(&mut self, found: &mut Entries) -> Option<()> {
        let [signature, version, count] = [self.take::<4>()?, self.take()?, self.take()?];
        let (version, count) = (u32::from_be_bytes(version), u32::from_be_bytes(count));
        if signature != *b"DIRC" || !(2..=4).contains(&version) {
            return None;
        }
        let (mut name, mut starts, mut nameless) = (Vec::new(), Vec::new(), Vec::new());
        let mut wanted = match self.wanted {
            Wanted::Links => &[],
            Wanted::LinksAnd(places) => places,
        };
        for place in 0..u64::from(count) {
            starts.push(u32::try_from(self.at).ok()?);
            let kind = self.entry(version, &mut name)?;
            let is_wanted = wanted.first() == Some(&place);
            wanted = &wanted[usize::from(is_wanted)..];
            if kind == GITLINK && name.is_empty() {
                nameless.push(usize::try_from(place).ok()?);
            } else if kind == DIRECTORY {
                found.directories.push(self.name(name.strip_suffix(b"/")?)?);
            } else if kind == GITLINK || is_wanted {
                found.names.push(self.name(&name)?);
            }
        }
        found.base = self.extensions(&starts, &nameless)?;
        // Only a base has names for those that have none, and only what is there has become something else.
        (wanted.is_empty() && (found.base.is_some() || nameless.is_empty())).then_some(())
    }

    /// A name that is wanted, if it is one that git would make and not one too many.
    fn name(&mut self, name: &[u8]) -> Option<PathBuf> {
        let (names, bytes) = self.names;
        self.names = (names.checked_sub(1)?, bytes.checked_sub(name.len())?);
        (name.len() < PATH_BYTES_MAX && is_plain(name)).then(|| path(name))
    }

    /// Reads an entry and its name, which may begin as the one before; returns what kind it is of.
    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Option<u32> {
        let start = self.at;
        let mut head = [0; STAT_BYTES + HASH_BYTES_MAX + 2];
        let head = &mut head[..STAT_BYTES + self.hash + 2];
        self.fill(head)?;
        let kind = number(head, MODE_AT)? & KIND;
        let flags = u16::from_be_bytes([head[head.len() - 2], head[head.len() - 1]]);
        let is_extended = flags & IS_EXTENDED != 0;
        if !KINDS.contains(&kind) || is_extended && version < 3 {
            return None;
        }
        if is_extended {
            self.take::<2>()?;
        }
        if version == 4 {
            // Only what differs from the name before is written.
            let dropped = self.varint()?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let left = (ANY_NAME_BYTES_MAX + 1).checked_sub(name.len())?;
        self.at += self.index.by_ref().take(left as u64).read_until(0, name).ok()? as u64;
        if name.pop() != Some(0)
            || usize::from(flags & NAME_BYTES_MAX) != name.len().min(NAME_BYTES_MAX.into())
        {
            return None;
        }
        if version < 4 {
            let padding = (self.at - start).next_multiple_of(8) - (self.at - start);
            self.fill(&mut [0; 8][..usize::try_from(padding).ok()?])?;
        }
        Some(kind)
    }

    /// Reads what follows the entries up to the end; returns the base that is named there.
    fn extensions(&mut self, starts: &[u32], nameless: &[usize]) -> Option<Option<Base>> {
        let from = u32::try_from(self.at).ok()?;
        let end = self.len.checked_sub(self.hash as u64)?;
        let mut base = None;
        while self.at < end {
            let [signature, size] = [self.take::<4>()?, self.take()?];
            let next = self.at + u64::from(u32::from_be_bytes(size));
            if next > end {
                return None;
            }
            match &signature {
                b"link" => base = base_of(&self.content(next)?, self.hash, nameless)?,
                // By this git finds its way with several threads, past whoever reads from the start.
                b"IEOT" if !are_blocks(&self.content(next)?, starts)? => return None,
                _ => {}
            }
            self.index.seek_relative(i64::try_from(next.checked_sub(self.at)?).ok()?).ok()?;
            self.at = next;
        }
        let leads_elsewhere = self.end_of_entries().is_some_and(|told| told != from);
        (self.at == end && !leads_elsewhere).then_some(base)
    }

    /// Where the entries end as told by what git looks for at the end of an index, whatever stands around it.
    fn end_of_entries(&mut self) -> Option<u32> {
        let at = self.len.checked_sub(8 + 4 + 2 * self.hash as u64)?;
        let mut told = [0; 12];
        self.index.seek(SeekFrom::Start(at)).ok()?;
        self.index.read_exact(&mut told).ok()?;
        told.starts_with(b"EOIE").then(|| number(&told, 8)).flatten()
    }

    /// Everything up to a place, if that is not far.
    fn content(&mut self, to: u64) -> Option<Vec<u8>> {
        let len = to.checked_sub(self.at).filter(|len| *len <= EXTENSION_BYTES_MAX)?;
        let mut content = vec![0; usize::try_from(len).ok()?];
        self.fill(&mut content)?;
        Some(content)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Option<()> {
        self.index.read_exact(bytes).ok()?;
        self.at += bytes.len() as u64;
        Some(())
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Some(bytes)
    }

    /// A number as git writes it for names and packs.
    fn varint(&mut self) -> Option<usize> {
        let [mut byte] = self.take()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            [byte] = self.take()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// What says which index this one is a change to, and which entries in it the first of this one replace.
fn base_of(content: &[u8], hash: usize, nameless: &[usize]) -> Option<Option<Base>> {
    let (hash, mut bitmaps) = content.split_at_checked(hash)?;
    if hash.iter().all(|byte| *byte == 0) {
        return Some(None);
    }
    let mut links = Vec::new();
    if let Some(last) = nameless.last() {
        let _deleted = bitmap::take(&mut bitmaps)?;
        let replaced: Vec<u64> = bitmap::take(&mut bitmaps)?.take(last + 1).collect();
        links = nameless.iter().map(|at| replaced.get(*at).copied()).collect::<Option<_>>()?;
    }
    Some(Some(Base { hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(), links }))
}

/// Whether a table of blocks (where each begins, and how many entries it has) tells of the very entries there are.
fn are_blocks(table: &[u8], starts: &[u32]) -> Option<bool> {
    let mut next: usize = 0;
    for at in (4..table.len()).step_by(8) {
        let (start, count) = (number(table, at)?, number(table, at + 4)?);
        if starts.get(next) != Some(&start) {
            return Some(false);
        }
        next = next.checked_add(usize::try_from(count).ok()?)?;
    }
    Some(next == starts.len())
}

/// Whether a path is one that git would make: it leads to something within the working tree and not to its repository.
fn is_plain(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'/')
        .all(|part| !part.is_empty() && part != b"." && part != b".." && !part.eq_ignore_ascii_case(b".git"))
}

#[cfg(unix)]
pub(crate) fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

#[cfg(not(unix))]
pub(crate) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Entries, NAMES_BYTES_MAX, Wanted, entries};

    /// An index of version 4, of entries that each have a kind, what is dropped of the name before, and what is added.
    fn index(list: &[(u32, usize, &[u8])]) -> Entries {
        let count = u32::try_from(list.len()).unwrap();
        let mut bytes = [*b"DIRC", 4_u32.to_be_bytes(), count.to_be_bytes()].concat();
        let mut len: usize = 0;
        for (kind, dropped, added) in list {
            len = len - dropped + added.len();
            let mut stat = [0; 40];
            stat[24..28].copy_from_slice(&kind.to_be_bytes());
            bytes.extend(stat);
            bytes.extend([1; 20]);
            bytes.extend(u16::try_from(len.min(0xfff)).unwrap().to_be_bytes());
            bytes.push(u8::try_from(*dropped).unwrap());
            bytes.extend(*added);
            bytes.push(0);
        }
        bytes.extend([0; 20]);
        let len = bytes.len() as u64;
        entries(std::io::Cursor::new(bytes), len, 20, Wanted::Links)
    }

    #[test]
    fn names_that_share_their_beginnings_do_not_fill_the_memory() {
        let long = vec![b'a'; 500_000];
        let found = index(&[(0o160_000, 0, b"in"), (0o160_000, 2, &long)]);
        assert_eq!((found.names.len(), found.is_usual), (1, false));
        let found = index(&[(0o160_000, 0, &long[..4095]), (0o160_000, 1, b"b")]);
        assert_eq!((found.names.len(), found.is_usual), (2, true));
        let mut many: Vec<(u32, usize, &[u8])> = vec![(0o160_000, 0, &long[..4000])];
        many.resize(2000, (0o160_000, 1, b"b"));
        let found = index(&many);
        let bytes: usize = found.names.iter().map(|name| name.as_os_str().len()).sum();
        assert!(!found.is_usual && bytes <= NAMES_BYTES_MAX, "{bytes}");
    }

    #[test]
    fn directories_are_told_apart() {
        let found = index(&[(0o040_000, 0, b"out/"), (0o160_000, 4, b"sub")]);
        assert!(found.is_usual);
        assert_eq!(found.directories, [std::path::Path::new("out")]);
        assert_eq!(found.names, [std::path::Path::new("sub")]);
        for name in [b"out".as_slice(), b"/", b"../out/", b""] {
            assert!(!index(&[(0o040_000, 0, name)]).is_usual);
        }
    }
}
