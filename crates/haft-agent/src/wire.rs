//! Providers over HTTP, in the formats that people use. Each format has two pure halves: a request made of a prompt,
//! and a decoder that makes deltas of a stream.

mod anthropic;
mod arriving;
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

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft::BoxFuture;
use serde_json::Value;

use crate::beside::beside;
use crate::provider::{Delta, Deltas, ModelInfo, Prompt, Provider, ProviderError};
use arriving::Answer;
pub use carrier::{Arrival, Carrier, Dropped, Inbound, Outbound};
use fault::Fault;
use http::Http;
pub(crate) use options::merge;
use words::{Request, Stretch, Tongue};

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

/// What is asked, where, and who understands the answer.
struct Asking {
    url: String,
    request: Request,
    decoder: Box<dyn Decode>,
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

    /// How it is spoken to by somebody who has a model answer.
    fn tongue(&self, prompt: &Prompt) -> Tongue {
        match self.endpoint.format {
            Format::Chat => Tongue::Chat(chat::Dialect::of(self.base())),
            Format::Responses => Tongue::Responses,
            Format::Anthropic => Tongue::Anthropic,
            Format::Gemini => Tongue::Gemini(gemini::Signing::of(&prompt.model)),
        }
    }

    fn request(&self, prompt: &Prompt, tongue: Tongue, told: Vec<Stretch>) -> Result<Asking, Fault> {
        let base = self.base();
        Ok(match tongue {
            Tongue::Chat(dialect) => Asking {
                url: format!("{base}/chat/completions"),
                request: chat::request(prompt, dialect, told)?,
                decoder: Box::<chat::Decoder>::default(),
            },
            Tongue::Responses => Asking {
                url: format!("{base}/responses"),
                request: responses::request(prompt, told)?,
                decoder: Box::<responses::Decoder>::default(),
            },
            Tongue::Anthropic => Asking {
                url: format!("{base}/messages"),
                request: anthropic::request(prompt, self.endpoint.output_max, told)?,
                decoder: Box::<anthropic::Decoder>::default(),
            },
            Tongue::Gemini(_) => Asking {
                url: format!("{base}/models/{}:streamGenerateContent?alt=sse", path_segment(&prompt.model)),
                request: gemini::request(prompt, told)?,
                decoder: Box::<gemini::Decoder>::default(),
            },
        })
    }

    fn base(&self) -> &str {
        self.endpoint.base_url.trim_end_matches('/')
    }

    fn told(&self, fault: Fault) -> ProviderError {
        fault.told(&self.endpoint.provider, &self.http.secrets())
    }
}

impl Provider for Wire {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        Box::pin(async move {
            let (tongue, said) = (self.tongue(prompt), prompt.conversation.clone());
            let told =
                beside(move || tongue.tell(&said)).await.map_err(|error| ProviderError::lost(&error))?;
            let asking = self.request(prompt, tongue, told).map_err(|fault| self.told(fault))?;
            let Asking { url, request, decoder } = asking;
            let document = request.document().map_err(|error| ProviderError::lost(&error))?;
            drop(request);
            let body = self.http.post(&url, document, &prompt.headers).await?;
            let secrets = self.http.secrets_with(&prompt.headers);
            let answer = Answer::new(body, decoder, &self.endpoint.provider, secrets);
            Ok(Box::new(answer) as Box<dyn Deltas>)
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async move {
            // Pages of the largest size, so that one is enough.
            let page = match self.endpoint.format {
                Format::Chat | Format::Responses => "",
                Format::Anthropic => "?limit=1000",
                Format::Gemini => "?pageSize=1000",
            };
            let list = self.http.get(&format!("{}/models{page}", self.base())).await?;
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
