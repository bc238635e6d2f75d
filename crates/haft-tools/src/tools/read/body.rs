//! From an opened file to what is shown of it.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft::ToolError;

use super::Body;
use super::image::{self, ImageError, ImageLimits};
use super::index::{Identity, Index, STRIDE_BYTES};
use super::indexes::Indexes;
use super::kind::{Kind, kind_of};
use super::page::{Book, Page, PageError, Window};
use super::scan::CHUNK_BYTES;
use crate::blocking::Stop;
use crate::encoding::{self, Extent, SAMPLE_BYTES};
use crate::workspace::{Digest, OpenedFile, Place};

/// Files up to this size are read whole, so that what is shown and what is remembered are the same content. Larger
/// ones have an index of their lines.
const WHOLE_BYTES_MAX: u64 = 16 << 20;
/// So much of a larger file decides which encoding it is in.
const HEAD_BYTES: u64 = 256 << 10;

/// What reading a file takes apart from the file.
pub(super) struct Reading<'a> {
    pub(super) window: Window,
    pub(super) images: ImageLimits,
    pub(super) indexes: &'a Indexes,
    pub(super) stop: &'a Stop,
}

impl Reading<'_> {
    /// What is shown, and the digest of the whole where the file is small enough to have one.
    pub(super) fn body(&self, opened: OpenedFile) -> Result<(Body, Option<Digest>), ToolError> {
        let place = opened.place().clone();
        let size = opened.size();
        let mut file = opened.into_file();
        let unreadable = |error: io::Error| unreadable(&place, &error);
        let head_size = if size > WHOLE_BYTES_MAX { HEAD_BYTES } else { WHOLE_BYTES_MAX + 1 };
        let head = read_at_most(&mut file, head_size).map_err(unreadable)?;
        let is_whole = size <= WHOLE_BYTES_MAX && head.len() as u64 <= WHOLE_BYTES_MAX;
        let digest = is_whole.then(|| Digest::of(&head));

        let sample = &head[..head.len().min(SAMPLE_BYTES)];
        let body = match kind_of(place.real(), sample) {
            Kind::Binary => {
                return Err(ToolError::Failure(format!("Cannot read binary file: {}", place.spelled_text())));
            }
            Kind::Media(mime) => {
                let limit = image::source_bytes_max(mime, self.images);
                let rest = (limit + 1).saturating_sub(head.len() as u64);
                let whole = [head, read_at_most(&mut file, rest).map_err(unreadable)?].concat();
                self.media(mime, whole, &place, size)?
            }
            Kind::Text => {
                let page = if is_whole { self.small(&head) } else { self.large(&file, &head) };
                Body::File(page.map_err(|error| match error {
                    PageError::OutOfRange { .. } | PageError::TooFar { .. } | PageError::Changed => {
                        ToolError::Failure(error.to_string())
                    }
                    PageError::Io(error) => unreadable(error),
                })?)
            }
        };
        Ok((body, digest))
    }

    fn media(&self, mime: &'static str, whole: Vec<u8>, place: &Place, size: u64) -> Result<Body, ToolError> {
        let path = place.spelled_text();
        match image::fitting(mime, whole, self.images, self.stop) {
            Ok(shown) => Ok(Body::Media {
                mime: shown.mime.to_owned(),
                data: STANDARD.encode(shown.bytes),
                scale: shown.scale,
            }),
            Err(ImageError::TooManyBytes) => Err(ToolError::Failure(format!(
                "Media exceeds {} byte ingestion limit: {path} ({size} bytes)",
                self.images.bytes_max
            ))),
            Err(error @ (ImageError::TooManyPixels { .. } | ImageError::Undecodable(_))) => {
                Err(ToolError::Failure(format!("could not scale down {path}: {error}")))
            }
        }
    }

    fn small(&self, whole: &[u8]) -> Result<Page, PageError> {
        let encoding = encoding::recognize(whole, Extent::Whole);
        let index = &mut Index::new(STRIDE_BYTES);
        let source = Cursor::new(whole);
        Book { source, encoding, index, chunk_bytes: CHUNK_BYTES }.page(self.window, self.stop)
    }

    /// Reads a page with the help of what is known of the file, unless the file changed in the meantime.
    fn large(&self, file: &File, head: &[u8]) -> Result<Page, PageError> {
        let encoding = encoding::recognize(head, Extent::Start);
        let read = |index: &mut Index| {
            let mut source = file;
            source.rewind()?;
            Book { source, encoding, index, chunk_bytes: CHUNK_BYTES }.page(self.window, self.stop)
        };
        let identity = Identity::of(file, encoding.newline())?;
        let is_same = || Identity::of(file, encoding.newline()).is_ok_and(|now| now == identity);
        if let Some(known) = self.indexes.recall(&identity) {
            let mut index = known.clone();
            let page = read(&mut index);
            if is_same() && !matches!(page, Err(PageError::Changed)) {
                if index != known {
                    self.indexes.keep(&identity, &index);
                }
                return page;
            }
        }
        let mut index = Index::new(STRIDE_BYTES);
        let page = read(&mut index);
        if is_same() && !matches!(page, Err(PageError::Changed)) {
            self.indexes.keep(&identity, &index);
        }
        page
    }
}

fn unreadable(place: &Place, error: &io::Error) -> ToolError {
    ToolError::Failure(format!("could not read {}: {error}", place.shown()))
}

fn read_at_most(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
