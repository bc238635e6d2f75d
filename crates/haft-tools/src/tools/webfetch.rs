//! The tool `webfetch`: gets what is at an address of the web, as a model can read it.

mod cache;
mod target;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft::permission::Gate;
use haft::{Encoded, Event, Events, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::cache::{Cache, Fetched, Key};
use self::target::FetchTarget;
pub(crate) use self::target::{plain_target, question};
use crate::blocking::{Stop, blocking};
use crate::encoding::{SAMPLE_BYTES, is_binary, is_utf_16};
use crate::page::{Extent, Style, render};
use crate::services::ToolServices;
use crate::tools::read::{ImageLimits, Scale, fitting, media_type};
use crate::web::{Address, ContentType, Progress, Reply, Web, decode};

const ACTION: &str = "webfetch";
const TIME: Duration = Duration::from_secs(30);
const TIME_MAX: Duration = Duration::from_secs(120);
/// What takes longer is reported on, and how often.
const SLOW: Duration = Duration::from_secs(1);

/// Fetches an address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The address to fetch, beginning with http:// or https://.
    url: String,
    /// What a page becomes: markdown unless given.
    #[serde(default)]
    format: Option<Format>,
    /// How long it may take, in seconds: 30 unless given, at most 120.
    #[serde(default)]
    timeout: Option<f64>,
    /// Whether only the main content of a page is wanted.
    #[serde(default)]
    main: Option<bool>,
}

/// What a page becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Markdown,
    Text,
    Html,
}

impl Format {
    /// What is asked for, the best first.
    fn accepted(self) -> &'static str {
        match self {
            Format::Markdown => {
                "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1"
            }
            Format::Text => "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
            Format::Html => {
                "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, text/markdown;q=0.7, */*;q=0.1"
            }
        }
    }
}

/// What was fetched.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Where it came from in the end.
    url: String,
    /// What the host says it is.
    content_type: String,
    /// What it is.
    body: Body,
    /// Whether it was fetched earlier in the session.
    cached: bool,
}

/// What was found at an address.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Body {
    /// A text, or a page as text.
    Text {
        /// All of it.
        text: String,
    },
    /// An image or a document.
    Media {
        /// Its media type.
        mime: String,
        /// Its bytes, in base64.
        data: String,
        /// How large an image is, and how large it is shown.
        scale: Option<Scale>,
    },
}

pub(crate) struct WebFetch {
    web: Web,
    gate: Gate,
    events: Events,
    images: ImageLimits,
    cache: Cache,
}

impl WebFetch {
    pub(crate) fn new(services: &ToolServices) -> WebFetch {
        let ToolServices { web, gate, events, media_bytes_max, image_side_max, .. } = services.clone();
        let images = ImageLimits { bytes_max: media_bytes_max, side_max: image_side_max };
        WebFetch { web, gate, events, images, cache: Cache::default() }
    }

    /// The answer, from this session's memory if it is there. Consent is asked for in either case.
    async fn fetched(
        &self,
        target: FetchTarget,
        key: Key,
        context: &ToolContext,
    ) -> Result<(Arc<Fetched>, bool), ToolError> {
        let permit = self.gate.grant(context, target).await?;
        if let Some(known) = self.cache.recall(&key, Instant::now()) {
            return Ok((known, true));
        }
        let reply = self.web.exchange(permit, &self.gate, context).await?;
        if !reply.is_success() {
            return Err(ToolError::failure(format!(
                "Request failed with status code: {} {}",
                reply.status(),
                reply.reason()
            )));
        }
        let may_be_kept = !reply
            .header("cache-control")
            .is_some_and(|value| value.to_ascii_lowercase().contains("no-store"));
        // What came by a redirect was agreed to at every hop, and would have to be again.
        let is_kept = may_be_kept && reply.address().without_fragment().as_str() == key.url;
        let fetched = Arc::new(self.read(reply, context).await?);
        if is_kept {
            self.cache.keep(key, Instant::now(), fetched.clone());
        }
        Ok((fetched, false))
    }

    /// Reads an answer, and says how it goes if it goes slowly.
    async fn read(&self, reply: Reply, context: &ToolContext) -> Result<Fetched, ToolError> {
        let address = reply.address().clone();
        let content_type = reply.header("content-type").unwrap_or_default().to_owned();
        let mut told = Instant::now();
        let tell = |Progress { received, total }: Progress| {
            if told.elapsed() < SLOW {
                return;
            }
            told = Instant::now();
            let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
            let delta = format!("received {received}{total} bytes\n");
            self.events.tell(|| Event::Output { context: context.clone(), delta });
        };
        let bytes = reply.whole(tell).await?;
        Ok(Fetched { address, content_type, bytes })
    }
}

