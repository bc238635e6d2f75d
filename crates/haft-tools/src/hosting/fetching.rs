//! The web as plugins reach it: by the same rules as the tool that fetches pages, whatever they send.

use std::time::Duration;

use haft::permission::{Ask, Question, Reach, Showing};
use haft::{ToolContext, ToolError};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::Hosting;
use crate::tools::webfetch::question as webfetch_question;
use crate::web::{Address, Consented, Outgoing, Reply, Request, private_question};

/// How long a request of a plugin may take.
const TIME: Duration = Duration::from_secs(120);
/// How long one may take with which it asks a model, which thinks and speaks for minutes.
const TIME_CARRIED: Duration = Duration::from_secs(3600);
/// How much may come back.
const BYTES_MAX: usize = 32 << 20;
/// Headers that say something about the connection, which is ours.
const OURS: &[&str] =
    &["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "upgrade"];
/// Headers that are not sent on to another origin.
const SECRET: &[&str] = &["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// What a plugin wants of the web.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetching {
    /// Where.
    pub url: String,
    /// How, by a name of HTTP's.
    pub method: String,
    /// What is said besides.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Vec<u8>,
    /// Whether a redirect is followed, or is itself the answer.
    pub follows: bool,
    /// The address of a request that haft has the plugin carry meanwhile. Haft itself would have gone there, so nobody
    /// is asked about that very origin.
    pub carries: Option<String>,
}

/// What came back.
#[derive(Debug)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The words for it.
    pub reason: &'static str,
    /// What was said besides.
    pub headers: Vec<(String, String)>,
    /// Whether it came from elsewhere than it was asked for.
    pub redirected: bool,
    /// The rest of it.
    pub arriving: Arriving,
}

/// What is yet to come.
#[derive(Debug)]
pub struct Arriving(Reply);

impl Arriving {
    /// The next bytes; none at the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ToolError> {
        Ok(self.0.chunk().await?)
    }

    /// All of it.
    pub async fn whole(self) -> Result<Vec<u8>, ToolError> {
        Ok(self.0.whole(|_| {}).await?)
    }
}

impl Hosting {
    /// Fetches something for a plugin.
    pub async fn fetch(&self, wanted: &Fetching, context: &ToolContext) -> Result<Fetched, ToolError> {
        let target = Target::new(wanted)?;
        let asked_for = target.request.address.without_fragment().to_string();
        let permit = self.gate.grant(context, target).await?;
        let reply = self.web.exchange(permit, &self.gate, context).await?;
        let headers = reply.headers().iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let (headers, url) = (headers.collect(), reply.address().to_string());
        let (status, reason) = (reply.status(), reply.reason());
        let redirected = reply.address().without_fragment().as_str() != asked_for;
        Ok(Fetched { url, status, reason, headers, redirected, arriving: Arriving(reply) })
    }
}

impl Hosting {
    /// Has somebody agree to an address that a plugin has haft itself send requests to. Private ones are asked about;
    /// to others nothing is sent that everybody on the way could read or answer.
    pub async fn agree(&self, url: &str, context: &ToolContext) -> Result<(), ToolError> {
        let address = Address::parse(url).map_err(|error| ToolError::failure(error.to_string()))?;
        let Some(question) = private_question(&address) else {
            return match address.as_str().starts_with("https:") {
                true => Ok(()),
                false => Err(ToolError::failure("the address is not encrypted: use https")),
            };
        };
        let _agreed = self.gate.grant(context, Destination { address, question }).await?;
        Ok(())
    }
}

/// A private address that requests are to be sent to.
struct Destination {
    address: Address,
    question: Question,
}

impl Ask for Destination {
    fn questions(&self) -> Vec<Question> {
        vec![self.question.clone()]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title = format!("a plugin has requests to its models sent to {}", self.address.origin());
        Showing { title: haft::visible(&title), detail: String::new() }
    }
}

/// A request of a plugin.
struct Target {
    request: Request,
    spelled: String,
    private: Option<Question>,
    is_agreed: bool,
}

impl Target {
    fn new(wanted: &Fetching) -> Result<Target, ToolError> {
        let address = Address::parse(&wanted.url).map_err(|error| ToolError::failure(error.to_string()))?;
        let method = Method::from_bytes(wanted.method.to_ascii_uppercase().as_bytes())
            .map_err(|_| ToolError::Failure(format!("{:?} is no method of HTTP", wanted.method)))?;
        let private = private_question(&address);
        let mut request = match method == Method::GET {
            true => Request::get(address),
            false => Request::other(address, method, wanted.body.clone()),
        };
        request.headers = headers(&wanted.headers)?;
        let time = if wanted.carries.is_some() { TIME_CARRIED } else { TIME };
        (request.time, request.bytes_max) = (time, BYTES_MAX);
        request.answers_redirects = !wanted.follows;
        if wanted.carries.is_some() {
            // What a model says must not wait until enough of it is there to be unpacked.
            request.headers.insert(reqwest::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let carried = wanted.carries.as_deref().and_then(|carried| Address::parse(carried).ok());
        let is_agreed = carried.is_some_and(|carried| carried.origin() == request.address.origin());
        if private.is_some() || is_agreed {
            request.consented = Consented::ThisEndpoint;
        }
        Ok(Target { request, spelled: wanted.url.clone(), private, is_agreed })
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let wrong =
            |what: &str| ToolError::Failure(format!("the header {name:?} has a {what} that cannot be sent"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
        if OURS.contains(&name.as_str()) {
            continue;
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong("value"))?;
        value.set_sensitive(SECRET.contains(&name.as_str()));
        headers.append(name, value);
    }
    let agent = concat!("haft/", env!("CARGO_PKG_VERSION"));
    headers.entry(reqwest::header::USER_AGENT).or_insert(HeaderValue::from_static(agent));
    Ok(headers)
}

impl Ask for Target {
    fn questions(&self) -> Vec<Question> {
        if self.is_agreed {
            return Vec::new();
        }
        let mut question = webfetch_question(&self.request.address);
        question.resources =
            question.resources.into_iter().map(|one| one.or_forbidden_as(&self.spelled)).collect();
        std::iter::once(question).chain(self.private.clone()).collect()
    }

    fn reach(&self) -> Reach {
        // The call that the plugin works for is on record already.
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title = format!("{} {} for a plugin", self.request.method_name(), self.request.address);
        Showing { title: haft::visible(&title), detail: String::new() }
    }
}

impl Outgoing for Target {
    fn request(&self) -> &Request {
        &self.request
    }

    fn onward(&self, to: &Address) -> Option<Question> {
        Some(webfetch_question(to))
    }
}
