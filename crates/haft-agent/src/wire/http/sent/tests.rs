//! Requests against servers that speak HTTP/2, and let go of what they were sent.

use std::sync::OnceLock;
use std::time::Duration;

use h2::Reason;
use h2::server::SendResponse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::shelf::Shelf;
use crate::shelf::tests::lose;
use crate::wire::http::{Body, builder};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const HEADERS: u8 = 1;
/// Goes away without an error, and without having looked at any request.
const GO_AWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[derive(Clone, Copy)]
enum Speaking {
    Http1,
    Http2,
}

/// A server that is about to be asked, and the way to it.
async fn server(speaking: Speaking) -> (TcpListener, Http, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let builder = builder(&Url::parse(&url).unwrap());
    let builder = match speaking {
        Speaking::Http1 => builder,
        Speaking::Http2 => builder.http2_prior_knowledge(),
    };
    let client = OnceLock::from(Ok(builder.build().unwrap()));
    let http = Http { client, ..Http::new("acme", Vec::new(), Duration::from_secs(30)) };
    (listener, http, url)
}

async fn post(http: &Http, url: &str, document: Document) -> Result<Body, ProviderError> {
    http.post(url, document, &Headers::default()).await
}

/// A document of which most lies on a shelf, if there is one.
fn document(shelf: &Shelf) -> Document {
    let mut document = Document::default();
    document.push(&"beginning ".repeat(10_000));
    for at in 0..40 {
        document.add_next(&shelf.lay(format!("{at} ").repeat(5_000).into_bytes().into())).unwrap();
    }
    document
}

/// Says that it goes away when it was sent the beginning of a request.
async fn go_away(stream: &mut TcpStream) {
    stream.read_exact(&mut [0; 24]).await.unwrap();
    stream.write_all(&SETTINGS).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        stream.read_exact(&mut vec![0; length]).await.unwrap();
        if head[3] == HEADERS {
            return stream.write_all(&GO_AWAY).await.unwrap();
        }
    }
}

/// Has every request on a connection answered, each with its number.
async fn speak<F>(stream: TcpStream, answer: impl Fn(usize, h2::RecvStream, SendResponse<bytes::Bytes>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connection = h2::server::handshake(stream).await.unwrap();
    let mut number = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer(number, request.into_body(), respond));
        number += 1;
    }
}

/// Everything that is sent, unless it breaks off.
async fn read(mut body: h2::RecvStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.ok()?;
        body.flow_control().release_capacity(chunk.len()).unwrap();
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes)
}

/// Says what was sent.
async fn echo(body: h2::RecvStream, mut respond: SendResponse<bytes::Bytes>) {
    let sent = read(body).await.unwrap();
    respond.send_response(Default::default(), false).unwrap().send_data(sent.into(), true).unwrap();
}

/// What comes after the beginning of an answer.
async fn rest(mut body: Body) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Short and long: the former in memory, the latter on a disk.
fn shelves() -> (tempfile::TempDir, [Shelf; 2]) {
    let directory = tempfile::tempdir().unwrap();
    let shelf = Shelf::within(Some(directory.path()));
    (directory, [Shelf::none(), shelf])
}

#[tokio::test]
async fn a_server_that_goes_away_is_asked_again_on_another_connection() {
    let (_directory, shelves) = shelves();
    for shelf in shelves {
        let (listener, http, url) = server(Speaking::Http2).await;
        tokio::spawn(async move {
            let mut first = listener.accept().await.unwrap().0;
            go_away(&mut first).await;
            speak(listener.accept().await.unwrap().0, |_, body, respond| echo(body, respond)).await;
        });
        let echoed = rest(post(&http, &url, document(&shelf)).await.unwrap()).await.unwrap();
        let expected = document(&Shelf::none()).text().unwrap();
        assert!(echoed == expected.into_bytes(), "not what was to be sent");
    }
}

