//! From an opened file to what is shown of it.

use std::fs::File;
use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft::ToolError;

use super::Body;
use super::kind::{Kind, SAMPLE_BYTES, kind_of};
use super::page::{PageError, Window, page};
use crate::blocking::Stop;
use crate::workspace::{Digest, OpenedFile};

/// Files up to this size are read whole, so that what is shown and what is remembered are the same content.
const WHOLE_BYTES_MAX: u64 = 16 << 20;

/// What is shown, and the digest of the whole where the file is small enough to have one.
pub(super) fn of(
    opened: OpenedFile,
    window: Window,
    media_bytes_max: u64,
    stop: &Stop,
) -> Result<(Body, Option<Digest>), ToolError> {
    let place = opened.place().clone();
    let size = opened.size();
    let mut file = opened.into_file();
    let unreadable =
        |error: io::Error| ToolError::Failure(format!("could not read {}: {error}", place.shown()));
    let head_size = if size > WHOLE_BYTES_MAX { SAMPLE_BYTES as u64 } else { WHOLE_BYTES_MAX + 1 };
    let head = read_at_most(&mut file, head_size).map_err(unreadable)?;
    let is_whole = size <= WHOLE_BYTES_MAX && head.len() as u64 <= WHOLE_BYTES_MAX;
    let digest = is_whole.then(|| Digest::of(&head));

    let sample = &head[..head.len().min(SAMPLE_BYTES)];
    let body = match kind_of(place.real(), sample) {
        Kind::Binary => {
            return Err(ToolError::Failure(format!("Cannot read binary file: {}", place.spelled_text())));
        }
        Kind::Media(mime) => {
            let rest = media_bytes_max.saturating_add(1).saturating_sub(head.len() as u64);
            let whole = [head, read_at_most(&mut file, rest).map_err(unreadable)?].concat();
            if whole.len() as u64 > media_bytes_max {
                return Err(ToolError::Failure(format!(
                    "Media exceeds {media_bytes_max} byte ingestion limit: {} ({size} bytes)",
                    place.spelled_text()
                )));
            }
            Body::Media { mime: mime.to_owned(), data: STANDARD.encode(whole) }
        }
        Kind::Text => match page(head.as_slice().chain(file), window, stop) {
            Ok(page) => Body::File(page),
            Err(error @ (PageError::OutOfRange { .. } | PageError::TooFar { .. })) => {
                return Err(ToolError::Failure(error.to_string()));
            }
            Err(PageError::Io(error)) => return Err(unreadable(error)),
        },
    };
    Ok((body, digest))
}

fn read_at_most(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
