//! An answer that is arriving, within the time and the bytes of its request.

use reqwest::Response;
use reqwest::header::HeaderMap;

use super::clock::Clock;
use super::{Address, WebError};

/// An answer. Its body has yet to be read.
#[derive(Debug)]
pub struct Reply {
    address: Address,
    response: Response,
    clock: Clock,
    bytes_max: usize,
    progress: Progress,
}

/// How much of an answer is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// So many bytes, unpacked.
    pub received: usize,
    /// Of so many, if the host has said so.
    pub total: Option<u64>,
}

impl Reply {
    pub(super) fn new(
        address: Address,
        response: Response,
        clock: Clock,
        bytes_max: usize,
    ) -> Result<Reply, WebError> {
        let total = response.content_length();
        if total.is_some_and(|total| total > bytes_max as u64) {
            return Err(WebError::TooLarge(bytes_max));
        }
        // What is packed as was asked for is unpacked already, and says so no more.
        if let Some(packing) =
            response.headers().get("content-encoding").and_then(|value| value.to_str().ok())
            && !packing.trim().is_empty()
            && !packing.trim().eq_ignore_ascii_case("identity")
        {
            let reason = format!("it is packed by {}, which was not asked for", haft::visible(packing));
            return Err(WebError::Broken { host: address.endpoint(), reason });
        }
        Ok(Reply { address, response, clock, bytes_max, progress: Progress { received: 0, total } })
    }

    /// Where it came from, after all redirects.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        self.response.status().is_success()
    }

    /// What its status means, in the usual words.
    pub fn reason(&self) -> &'static str {
        self.response.status().canonical_reason().unwrap_or("unknown status")
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// A header that is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// The next bytes, unpacked; none at the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, WebError> {
        let host = || self.address.endpoint();
        let chunk = self.clock.within(self.response.chunk()).await?;
        let Some(chunk) = chunk.map_err(|error| WebError::of(error, host()))? else { return Ok(None) };
        self.progress.received += chunk.len();
        if self.progress.received > self.bytes_max {
            return Err(WebError::TooLarge(self.bytes_max));
        }
        Ok(Some(chunk.to_vec()))
    }

    /// All of it. Says after each piece how much is there.
    pub async fn whole(mut self, mut on_progress: impl FnMut(Progress)) -> Result<Vec<u8>, WebError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
            on_progress(self.progress);
        }
        Ok(bytes)
    }
}
