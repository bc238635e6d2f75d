//! The web as plugins reach it: by the same rules as the tool that fetches pages, whatever they send.

use std::time::Duration;

use haft::permission::{Ask, Question, Reach, Showing};
use haft::{ToolContext, ToolError};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::Hosting;
use crate::tools::webfetch::question as webfetch_question;
use crate::web::{Address, Consented, Outgoing, Request, private_question};

/// How long a request of a plugin may take.
const TIME: Duration = Duration::from_secs(120);
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
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it came from in the end.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The words for it.
    pub reason: &'static str,
    /// What was said besides.
    pub headers: Vec<(String, String)>,
    /// What it is.
    pub body: Vec<u8>,
    /// Whether it came from elsewhere than it was asked for.
    pub redirected: bool,
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
        let body = reply.whole(|_| {}).await?;
        Ok(Fetched { url, status, reason, headers, body, redirected })
    }
}

/// A request of a plugin.
struct Target {
    request: Request,
    spelled: String,
    private: Option<Question>,
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
        (request.time, request.bytes_max) = (TIME, BYTES_MAX);
        request.answers_redirects = !wanted.follows;
        if private.is_some() {
            request.consented = Consented::ThisEndpoint;
        }
        Ok(Target { request, spelled: wanted.url.clone(), private })
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
