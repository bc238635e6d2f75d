//! An answer as it comes from a server: a stream of events, or one document from those that do not stream.

use std::collections::VecDeque;
use std::time::Duration;

use haft::BoxFuture;
use serde_json::Value;

use super::fault::Fault;
use super::http::Body;
use super::{Decode, chat, sse};
use crate::provider::{Delta, Deltas, ProviderError};

/// How long the end of a body is waited for after the end of the answer, so that its connection can be used again.
const TAIL: Duration = Duration::from_millis(50);

/// An answer that is arriving.
pub(super) struct Answer {
    body: Body,
    shape: Shape,
    decoder: Box<dyn Decode>,
    ready: VecDeque<Delta>,
    provider: String,
    secrets: Vec<String>,
    ended: bool,
    failed: Option<ProviderError>,
}

/// What a body turned out to be.
enum Shape {
    Unknown,
    Events(sse::Reader),
    Document(Vec<u8>),
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
    /// An answer of which nothing was read yet, by a provider to whom these secrets were sent.
    pub(super) fn new(body: Body, decoder: Box<dyn Decode>, provider: &str, secrets: Vec<String>) -> Answer {
        Answer {
            shape: if body.is_document() { Shape::Document(Vec::new()) } else { Shape::Unknown },
            body,
            decoder,
            ready: VecDeque::new(),
            provider: provider.to_owned(),
            secrets,
            ended: false,
            failed: None,
        }
    }

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
