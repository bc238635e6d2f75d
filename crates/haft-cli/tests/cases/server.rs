//! A small HTTP server on the loopback for the cases that fetch. It answers by route and remembers requests.
//!
//! A route is `{method, status, headers, body, delay_ms, stall_ms}`: without `method` it takes GET; `delay_ms` passes before the status line,
//! `stall_ms` before the body. A list of routes answers one request after another, and its last one repeats.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value, json};

use crate::content::generate;

/// Every URL of a case starts with this path, so that a case has to join paths as it would elsewhere.
const PREFIX: &str = "/case";
const REQUEST_BYTES_MAX: u64 = 1 << 20;
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// The server of one case. Dropping it frees the port.
pub(crate) struct Server {
    pub(crate) url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    routes: Map<String, Value>,
    seen: Mutex<Seen>,
    closing: AtomicBool,
}

#[derive(Default)]
struct Seen {
    requests: Vec<Value>,
    hits: BTreeMap<String, usize>,
}

struct Request {
    method: String,
    path: String,
    headers: Map<String, Value>,
    /// What was sent, if it is JSON.
    body: Value,
}

impl Server {
    pub(crate) fn start(routes: Map<String, Value>) -> anyhow::Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("could not listen on the loopback")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { routes, seen: Mutex::default(), closing: AtomicBool::new(false) });
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Server { url: format!("http://{address}{PREFIX}"), address, shared, accepting: Some(accepting) })
    }

    /// Returns the requests so far, each as `{path, headers, body}`.
    pub(crate) fn log(&self) -> Value {
        Value::Array(self.shared.seen().requests.clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // The thread waits for a connection; this one lets it see that it is the last.
        TcpStream::connect(self.address).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request and picks what answers it.
    fn route(&self, request: &Request) -> Value {
        let missing = json!({"status": 404, "body": "no such route"});
        let path = request.path.split(['?', '#']).next().unwrap_or_default();
        let path = match path.strip_prefix(PREFIX) {
            Some("") => "/",
            Some(path) if path.starts_with('/') => path,
            Some(_) | None => return missing,
        };
        let mut seen = self.seen();
        seen.requests.push(json!({"path": path, "headers": request.headers, "body": request.body}));
        match self.routes.get(path) {
            Some(Value::Array(list)) if !list.is_empty() => {
                let hits = seen.hits.entry(path.to_owned()).or_default();
                *hits += 1;
                list[(*hits - 1).min(list.len() - 1)].clone()
            }
            Some(route @ Value::Object(fields)) if !fields.is_empty() => route.clone(),
            _ => missing,
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A client that goes away while it is answered is what some cases are about, so its errors end here.
        thread::spawn(move || answer(&stream, &shared).ok());
    }
}

fn answer(mut stream: &TcpStream, shared: &Shared) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIME_MAX))?;
    let request = read_request(stream)?;
    let route = shared.route(&request);
    if request.method != route.get("method").and_then(Value::as_str).unwrap_or("GET") {
        stream
            .write_all(b"HTTP/1.1 501 Not Implemented\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
        return Ok(());
    }
    pause(&route, "delay_ms");
    let body = generate(route.get("body").unwrap_or(&json!("")))?;
    let mut head = status_line(&route)?;
    let mut has_length = false;
    for (name, value) in route.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let name = name.to_lowercase();
        let value = value.as_str().ok_or_else(|| anyhow!("header {name} is not a string"))?;
        has_length |= name == "content-length";
        head += &format!("{name}: {}\r\n", value.replace("{{prefix}}", PREFIX));
    }
    if !has_length {
        head += &format!("content-length: {}\r\n", body.len());
    }
    head += "connection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    pause(&route, "stall_ms");
    stream.write_all(&body)?;
    Ok(())
}

fn read_request(stream: &TcpStream) -> anyhow::Result<Request> {
    let mut reader = BufReader::new(stream.take(REQUEST_BYTES_MAX));
    let mut lines = reader.by_ref().lines();
    let mut line = || lines.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
    let first = line()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Map::new();
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.insert(name.to_lowercase(), Value::from(value.trim()));
    }
    let length = headers.get("content-length").and_then(Value::as_str).and_then(|length| length.parse().ok());
    let mut body = Vec::new();
    reader.take(length.unwrap_or(0)).read_to_end(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Request { method: method.to_owned(), path: path.to_owned(), headers, body })
}

fn status_line(route: &Value) -> anyhow::Result<String> {
    let status = route.get("status").map_or(Some(200), Value::as_u64).context("status is a number")?;
    let phrase = match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    };
    Ok(format!("HTTP/1.1 {status} {phrase}\r\n"))
}

fn pause(route: &Value, key: &str) {
    if let Some(milliseconds) = route.get(key).and_then(Value::as_u64) {
        thread::sleep(Duration::from_millis(milliseconds));
    }
}
