//! What is sent, within which limits, and who has to agree to what on the way.

use std::time::Duration;

use haft::permission::{Ask, Question};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{Address, WebError};

/// As many redirects are followed as browsers would find unusual.
const REDIRECTS_MAX: usize = 10;
const TIME: Duration = Duration::from_secs(30);
const BYTES_MAX: usize = 5 << 20;

/// A target that leads to a request. It is agreed to as a whole, and again for each address that it is sent on to.
pub trait Outgoing: Ask {
    /// What is sent. It is exactly what was agreed to.
    fn request(&self) -> &Request;

    /// What has to be agreed to before it is sent on to another address; `None` if it is not sent on there.
    fn onward(&self, to: &Address) -> Option<Question>;
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Something is asked for.
    Get,
    /// Something is told. It is never sent on to where an answer redirects.
    Post(Vec<u8>),
    /// Something else is done, by a name of HTTP's. It is never sent on, either.
    Other(reqwest::Method, Vec<u8>),
}

/// Whether a private address was agreed to along with the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consented {
    /// Only what everybody reaches: a private address is asked about.
    Public,
    /// This very host and port, private or not: the person configured it, or the target's own questions ask about it.
    ThisEndpoint,
}

/// A request with its limits.
#[derive(Debug, Clone)]
pub struct Request {
    /// Where it goes.
    pub address: Address,
    /// What is done.
    pub method: Method,
    /// What is told about it. Those marked as secret are not sent on to another origin.
    pub headers: HeaderMap,
    /// Whether a private address was agreed to.
    pub consented: Consented,
    /// How many redirects are followed.
    pub redirects_max: usize,
    /// Whether a redirect is itself the answer.
    pub answers_redirects: bool,
    /// How long everything may take, without the time that people take to answer questions.
    pub time: Duration,
    /// How many bytes an answer may have once it is unpacked.
    pub bytes_max: usize,
    /// Who to say is asking where a challenge for browsers comes back; it is then asked once more.
    pub honest_agent: Option<HeaderValue>,
}

impl Request {
    /// Asks for something.
    pub fn get(address: Address) -> Request {
        Request::new(address, Method::Get)
    }

    /// Tells something.
    pub fn post(address: Address, body: impl Into<Vec<u8>>) -> Request {
        Request::new(address, Method::Post(body.into()))
    }

    /// Does something by a name of HTTP's.
    pub fn other(address: Address, method: reqwest::Method, body: Vec<u8>) -> Request {
        Request::new(address, Method::Other(method, body))
    }

    fn new(address: Address, method: Method) -> Request {
        Request {
            address,
            method,
            headers: HeaderMap::new(),
            consented: Consented::Public,
            redirects_max: REDIRECTS_MAX,
            answers_redirects: false,
            time: TIME,
            bytes_max: BYTES_MAX,
            honest_agent: None,
        }
    }

    /// The name of what is done.
    pub fn method_name(&self) -> &str {
        match &self.method {
            Method::Get => "GET",
            Method::Post(_) => "POST",
            Method::Other(method, _) => method.as_str(),
        }
    }

    /// Adds a header.
    pub fn header(mut self, name: &'static str, value: &str) -> Result<Request, WebError> {
        self.headers.insert(HeaderName::from_static(name), header_value(name, value)?);
        Ok(self)
    }

    /// Adds a header that is never shown and never sent on to another origin.
    pub fn secret_header(mut self, name: &'static str, value: &str) -> Result<Request, WebError> {
        let mut value = header_value(name, value)?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(self)
    }
}

fn header_value(name: &'static str, value: &str) -> Result<HeaderValue, WebError> {
    HeaderValue::from_str(value).map_err(|_| WebError::Header(name))
}
