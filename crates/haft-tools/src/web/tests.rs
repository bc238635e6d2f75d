//! What the guarded client does with sites that behave and sites that do not.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Ask, Question, Reach, Resource};
use haft::{Action, ToolContext};

use super::testing::{Rebinding, Site, answer, begin, redirect};
use super::{Address, Consented, Outgoing, Proxies, Request, Web, WebError};
use crate::testing::{Bench, run};

/// Something that is sent, asked about by its address under the action `visit`.
struct Visit(Request);

fn visiting(address: &Address) -> Question {
    Question::new(Action::new("visit"), Resource::new(address.as_str()))
}

impl Ask for Visit {
    fn questions(&self) -> Vec<Question> {
        vec![visiting(&self.0.address)]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }
}

impl Outgoing for Visit {
    fn request(&self) -> &Request {
        &self.0
    }

    fn onward(&self, to: &Address) -> Option<Question> {
        Some(visiting(to))
    }
}

fn get(url: &str) -> Request {
    Request::get(Address::parse(url).unwrap())
}

/// Sends a request under these rules and reads the whole answer.
fn sent_by(web: &Web, rules: &[(&str, &str, &str)], request: Request) -> Result<String, WebError> {
    let bench = Bench::new().ruled(rules);
    let (gate, context): (_, ToolContext) = (bench.services.gate.clone(), bench.context());
    run(async {
        let permit = gate.grant(&context, Visit(request)).await?;
        let reply = web.exchange(permit, &gate, &context).await?;
        let status = reply.status();
        let bytes = reply.whole(|_| {}).await?;
        Ok(format!("{status} {}", String::from_utf8_lossy(&bytes)))
    })
}

fn sent(request: Request) -> Result<String, WebError> {
    sent_by(&Web::new(Proxies::default()), &[], request)
}

/// What was sent in vain, in the words for the model.
fn failed(request: Request) -> String {
    sent(request).unwrap_err().to_string()
}

const PRIVATE: &str = "private_address";

#[test]
fn an_answer_is_read_whole() {
    let site = Site::page("text/plain", "hello");
    assert_eq!(sent(get(&site.url("/a?b#c"))).unwrap(), "200 hello");
    assert_eq!(site.seen()[0].path, "/a?b");
    assert_eq!(site.seen()[0].header("accept-encoding"), Some("gzip,deflate"));
}

#[test]
fn a_private_address_needs_a_grant_for_exactly_that_host_and_port() {
    let site = Site::page("text/plain", "hello");
    let web = Web::new(Proxies::default());
    let port = site.port();
    let grant = format!("127.0.0.1:{port}");
    let rules = [(PRIVATE, "*", "deny"), (PRIVATE, grant.as_str(), "allow")];
    assert!(sent_by(&web, &rules, get(&site.url("/"))).is_ok());
    assert!(sent_by(&web, &rules, get(&format!("http://2130706433:{port}/"))).is_ok());
    let other = Site::page("text/plain", "hello");
    let others = [other.url("/"), format!("http://localhost:{port}/"), format!("http://127.0.0.2:{port}/")];
    for url in others {
        assert!(matches!(sent_by(&web, &rules, get(&url)), Err(WebError::Consent(_))), "{url}");
    }
    assert!(other.seen().is_empty());
    assert_eq!(site.seen().len(), 2);
}

#[test]
fn an_endpoint_that_was_configured_needs_no_further_grant() {
    let (site, other) = (Site::page("text/plain", "hello"), Site::page("text/plain", "no"));
    let elsewhere = other.url("/");
    let leading = Site::open(move |_, to| redirect(to, &elsewhere));
    let web = Web::new(Proxies::default());
    let rules = [(PRIVATE, "*", "deny")];
    let configured = |url: &str| Request { consented: Consented::ThisEndpoint, ..get(url) };
    assert!(sent_by(&web, &rules, configured(&site.url("/"))).is_ok());
    assert!(matches!(sent_by(&web, &rules, configured(&leading.url("/"))), Err(WebError::Consent(_))));
    assert!(other.seen().is_empty());
}

#[test]
fn a_name_is_connected_to_where_it_was_seen_to_lead() {
    let site = Site::page("text/plain", "hello");
    let url = format!("http://rebind.example:{}/", site.port());
    // It leads to the site when it is looked at, and would lead to nobody if it were looked at again.
    let web = Web::with_names(Rebinding::to(&["127.0.0.1", "192.0.2.1"]), Proxies::default());
    assert_eq!(sent_by(&web, &[], get(&url)).unwrap(), "200 hello");
    // It leads nowhere when it is looked at, and to the site if it were looked at again.
    let web = Web::with_names(Rebinding::to(&["240.0.0.1", "127.0.0.1"]), Proxies::default());
    let quick = Request { time: Duration::from_millis(300), ..get(&url) };
    assert!(sent_by(&web, &[], quick).is_err());
    assert_eq!(site.seen().len(), 1);
    // A grant for the address is none for the name, whoever owns it.
    let web = Web::with_names(Rebinding::to(&["127.0.0.1"]), Proxies::default());
    let grant = format!("127.0.0.1:{}", site.port());
    let rules = [(PRIVATE, "*", "deny"), (PRIVATE, grant.as_str(), "allow")];
    assert!(matches!(sent_by(&web, &rules, get(&url)), Err(WebError::Consent(_))));
    let own = format!("rebind.example:{}", site.port());
    assert!(sent_by(&web, &[(PRIVATE, "*", "deny"), (PRIVATE, &own, "allow")], get(&url)).is_ok());
}

