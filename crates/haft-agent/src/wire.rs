//! Providers over HTTP, in the formats that people use. Each format has two pure halves: a request made of a prompt,
//! and a decoder that makes deltas of a stream.

mod anthropic;
mod calls;
mod carrier;
mod chat;
mod document;
mod fault;
mod gemini;
mod http;
mod media;
mod options;
mod responses;
mod schema;
mod sse;
pub(crate) mod words;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft::BoxFuture;
use serde_json::Value;

use crate::provider::{Delta, Deltas, ModelInfo, Prompt, Provider, ProviderError};
pub use carrier::{Arrival, Carrier, Dropped, Inbound, Outbound};
use fault::Fault;
use http::{Body, Http};
pub(crate) use options::merge;
use words::Request;

/// How long the end of a body is waited for after the end of the answer, so that its connection can be used again.
const TAIL: Duration = Duration::from_millis(50);

/// A format of requests and streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's chat completions, which most others speak too.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
}

/// A key. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

/// Where a provider is and how it is spoken to.
#[derive(Clone)]
pub struct Endpoint {
    /// The provider's id.
    pub provider: String,
    /// Its format.
    pub format: Format,
    /// Its address, up to what the format adds.
    pub base_url: String,
    /// Its key, if it needs one.
    pub key: Option<Key>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// How long nothing may come from it.
    pub idle: Option<Duration>,
    /// How much its models may say at once, where the format wants a number and nobody gave one.
    pub output_max: u64,
    /// Who carries its requests, if haft does not do so itself.
    pub carrier: Option<Arc<dyn Carrier>>,
}

/// A provider over HTTP.
pub struct Wire {
    endpoint: Endpoint,
    http: Http,
}

/// Makes deltas of what arrives.
trait Decode: Send {
    /// One event of a stream.
    fn event(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), Fault>;

    /// A whole answer, from a server that does not stream.
    fn whole(&mut self, answer: &Value, out: &mut Vec<Delta>) -> Result<(), Fault>;

    /// The end of the stream without [`Delta::Finished`]: an error, unless nothing but a marker is missing.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let _nothing = out;
        Err(Fault::Cut("it ended before the answer did".to_owned()))
    }
}

impl Key {
    /// Takes a key. Keys that hold nothing are none.
    pub fn new(key: &str) -> Option<Key> {
        let key = key.trim();
        (!key.is_empty()).then(|| Key(key.to_owned()))
    }

    /// The key itself, for where it is sent or kept.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("format", &self.format)
            .field("base_url", &self.base_url)
            .field("key", &self.key)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

impl Wire {
    /// A provider at an endpoint. Nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Wire {
        let mut headers = Vec::new();
        if let Some(key) = &endpoint.key {
            headers.push(match endpoint.format {
                Format::Chat | Format::Responses => {
                    ("authorization".to_owned(), format!("Bearer {}", key.reveal()))
                }
                Format::Anthropic => ("x-api-key".to_owned(), key.reveal().to_owned()),
                Format::Gemini => ("x-goog-api-key".to_owned(), key.reveal().to_owned()),
            });
        }
        if endpoint.format == Format::Anthropic {
            headers.push(("anthropic-version".to_owned(), anthropic::VERSION.to_owned()));
        }
        headers.extend(endpoint.headers.iter().cloned());
        let http = Http::new(&endpoint.provider, headers, endpoint.idle.unwrap_or(http::IDLE));
        let http = http.carried_by(endpoint.carrier.clone());
        Wire { endpoint, http }
    }

