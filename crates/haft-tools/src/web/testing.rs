//! A site on this machine that serves what a test tells it to, well or badly.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use haft::BoxFuture;

use super::Names;

/// A request as the site saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A site. It is closed when it is dropped.
pub(crate) struct Site {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    closed: Arc<AtomicBool>,
}

impl Site {
    /// Opens a site that answers as it is told to.
    pub(crate) fn open(
        serve: impl Fn(&Seen, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, closed) = (Arc::<Mutex<Vec<Seen>>>::default(), Arc::<AtomicBool>::default());
        let (log, is_closed, serve) = (seen.clone(), closed.clone(), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if is_closed.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(mut stream), log, serve) = (stream, log.clone(), serve.clone()) else { continue };
                thread::spawn(move || {
                    let Ok(request) = read(&stream) else { return };
                    log.lock().unwrap().push(request.clone());
                    // Whoever asked may have gone away, which is no fault of the site's.
                    let _gone = serve(&request, &mut stream);
                });
            }
        });
        Site { port, seen, closed }
    }

    /// A site of one page.
    pub(crate) fn page(kind: &str, body: impl Into<Vec<u8>>) -> Site {
        let (kind, body) = (kind.to_owned(), body.into());
        Site::open(move |_, to| answer(to, "200 OK", &[("content-type", &kind)], &body))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it is closed.
        let _woken = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Answers with these headers and this body, and says how long it is.
pub(crate) fn answer(
    to: &mut TcpStream,
    status: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let length = body.len().to_string();
    begin(to, status, headers, Some(&length))?;
    to.write_all(body)
}

/// Begins an answer that ends with the connection, unless a length is claimed.
pub(crate) fn begin(
    to: &mut TcpStream,
    status: &str,
    headers: &[(&str, &str)],
    length: Option<&str>,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    let length = length.map(|length| ("content-length", length));
    for (name, value) in headers.iter().copied().chain(length) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    to.write_all(head.as_bytes())
}

pub(crate) fn redirect(to: &mut TcpStream, location: &str) -> io::Result<()> {
    answer(to, "302 Found", &[("location", location)], b"")
}

fn read(stream: &TcpStream) -> io::Result<Seen> {
    let mut lines = BufReader::new(stream);
    let mut line = || -> io::Result<String> {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut seen = Seen { method, path, headers, body: Vec::new() };
    let length = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    seen.body.resize(length, 0);
    lines.read_exact(&mut seen.body)?;
    Ok(seen)
}

/// Names that stand for one address after another, each time they are looked up.
pub(crate) struct Rebinding(Mutex<Vec<IpAddr>>);

impl Rebinding {
    pub(crate) fn to(addresses: &[&str]) -> Rebinding {
        Rebinding(Mutex::new(addresses.iter().rev().map(|ip| ip.parse().unwrap()).collect()))
    }
}

impl Names for Rebinding {
    fn look_up<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut rest = self.0.lock().unwrap();
        let found = if rest.len() > 1 { rest.pop() } else { rest.last().copied() };
        Box::pin(std::future::ready(Ok(found.into_iter().collect())))
    }
}
