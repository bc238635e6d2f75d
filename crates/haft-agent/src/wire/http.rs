//! Requests to providers: within time and size, with the key and without showing it.

mod sent;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Response, StatusCode, Url, redirect};
use serde_json::Value;

use super::carrier::{Arrival, Carrier, Dropped, Inbound, Outbound};
use super::document::{Document, Unread};
use super::fault::{Fault, Report, shown};
use crate::beside::beside;
use crate::provider::{Headers, ProviderError};

/// The most bytes of one answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// The most bytes that are read of an error.
const ERROR_BYTES_MAX: u64 = 64 << 10;
/// Shorter values of headers are no secrets, and hiding them would garble messages.
const SECRET_BYTES_MIN: usize = 8;
const CONNECT: Duration = Duration::from_secs(15);
/// How long nothing may come; models that think may be silent for minutes.
pub(crate) const IDLE: Duration = Duration::from_secs(300);

/// How long somebody who carries a request may take to begin with the answer.
const CARRIED: Duration = Duration::from_secs(600);

/// A way to one provider. Connections are kept for the next request.
pub(crate) struct Http {
    provider: String,
    headers: Vec<(String, String)>,
    idle: Duration,
    client: OnceLock<Result<Client, String>>,
    carrier: Option<Arc<dyn Carrier>>,
}

/// An answer that is arriving.
pub(crate) struct Body {
    arriving: Arriving,
    status: StatusCode,
    headers: HeaderMap,
    provider: String,
    secrets: Vec<String>,
    idle: Duration,
    read: u64,
}

impl Http {
    /// A way to a provider that sends these headers with every request.
    pub(crate) fn new(provider: &str, headers: Vec<(String, String)>, idle: Duration) -> Http {
        Http { provider: provider.to_owned(), headers, idle, client: OnceLock::new(), carrier: None }
    }

    /// The same with somebody who carries its requests.
    pub(crate) fn carried_by(self, carrier: Option<Arc<dyn Carrier>>) -> Http {
        Http { carrier, ..self }
    }