    fn request(&self, prompt: &Prompt) -> Result<(String, Request, Box<dyn Decode>), Fault> {
        let base = self.endpoint.base_url.trim_end_matches('/');
        Ok(match self.endpoint.format {
            Format::Chat => {
                let dialect = chat::Dialect::of(base);
                (
                    format!("{base}/chat/completions"),
                    chat::request(prompt, dialect)?,
                    Box::<chat::Decoder>::default(),
                )
            }
            Format::Responses => (
                format!("{base}/responses"),
                responses::request(prompt)?,
                Box::<responses::Decoder>::default(),
            ),
            Format::Anthropic => {
                let request = anthropic::request(prompt, self.endpoint.output_max)?;
                (format!("{base}/messages"), request, Box::<anthropic::Decoder>::default())
            }
            Format::Gemini => {
                let url =
                    format!("{base}/models/{}:streamGenerateContent?alt=sse", path_segment(&prompt.model));
                (url, gemini::request(prompt)?, Box::<gemini::Decoder>::default())
            }
        })
    }

    fn told(&self, fault: Fault) -> ProviderError {
        fault.told(&self.endpoint.provider, &self.http.secrets())
    }
}

impl Provider for Wire {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        Box::pin(async move {
            let (url, request, decoder) = self.request(prompt).map_err(|fault| self.told(fault))?;
            let document = request.document().map_err(|error| ProviderError::lost(&error))?;
            drop(request);
            let body = self.http.post(&url, document, &prompt.headers).await?;
            let answer = Answer {
                shape: if body.is_document() { Shape::Document(Vec::new()) } else { Shape::Unknown },
                body,
                decoder,
                ready: VecDeque::new(),
                provider: self.endpoint.provider.clone(),
                secrets: self.http.secrets_with(&prompt.headers),
                ended: false,
                failed: None,
            };
            Ok(Box::new(answer) as Box<dyn Deltas>)
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async move {
            let base = self.endpoint.base_url.trim_end_matches('/');
            // Pages of the largest size, so that one is enough.
            let page = match self.endpoint.format {
                Format::Chat | Format::Responses => "",
                Format::Anthropic => "?limit=1000",
                Format::Gemini => "?pageSize=1000",
            };
            let list = self.http.get(&format!("{base}/models{page}")).await?;
            match self.endpoint.format {
                Format::Gemini => Ok(gemini::models(&list)),
                Format::Chat | Format::Responses | Format::Anthropic => models(&list),
            }
            .map_err(|fault| self.told(fault))
        })
    }
}

/// Reads `{"data": [{"id": …}]}`, with the limits that some servers add.
fn models(list: &Value) -> Result<Vec<ModelInfo>, Fault> {
    let rows = list["data"].as_array().or_else(|| list["models"].as_array()).or_else(|| list.as_array());
    let rows = rows.ok_or_else(|| Fault::malformed("its list of models holds none"))?;
    let model = |row: &Value| {
        let count = |keys: &[&str]| keys.iter().find_map(|key| row[key].as_u64());
        Some(ModelInfo {
            id: row["id"].as_str().or_else(|| row["name"].as_str())?.to_owned(),
            name: row["display_name"].as_str().or_else(|| row["name"].as_str()).map(str::to_owned),
            context: count(&[
                "context_length",
                "context_window",
                "max_model_len",
                "max_context_length",
                "max_input_tokens",
            ])
            .or_else(|| row["meta"]["n_ctx_train"].as_u64()),
            output: count(&["max_completion_tokens", "max_output_tokens", "max_tokens"])
                .or_else(|| row["top_provider"]["max_completion_tokens"].as_u64()),
            ..ModelInfo::default()
        })
    };
    Ok(rows.iter().filter_map(model).collect())
}

