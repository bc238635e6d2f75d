//! A server that answers each request with the next of what a test has written down, and passes on what it was asked.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// Only so that a broken haft fails a test and does not hang it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request: its headers in small letters, and its body.
pub(crate) struct Asked {
    pub(crate) headers: String,
    pub(crate) body: Value,
}

/// What stands for an answer.
pub(crate) trait Answer: Send + 'static {
    /// Sends it, head and all. The connection is closed after it.
    fn send(&self, connection: &mut TcpStream) -> io::Result<()>;
}

/// A document; one that holds an error is sent as one.
impl Answer for Value {
    fn send(&self, connection: &mut TcpStream) -> io::Result<()> {
        let status = if self.get("error").is_some() { "400 Bad Request" } else { "200 OK" };
        let text = self.to_string();
        let length = text.len();
        write!(
            connection,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}"
        )?;
        write!(connection, "\r\nconnection: close\r\n\r\n{text}")
    }
}

/// A stream of events.
impl Answer for String {
    fn send(&self, connection: &mut TcpStream) -> io::Result<()> {
        write!(
            connection,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{self}"
        )
    }
}

pub(crate) struct Server {
    pub(crate) address: String,
    asked: mpsc::Receiver<Asked>,
}

impl Server {
    pub(crate) fn answering<A: Answer>(answers: Vec<A>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let (tell, asked) = mpsc::channel();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((connection, _)) = listener.accept() else { return };
                if let Some(request) = serve(connection, &answer) {
                    let _gone = tell.send(request);
                }
            }
        });
        Server { address, asked }
    }

    /// What it was asked next.
    pub(crate) fn next(&self) -> Asked {
        self.asked.recv_timeout(PATIENCE).unwrap()
    }

    /// Whether it was asked something that nobody has looked at.
    pub(crate) fn has_been_asked(&self) -> bool {
        self.asked.try_recv().is_ok()
    }
}

fn serve(mut connection: TcpStream, answer: &impl Answer) -> Option<Asked> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let (mut length, mut headers) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.to_ascii_lowercase();
        if let Some(given) = line.strip_prefix("content-length:") {
            length = given.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
        headers.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    answer.send(&mut connection).ok()?;
    Some(Asked { headers, body: serde_json::from_slice(&body).ok()? })
}
