//! Single hosts: what is granted is reached, everything else is refused and named.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Ran, World, is_ours, machine};
use haft_sandbox::{HostGrant, Level, Network, Profile, SandboxError};

/// A server on the host's loopback that answers each request in its own thread, and remembers the heads.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    met: Arc<AtomicUsize>,
}

impl Server {
    fn new(answer: impl Fn(&mut TcpStream) + Send + Sync + Clone + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heads, met) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (keeping, counting) = (heads.clone(), met.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, keeping, answer) = (stream.unwrap(), keeping.clone(), answer.clone());
                counting.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    let mut head = Vec::new();
                    let mut byte = [0];
                    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                        head.push(byte[0]);
                    }
                    keeping.lock().unwrap().push(String::from_utf8(head).unwrap());
                    answer(&mut stream);
                });
            }
        });
        Server { port, heads, met }
    }

    fn hello() -> Server {
        Server::new(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello").ok();
        })
    }
}

fn reaching(world: &World, hosts: &[String]) -> Profile {
    let grants = hosts.iter().map(|host| HostGrant::parse(host).unwrap()).collect();
    Profile { network: Network::Hosts(grants), ..world.profile() }
}

fn run(world: &mut World, hosts: &[String], script: &str) -> Ran {
    let profile = reaching(world, hosts);
    let suggested = profile.suggested_env(machine().level());
    world.env = suggested.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    world.run(&profile, script)
}

#[test]
fn a_granted_address_is_reached_and_no_other() {
    if !is_ours() {
        return;
    }
    let (granted, other) = (Server::hello(), Server::hello());
    let mut world = World::new();
    let grants = [format!("127.0.0.1:{}", granted.port)];
    let script = format!("curl -sS http://127.0.0.1:{}/x?y", granted.port);
    let ran = run(&mut world, &grants, &script);
    assert_eq!((ran.code, ran.output.as_str()), (Some(0), "hello"));
    assert!(ran.finished.refused.is_empty(), "{:?}", ran.finished);
    assert!(granted.heads.lock().unwrap()[0].starts_with("GET /x?y HTTP/1.1\r\nHost: 127.0.0.1:"));

    // As a tunnel, which programs use for TLS.
    let ran = run(&mut world, &grants, &format!("{script} -p"));
    assert_eq!((ran.code, ran.output.as_str()), (Some(0), "hello"));

    for option in ["", "-p"] {
        let ran = run(&mut world, &grants, &format!("curl -fsS {option} http://127.0.0.1:{}/", other.port));
        assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
        assert_eq!(ran.finished.refused, [format!("127.0.0.1:{}", other.port)]);
    }
    // Not through the proxy there is nothing at all.
    let ran = run(&mut world, &grants, &format!("curl -sS --noproxy '*' http://127.0.0.1:{}/", granted.port));
    assert_eq!(ran.code, Some(7), "{ran:?}");
    let outside =
        "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 443), 5)' 2>&1 | tail -1";
    assert!(run(&mut world, &grants, outside).output.contains("unreachable"));
    assert_eq!(other.met.load(Ordering::SeqCst), 0);
}

#[test]
fn a_name_that_leads_inside_is_refused_though_it_is_granted() {
    if !is_ours() {
        return;
    }
    let server = Server::hello();
    let mut world = World::new();
    // What a name server could answer for any name, this machine's own table answers for this one.
    let grants = [format!("localhost:{}", server.port)];
    let script = format!("curl -sS --noproxy '' http://localhost:{}/", server.port);
    let ran = run(&mut world, &grants, &script);
    assert!(ran.output.contains("no public address"), "{}", ran.output);
    let ran = run(&mut world, &grants, &format!("curl -sS --noproxy '' http://127.1:{}/", server.port));
    assert!(ran.output.contains("refuses"), "{}", ran.output);
    assert_eq!(server.met.load(Ordering::SeqCst), 0);
}

#[test]
fn a_granted_host_is_not_a_way_to_others_by_what_the_head_says() {
    if !is_ours() {
        return;
    }
    let server = Server::hello();
    let mut world = World::new();
    let grants = [format!("127.0.0.1:{}", server.port)];
    // Two requests at once, the second to somebody else: only the first goes anywhere.
    let request = |host: &str| format!("GET http://{host}/ HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n");
    let both = request(&grants[0]) + &request("evil.example");
    // In one piece: the shell would send line by line, and the answer to the first may end it before the second is out.
    let script = format!(
        "printf '{both}' > both; exec 3<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}; cat both >&3; cat <&3; exec 3>&-; echo; echo done"
    );
    let ran = run(&mut world, &grants, &script);
    assert!(ran.output.ends_with("hello\ndone\n"), "{ran:?}");
    let heads = server.heads.lock().unwrap();
    assert_eq!(heads.len(), 1);
    assert!(!heads[0].contains("evil"), "{heads:?}");
}

#[test]
fn clients_that_say_nothing_and_clients_that_talk_too_long_hold_nobody_up() {
    if !is_ours() {
        return;
    }
    let server = Server::hello();
    let mut world = World::new();
    let grants = [format!("127.0.0.1:{}", server.port)];
    let script = format!(
        "proxy=${{HTTP_PROXY##*:}}
        for n in $(seq 10 40); do eval \"exec $n<>/dev/tcp/127.0.0.1/$proxy\"; printf 'GET http://127' >&$n; done
        exec 5<>/dev/tcp/127.0.0.1/$proxy; head -c 200000 /dev/zero | tr '\\0' x >&5 2>/dev/null; cat <&5 | head -1
        curl -sS http://127.0.0.1:{}/",
        server.port
    );
    let ran = run(&mut world, &grants, &script);
    assert!(ran.output.contains("400 Bad Request"), "{}", ran.output);
    assert!(ran.output.ends_with("hello"), "{}", ran.output);
}

#[test]
fn a_huge_answer_goes_through_whole() {
    if !is_ours() {
        return;
    }
    const BYTES: usize = 300 << 20;
    let server = Server::new(|stream| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let block = vec![b'x'; 1 << 20];
        (0..BYTES >> 20).for_each(|_| stream.write_all(&block).unwrap());
    });
    let mut world = World::new();
    let grants = [format!("127.0.0.1:{}", server.port)];
    let script = format!("curl -sS http://127.0.0.1:{}/ | wc -c", server.port);
    let ran = run(&mut world, &grants, &script);
    assert_eq!(ran.output.trim(), BYTES.to_string());
}

#[test]
fn where_single_hosts_cannot_be_held_nothing_runs() {
    let world = World::new();
    let profile = Profile { network: Network::Hosts(Vec::new()), ..Profile::read_only() };
    let lesser = machine().clone().at_most(Level::LandlockOnly);
    let refused = world.try_run(&lesser, &profile, "echo ran", None);
    assert!(matches!(refused, Err(SandboxError::CannotEnforce { .. })), "{refused:?}");
}
