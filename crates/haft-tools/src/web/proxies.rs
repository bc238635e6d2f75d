//! The proxies that the environment names, by the rules that most programs follow.

use std::net::IpAddr;

use url::Url;

use super::Address;

/// Which requests go over which proxy.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    except: Vec<String>,
}

impl Proxies {
    /// Reads `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in small letters before capitals. A value that
    /// names no proxy counts as none.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Proxies {
        let read = |name: &str| {
            let text = variable(name).or_else(|| variable(&name.to_ascii_uppercase()))?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        let proxy = |name: &str| {
            let text = read(name).or_else(|| read("all_proxy"))?;
            let text = if text.contains("://") { text } else { format!("http://{text}") };
            Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        let except = read("no_proxy").unwrap_or_default();
        Proxies {
            http: proxy("http_proxy"),
            https: proxy("https_proxy"),
            except: except
                .split([',', ' '])
                .map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_ascii_lowercase)
                .collect(),
        }
    }

    /// The proxy for an address, if there is one.
    pub(super) fn proxy_for(&self, address: &Address) -> Option<&Url> {
        let proxy = if address.url().scheme() == "https" { self.https.as_ref() } else { self.http.as_ref() };
        proxy.filter(|_| !self.except.iter().any(|except| is_excepted(address, except)))
    }
}

fn is_excepted(address: &Address, except: &str) -> bool {
    let host = address.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if except == "*" {
        return true;
    }
    if let Some((network, bits)) = except.split_once('/') {
        return is_in_network(bare, network, bits);
    }
    let (except, port) = match except.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') => (name, Some(port)),
        _ => (except, None),
    };
    if port.is_some_and(|port| port.parse() != Ok(address.port())) {
        return false;
    }
    let name = except.trim_start_matches("*.").trim_start_matches('.');
    if let Ok(ip) = name.parse::<IpAddr>() {
        return bare.parse() == Ok(ip);
    }
    bare == name || bare.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
}

fn is_in_network(host: &str, network: &str, bits: &str) -> bool {
    let masked = |whole: u128, width: u32, bits: u32| if bits == 0 { 0 } else { whole >> (width - bits) };
    match (host.parse(), network.parse(), bits.parse::<u32>()) {
        (Ok(IpAddr::V4(host)), Ok(IpAddr::V4(network)), Ok(bits @ 0..=32)) => {
            let [host, network] = [host, network].map(|ip| masked(u32::from(ip).into(), 32, bits));
            host == network
        }
        (Ok(IpAddr::V6(host)), Ok(IpAddr::V6(network)), Ok(bits @ 0..=128)) => {
            let [host, network] = [host, network].map(|ip| masked(ip.into(), 128, bits));
            host == network
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Proxies};

    fn proxies(rows: &[(&str, &str)]) -> Proxies {
        Proxies::from_env(|name| {
            rows.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn proxy(proxies: &Proxies, url: &str) -> Option<String> {
        proxies.proxy_for(&Address::parse(url).unwrap()).map(ToString::to_string)
    }

    #[test]
    fn each_scheme_has_its_proxy() {
        let both = proxies(&[("http_proxy", "one:8080"), ("HTTPS_PROXY", "http://two:3128")]);
        assert_eq!(proxy(&both, "http://a.example").as_deref(), Some("http://one:8080/"));
        assert_eq!(proxy(&both, "https://a.example").as_deref(), Some("http://two:3128/"));
        let all = proxies(&[("all_proxy", "http://three:1")]);
        assert_eq!(proxy(&all, "https://a.example").as_deref(), Some("http://three:1/"));
        assert_eq!(proxy(&proxies(&[("http_proxy", "socks5://x:1")]), "http://a.example"), None);
        assert_eq!(proxy(&proxies(&[]), "http://a.example"), None);
    }

    #[test]
    fn what_is_excepted_goes_straight() {
        let list = "localhost, .corp.example,*.dev.example 10.0.0.0/8,192.168.1.1,fd00::/8,odd.example:8080";
        let some = proxies(&[("http_proxy", "p:1"), ("no_proxy", list)]);
        let straight = [
            "http://localhost",
            "http://corp.example",
            "http://a.b.corp.example",
            "http://x.dev.example",
            "http://10.9.8.7",
            "http://192.168.1.1",
            "http://[fd00::1]",
            "http://odd.example:8080",
        ];
        for url in straight {
            assert_eq!(proxy(&some, url), None, "{url}");
        }
        for url in ["http://notcorp.example", "http://11.0.0.1", "http://192.168.1.10", "http://odd.example"]
        {
            assert!(proxy(&some, url).is_some(), "{url}");
        }
        assert_eq!(proxy(&proxies(&[("http_proxy", "p:1"), ("NO_PROXY", "*")]), "http://a.example"), None);
    }
}