#[tokio::test]
async fn a_request_that_a_server_will_not_look_at_is_sent_again_but_not_for_ever() {
    let (_directory, shelves) = shelves();
    for (shelf, refusals, is_answered) in
        [(&shelves[0], 2, true), (&shelves[1], 2, true), (&shelves[1], 3, false)]
    {
        let (listener, http, url) = server(Speaking::Http2).await;
        let (told, mut asked) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            let stream = listener.accept().await.unwrap().0;
            let answer = move |number, body, mut respond: SendResponse<bytes::Bytes>| {
                told.send(number).unwrap();
                async move {
                    match number < refusals {
                        true => respond.send_reset(Reason::REFUSED_STREAM),
                        false => echo(body, respond).await,
                    }
                }
            };
            speak(stream, answer).await;
        });
        match post(&http, &url, document(shelf)).await {
            Ok(body) => assert!(is_answered && !rest(body).await.unwrap().is_empty()),
            Err(error) => {
                assert!(!is_answered && matches!(error, ProviderError::Unreachable { .. }), "{error:?}");
            }
        }
        let numbers: Vec<usize> = std::iter::from_fn(|| asked.try_recv().ok()).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }
}

#[tokio::test]
async fn what_a_server_may_have_looked_at_is_not_sent_again() {
    let (listener, http, url) = server(Speaking::Http2).await;
    let (told, mut asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let answer = move |number: usize, _, mut respond: SendResponse<bytes::Bytes>| {
            told.send(number).unwrap();
            async move { respond.send_reset(Reason::INTERNAL_ERROR) }
        };
        speak(listener.accept().await.unwrap().0, answer).await;
    });
    let error = post(&http, &url, document(&Shelf::none())).await.err();
    assert!(matches!(error, Some(ProviderError::Unreachable { .. })), "{error:?}");
    assert_eq!((asked.try_recv(), asked.try_recv().ok()), (Ok(0), None));
}

#[tokio::test]
async fn what_has_no_body_is_sent_again_as_often_as_what_has_one() {
    let (listener, http, url) = server(Speaking::Http2).await;
    let (told, mut asked) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        let answer = move |number: usize, _, mut respond: SendResponse<bytes::Bytes>| {
            told.send(number).unwrap();
            async move { respond.send_reset(Reason::REFUSED_STREAM) }
        };
        speak(listener.accept().await.unwrap().0, answer).await;
    });
    assert!(matches!(http.get(&url).await, Err(ProviderError::Unreachable { .. })));
    assert_eq!(std::iter::from_fn(|| asked.try_recv().ok()).collect::<Vec<usize>>(), [0, 1, 2]);
}

#[tokio::test]
async fn what_cannot_be_read_any_more_is_lost_whatever_is_spoken() {
    for speaking in [Speaking::Http1, Speaking::Http2] {
        let (_directory, [_, shelf]) = shelves();
        let document = document(&shelf);
        lose(&shelf);
        let (listener, http, url) = server(speaking).await;
        tokio::spawn(async move {
            let mut stream = listener.accept().await.unwrap().0;
            match speaking {
                Speaking::Http1 => drop(stream.read_to_end(&mut Vec::new()).await),
                Speaking::Http2 => {
                    speak(stream, |_, body, _unanswered| async { drop(read(body).await) }).await
                }
            }
        });
        let error = post(&http, &url, document).await.err().unwrap();
        assert!(matches!(error, ProviderError::Lost(_)) && error.retry().is_none(), "{error:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_any_more_is_lost_even_if_the_answer_has_begun() {
    let (_directory, [_, shelf]) = shelves();
    let document = document(&shelf);
    lose(&shelf);
    let (listener, http, url) = server(Speaking::Http2).await;
    tokio::spawn(async move {
        let answer = |_, body, mut respond: SendResponse<bytes::Bytes>| async move {
            let _begun = respond.send_response(Default::default(), false).unwrap();
            drop(read(body).await);
        };
        speak(listener.accept().await.unwrap().0, answer).await;
    });
    // Which of the two comes first is not said.
    let error = match post(&http, &url, document).await {
        Ok(body) => rest(body).await.err(),
        Err(error) => Some(error),
    };
    assert!(matches!(error, Some(ProviderError::Lost(_))), "{error:?}");
}
