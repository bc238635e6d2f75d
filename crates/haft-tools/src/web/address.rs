//! Addresses of the web, checked once: http or https, a host, and nobody's password.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Longer ones are refused before anything looks at them.
const ADDRESS_BYTES_MAX: usize = 8 << 10;

/// An address that can be requested. It is in normal form: a host has one spelling, whichever way it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

/// Why a text is no address that can be requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// It is of another kind, or has no kind at all.
    #[error("URL must start with http:// or https://")]
    Scheme,
    /// It carries a name or a password, which would be sent to a host that they may hide.
    #[error("URL must not hold a user name or password; leave out what stands before the @")]
    Credentials,
    /// It is too long.
    #[error("URL must not be longer than {ADDRESS_BYTES_MAX} bytes")]
    TooLong,
    /// It cannot be read.
    #[error("URL is not valid: {0}")]
    Invalid(String),
}

impl Address {
    /// Reads an address as people and pages write it.
    pub fn parse(text: &str) -> Result<Address, BadAddress> {
        let text = text.trim();
        if text.len() > ADDRESS_BYTES_MAX {
            return Err(BadAddress::TooLong);
        }
        let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
        if !lower.starts_with("http://") && !lower.starts_with("https://") {
            return Err(BadAddress::Scheme);
        }
        checked(Url::parse(text))
    }

    /// The address that a reference in this one's page stands for.
    pub fn join(&self, reference: &str) -> Result<Address, BadAddress> {
        if reference.len() > ADDRESS_BYTES_MAX {
            return Err(BadAddress::TooLong);
        }
        checked(self.0.join(reference.trim()))
    }

    /// The address in full.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// The address without what only a reader of the page needs.
    pub(crate) fn without_fragment(&self) -> Url {
        let mut url = self.0.clone();
        url.set_fragment(None);
        url
    }

    /// The address with every escape undone, as a server may read it: `%70` is a `p` to it, and `%2F` may be a slash.
    pub(crate) fn unescaped(&self) -> String {
        let (url, mut plain) = (self.without_fragment(), Vec::new());
        let mut rest = url.as_str().as_bytes();
        while let [first, after @ ..] = rest {
            let digits = after.first_chunk::<2>().filter(|_| *first == b'%');
            let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            let escaped =
                digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
            plain.push(escaped.unwrap_or(*first));
            rest = if escaped.is_some() { &after[2..] } else { after };
        }
        String::from_utf8_lossy(&plain).into_owned()
    }

    /// The scheme, host and port, and nothing that could be secret.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The host; addresses of the newer kind are in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, which is the scheme's own unless given.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// The host and port, as private ones are granted.
    pub fn endpoint(&self) -> String {
        format!("{}:{}", self.host(), self.port())
    }

    /// Where it leads without anybody being asked: the address it names, or this machine for its own names.
    pub(crate) fn literal(&self) -> Option<Vec<IpAddr>> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(vec![address.into()]),
            Host::Ipv6(address) => Some(vec![address.into()]),
            Host::Domain(_) => {
                let host = self.host();
                let is_local = host == "localhost" || host.ends_with(".localhost");
                is_local.then(|| vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An address as it may be shown: its origin and path. Passwords and what a query holds may be secret.
pub(crate) fn shown(text: &str) -> String {
    if let Ok(url) = Url::parse(text.trim())
        && url.origin().is_tuple()
    {
        return format!("{}{}", url.origin().ascii_serialization(), url.path());
    }
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = plain.split_once("://").unwrap_or(("", plain));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    match scheme {
        "" => rest.to_owned(),
        _ => format!("{scheme}://{rest}"),
    }
}

fn checked(parsed: Result<Url, url::ParseError>) -> Result<Address, BadAddress> {
    let mut url = parsed.map_err(|error| BadAddress::Invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadAddress::Scheme);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadAddress::Credentials);
    }
    // What is left of a host that was only a dot.
    if url.host_str().is_none_or(|host| host.trim_matches('.').is_empty()) {
        return Err(BadAddress::Invalid("it names no host".to_owned()));
    }
    if url.port() == Some(0) {
        return Err(BadAddress::Invalid("there is no port 0".to_owned()));
    }
    // A dot at the end names the same host, and rules are written without it.
    if let Some(bare) = url.host_str().filter(|host| host.ends_with('.')) {
        let bare = bare.trim_end_matches('.').to_owned();
        url.set_host(Some(&bare)).map_err(|error| BadAddress::Invalid(error.to_string()))?;
    }
    Ok(Address(url))
}

#[cfg(test)]
mod tests {
    use super::{Address, BadAddress, shown};

