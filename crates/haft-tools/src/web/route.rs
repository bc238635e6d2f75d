//! Where a request really goes: the addresses behind a name, and who has to agree if they are not everybody's.

use std::net::{IpAddr, SocketAddr};

use haft::Action;
use haft::permission::{Ask, Question, Reach, Resource, Showing};
use haft_sandbox::is_public;
use url::Url;

use super::{Address, Consented};

/// What rules about private addresses are filed under. Their texts are hosts with ports, such as `127.0.0.1:3000`.
pub const PRIVATE_ADDRESS: &str = "private_address";

/// Domains of private networks, by RFC 6762 (with appendix G), RFC 8375 and ICANN's word on `internal`.
const PRIVATE_DOMAINS: [&str; 9] =
    ["corp", "home", "home.arpa", "internal", "intranet", "lan", "local", "localdomain", "private"];

/// How a host is reached.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// By a connection to one of these addresses and no other.
    Direct(Vec<SocketAddr>),
    /// By a proxy, which looks the name up itself.
    Proxy(Url),
}

/// One hop of a request.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) address: Address,
    pub(super) way: Way,
    question: Option<Question>,
    detail: String,
}

impl Route {
    /// A way to these addresses.
    pub(super) fn direct(address: Address, found: &[IpAddr], consented: Consented) -> Route {
        let question = match consented {
            Consented::ThisEndpoint => None,
            Consented::Public => question_about(&address, found),
        };
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        let detail = format!("{} leads to {}", address.host(), shown.join(", "));
        let port = address.port();
        let way = Way::Direct(found.iter().map(|ip| SocketAddr::new(*ip, port)).collect());
        Route { address, way, question, detail }
    }

    /// A way over a proxy to what everybody reaches, as far as can be known. What the name says is all that is known.
    pub(super) fn over(address: Address, proxy: Url, consented: Consented) -> Route {
        let is_asked = consented == Consented::Public && is_private_name(&address);
        let question = is_asked.then(|| question(&address.endpoint(), Resource::new(address.endpoint())));
        let detail = format!("only the proxy {} knows where {} leads", endpoint(&proxy), address.host());
        Route { address, way: Way::Proxy(proxy), question, detail }
    }
}

impl Ask for Route {
    fn questions(&self) -> Vec<Question> {
        self.question.iter().cloned().collect()
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing {
            title: format!("reach {}, which is not on the public network", self.address.endpoint()),
            detail: self.detail.clone(),
        }
    }
}

/// The question about an address that needs no lookup, if it is private.
pub fn private_question(address: &Address) -> Option<Question> {
    question_about(address, &address.literal()?)
}

/// Whether an address must be asked about.
pub(super) fn is_private(found: &[IpAddr]) -> bool {
    !found.iter().copied().all(is_public)
}

fn question_about(address: &Address, found: &[IpAddr]) -> Option<Question> {
    if !is_private(found) {
        return None;
    }
    let port = address.port();
    let spelled = |ip: &IpAddr| SocketAddr::new(*ip, port).to_string();
    // Where machines keep their own keys. A name that leads there is not allowed by its name, which may be anybody's.
    let secret = found.iter().find(|ip| is_of_the_machine_room(**ip));
    let endpoint = secret.map_or_else(|| address.endpoint(), spelled);
    let mut resource = Resource::new(endpoint.as_str()).or_forbidden_as(address.endpoint());
    for ip in found {
        resource = resource.or_forbidden_as(spelled(ip));
    }
    Some(question(&endpoint, resource))
}

fn question(endpoint: &str, resource: Resource) -> Question {
    Question::new(Action::new(PRIVATE_ADDRESS), resource).saving(endpoint)
}

/// The host and port of a proxy, without its password.
pub(super) fn endpoint(proxy: &Url) -> String {
    format!("{}:{}", proxy.host_str().unwrap_or_default(), proxy.port_or_known_default().unwrap_or_default())
}

/// Whether a name can only be one of a private network: it has one label, or its last ones are nobody's in public.
fn is_private_name(address: &Address) -> bool {
    let host = address.host();
    let is_below = |domain: &&str| host.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    address.literal().is_none() && (!host.contains('.') || PRIVATE_DOMAINS.iter().any(is_below))
}

/// Whether an address is link-local or one of the services by which clouds hand out keys.
fn is_of_the_machine_room(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_link_local() || ip.octets() == [100, 100, 100, 200] || ip.octets() == [192, 0, 0, 192]
        }
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_of_the_machine_room(ip.into()),
            None => ip.is_unicast_link_local() || ip.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
        },
    }
}

#[cfg(test)]
mod tests {
    use haft::permission::Ask as _;

    use super::{Address, Consented, Route, question_about};

    #[test]
    fn names_of_private_networks_are_asked_about_before_a_proxy_is() {
        let asked = |url: &str, consented| {
            let proxy = "http://name:password@proxy.example:3128".parse().unwrap();
            let route = Route::over(Address::parse(url).unwrap(), proxy, consented);
            assert!(route.show().detail.starts_with("only the proxy proxy.example:3128 knows"));
            route.questions().first().map(|question| question.resources[0].name().to_owned())
        };
        let rows = [
            ("http://metadata.google.internal/computeMetadata", Some("metadata.google.internal:80")),
            ("https://Printer.LOCAL./", Some("printer.local:443")),
            ("http://wiki:8080", Some("wiki:8080")),
            ("http://router.home.arpa", Some("router.home.arpa:80")),
            ("http://example.com", None),
            ("http://internal.example", None),
            ("http://notlocal.example", None),
            ("http://93.184.216.34", None),
            ("http://[2606:4700::1111]", None),
        ];
        for (url, expected) in rows {
            assert_eq!(asked(url, Consented::Public).as_deref(), expected, "{url}");
            assert_eq!(asked(url, Consented::ThisEndpoint), None, "{url}");
        }
    }

    /// What is asked about a host that leads to these addresses.
    fn asked(url: &str, found: &[&str]) -> Option<String> {
        let found: Vec<_> = found.iter().map(|ip| ip.parse().unwrap()).collect();
        let question = question_about(&Address::parse(url).unwrap(), &found)?;
        assert_eq!(question.save, [question.resources[0].name()]);
        Some(question.resources[0].name().to_owned())
    }

    #[test]
    fn a_private_address_is_asked_about_by_host_and_port() {
        let rows = [
            ("http://example.com", &["93.184.216.34"][..], None),
            ("http://example.com", &["93.184.216.34", "10.0.0.1"], Some("example.com:80")),
            ("https://dev.internal:8443", &["192.168.0.7"], Some("dev.internal:8443")),
            ("http://[::1]:3000", &["::1"], Some("[::1]:3000")),
            ("http://a.example", &["::ffff:10.0.0.1"], Some("a.example:80")),
            ("http://a.example", &["64:ff9b::7f00:1"], Some("a.example:80")),
            ("http://a.example", &["2002:a00:1::"], Some("a.example:80")),
            ("http://a.example", &["169.254.169.254"], Some("169.254.169.254:80")),
            ("http://a.example", &["fd00:ec2::254"], Some("[fd00:ec2::254]:80")),
            ("http://a.example", &["1.1.1.1", "100.100.100.200"], Some("100.100.100.200:80")),
        ];
        for (url, found, expected) in rows {
            assert_eq!(asked(url, found).as_deref(), expected, "{url} at {found:?}");
        }
    }
}