/// A model's id within a path: nothing in it may lead elsewhere.
fn path_segment(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let id = id.strip_prefix("models/").unwrap_or(id).replace("..", "");
    id.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// What a body turned out to be.
enum Shape {
    Unknown,
    Events(sse::Reader),
    Document(Vec<u8>),
}

/// An answer that is arriving.
struct Answer {
    body: Body,
    shape: Shape,
    decoder: Box<dyn Decode>,
    ready: VecDeque<Delta>,
    provider: String,
    secrets: Vec<String>,
    ended: bool,
    failed: Option<ProviderError>,
}

impl Deltas for Answer {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Delta, ProviderError>>> {
        Box::pin(async move {
            loop {
                if let Some(delta) = self.ready.pop_front() {
                    if matches!(delta, Delta::Finished(_)) {
                        self.finish().await;
                    }
                    return Some(Ok(delta));
                }
                if let Some(error) = self.failed.take() {
                    self.ended = true;
                    return Some(Err(error));
                }
                if self.ended {
                    return None;
                }
                // What was understood before a fault is told before it.
                self.failed = self.more().await.err();
            }
        })
    }
}

impl Answer {
    /// Reads on until there is something, or the end.
    async fn more(&mut self) -> Result<(), ProviderError> {
        let chunk = self.body.chunk().await?;
        let mut out = Vec::new();
        let done = match chunk {
            Some(bytes) => self.take(&bytes, &mut out),
            None => self.at_end(&mut out),
        };
        self.ready.extend(out);
        done.map_err(|fault| fault.told(&self.provider, &self.secrets))
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<Delta>) -> Result<(), Fault> {
        if let Shape::Unknown = self.shape {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => self.shape = Shape::Document(Vec::new()),
                Some(_) => self.shape = Shape::Events(sse::Reader::default()),
            }
        }
        match &mut self.shape {
            Shape::Unknown => Ok(()),
            Shape::Document(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            Shape::Events(reader) => {
                let mut events = Vec::new();
                let pushed = reader.push(bytes, &mut events);
                events.iter().try_for_each(|event| self.decoder.event(event, out))?;
                pushed.map_err(|sse::Oversized| {
                    Fault::Malformed(format!("an event is larger than {} bytes", sse::EVENT_BYTES_MAX))
                })
            }
        }
    }

    fn at_end(&mut self, out: &mut Vec<Delta>) -> Result<(), Fault> {
        self.ended = true;
        match &mut self.shape {
            Shape::Unknown => Err(Fault::Cut("it is empty".to_owned())),
            Shape::Document(bytes) => match serde_json::from_slice::<Value>(bytes) {
                Ok(answer) => self.decoder.whole(&answer, out),
                Err(error) if error.is_eof() => Err(Fault::Cut("it ended within its JSON".to_owned())),
                Err(error) => Err(Fault::Malformed(format!("it is not JSON: {error}"))),
            },
            Shape::Events(reader) => {
                // The last event may have been cut itself: what is no JSON is no event.
                let last = reader.finish().filter(|last| {
                    last.data == chat::DONE
                        || serde_json::from_str::<serde::de::IgnoredAny>(&last.data).is_ok()
                });
                if let Some(last) = last {
                    self.decoder.event(&last, out)?;
                }
                match out.iter().any(|delta| matches!(delta, Delta::Finished(_))) {
                    true => Ok(()),
                    false => self.decoder.end(out),
                }
            }
        }
    }

    async fn finish(&mut self) {
        let was_open = !std::mem::replace(&mut self.ended, true);
        self.ready.clear();
        if was_open {
            // Nothing that comes now matters; only whether the connection can be kept.
            let _late =
                tokio::time::timeout(TAIL, async { while let Ok(Some(_)) = self.body.chunk().await {} })
                    .await;
        }
    }
}

/// Parses what an event carries.
fn parse(event: &sse::Event) -> Result<Value, Fault> {
    serde_json::from_str(&event.data).map_err(|error| {
        let start: String = event.data.chars().take(60).collect();
        Fault::Malformed(format!("an event is not JSON ({error}): {start}"))
    })
}

/// An error that stands where an event should.
fn reported(json: &Value) -> Result<(), Fault> {
    match json.get("error").is_some_and(|error| !error.is_null()) {
        true => Err(Fault::Reported(fault::Report::of(json))),
        false => Ok(()),
    }
}
