//! Hosts that a command may reach, and which addresses a name may stand for.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The ports that are meant where none is named.
const USUAL_PORTS: [u16; 2] = [443, 80];

/// A host that may be reached: `crates.io`, `*.example.com`, `example.com:8443`, `127.0.0.1:8000`, `[::1]:8000`.
/// Without a port, 443 and 80 are meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostGrant {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Host {
    /// This name.
    Name(String),
    /// Every name below this one, but not itself.
    Below(String),
    /// This very address.
    Address(IpAddr),
}

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no host; name one as example.com, *.example.com, example.com:8443 or 127.0.0.1:8000")]
pub struct NoHost(pub String);

impl HostGrant {
    /// Reads a host as people write it.
    ///
    /// # Errors
    /// Where it is none: an address with a scheme or a path, or a star anywhere but before the first dot.
    pub fn parse(text: &str) -> Result<HostGrant, NoHost> {
        let none = || NoHost(text.to_owned());
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(HostGrant { host: Host::Address(address), port: None });
        }
        let is_port = |(_, port): &(&str, &str)| !port.contains(']');
        let (host, port) = match text.rsplit_once(':').filter(is_port) {
            Some((host, port)) => {
                let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(none)?;
                (host, Some(port))
            }
            None => (text, None),
        };
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match (bare, host.parse::<Ipv4Addr>()) {
            (Some(bare), _) => Host::Address(IpAddr::V6(bare.parse().map_err(|_| none())?)),
            (None, Ok(address)) => Host::Address(IpAddr::V4(address)),
            (None, Err(_)) => match host.strip_prefix("*.") {
                Some(below) => Host::Below(name(below).filter(|name| name.contains('.')).ok_or_else(none)?),
                None => Host::Name(name(host).ok_or_else(none)?),
            },
        };
        Ok(HostGrant { host, port })
    }

    /// The same with its usual ports, if it names another one.
    pub fn without_port(&self) -> HostGrant {
        HostGrant { host: self.host.clone(), port: None }
    }

    /// Whether it stands for many hosts.
    pub fn is_wildcard(&self) -> bool {
        matches!(self.host, Host::Below(_))
    }

    /// Whether it names this very address.
    pub fn is_address(&self, address: IpAddr) -> bool {
        self.host == Host::Address(address)
    }

    /// Whether a host by this name, and this port of it, may be reached. Which addresses the name may lead to,
    /// [`leads_to`](HostGrant::leads_to) says.
    pub(crate) fn covers(&self, host: &str, port: u16) -> bool {
        let is_port = match self.port {
            Some(granted) => granted == port,
            None => USUAL_PORTS.contains(&port),
        };
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        is_port
            && match &self.host {
                Host::Name(name) => *name == host,
                Host::Below(above) => host.strip_suffix(above).is_some_and(|rest| rest.ends_with('.')),
                Host::Address(address) => address_of(&host) == Some(*address),
            }
    }

    /// Whether a connection may be made to this address: one that is literally granted, or one that anybody can reach.
    pub(crate) fn leads_to(&self, address: IpAddr) -> bool {
        match self.host {
            Host::Address(granted) => granted == address,
            Host::Name(_) | Host::Below(_) => is_public(address),
        }
    }
}

impl fmt::Display for HostGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Name(name) => f.write_str(name)?,
            Host::Below(name) => write!(f, "*.{name}")?,
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            Host::Address(IpAddr::V4(address)) => write!(f, "{address}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// The grant that would cover exactly this host and port.
pub(crate) fn grant_for(host: &str, port: u16) -> Result<HostGrant, NoHost> {
    let bracketed = host.parse::<Ipv6Addr>().map(|address| format!("[{address}]"));
    let host = bracketed.unwrap_or_else(|_| host.to_owned());
    let is_usual = USUAL_PORTS.contains(&port);
    HostGrant::parse(&if is_usual { host } else { format!("{host}:{port}") })
}

/// A name in lower case, if it is one: letters, digits, hyphens and underscores in parts.
fn name(text: &str) -> Option<String> {
    const NAME_BYTES_MAX: usize = 253;
    let text = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    (text.len() <= NAME_BYTES_MAX && text.split('.').all(is_part)).then_some(text)
}

fn address_of(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// Whether an address is one that everybody reaches alike: none of this machine, of a private network, or of a cloud's
/// own services.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224..=255, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        // An address of the older kind in this one's clothes: mapped, translated, or tunnelled.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            is_public_v4(v4(high, low))
        }
        [0x2002, high, low, ..] => is_public_v4(v4(high, low)),
        // Protocol assignments with Teredo, and documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::{HostGrant, grant_for, is_public};

    fn grant(text: &str) -> HostGrant {
        HostGrant::parse(text).unwrap()
    }

    #[test]
    fn a_grant_covers_exactly_what_it_names() {
        let rows = [
            ("crates.io", "crates.io", 443, true),
            ("crates.io", "CRATES.io.", 80, true),
            ("crates.io", "crates.io", 22, false),
            ("crates.io", "static.crates.io", 443, false),
            ("crates.io", "notcrates.io", 443, false),
            ("crates.io:8443", "crates.io", 8443, true),
            ("crates.io:8443", "crates.io", 443, false),
            ("*.example.com", "a.example.com", 443, true),
            ("*.example.com", "a.b.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("*.example.com", "badexample.com", 443, false),
            ("127.0.0.1:8000", "127.0.0.1", 8000, true),
            ("127.0.0.1:8000", "localhost", 8000, false),
            ("127.0.0.1:8000", "127.0.0.2", 8000, false),
            ("[::1]:8000", "[::1]", 8000, true),
            ("::1", "::1", 80, true),
        ];
        for (text, host, port, expected) in rows {
            assert_eq!(grant(text).covers(host, port), expected, "{text} for {host}:{port}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in
            ["", "*", "*.com", "*.", "a.*.com", "https://a.com", "a.com/x", "a b", "a..b", "a:0", "a:x"]
        {
            assert!(HostGrant::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_grant_reads_as_it_is_written() {
        for text in ["crates.io", "*.example.com", "a.b:8443", "127.0.0.1:8000", "[::1]:8000"] {
            assert_eq!(grant(text).to_string(), text);
        }
        assert_eq!(grant_for("A.b", 443).unwrap(), grant("a.b"));
        assert_eq!(grant_for("::1", 8000).unwrap(), grant("[::1]:8000"));
    }

    #[test]
    fn a_name_leads_only_to_addresses_that_everybody_reaches() {
        let no = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "::127.0.0.1",
            "fd00:ec2::254",
            "64:ff9b:1::1",
        ];
        for text in no {
            let address = text.parse().unwrap();
            assert!(!is_public(address), "{text}");
            assert!(!grant("example.com").leads_to(address), "{text}");
            assert!(grant(&grant_for(text, 80).unwrap().to_string()).leads_to(address), "{text}");
        }
        for text in
            ["1.1.1.1", "93.184.216.34", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
