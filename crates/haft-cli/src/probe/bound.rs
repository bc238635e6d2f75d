//! Questions about the settlement boundary: an output goes in, what the model is given and what is retained come out.

use std::sync::Arc;

use haft::preview::Budget;
use haft::{
    AgentId, BoundError, Boundary, BoxFuture, CallId, Content, Limits, MemoryOutputs, MessageId, OpenOutput,
    Output, OutputId, OutputStore, Presented, SessionId, Shortening, StoreError, ToolContext, bound,
};
use serde_json::{Value, json};

use super::{Answer, now, number};
use crate::exit::Failure;

pub(super) fn answer(question: &Value) -> Answer {
    let output = &question["output"];
    let parts = output["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let presented =
        Presented { content: parts.iter().map(content).collect::<Result<_, _>>()?, ..Presented::default() };
    let standard = Limits::default();
    let limits = Limits {
        text: Budget {
            lines: number(question, "max_lines", standard.text.lines),
            bytes: number(question, "max_bytes", standard.text.bytes),
        },
        ..standard
    };
    let kept = MemoryOutputs::default();
    let unwritable = question["storage"] == "unwritable";
    let outputs: &dyn OutputStore = if unwritable { &Unwritable } else { &kept };
    let context = ToolContext {
        session: SessionId::mint(),
        agent: AgentId::parse("build").map_err(Failure::usage)?,
        message: MessageId::mint(),
        call: CallId::mint(),
    };
    let boundary = Boundary { limits: &limits, delegates: false, outputs, context: &context };
    let structured = output["structured"].clone();
    match now(bound(&boundary, presented, structured, Shortening::Ours)) {
        Ok(completed) => {
            let content: Vec<Value> = completed.content.iter().map(shown).collect();
            let output = json!({ "structured": completed.structured, "content": content });
            Ok(json!({ "status": "ok", "output": output, "saved": kept.wholes() }))
        }
        Err(error @ BoundError::Media { .. }) => {
            Ok(json!({ "status": "failed", "error": error.to_string() }))
        }
        Err(error @ BoundError::Retain(_)) => {
            Ok(json!({ "status": "operational_failure", "error": error.to_string(), "saved": [] }))
        }
    }
}

/// Media keeps its address as its bytes: the boundary passes it through, whatever it is.
fn content(part: &Value) -> Result<Content, Failure> {
    match part["type"].as_str() {
        Some("text") => Ok(Content::Text(part["text"].as_str().unwrap_or_default().to_owned())),
        Some("file") => Ok(Content::Media {
            mime: part["mime"].as_str().unwrap_or_default().to_owned(),
            data: Arc::from(part["uri"].as_str().unwrap_or_default().as_bytes()),
            name: part["name"].as_str().map(str::to_owned),
        }),
        other => Err(Failure::usage(format_args!("unknown content type {other:?}"))),
    }
}

fn shown(content: &Content) -> Value {
    match content {
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Media { mime, data, name } => {
            json!({ "type": "file", "mime": mime, "uri": String::from_utf8_lossy(data), "name": name })
        }
    }
}

/// A store that is full.
struct Unwritable;

impl OutputStore for Unwritable {
    fn spool(&self, _: &ToolContext) -> Result<Box<dyn haft::Spool>, StoreError> {
        Err(StoreError::bare("the output store cannot be written to"))
    }

    fn retain<'a>(&'a self, _: &'a ToolContext, _: &'a str) -> BoxFuture<'a, Result<Output, StoreError>> {
        Box::pin(std::future::ready(Err(StoreError::bare("the output store cannot be written to"))))
    }

    fn open<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}