    #[test]
    fn a_host_has_one_spelling() {
        let rows = [
            ("http://2130706433/", "127.0.0.1:80"),
            ("http://0x7f000001:8080/", "127.0.0.1:8080"),
            ("http://0177.0.0.1/", "127.0.0.1:80"),
            ("http://127.1/", "127.0.0.1:80"),
            ("http://0/", "0.0.0.0:80"),
            ("http://127.0.0.1./", "127.0.0.1:80"),
            ("http://%31%32%37.0.0.1/", "127.0.0.1:80"),
            ("http://１２７.0.0.1/", "127.0.0.1:80"),
            ("http://①②⑦.0.0.1/", "127.0.0.1:80"),
            ("https://LocalHost./", "localhost:443"),
            ("http://[::ffff:7f00:1]/", "[::ffff:7f00:1]:80"),
            ("http://[0:0:0:0:0:0:0:1]:81/", "[::1]:81"),
            ("HTTPS://Example.COM/a", "example.com:443"),
        ];
        for (text, endpoint) in rows {
            assert_eq!(Address::parse(text).unwrap().endpoint(), endpoint, "{text}");
        }
        assert_eq!(Address::parse("https://Example.com./x").unwrap().as_str(), "https://example.com/x");
    }

    #[test]
    fn escapes_are_undone_once() {
        for (text, plain) in [
            ("http://a/%70rivate/x", "http://a/private/x"),
            ("http://a/b%2Fc%2fd?%71=%41#e", "http://a/b/c/d?q=A"),
            ("http://a/%2570", "http://a/%70"),
            ("http://a/%zz%+1%7%e2%82%ac%", "http://a/%zz%+1%7€%"),
        ] {
            assert_eq!(Address::parse(text).unwrap().unescaped(), plain);
        }
    }

    #[test]
    fn what_names_its_own_address_needs_no_lookup() {
        for text in
            ["http://127.0.0.1", "http://[::1]", "http://localhost", "http://a.b.LOCALHOST.", "http://1.1"]
        {
            assert!(Address::parse(text).unwrap().literal().is_some(), "{text}");
        }
        for text in ["http://example.com", "http://localhost.example.com", "http://127.0.0.1.example.com"] {
            assert_eq!(Address::parse(text).unwrap().literal(), None, "{text}");
        }
    }

    #[test]
    fn what_is_shown_holds_no_secret() {
        for (text, expected) in [
            ("https://me:secret@a.example/x?key=1#y", "https://a.example/x"),
            ("HTTP://A.example:81", "http://a.example:81/"),
            ("https://me:secret@a b/x?key=1", "https://a b/x"),
            ("other://me:secret@a/x#y", "other://a/x"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }

    #[test]
    fn what_cannot_be_requested_is_refused() {
        let rows = [
            ("file:///etc/passwd", BadAddress::Scheme),
            ("example.com/page", BadAddress::Scheme),
            ("javascript:1", BadAddress::Scheme),
            ("", BadAddress::Scheme),
            ("http://me:secret@example.com/", BadAddress::Credentials),
            ("http://example.com@127.0.0.1/", BadAddress::Credentials),
        ];
        for (text, expected) in rows {
            assert_eq!(Address::parse(text), Err(expected), "{text}");
        }
        for text in [
            "http://",
            "http://.",
            "http://[fe80::1%25eth0]/",
            "http://a b/",
            "http://a:0/",
            "http://a:70000/",
        ] {
            assert!(matches!(Address::parse(text), Err(BadAddress::Invalid(_))), "{text}");
        }
        let page = Address::parse("http://example.com/a/b").unwrap();
        assert_eq!(page.join("../c?d#e").unwrap().as_str(), "http://example.com/c?d#e");
        assert_eq!(page.join("file:///etc/passwd"), Err(BadAddress::Scheme));
    }
}