impl Executor for WebFetch {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[("uri", "url"), ("address", "url")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("webfetch.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let address = Address::parse(&input.url).map_err(|error| ToolError::failure(error.to_string()))?;
        let (time, format) = (time(input.timeout)?, input.format.unwrap_or(Format::Markdown));
        let url = address.without_fragment().into();
        let key = Key { session: context.session.clone(), url, format };
        let target = FetchTarget::new(&address, &input.url, format)?.within(time);
        let (fetched, cached) = self.fetched(target, key, context).await?;
        let (url, content_type) = (fetched.address.to_string(), fetched.content_type.clone());
        let extent = if input.main == Some(true) { Extent::Main } else { Extent::Whole };
        let reading = Reading { format, extent, images: self.images };
        let body = blocking(move |stop| reading.body(&fetched, stop)).await?;
        Ok(Output { url, content_type, body, cached })
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let kind = if output.content_type.is_empty() { "unknown type" } else { output.content_type.as_str() };
        let shown = match &output.body {
            Body::Text { text } => Presented::text(text.as_str()),
            Body::Media { mime, data, scale } => media(mime, data, scale.as_ref(), &output.url),
        };
        let shown = shown
            .titled(haft::visible(&format!("{} ({kind})", input.url)))
            .with("url", output.url.as_str())
            .with("contentType", output.content_type.as_str())
            .with("untrusted", true);
        if output.cached { shown.with("cached", true) } else { shown }
    }
}

/// What is made of an answer.
struct Reading {
    format: Format,
    extent: Extent,
    images: ImageLimits,
}

impl Reading {
    fn body(&self, fetched: &Fetched, stop: &Stop) -> Result<Body, ToolError> {
        let Fetched { address, content_type, bytes } = fetched;
        let kind = ContentType::parse(Some(content_type));
        let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let shown = || if kind.mime.is_empty() { "of no known type" } else { kind.mime.as_str() };
        if let Some(mime) = media_type(sample) {
            let fitted = fitting(mime, bytes.clone(), self.images, stop).map_err(|error| {
                ToolError::failure(format!("{address} is {mime}, and cannot be shown: {error}"))
            })?;
            let data = STANDARD.encode(fitted.bytes);
            return Ok(Body::Media { mime: fitted.mime.to_owned(), data, scale: fitted.scale });
        }
        if kind.mime.starts_with("image/") && kind.mime != "image/svg+xml" {
            return Err(ToolError::failure(format!(
                "{address} is said to be {}, and is no PNG, JPEG, GIF or WebP image, which are those that can be shown",
                shown()
            )));
        }
        let is_multibyte = content_type.to_ascii_lowercase().contains("utf-16") || is_utf_16(sample);
        if is_binary(sample) && !is_multibyte {
            return Err(ToolError::failure(format!(
                "{address} is {}, which is no text; download it with a command if it is needed",
                shown()
            )));
        }
        let text = decode(bytes, &kind);
        let is_page = kind.is_html() || (kind.mime.is_empty() && looks_like_a_page(&text));
        let style = match self.format {
            Format::Markdown => Some(Style::Markdown),
            Format::Text => Some(Style::Text),
            Format::Html => None,
        };
        let text = match style.filter(|_| is_page) {
            Some(style) => render(&text, Some(address.url()), style, self.extent),
            None => text.into_owned(),
        };
        Ok(Body::Text { text })
    }
}

fn looks_like_a_page(text: &str) -> bool {
    let start = text.trim_start().get(..14).unwrap_or_default().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

fn time(seconds: Option<f64>) -> Result<Duration, ToolError> {
    let Some(seconds) = seconds else { return Ok(TIME) };
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time.min(TIME_MAX)),
        Ok(_) | Err(_) if seconds > 0.0 => Ok(TIME_MAX),
        Ok(_) | Err(_) => Err(ToolError::failure(format!(
            "Invalid timeout value: {seconds}. Timeout must be a positive number of seconds, at most {}.",
            TIME_MAX.as_secs()
        ))),
    }
}

fn media(mime: &str, data: &str, scale: Option<&Scale>, url: &str) -> Presented {
    let what = if mime.starts_with("image/") { "Image" } else { "PDF" };
    let note = scale.and_then(Scale::note).unwrap_or_default();
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name =
        path.rsplit('/').next().filter(|name| name.contains('.') && !path.ends_with(&format!("//{name}")));
    // What `execute` encoded can be decoded; an output from elsewhere shows as empty rather than as a panic.
    let bytes = STANDARD.decode(data).unwrap_or_default();
    let shown = Presented::text(format!("{what} fetched successfully{note}"));
    let shown = shown.attach(mime, bytes, name.map(haft::visible));
    match scale {
        Some(scale) => shown.with("image", json!(scale)),
        None => shown,
    }
}

#[cfg(test)]
mod tests;
