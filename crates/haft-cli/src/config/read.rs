//! Reads files within bounds, and never waits for one.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest configuration file.
pub(crate) const FILE_BYTES_MAX: u64 = 4 << 20;

/// Why a file was not read.
pub(crate) enum Unread {
    /// There is none.
    Absent,
    /// It is something else.
    NotAFile(&'static str),
    /// It is larger than [`FILE_BYTES_MAX`].
    TooLarge,
    /// The system said no.
    Io(io::Error),
}

/// Reads a regular file of bounded size. Others are not even opened: a pipe would wait for a writer.
pub(crate) fn read_bounded(path: &Path) -> Result<Vec<u8>, Unread> {
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unread::Absent,
        _ => Unread::Io(error),
    };
    let metadata = fs::metadata(path).map_err(unread)?;
    if metadata.is_dir() {
        return Err(Unread::NotAFile("a directory"));
    }
    if !metadata.is_file() {
        return Err(Unread::NotAFile("a special file"));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(unread)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() as u64 > FILE_BYTES_MAX { Err(Unread::TooLarge) } else { Ok(bytes) }
}

/// A path as it is put into messages and origins.
pub(crate) fn shown_path(path: &Path) -> String {
    haft::visible(&path.to_string_lossy())
}
