//! A request as it is sent: a JSON document of which long parts are read only when their turn has come.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::task::JoinHandle;

use crate::provider::ProviderError;
use crate::shelf::{Laid, Place, SEPARATOR};

/// At most so much is read and sent at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A document in pieces.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pieces: Vec<Piece>,
    length: u64,
    unread: Unread,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Lying(Place),
}

/// Why a document could not be sent, if it cannot be read from where it lies. It is kept here because HTTP/2 drops
/// whatever a body says of its failure. Clones know the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unread(Arc<OnceLock<io::Error>>);

impl Document {
    /// Adds text to the end.
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.length += text.len() as u64;
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Lying(_)) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds text that may lie elsewhere.
    pub(crate) fn add(&mut self, laid: &Laid) -> io::Result<()> {
        match laid {
            Laid::Held(_) => self.push(&laid.text()?),
            Laid::Down(place) => {
                self.length += place.len() as u64;
                self.pieces.push(Piece::Lying(place.clone()));
            }
        }
        Ok(())
    }

    /// Adds the next element of a list.
    pub(crate) fn add_next(&mut self, laid: &Laid) -> io::Result<()> {
        if let (Some(Piece::Lying(last)), Laid::Down(place)) = (self.pieces.last_mut(), laid)
            && last.take_in(place)
        {
            self.length += (SEPARATOR.len() + place.len()) as u64;
            return Ok(());
        }
        self.push(SEPARATOR);
        self.add(laid)
    }

    /// All of it at once, which may wait for the disk.
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

    /// Something that can be sent, as often as it has to be.
    pub(crate) fn body(self: &Arc<Document>) -> reqwest::Body {
        reqwest::Body::wrap(Sending {
            document: self.clone(),
            left: self.length,
            piece: 0,
            within: 0,
            reading: None,
        })
    }

    /// Why it could not be sent.
    pub(crate) fn unread(&self) -> Unread {
        self.unread.clone()
    }
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Lying(place) => place.len(),
        }
    }
}

impl Unread {
    /// What to tell of it, if it happened.
    pub(crate) fn told(&self) -> Option<ProviderError> {
        self.0.get().map(ProviderError::lost)
    }
}

/// A document that is being sent. What lies on a disk is read beside everything else that goes on.
struct Sending {
    document: Arc<Document>,
    /// How much of it is left.
    left: u64,
    /// The piece whose turn it is.
    piece: usize,
    /// How much of that was sent.
    within: usize,
    reading: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl Sending {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.reading.is_none() {
            let Some(piece) = self.document.pieces.get(self.piece) else { return Poll::Ready(None) };
            let start = self.within;
            let end = piece.len().min(start + CHUNK_BYTES);
            (self.piece, self.within) = match end == piece.len() {
                true => (self.piece + 1, 0),
                false => (self.piece, end),
            };
            match piece {
                Piece::Text(text) => {
                    return Poll::Ready(Some(Ok(Bytes::copy_from_slice(&text.as_bytes()[start..end]))));
                }
                Piece::Lying(place) => {
                    let next = place.part(start..end);
                    self.reading = Some(tokio::task::spawn_blocking(move || next.read()));
                }
            }
        }
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        let read = read.unwrap_or_else(|lost| Err(io::Error::other(lost)));
        Poll::Ready(Some(read.map(Bytes::from)))
    }
}

impl Body for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let Some(next) = ready!(self.poll_next(context)) else { return Poll::Ready(None) };
        Poll::Ready(Some(match next {
            Ok(bytes) => {
                self.left -= bytes.len() as u64;
                Ok(Frame::data(bytes))
            }
            Err(error) => {
                let kind = error.kind();
                self.piece = self.document.pieces.len(); // Nothing more is sent.
                self.document.unread.0.get_or_init(|| error);
                Err(kind.into())
            }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

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
        assert!(client.post(url).body(Arc::new(document).body()).send().await.unwrap().status().is_success());
        assert!(server.join().unwrap() == expected, "not what was to be sent");
    }
}
