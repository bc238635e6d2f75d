//! A request as it is sent: a JSON document of which long parts are read only when their turn has come.

use std::collections::VecDeque;
use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use crate::shelf::{Laid, Place, SEPARATOR};

/// About so much is read and sent at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A document in pieces.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pieces: VecDeque<Piece>,
    length: u64,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Lying(Place),
}

impl Document {
    /// Adds text to the end.
    pub(crate) fn push(&mut self, text: &str) {
        self.length += text.len() as u64;
        match self.pieces.back_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Lying(_)) | None => self.pieces.push_back(Piece::Text(text.to_owned())),
        }
    }

    /// Adds text that may lie elsewhere.
    pub(crate) fn add(&mut self, laid: &Laid) -> io::Result<()> {
        match laid {
            Laid::Held(_) => self.push(&laid.text()?),
            Laid::Down(place) => {
                self.length += place.len() as u64;
                self.pieces.push_back(Piece::Lying(place.clone()));
            }
        }
        Ok(())
    }

    /// Adds the next element of a list.
    pub(crate) fn add_next(&mut self, laid: &Laid) -> io::Result<()> {
        if let (Some(Piece::Lying(last)), Laid::Down(place)) = (self.pieces.back_mut(), laid)
            && last.take_in(place)
        {
            self.length += (SEPARATOR.len() + place.len()) as u64;
            return Ok(());
        }
        self.push(SEPARATOR);
        self.add(laid)
    }

    /// All of it at once.
    pub(crate) fn text(self) -> io::Result<String> {
        let mut bytes = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Piece::Lying(place) => bytes.extend_from_slice(&place.read()?),
            }
        }
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    /// Something that can be sent.
    pub(crate) fn into_body(self) -> reqwest::Body {
        reqwest::Body::wrap(Sending { length: self.length, pieces: self.pieces, reading: None })
    }
}

/// What was to be sent cannot be read from where it lies.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Unread(pub(crate) io::Error);

/// A document that is being sent. What lies on a disk is read beside everything else that goes on.
struct Sending {
    /// How much of it is left.
    length: u64,
    pieces: VecDeque<Piece>,
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Sending {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Vec<u8>>>> {
        if self.reading.is_none() {
            match self.pieces.front_mut() {
                None => return Poll::Ready(None),
                Some(Piece::Text(text)) => {
                    let text = std::mem::take(text);
                    self.pieces.pop_front();
                    return Poll::Ready(Some(Ok(text.into_bytes())));
                }
                Some(Piece::Lying(place)) => {
                    let next = place.split_off(CHUNK_BYTES);
                    if place.len() == 0 {
                        self.pieces.pop_front();
                    }
                    self.reading = Some(tokio::task::spawn_blocking(move || next.read()));
                }
            }
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        Poll::Ready(Some(read.unwrap_or_else(|lost| Err(io::Error::other(lost)))))
    }
}

impl Body for Sending {
    type Data = Bytes;
    type Error = Unread;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Unread>>> {
        let next = ready!(self.poll_next(context));
        match &next {
            Some(Ok(bytes)) => self.length -= bytes.len() as u64,
            // After a failure nothing more is sent.
            Some(Err(_)) => self.pieces.clear(),
            None => {}
        }
        Poll::Ready(next.map(|bytes| bytes.map(|bytes| Frame::data(bytes.into())).map_err(Unread)))
    }

    fn is_end_stream(&self) -> bool {
        self.length == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;

    use haft::Content;

    use super::*;
    use crate::given::Given;
    use crate::provider::{CallResult, Told, Utterance};
    use crate::shelf::Shelf;
    use crate::wire::chat::Dialect;
    use crate::wire::words::{Request, Tongue};

    /// A conversation that is longer than what is held in memory, with things in it that JSON has to escape.
    fn request(shelf: &Shelf) -> Request {
        let told = |at: usize| {
            let text = format!("{at}\t\"ünïcödé\"\\\n").repeat(400);
            let content = Given::on(shelf, vec![Content::Text(text)]);
            let result = CallResult { id: at.to_string(), name: "read".to_owned(), content, is_error: false };
            Arc::new(Told::on(shelf, Utterance::Results(vec![result])))
        };
        let conversation: Vec<Arc<Told>> = (0..100).map(told).collect();
        let tongue = Tongue::Chat(Dialect::of("http://127.0.0.1/v1"));
        Request {
            fields: serde_json::json!({ "model": "m", "messages": [], "stream": true }),
            place: "messages",
            conversation: tongue.tell(&conversation).unwrap(),
        }
    }

    fn on_disk() -> (tempfile::TempDir, Document) {
        let directory = tempfile::tempdir().unwrap();
        let document = request(&Shelf::within(Some(directory.path()))).document().unwrap();
        let lying = |piece: &Piece| match piece {
            Piece::Text(_) => 0,
            Piece::Lying(place) => place.len() as u64,
        };
        let lying: u64 = document.pieces.iter().map(lying).sum();
        assert!(lying > document.length / 2, "most of it lies on the disk");
        assert_eq!(document.pieces.len(), 3, "what lies in a row is one piece");
        (directory, document)
    }

    #[test]
    fn a_document_says_the_same_wherever_its_parts_lie() {
        let held = request(&Shelf::none()).document().unwrap();
        let (_directory, laid) = on_disk();
        assert_eq!(held.pieces.len(), 1);
        assert_eq!(held.length, laid.length);
        let text = laid.text().unwrap();
        assert_eq!(held.text().unwrap(), text);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["messages"].as_array().map(Vec::len), Some(100));
    }

    #[tokio::test]
    async fn a_server_gets_the_whole_document_and_knows_its_length() {
        let (_directory, document) = on_disk();
        let expected = request(&Shelf::none()).document().unwrap().text().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let (mut length, mut line) = (0, String::new());
            while stream.read_line(&mut line).unwrap() > 2 {
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            String::from_utf8(body).unwrap()
        });
        // Whoever asks first decides by which cryptography; here nobody needs any.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        assert!(client.post(url).body(document.into_body()).send().await.unwrap().status().is_success());
        assert!(server.join().unwrap() == expected, "not what was to be sent");
    }
}
