//! Messages of the protocol as bytes: a header with a length, an empty line, and JSON.

use serde_json::Value;

/// A header that is longer is none.
const HEADER_BYTES_MAX: usize = 8 << 10;
/// A message that is larger is not waited for.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Why what a server sends makes no sense. There is no way to find the next message after that.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// Not the beginning of a message.
    #[error("it printed something that is no message of the protocol: {0:?}")]
    Header(String),
    /// More than anybody has to say.
    #[error("it announced a message of {0} bytes, and no more than {BODY_BYTES_MAX} are taken")]
    TooLarge(usize),
    /// Not JSON.
    #[error("it sent a message that is not JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A message as it is sent.
pub(super) fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// Puts messages together from the pieces in which they arrive.
#[derive(Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// The length of the message whose header was read.
    body: Option<usize>,
    /// How far the header was searched for its end.
    seen: usize,
}

impl Decoder {
    /// Takes what has arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if it is complete.
    pub(super) fn next(&mut self) -> Result<Option<Value>, FrameError> {
        let Some(length) = self.length()? else { return Ok(None) };
        if self.bytes.len() < length {
            return Ok(None);
        }
        let message = serde_json::from_slice(&self.bytes[..length])?;
        self.bytes.drain(..length);
        self.body = None;
        Ok(Some(message))
    }

    /// The length of the message that comes next; its header is taken off.
    fn length(&mut self) -> Result<Option<usize>, FrameError> {
        if self.body.is_some() {
            return Ok(self.body);
        }
        let from = self.seen.saturating_sub(3);
        let Some(end) = memchr::memmem::find(&self.bytes[from..], b"\r\n\r\n").map(|at| from + at) else {
            self.seen = self.bytes.len();
            return match self.bytes.len() > HEADER_BYTES_MAX {
                true => Err(self.nonsense()),
                false => Ok(None),
            };
        };
        let header = String::from_utf8_lossy(&self.bytes[..end]);
        let length = header.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        let length: usize = length.ok_or_else(|| self.nonsense())?;
        if length > BODY_BYTES_MAX {
            return Err(FrameError::TooLarge(length));
        }
        self.bytes.drain(..end + 4);
        self.seen = 0;
        self.body = Some(length);
        Ok(self.body)
    }

    fn nonsense(&self) -> FrameError {
        let start = &self.bytes[..self.bytes.len().min(80)];
        FrameError::Header(String::from_utf8_lossy(start).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_survive_being_cut_anywhere() {
        let sent = [json!({ "id": 1 }), json!({ "method": "ä→𝄞", "params": [1, 2] }), json!([])];
        let bytes: Vec<u8> = sent.iter().flat_map(encode).collect();
        for cut in 1..=bytes.len() {
            let (mut decoder, mut heard) = (Decoder::default(), Vec::new());
            for piece in bytes.chunks(cut) {
                decoder.push(piece);
                while let Some(message) = decoder.next().unwrap() {
                    heard.push(message);
                }
            }
            assert_eq!(heard, sent);
        }
    }

    #[test]
    fn headers_may_hold_more_and_be_spelled_otherwise() {
        let mut decoder = Decoder::default();
        decoder
            .push(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n{}");
        assert_eq!(decoder.next().unwrap(), Some(json!({})));
    }

    #[test]
    fn nonsense_is_said_to_be_that() {
        let said = |bytes: &[u8]| {
            let mut decoder = Decoder::default();
            decoder.push(bytes);
            decoder.next().unwrap_err().to_string()
        };
        assert!(said(b"usage: server [options]\r\n\r\n").contains("usage: server"));
        assert!(said(b"Content-Length: x\r\n\r\n{}").contains("no message of the protocol"));
        assert!(said(b"Content-Length: 99999999999\r\n\r\n").contains("99999999999 bytes"));
        assert!(said(b"Content-Length: 3\r\n\r\n{!}").contains("not JSON"));
        assert!(said(&[b'x'; 9000]).contains("xxx"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(pieces: Vec<Vec<u8>>) {
            let mut decoder = Decoder::default();
            for piece in pieces {
                decoder.push(&piece);
                while let Ok(Some(_)) = decoder.next() {}
            }
        }
    }
}
