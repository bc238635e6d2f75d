//! The way to granted hosts: an HTTP proxy that the supervisor serves on the loopback of the command's own network.
//!
//! The command has no network but that loopback, so nothing goes around it. A name is looked up once, every address it
//! leads to is judged, and the connection is made to an address that was judged.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::handed;
use crate::hosts::{HostGrant, grant_for};
use crate::profile::PROXY_PORT;

/// Connections at a time; further ones wait to be accepted. Each has two threads with a small buffer.
const CONNECTIONS_MAX: usize = 64;
/// Of the head of a request.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Refused hosts that are remembered.
const REFUSED_MAX: usize = 20;
/// Whoever has not sent a request in this time is not served.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// So much, and so long, is listened to a client that was answered.
const PARTING_BYTES_MAX: u64 = 1 << 20;
const PARTING_TIMEOUT: Duration = Duration::from_secs(2);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Listens on the loopback of this network and hands the socket over, to be served from outside.
pub(super) fn listen(supervisor: &UnixStream) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    handed::give(supervisor, &[listener.as_fd()])
}

/// Takes the socket that [`listen`] hands over; nothing if the other side is gone.
fn taken(init: &UnixStream) -> io::Result<TcpListener> {
    let handed = handed::take(init)?.and_then(|handed| handed.into_iter().next());
    handed.map(TcpListener::from).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Serves a command until this process ends.
pub(super) struct Proxy(Arc<Shared>);

struct Shared {
    grants: Vec<HostGrant>,
    refused: Mutex<BTreeSet<String>>,
    open: Mutex<usize>,
    closed: Condvar,
}

impl Proxy {
    /// Begins to serve, once init has handed its socket over.
    pub(super) fn serve(init: UnixStream, grants: Vec<HostGrant>) -> io::Result<Proxy> {
        let shared = Arc::new(Shared {
            grants,
            refused: Mutex::default(),
            open: Mutex::new(0),
            closed: Condvar::new(),
        });
        let ours = shared.clone();
        thread::Builder::new().spawn(move || {
            // Where init fails to, it says so itself, and there is nobody to serve.
            if let Ok(listener) = taken(&init) {
                accept(&listener, &ours);
            }
        })?;
        Ok(Proxy(shared))
    }

    /// The hosts that were asked for and are not granted.
    pub(super) fn refused(&self) -> Vec<String> {
        lock(&self.0.refused).iter().cloned().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let slot = Slot::take(shared);
        let client = match listener.accept() {
            Ok((client, _)) => client,
            // Such as too many open files: those that are open end some time.
            Err(_) => {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        // Without a thread for it the connection is closed, which the client sees.
        thread::Builder::new().spawn(move || serve(client, &slot.0)).ok();
    }
}

/// One of the connections that may be open. Held by the thread that serves it.
struct Slot(Arc<Shared>);

impl Slot {
    fn take(shared: &Arc<Shared>) -> Slot {
        let open = lock(&shared.open);
        let is_full = |open: &mut usize| *open >= CONNECTIONS_MAX;
        let mut open = shared.closed.wait_while(open, is_full).unwrap_or_else(PoisonError::into_inner);
        *open += 1;
        Slot(shared.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *lock(&self.0.open) -= 1;
        self.0.closed.notify_one();
    }
}

/// Why a client is not served.
enum Unserved {
    /// It is answered in these words.
    Answered(&'static str, String),
    /// It went away, or never said what it wants.
    Silent,
}

impl From<io::Error> for Unserved {
    fn from(_: io::Error) -> Unserved {
        Unserved::Silent
    }
}

fn bad(why: &str) -> Unserved {
    Unserved::Answered("400 Bad Request", why.to_owned())
}

fn serve(mut client: TcpStream, shared: &Shared) {
    if let Err(Unserved::Answered(status, why)) = try_serve(&mut client, shared) {
        let length = why.len() + 1;
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
        );
        // Whoever does not listen misses nothing but this.
        client.write_all(answer.as_bytes()).ok();
        part(&client);
    }
}

fn try_serve(client: &mut TcpStream, shared: &Shared) -> Result<(), Unserved> {
    client.set_read_timeout(Some(HEAD_TIMEOUT))?;
    let (head, rest) = head(client)?;
    client.set_read_timeout(None)?;
    let request =
        Request::parse(&head).ok_or_else(|| bad("haft serves CONNECT and http:// requests only"))?;
    let mut server = shared.connect(&request.host, request.port)?;
    match request.body {
        None => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            server.write_all(&rest)?;
            tunnel(client, &server, u64::MAX)?;
        }
        Some(body) => {
            server.write_all(request.head.as_bytes())?;
            let sent = rest.len().min(usize::try_from(body).unwrap_or(usize::MAX));
            server.write_all(&rest[..sent])?;
            tunnel(client, &server, body - sent as u64)?;
        }
    }
    Ok(())
}

/// Reads up to the empty line; what was read beyond it is returned beside.
fn head(client: &mut TcpStream) -> Result<(String, Vec<u8>), Unserved> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = client.read(&mut buffer)?;
        if read == 0 {
            return Err(Unserved::Silent);
        }
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(from + end + 4);
            let head = String::from_utf8(bytes).map_err(|_| bad("the head of the request is not text"))?;
            return Ok((head, rest));
        }
        if bytes.len() > HEAD_BYTES_MAX {
            return Err(bad("the head of the request is too long"));
        }
    }
}

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// What the server is sent; nothing for a tunnel.
    head: String,
    /// How many bytes the client still sends; none is a tunnel.
    body: Option<u64>,
}