#[test]
fn every_redirect_is_decided_about_again() {
    let last = Site::page("text/plain", "landed");
    let to = last.url("/end");
    let first = Site::open(move |seen, stream| match seen.path.as_str() {
        "/a" => redirect(stream, "b?x=1"),
        "/b?x=1" => redirect(stream, &to),
        "/file" => redirect(stream, "file:///etc/passwd"),
        "/loop" => redirect(stream, "/loop"),
        "/key" => redirect(stream, "http://me:pass@127.0.0.1/"),
        _ => answer(stream, "404 Not Found", &[], b""),
    });
    assert_eq!(sent(get(&first.url("/a"))).unwrap(), "200 landed");
    let web = Web::new(Proxies::default());
    let end = format!("*:{}/end", last.port());
    let denied = sent_by(&web, &[("visit", &end, "deny")], get(&first.url("/a")));
    assert!(matches!(denied, Err(WebError::Consent(_))));
    let port = format!("127.0.0.1:{}", last.port());
    assert!(matches!(
        sent_by(&web, &[(PRIVATE, &port, "deny")], get(&first.url("/a"))),
        Err(WebError::Consent(_))
    ));
    assert_eq!(last.seen().len(), 1);
    let host = format!("127.0.0.1:{}", first.port());
    assert_eq!(
        failed(get(&first.url("/file"))),
        format!("{host} redirects to what cannot be requested: URL must start with http:// or https://")
    );
    assert!(failed(get(&first.url("/key"))).contains("must not hold a user name"));
    assert_eq!(failed(get(&first.url("/loop"))), "too many redirects: gave up after 10");
    assert_eq!(sent(get(&first.url("/none"))).unwrap(), "404 ");
}

#[test]
fn secrets_stay_with_their_origin_and_what_is_told_is_not_sent_on() {
    let last = Site::page("text/plain", "landed");
    let to = last.url("/");
    let first = Site::open(move |_, stream| redirect(stream, &to));
    let with_key = get(&first.url("/")).secret_header("authorization", "Bearer k").unwrap();
    let with_key = with_key.header("accept", "text/plain").unwrap();
    sent(with_key).unwrap();
    assert_eq!(first.seen()[0].header("authorization"), Some("Bearer k"));
    assert_eq!(
        (last.seen()[0].header("authorization"), last.seen()[0].header("accept")),
        (None, Some("text/plain"))
    );
    let told = Request::post(Address::parse(&first.url("/?key=s3cret")).unwrap(), "{}");
    let message = failed(told);
    assert!(message.contains("which is not followed") && !message.contains("s3cret"), "{message}");
    assert_eq!((first.seen()[1].method.as_str(), first.seen()[1].body.as_slice()), ("POST", &b"{}"[..]));
    assert_eq!(last.seen().len(), 1);
}

#[test]
fn an_answer_ends_where_it_becomes_too_long() {
    let site = Site::open(|seen, to| match seen.path.as_str() {
        "/claimed" => begin(to, "200 OK", &[], Some("1001")),
        "/exact" => answer(to, "200 OK", &[], &[b'a'; 1000]),
        _ => {
            begin(to, "200 OK", &[], None)?;
            loop {
                to.write_all(&[b'a'; 4096])?;
            }
        }
    });
    let get = |path: &str| Request { bytes_max: 1000, ..get(&site.url(path)) };
    assert!(sent(get("/exact")).is_ok());
    for path in ["/claimed", "/endless"] {
        assert_eq!(failed(get(path)), "Response too large (exceeds 1000 byte limit)", "{path}");
    }
}

#[test]
fn what_does_not_come_in_time_is_given_up() {
    let site = Site::open(|seen, to| {
        if seen.path == "/drip" {
            begin(to, "200 OK", &[], Some("100000"))?;
        }
        loop {
            std::thread::sleep(Duration::from_millis(20));
            if seen.path == "/drip" {
                to.write_all(b"a")?;
            }
        }
    });
    for path in ["/silent", "/drip"] {
        let quick = Request { time: Duration::from_millis(200), ..get(&site.url(path)) };
        assert!(failed(quick).starts_with("Request timed out after 0.2 seconds"), "{path}");
    }
}

