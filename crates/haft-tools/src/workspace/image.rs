//! Images of files: their content and its digest, in memory or, if it is large, in the file itself.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use haft::{Image, Reopen};

use super::digest::Digest;

/// The image of a file that is to hold these bytes.
pub(crate) fn of_bytes(bytes: Vec<u8>) -> Image {
    digested(Digest::of(&bytes).to_string(), bytes)
}

/// The image of a file that is to hold this text in UTF-8. It is not looked through again to know that.
pub(crate) fn of_text(text: String) -> Image {
    digested(Digest::of(text.as_bytes()).to_string(), text)
}

/// The image of a content whose digest is known.
pub(super) fn digested(digest: String, content: impl Reopen + AsRef<[u8]> + 'static) -> Image {
    let bytes = content.as_ref().len() as u64;
    Image { digest, bytes, attributes: None, content: Some(Arc::new(content)) }
}

/// The text of an image, where it is in memory and known to be UTF-8.
pub(crate) fn text(image: &Image) -> Option<&str> {
    image.content.as_deref().and_then(Reopen::as_text)
}

/// The bytes of an image, where they are in memory.
pub(crate) fn bytes(image: &Image) -> Option<&[u8]> {
    image.content.as_deref().and_then(Reopen::in_memory)
}

/// A file's content from its beginning, wherever it was read to.
pub(super) fn from_start(file: &File) -> impl Read + Send + '_ {
    FromStart { file, at: 0 }
}

struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The content of a file that is too large to be held in memory.
pub(super) struct OnDisk(pub(super) File);

impl Reopen for OnDisk {
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(from_start(&self.0)))
    }
}