impl Request {
    fn parse(head: &str) -> Option<Request> {
        let mut lines = head.strip_suffix("\r\n\r\n")?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() || !matches!(version, "HTTP/1.0" | "HTTP/1.1") || method.is_empty() {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = authority(target, None)?;
            return Some(Request { host, port, head: String::new(), body: None });
        }
        let rest =
            target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).and(target.get(7..))?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (named, path) = rest.split_at(end);
        let (host, port) = authority(named, Some(80))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut sent = format!("{method} {slash}{path} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n");
        let (mut length, mut is_chunked) = (None, false);
        for line in lines {
            let (name, value) = line.split_once(':')?;
            // A folded or crooked line is read differently by different servers.
            if name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic()) {
                return None;
            }
            match name.to_ascii_lowercase().as_str() {
                "host" | "connection" | "keep-alive" | "upgrade" | "te" => continue,
                lower if lower.starts_with("proxy-") => continue,
                "content-length" => {
                    let value = value.trim();
                    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                    let given = is_number.then(|| value.parse::<u64>().ok()).flatten()?;
                    if length.replace(given).is_some() {
                        return None;
                    }
                }
                "transfer-encoding" => is_chunked = true,
                _ => {}
            }
            sent.push_str(line);
            sent.push_str("\r\n");
        }
        sent.push_str("\r\n");
        let body = match (length, is_chunked) {
            (Some(_), true) => return None,
            (None, true) => u64::MAX,
            (length, false) => length.unwrap_or(0),
        };
        Some(Request { host, port, head: sent, body: Some(body) })
    }
}

/// `host:port`, with brackets around an address that has colons itself.
fn authority(text: &str, otherwise: Option<u16>) -> Option<(String, u16)> {
    if text.contains('@') {
        return None;
    }
    let is_port = |(_, port): &(&str, &str)| !port.contains(']');
    let (host, port) = match text.rsplit_once(':').filter(is_port) {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (text, otherwise?),
    };
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    Some((bare.unwrap_or(host).to_owned(), port))
}