#[test]
fn broken_answers_are_named() {
    let site = Site::open(|seen, to| match seen.path.as_str() {
        "/short" => {
            begin(to, "200 OK", &[], Some("1000"))?;
            to.write_all(b"abc")
        }
        "/noise" => to.write_all(b"\x16\x03\x01 what is this\r\n\r\n"),
        "/gzip" => answer(to, "200 OK", &[("content-encoding", "gzip")], b"this is not packed"),
        "/odd" => answer(to, "200 OK", &[("content-encoding", "x-odd")], b"???"),
        "/headers" => {
            to.write_all(b"HTTP/1.1 200 OK\r\n")?;
            loop {
                to.write_all(b"x-more: and more\r\n")?;
            }
        }
        _ => Ok(()),
    });
    for path in ["/short", "/noise", "/gzip", "/odd", "/headers", "/nothing"] {
        let message = failed(get(&site.url(path)));
        assert!(message.contains("sent a broken answer"), "{path}: {message}");
    }
    let port = site.port();
    drop(site);
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let message = failed(get(&format!("http://127.0.0.1:{closed}/")));
    assert!(
        message.contains("could not connect to 127.0.0.1:") && message.contains("refused"),
        "{port}: {message}"
    );
    let message = failed(get("http://nowhere.invalid/"));
    assert!(message.starts_with("could not resolve nowhere.invalid"), "{message}");
}

#[test]
fn a_proxy_is_asked_for_the_public_and_not_for_what_is_private() {
    let proxy = Site::page("text/plain", "by proxy");
    let local = Site::page("text/plain", "straight");
    let variable = proxy.url("");
    let read = |name: &str| (name == "http_proxy").then(|| variable.clone());
    let web = Web::with_names(Rebinding::to(&["93.184.216.34"]), Proxies::from_env(read));
    assert_eq!(sent_by(&web, &[], get("http://example.com/page")).unwrap(), "200 by proxy");
    assert_eq!(proxy.seen()[0].path, "http://example.com/page");
    assert_eq!(sent_by(&web, &[], get(&local.url("/"))).unwrap(), "200 straight");
    // A name that cannot be looked up here is the proxy's affair.
    let web = Web::new(Proxies::from_env(read));
    assert_eq!(sent_by(&web, &[], get("http://nowhere.invalid/")).unwrap(), "200 by proxy");
    // A name that leads to this machine is not.
    let web = Web::with_names(Rebinding::to(&["127.0.0.1"]), Proxies::from_env(read));
    let rules = [(PRIVATE, "*", "deny")];
    assert!(matches!(sent_by(&web, &rules, get("http://rebind.example/")), Err(WebError::Consent(_))));
}

#[test]
fn a_proxy_is_not_asked_for_names_of_private_networks_without_consent() {
    let proxy = Site::page("text/plain", "by proxy");
    let web = Web::new(Proxies::from_env(|name| (name == "http_proxy").then(|| proxy.url(""))));
    let url = "http://metadata.google.internal/";
    let rules = [(PRIVATE, "*", "deny")];
    assert!(matches!(sent_by(&web, &rules, get(url)), Err(WebError::Consent(_))));
    assert!(proxy.seen().is_empty());
    let rules = [(PRIVATE, "metadata.google.internal:80", "allow")];
    assert_eq!(sent_by(&web, &rules, get(url)).unwrap(), "200 by proxy");
}

#[test]
fn a_proxy_that_cannot_be_reached_is_named_without_its_password() {
    // Nobody listens there any more.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let variable = format!("http://name:secret@127.0.0.1:{port}");
    let web = Web::new(Proxies::from_env(|name| name.ends_with("_proxy").then(|| variable.clone())));
    for (url, host) in [
        ("http://example.invalid/", "example.invalid:80"),
        ("https://example.invalid/", "example.invalid:443"),
    ] {
        let message = sent_by(&web, &[], get(url)).unwrap_err().to_string();
        let expected = format!("could not connect to {host} over the proxy 127.0.0.1:{port}: ");
        assert!(message.starts_with(&expected) && !message.contains("secret"), "{message}");
    }
}

/// A site with a certificate that nobody has signed but itself; the port it listens on.
fn self_signed_site() -> u16 {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from_slice(include_bytes!("testing/self-signed.der"));
    let key = PrivateKeyDer::try_from(&include_bytes!("testing/self-signed.key.der")[..]).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(config).unwrap();
        // The client does not like what it is shown, and hangs up.
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
    });
    port
}

#[test]
fn what_is_wrong_with_a_secure_connection_is_named() {
    let message = failed(get(&format!("https://127.0.0.1:{}/", self_signed_site())));
    assert!(message.starts_with("TLS error: the connection to 127.0.0.1:"), "{message}");
    assert!(message.contains("issued by nobody this machine trusts"), "{message}");
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    std::thread::spawn(move || plain.accept().unwrap().0.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let message = failed(get(&format!("https://127.0.0.1:{port}/")));
    assert!(message.contains("it does not speak TLS; use http:// if that is meant"), "{message}");
}
