//! Sites whose certificates are wrong, each in its own way: what is wrong is named, and nothing is fetched.
//!
//! `certificates/` holds an issuer and what it issued for `localhost` (and `elsewhere.test`), all with the one key that
//! is there. They were made with `openssl ca`, whose `-startdate` and `-enddate` fix their times: most are valid from
//! 2020 to 2120, `expired` ended with 2020 and `early` begins in 2119. The issuer's key was thrown away.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::support::{Place, Ran, ran};

const GOOD: &[u8] = include_bytes!("certificates/good.der");

/// Opens a site that shows a certificate to one visitor, and a page if it likes what it sees. Returns its address.
fn site(certificate: &'static [u8]) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(&include_bytes!("certificates/host.key.der")[..]).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from_slice(certificate)], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, stream);
        // Whoever does not like what it is shown hangs up.
        if stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 7\r\nconnection: close";
            let _gone = write!(stream, "{head}\r\n\r\nwelcome").and_then(|()| stream.flush());
        }
    });
    format!("https://localhost:{port}/")
}

/// Fetches an address on a machine that trusts the issuer, or nobody in particular.
fn fetched(url: &str, trusts_issuer: bool) -> Ran {
    let place = Place::new();
    let issuer = place.outside().join("issuer.pem");
    std::fs::write(&issuer, include_bytes!("certificates/issuer.pem")).unwrap();
    let url = format!("url={url}");
    let mut command = place.command(&["call", "webfetch", &url, "format=text", "--yes"]);
    if trusts_issuer {
        command.env("SSL_CERT_FILE", issuer);
    }
    ran(command.output().unwrap())
}

#[test]
fn what_is_wrong_with_a_certificate_is_named() {
    let welcome = fetched(&site(GOOD), true);
    assert_eq!((welcome.code, welcome.out.trim()), (0, "welcome"), "{}", welcome.err);
    let rows: [(&[u8], bool, &str); 4] = [
        (include_bytes!("certificates/expired.der"), true, "its certificate has expired"),
        (include_bytes!("certificates/early.der"), true, "its certificate is not valid yet"),
        (include_bytes!("certificates/elsewhere.der"), true, "its certificate is for another host"),
        (GOOD, false, "its certificate was issued by nobody this machine trusts"),
    ];
    for (certificate, trusts_issuer, reason) in rows {
        let ran = fetched(&site(certificate), trusts_issuer);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{reason}: {}", ran.err);
        assert!(ran.err.contains("TLS error: the connection to localhost:"), "{}", ran.err);
        assert!(ran.err.contains(&format!("is not secure: {reason}")), "{}", ran.err);
    }
}