impl Shared {
    /// Connects to a host if that is granted.
    fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Unserved> {
        let asked = grant_for(host, port).map_err(|error| bad(&error.to_string()))?;
        let Some(grant) = self.grants.iter().find(|grant| grant.covers(host, port)) else {
            let mut refused = lock(&self.refused);
            if refused.len() < REFUSED_MAX {
                refused.insert(asked.to_string());
            }
            return Err(forbidden(format!("haft refuses {asked}: this host is not granted")));
        };
        let failed = |error: io::Error| {
            Unserved::Answered("502 Bad Gateway", format!("haft could not reach {asked}: {error}"))
        };
        let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(address) => vec![(address, port).into()],
            Err(_) => (host, port).to_socket_addrs().map_err(failed)?.collect(),
        };
        if let Some(address) = addresses.iter().find(|address| !grant.leads_to(address.ip())) {
            return Err(forbidden(format!(
                "haft refuses {asked}: it leads to {}, which is no public address and has to be granted literally",
                address.ip()
            )));
        }
        let mut last = io::Error::other("the name leads to no address");
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

fn forbidden(why: String) -> Unserved {
    Unserved::Answered("403 Forbidden", why)
}

/// Passes bytes both ways until both are done; `up` is how many the client may still send.
fn tunnel(client: &TcpStream, server: &TcpStream, up: u64) -> io::Result<()> {
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let sending = thread::Builder::new().spawn(move || {
        let sent = io::copy(&mut (&from).take(up), &mut &to);
        // The end of a request is no end of the connection; the end of the client is.
        if sent.is_ok_and(|sent| sent < up) {
            to.shutdown(Shutdown::Write).ok();
        }
    })?;
    io::copy(&mut &*server, &mut &*client).ok();
    if up == u64::MAX {
        client.shutdown(Shutdown::Write).ok();
    } else if sending.is_finished() {
        part(client);
    } else {
        // The server has answered without hearing all of it, so nobody needs the rest.
        client.shutdown(Shutdown::Both).ok();
    }
    sending.join().ok();
    Ok(())
}

/// Ends a conversation and lets the client finish its sentence: to close with something unread takes back the answer.
fn part(client: &TcpStream) {
    client.shutdown(Shutdown::Write).ok();
    client.set_read_timeout(Some(PARTING_TIMEOUT)).ok();
    io::copy(&mut client.take(PARTING_BYTES_MAX), &mut io::sink()).ok();
}

#[cfg(test)]
mod tests {
    use super::{Request, authority};

    fn parse(head: &str) -> Option<Request> {
        Request::parse(&head.replace('\n', "\r\n"))
    }

    #[test]
    fn a_request_goes_to_the_host_it_names_whatever_its_head_says() {
        let request =
            parse("GET http://a.com/x?y HTTP/1.1\nHost: evil.com\nProxy-Authorization: s\nX: y\n\n").unwrap();
        assert_eq!((request.host.as_str(), request.port, request.body), ("a.com", 80, Some(0)));
        assert_eq!(request.head, "GET /x?y HTTP/1.1\r\nHost: a.com\r\nConnection: close\r\nX: y\r\n\r\n");
        let request = parse("CONNECT a.com:443 HTTP/1.1\nHost: evil.com\n\n").unwrap();
        assert_eq!((request.host.as_str(), request.port, request.body), ("a.com", 443, None));
        let request = parse("POST HTTP://a.com:81?q HTTP/1.0\nContent-Length: 7\n\n").unwrap();
        assert_eq!((request.port, request.body), (81, Some(7)));
        assert!(request.head.starts_with("POST /?q HTTP/1.1\r\nHost: a.com:81\r\n"));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_served() {
        let heads = [
            "GET / HTTP/1.1\nHost: a.com\n\n",
            "GET https://a.com/ HTTP/1.1\n\n",
            "GET http://u:p@a.com/ HTTP/1.1\n\n",
            "GET http://a.com/ HTTP/1.1 x\n\n",
            "GET http://a.com/ HTTP/2\n\n",
            "CONNECT a.com HTTP/1.1\n\n",
            "POST http://a.com/ HTTP/1.1\nContent-Length: 1\nContent-Length: 2\n\n",
            "POST http://a.com/ HTTP/1.1\nContent-Length: +1\n\n",
            "POST http://a.com/ HTTP/1.1\nContent-Length: 1\nTransfer-Encoding: chunked\n\n",
            "GET http://a.com/ HTTP/1.1\n folded: x\n\n",
            "GET http://a.com/ HTTP/1.1\nno colon\n\n",
            "",
        ];
        for head in heads {
            assert_eq!(parse(head), None, "{head}");
        }
        assert_eq!(authority("[::1]:80", None), Some(("::1".to_owned(), 80)));
        assert_eq!(authority("[::1]", Some(80)), Some(("::1".to_owned(), 80)));
    }
}
