//! A question to a service: agreed to, sent, and read within its limits.

use std::time::Duration;

use haft::permission::{Ask, Gate, Question, Reach, Resource, Showing};
use haft::{Action, ToolContext, ToolError, visible};
use serde_json::Value;

use super::protocol::{Answer, Reading, call};
use super::{Provider, Service};
use crate::web::{Address, Consented, Outgoing, Reply, Request, Web, WebError};

/// An answer that is larger is nobody's result.
const ANSWER_BYTES_MAX: usize = 256 << 10;
/// So much is shown of what a service says when it fails.
const PROBLEM_CHARS_MAX: usize = 1000;
const AGENT: &str = concat!("haft/", env!("CARGO_PKG_VERSION"));
/// No key is shorter.
const KEY_BYTES_MIN: usize = 4;
/// What stands where a service repeated its key.
const TAKEN_OUT: &str = "[redacted]";

/// What a service is asked for, which decides about its limits and words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Pages.
    Web,
    /// Code and documentation.
    Code,
}

impl Purpose {
    fn time(self) -> Duration {
        match self {
            Purpose::Web => Duration::from_secs(25),
            Purpose::Code => Duration::from_secs(30),
        }
    }

    /// How its failures begin.
    fn words(self) -> &'static str {
        match self {
            Purpose::Web => "Search",
            Purpose::Code => "Code search",
        }
    }

    fn less(self) -> &'static str {
        match self {
            Purpose::Web => {
                "ask for fewer results with numResults, or for less of each with contextMaxCharacters"
            }
            Purpose::Code => "ask for less with tokensNum",
        }
    }
}

/// A question to a service.
pub(crate) struct Inquiry<'a> {
    pub(crate) service: &'a Service,
    pub(crate) purpose: Purpose,
    /// What its rules are filed under.
    pub(crate) action: Action,
    /// What is looked for.
    pub(crate) query: &'a str,
    /// The tool of the service, and what it is told.
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// In place of the usual time, for tests.
    pub(crate) time: Option<Duration>,
}

impl Inquiry<'_> {
    /// Puts the question, if that is agreed to. `None` if the service found nothing.
    pub(crate) async fn put(
        self,
        web: &Web,
        gate: &Gate,
        context: &ToolContext,
    ) -> Result<Option<String>, ToolError> {
        let target = Target {
            action: self.action.clone(),
            query: self.query.to_owned(),
            provider: self.service.provider,
            request: self.request()?,
        };
        let permit = gate.grant(context, target).await?;
        let reply = web.exchange(permit, gate, context).await.map_err(|error| self.failed(error))?;
        let (status, is_success) = (reply.status(), reply.is_success());
        let (reading, early) = read(reply, is_success).await.map_err(|error| self.failed(error))?;
        if !is_success {
            let body = self.shown(&reading.text());
            let body = if body.is_empty() { "no further words" } else { &body };
            return Err(self.problem(&format!(" ({status}): {body}{}", advice(status))));
        }
        match early.or_else(|| reading.end()) {
            Some(Answer::Text(text)) => Ok(Some(self.without_key(&text))),
            Some(Answer::Nothing) => Ok(None),
            Some(Answer::Problem(said)) => Err(self.problem(&format!(": {}", self.shown(&said)))),
            None => Err(self.problem(": the service sent an answer that cannot be read; try again later")),
        }
    }

    fn request(&self) -> Result<Request, ToolError> {
        let Service { provider, address, key, is_configured } = self.service;
        let mut address = address.clone();
        if let (Provider::Exa, Some(key)) = (provider, key) {
            address = with_key(&address, key.reveal())?;
        }
        let body = call(self.tool, &self.arguments).to_string();
        let mut request = Request::post(address, body)
            .header("content-type", "application/json")?
            .header("accept", "application/json, text/event-stream")?
            .header("user-agent", AGENT)?;
        if let (Provider::Parallel, Some(key)) = (provider, key) {
            request = request.secret_header("authorization", &format!("Bearer {}", key.reveal()))?;
        }
        // Whoever configures an address has agreed to it, wherever it is.
        let consented = if *is_configured { Consented::ThisEndpoint } else { Consented::Public };
        let time = self.time.unwrap_or(self.purpose.time());
        Ok(Request { consented, time, bytes_max: ANSWER_BYTES_MAX, ..request })
    }

    fn failed(&self, error: WebError) -> ToolError {
        match error {
            WebError::TimedOut(_) => ToolError::Failure(format!(
                "{} request timed out; try again, or with simpler words",
                self.purpose.words()
            )),
            WebError::TooLarge(bytes) => self.problem(&format!(
                ": the answer has more than {} KiB; {}",
                bytes >> 10,
                self.purpose.less()
            )),
            WebError::Consent(error) => error,
            other => self.problem(&format!(": {}", self.without_key(&other.to_string()))),
        }
    }

    fn problem(&self, said: &str) -> ToolError {
        ToolError::Failure(format!("{} error{said}", self.purpose.words()))
    }

    /// What a service said about a failure: as much as helps, without control characters and without its key.
    fn shown(&self, said: &str) -> String {
        let said = self.without_key(said.trim());
        match said.char_indices().nth(PROBLEM_CHARS_MAX) {
            Some((at, _)) => format!("{}...", visible(&said[..at])),
            None => visible(&said),
        }
    }

    /// A text of the service, should it repeat its key, without it.
    fn without_key(&self, text: &str) -> String {
        let Some(key) = &self.service.key else { return text.to_owned() };
        let encoded: String = url::form_urlencoded::byte_serialize(key.reveal().as_bytes()).collect();
        let quoted = Value::from(key.reveal()).to_string();
        let spellings = [key.reveal(), &encoded, quoted.trim_matches('"')];
        // What is shorter is no secret, and part of any text.
        let spellings = spellings.iter().filter(|spelling| spelling.len() >= KEY_BYTES_MIN);
        spellings.fold(text.to_owned(), |text, spelling| text.replace(spelling, TAKEN_OUT))
    }
}

/// An address with the key behind it.
fn with_key(address: &Address, key: &str) -> Result<Address, ToolError> {
    let mut url = address.url().clone();
    url.query_pairs_mut().append_pair("exaApiKey", key);
    Address::parse(url.as_str()).map_err(|_| ToolError::failure("the key of the search service is too long"))
}

/// What can be done about a status.
fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "; the key of the search service is missing or not valid",
        429 => "; too many requests, wait before searching again",
        500.. => "; the search service has a problem, try again later",
        _ => "",
    }
}

/// Reads an answer, to its end or until all is said.
async fn read(mut reply: Reply, is_success: bool) -> Result<(Reading, Option<Answer>), WebError> {
    let is_stream = reply.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let mut reading = Reading::default();
    while let Some(bytes) = reply.chunk().await? {
        match is_stream && is_success {
            false => reading.more(&bytes),
            true => {
                if let Some(answer) = reading.event(&bytes) {
                    return Ok((reading, Some(answer)));
                }
            }
        }
    }
    Ok((reading, None))
}

/// A question that is to be sent.
struct Target {
    action: Action,
    query: String,
    provider: Provider,
    request: Request,
}

impl Ask for Target {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(self.action.clone(), Resource::new(&self.query)).saving("*")]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title = format!("ask {}: {}", self.provider.label(), visible(&self.query));
        // Without what may stand behind the host.
        Showing { title, detail: format!("sent to {}", self.request.address.origin()) }
    }
}

impl Outgoing for Target {
    fn request(&self) -> &Request {
        &self.request
    }

    /// A key goes to whom it belongs.
    fn onward(&self, _: &Address) -> Option<Question> {
        None
    }
}