    /// What must not be shown: whatever is sent in headers.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.secrets_with(&Headers::default())
    }

    /// The same, with what is sent in a single request.
    pub(crate) fn secrets_with(&self, further: &Headers) -> Vec<String> {
        let values = self.headers.iter().chain(&further.0).map(|(_, value)| value.as_str());
        let bare = values.map(|value| value.strip_prefix("Bearer ").unwrap_or(value));
        bare.filter(|value| value.len() >= SECRET_BYTES_MIN).map(str::to_owned).collect()
    }

    /// Sends a document, with headers that win over those of every request.
    pub(crate) async fn post(
        &self,
        url: &str,
        json: Document,
        further: &Headers,
    ) -> Result<Body, ProviderError> {
        const HEADERS: [(&str, &str); 2] =
            [("content-type", "application/json"), ("accept", "text/event-stream, application/json")];
        self.send(Method::POST, url, &HEADERS, Some(json), further).await
    }

    /// Asks for a document.
    pub(crate) async fn get(&self, url: &str) -> Result<Value, ProviderError> {
        let accept = [("accept", "application/json")];
        let mut body = self.send(Method::GET, url, &accept, None, &Headers::default()).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = body.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|error| ProviderError::Malformed {
            provider: self.provider.clone(),
            message: format!("its list of models is not JSON: {error}"),
        })
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        own: &[(&'static str, &'static str)],
        body: Option<Document>,
        further: &Headers,
    ) -> Result<Body, ProviderError> {
        let url = self.url(url)?;
        let mut headers: HeaderMap = own
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        // What somebody set takes the place of what is usual.
        headers.extend(self.header_map(further)?);
        let (status, headers, arriving) = match &self.carrier {
            Some(carrier) => self.carried(&**carrier, &method, &url, &headers, body, further).await?,
            None => self.sent(method, url, headers, body, further).await?,
        };
        let body = Body {
            arriving,
            status,
            headers,
            provider: self.provider.clone(),
            secrets: self.secrets_with(further),
            idle: self.idle,
            read: 0,
        };
        match status.is_success() {
            true => Ok(body),
            false => Err(body.into_error().await),
        }
    }

    /// Has somebody else carry a request. They may wait for all of it before they hand over the beginning.
    async fn carried(
        &self,
        carrier: &dyn Carrier,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: Option<Document>,
        further: &Headers,
    ) -> Result<(StatusCode, HeaderMap, Arriving), ProviderError> {
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let outbound = Outbound {
            method: if *method == Method::GET { "GET" } else { "POST" },
            url: url.to_string(),
            headers: headers.iter().map(text).collect(),
            body: match body {
                Some(document) => {
                    Some(beside(move || document.text()).await.map_err(|error| ProviderError::lost(&error))?)
                }
                None => None,
            },
        };
        let patience = self.idle.max(CARRIED);
        let carried = tokio::time::timeout(patience, carrier.carry(outbound)).await;
        let late = || Dropped::Unreachable(format!("no answer in {} seconds", patience.as_secs()));
        let carried = carried.unwrap_or_else(|_| Err(late()));
        let Inbound { status, headers, body } = carried.map_err(|error| match error {
            Dropped::Unreachable(message) => self.unreachable(&message, further),
            Dropped::Failed(message) => ProviderError::Refused {
                provider: self.provider.clone(),
                message: shown(&message, &self.secrets_with(further)),
            },
        })?;
        let status = StatusCode::from_u16(status).map_err(|_| ProviderError::Malformed {
            provider: self.provider.clone(),
            message: format!("{status} is no status of HTTP"),
        })?;
        // What cannot be a header is none.
        let header = |(name, value): (String, String)| {
            Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(&value).ok()?))
        };
        Ok((status, headers.into_iter().filter_map(header).collect(), Arriving::Carried(body)))
    }

    fn unreachable(&self, message: &str, further: &Headers) -> ProviderError {
        ProviderError::Unreachable {
            provider: self.provider.clone(),
            message: shown(message, &self.secrets_with(further)),
        }
    }

    fn url(&self, url: &str) -> Result<Url, ProviderError> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        parsed.ok_or_else(|| ProviderError::Unreachable {
            provider: self.provider.clone(),
            message: "its base URL is no http or https address; set provider.<id>.options.baseURL".to_owned(),
        })
    }

    fn header_map(&self, further: &Headers) -> Result<HeaderMap, ProviderError> {
        let mut map = HeaderMap::new();
        for (name, value) in self.headers.iter().chain(&further.0) {
            let parsed = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
            let (name, mut value) = parsed.ok_or_else(|| ProviderError::Unauthorised {
                provider: self.provider.clone(),
                message: format!("the header {} holds what cannot be sent", haft::visible(name)),
            })?;
            value.set_sensitive(true);
            map.insert(name, value);
        }
        Ok(map)
    }

    fn client(&self, url: &Url) -> Result<&Client, ProviderError> {
        let client = self.client.get_or_init(|| build(url));
        client.as_ref().map_err(|message| ProviderError::Unreachable {
            provider: self.provider.clone(),
            message: message.clone(),
        })
    }
}

/// Whether a host is this machine, which no proxy should be asked for.
fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

fn build(url: &Url) -> Result<Client, String> {
    let built = builder(url).build();
    built.map_err(|error| format!("no connection can be made: {}", haft::causes(&error)))
}

fn builder(url: &Url) -> ClientBuilder {
    // Whoever was first has installed the same.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("haft/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // What streams must not wait until enough of it is there to be unpacked.
        .no_gzip()
        .no_deflate()
        // A redirect could carry the key to another host.
        .redirect(redirect::Policy::none())
        // It could repeat no request whose body is read while it is sent; `sent` repeats them all.
        .retry(reqwest::retry::never());
    let is_local = url.host_str().is_some_and(is_loopback);
    let builder = if is_local { builder.no_proxy() } else { builder };
    // Without encryption no certificates are needed, and a machine may have none.
    if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder }
}

/// Where the rest of an answer comes from.
enum Arriving {
    /// Also knows whether the request could be sent to its end.
    Streaming(Response, Unread),
    Carried(Box<dyn Arrival>),
}

impl Body {
    /// Whether a header says that what comes is one document and no stream.
    pub(crate) fn is_document(&self) -> bool {
        let kind = self.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        kind.is_some_and(|kind| kind.starts_with("application/json"))
    }

