//! A conversation as a model is told it: from its last summary on, with what came of every call.

use std::io;
use std::sync::Arc;

use haft::{CallId, CallPart, Content, Input, Message, Model, Part, Role, told_name};
use serde_json::json;

use crate::beside::beside;
use crate::given::Given;
use crate::influence::{Recalled, RecalledResult};
use crate::past::{self, Ending, Past};
use crate::provider::{CallResult, Told, Utterance, Uttered};
use crate::shelf::Shelf;

/// The name under which calls that are none stand in the conversation.
const INVALID: &str = "invalid";

/// What a model was told of a conversation. Nothing that is past changes, so each message is told once.
pub(crate) struct Context {
    told: Vec<Arc<Told>>,
    /// So many messages are told, or came before the last summary.
    messages: usize,
    /// Where the words for them lie.
    shelf: Shelf,
}

impl Context {
    /// Nothing was told yet.
    pub(crate) fn new(shelf: Shelf) -> Context {
        Context { told: Vec::new(), messages: 0, shelf }
    }

    /// Tells what has been added to the past.
    pub(crate) fn catch_up(&mut self, past: &Past, model: &Model) {
        let summary = summary_at(&past.messages);
        if summary >= self.messages {
            self.forget();
            self.messages = summary;
        }
        for message in &past.messages[self.messages..] {
            let said = utterances(message, past, model);
            let told = said.into_iter().map(|utterance| Arc::new(Told::on(&self.shelf, utterance)));
            self.told.extend(told);
        }
        self.messages = past.messages.len();
    }

    /// Everything that was told.
    pub(crate) fn told(&self) -> &[Arc<Told>] {
        &self.told
    }

    /// Has everything told anew, because something is to be told otherwise.
    pub(crate) fn forget(&mut self) {
        *self = Context::new(self.shelf.another());
    }
}

/// The messages that a model is to be told, each with what came of its calls.
pub(crate) async fn recalled(past: &Past) -> io::Result<Vec<Recalled>> {
    let given = |message: &Message| {
        let results = message.calls().map(|call| {
            let CallResult { content, is_error, .. } = result(call, past);
            (call.call.clone(), content, is_error)
        });
        (message.clone(), results.collect::<Vec<_>>())
    };
    let given: Vec<_> = since_summary(&past.messages).iter().map(given).collect();
    let read = |(call, content, is_error): (CallId, Given, bool)| {
        Ok(RecalledResult { call, content: content.read()?.into(), is_error })
    };
    let recall = move |(message, results): (Message, Vec<_>)| {
        Ok(Recalled { message, results: results.into_iter().map(read).collect::<io::Result<_>>()? })
    };
    beside(move || given.into_iter().map(recall).collect()).await
}

/// The same as a model is told them. A call and what came of it are told together, or not at all.
pub(crate) fn retold(messages: &[Recalled], past: &Past, model: &Model) -> Vec<Arc<Told>> {
    let tell = |recalled: &Recalled| {
        let mut said = utterances(&recalled.message, past, model);
        if let Some(Utterance::Results(results)) = said.last_mut() {
            for (call, told) in recalled.message.calls().zip(results) {
                if let Some(result) = recalled.results.iter().find(|result| result.call == call.call) {
                    told.content = result.content.to_vec().into();
                    told.is_error = result.is_error;
                }
            }
        }
        said
    };
    messages.iter().flat_map(tell).map(|utterance| Arc::new(Told::new(utterance))).collect()
}

/// A message as a model is told it.
fn utterances(message: &Message, past: &Past, model: &Model) -> Vec<Utterance> {
    let user = |said: Vec<Content>| match said.is_empty() {
        true => Vec::new(),
        false => vec![Utterance::User(said)],
    };
    match message.role {
        Role::User => user(said(message)),
        Role::Assistant if message.is_summary => user(summary(message)),
        Role::Assistant => {
            let own = message.model.as_ref() == Some(model);
            let mut uttered: Vec<Uttered> =
                message.parts.iter().filter_map(|part| uttered(part, past, own)).collect();
            uttered.shrink_to_fit();
            let results: Vec<CallResult> = message.calls().map(|call| result(call, past)).collect();
            let uttered = (!uttered.is_empty()).then_some(Utterance::Assistant(uttered));
            let results = (!results.is_empty()).then_some(Utterance::Results(results));
            uttered.into_iter().chain(results).collect()
        }
    }
}

/// The messages that still count: the last summary and what follows it.
pub(crate) fn since_summary(messages: &[Message]) -> &[Message] {
    &messages[summary_at(messages)..]
}

fn summary_at(messages: &[Message]) -> usize {
    messages.iter().rposition(|message| message.is_summary).unwrap_or(0)
}

fn said(message: &Message) -> Vec<Content> {
    let content = |part: &Part| match part {
        Part::Text { text, .. } if text.is_empty() => None,
        Part::Text { text, .. } => Some(Content::Text(text.clone())),
        Part::Media { mime, data, name } => {
            Some(Content::Media { mime: mime.clone(), data: data.clone(), name: name.clone() })
        }
        Part::Reasoning { .. } | Part::Call(_) => None,
    };
    message.parts.iter().filter_map(content).collect()
}

fn summary(message: &Message) -> Vec<Content> {
    let text = message.last_text().unwrap_or_default();
    vec![Content::Text(format!("This is what happened in the conversation before:\n\n{text}"))]
}

/// What is opaque goes back only to the model it came from.
fn uttered(part: &Part, past: &Past, is_own: bool) -> Option<Uttered> {
    match part {
        Part::Text { text, .. } if text.is_empty() => None,
        Part::Text { text, .. } => Some(Uttered::Text(text.clone())),
        Part::Reasoning { text, opaque } => {
            is_own.then(|| Uttered::Reasoning { text: text.clone(), opaque: opaque.clone() })
        }
        Part::Call(call) => {
            let (name, input) = match invalid(call, past) {
                Some(input) => (INVALID.to_owned(), Input::Json(input)),
                None => (call.name.clone(), call.input.clone()),
            };
            let opaque = call.opaque.clone().filter(|_| is_own);
            Some(Uttered::Call { id: call.provider_id.clone(), name, input, opaque })
        }
        Part::Media { .. } => None,
    }
}

/// How a call stands in the conversation that is none: its name or its arguments would make no sense to a provider.
fn invalid(call: &CallPart, past: &Past) -> Option<serde_json::Value> {
    let rejection = past.ended.get(&call.call).and_then(Ending::rejection);
    let rejected = rejection.and_then(|rejection| rejection.as_invalid(&call.name));
    match &call.input {
        Input::Malformed { problem, .. } => {
            Some(rejected.unwrap_or_else(|| json!({ "tool": told_name(&call.name), "error": problem })))
        }
        Input::Json(input) if input.is_object() => {
            rejected.filter(|_| haft::ToolName::parse(&call.name).is_err())
        }
        Input::Json(_) => {
            Some(rejected.unwrap_or_else(|| json!({ "tool": told_name(&call.name), "error": "no object" })))
        }
    }
}

fn result(call: &CallPart, past: &Past) -> CallResult {
    let name = match invalid(call, past) {
        Some(_) => INVALID.to_owned(),
        None => call.name.clone(),
    };
    let (content, is_error) = match past.ended.get(&call.call) {
        Some(ending) => (ending.content.clone(), ending.kind.is_error()),
        None => (Given::text(past::INTERRUPTED), true),
    };
    CallResult { id: call.provider_id.clone(), name, content, is_error }
}