    /// The next bytes; none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ProviderError> {
        let cut = |message: String| Fault::Cut(message).told(&self.provider, &self.secrets);
        let chunk = match &mut self.arriving {
            Arriving::Carried(body) => match tokio::time::timeout(self.idle, body.next()).await {
                Ok(Ok(chunk)) => chunk,
                Ok(Err(error)) => return Err(cut(error.to_string())),
                Err(_) => return Err(cut(format!("nothing came for {} seconds", self.idle.as_secs()))),
            },
            Arriving::Streaming(response, unread) => {
                match tokio::time::timeout(self.idle, response.chunk()).await {
                    Ok(Ok(chunk)) => chunk.map(|chunk| chunk.to_vec()),
                    Ok(Err(error)) => {
                        return Err(unread.told().unwrap_or_else(|| cut(haft::causes(&error.without_url()))));
                    }
                    Err(_) => return Err(cut(format!("nothing came for {} seconds", self.idle.as_secs()))),
                }
            }
        };
        let Some(chunk) = chunk else { return Ok(None) };
        self.read += chunk.len() as u64;
        if self.read > ANSWER_BYTES_MAX {
            let message = format!("the answer is larger than {ANSWER_BYTES_MAX} bytes");
            return Err(Fault::Malformed(message).told(&self.provider, &self.secrets));
        }
        Ok(Some(chunk))
    }

    async fn into_error(mut self) -> ProviderError {
        let status = self.status;
        let retry_after = retry_after(&self.headers);
        let location = self.headers.get("location").and_then(|to| to.to_str().ok()).map(str::to_owned);
        let mut bytes = Vec::new();
        // The status says enough if the rest does not come.
        while let Ok(Some(chunk)) = self.chunk().await {
            bytes.extend_from_slice(&chunk);
            if self.read > ERROR_BYTES_MAX {
                break;
            }
        }
        if let Some(location) = location.filter(|_| status.is_redirection()) {
            let host = Url::parse(&location).ok().and_then(|url| url.host_str().map(str::to_owned));
            let host = host.unwrap_or_else(|| "another path".to_owned());
            let message =
                format!("it redirects to {host}, which is not followed; set baseURL to where it is");
            return ProviderError::Refused {
                provider: self.provider,
                message: shown(&message, &self.secrets),
            };
        }
        let mut report = match serde_json::from_slice::<Value>(&bytes) {
            Ok(json) => Report::of(&json),
            Err(_) => Report { message: page(&String::from_utf8_lossy(&bytes)), ..Report::default() },
        };
        if report.message.trim().is_empty() {
            report.message = status.canonical_reason().unwrap_or("no reason given").to_owned();
        }
        report.message = format!("{} ({})", report.message.trim(), status.as_u16());
        report.status = Some(status.as_u16());
        report.retry_after = retry_after;
        Fault::Reported(report).told(&self.provider, &self.secrets)
    }
}

/// A page of a proxy is no message.
fn page(text: &str) -> String {
    if text.trim_start().starts_with('<') { String::new() } else { text.to_owned() }
}

/// When to ask again: milliseconds, seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let millis = text("retry-after-ms").and_then(number).map(|ms| ms / 1000.0);
    if let Some(seconds) = millis.or_else(|| text("retry-after").and_then(number)) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text("retry-after")?.trim()).ok()?;
    let at = SystemTime::from(date.timestamp());
    Some(at.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &'static str, value: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_str(value).unwrap());
        retry_after(&headers)
    }

    #[test]
    fn when_to_ask_again_is_read_in_every_spelling() {
        assert_eq!(parsed("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(parsed("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(parsed("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(parsed("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let far = parsed("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT").unwrap();
        assert!(far > Duration::from_secs(365 * 24 * 3600));
        assert_eq!((parsed("retry-after", "soon"), parsed("retry-after", "-1")), (None, None));
        assert_eq!(parsed("retry-after", "1e300"), None);
    }

    #[test]
    fn this_machine_is_known_by_its_names() {
        assert!(["localhost", "127.0.0.1", "127.9.9.9", "[::1]"].into_iter().all(is_loopback));
        assert!(!["localhost.evil.example", "10.0.0.1", "example.org"].into_iter().any(is_loopback));
    }
}
