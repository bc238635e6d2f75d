//! A conversation as a model is told it: from its last summary on, with what came of every call.

use std::collections::HashSet;

use haft::{
    CallId, Content, Ended, History, Input, Interruption, Message, Model, Part, Role, Settlement, told_name,
};
use serde_json::json;

use crate::provider::{CallResult, Utterance, Uttered};

/// What stands in place of an output that was taken out to make room.
pub(crate) const CLEARED: &str = "[Old tool result content cleared]";
/// What a model is told of a call that did not come to an end.
const INTERRUPTED: &str = "[Tool execution was interrupted]";
/// The name under which calls that are none stand in the conversation.
const INVALID: &str = "invalid";

/// Tells the conversation to a model, without what was pruned.
pub(crate) fn told(history: &History, pruned: &HashSet<CallId>, model: &Model) -> Vec<Utterance> {
    let messages = since_summary(&history.messages);
    let mut conversation = Vec::new();
    for message in messages {
        match message.role {
            Role::User => conversation.push(Utterance::User(said(message))),
            Role::Assistant if message.is_summary => conversation.push(Utterance::User(summary(message))),
            Role::Assistant => {
                let own = message.model.as_ref() == Some(model);
                let uttered: Vec<Uttered> =
                    message.parts.iter().filter_map(|part| uttered(part, history, own)).collect();
                if !uttered.is_empty() {
                    conversation.push(Utterance::Assistant(uttered));
                }
                let results: Vec<CallResult> =
                    message.calls().map(|call| result(call, history, pruned)).collect();
                if !results.is_empty() {
                    conversation.push(Utterance::Results(results));
                }
            }
        }
    }
    conversation.retain(|utterance| !matches!(utterance, Utterance::User(said) if said.is_empty()));
    conversation
}

/// The messages that still count: the last summary and what follows it.
pub(crate) fn since_summary(messages: &[Message]) -> &[Message] {
    let from = messages.iter().rposition(|message| message.is_summary).unwrap_or(0);
    &messages[from..]
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
fn uttered(part: &Part, history: &History, is_own: bool) -> Option<Uttered> {
    match part {
        Part::Text { text, .. } if text.is_empty() => None,
        Part::Text { text, .. } => Some(Uttered::Text(text.clone())),
        Part::Reasoning { text, opaque } => {
            is_own.then(|| Uttered::Reasoning { text: text.clone(), opaque: opaque.clone() })
        }
        Part::Call(call) => {
            let (name, input) = match invalid(call, history) {
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
fn invalid(call: &haft::CallPart, history: &History) -> Option<serde_json::Value> {
    let rejected = match history.ended.get(&call.call) {
        Some(Ended::Settled(settlement)) => match &**settlement {
            Settlement::Rejected(rejection) => rejection.as_invalid(&call.name),
            Settlement::Completed(_) => None,
        },
        Some(_) | None => None,
    };
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

fn result(call: &haft::CallPart, history: &History, pruned: &HashSet<CallId>) -> CallResult {
    let name = match invalid(call, history) {
        Some(_) => INVALID.to_owned(),
        None => call.name.clone(),
    };
    let (content, is_error) = match history.ended.get(&call.call) {
        Some(_) if pruned.contains(&call.call) => (text(CLEARED), false),
        Some(ended) => outcome(ended),
        None => (text(INTERRUPTED), true),
    };
    CallResult { id: call.provider_id.clone(), name, content, is_error }
}

fn text(text: &str) -> Vec<Content> {
    vec![Content::Text(text.to_owned())]
}

/// What a model is told of how a call ended.
fn outcome(ended: &Ended) -> (Vec<Content>, bool) {
    match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Completed(completed) if completed.content.is_empty() => {
                (text(&completed.text()), false)
            }
            Settlement::Completed(completed) => (completed.content.clone(), false),
            Settlement::Rejected(rejection) => (text(&rejection.to_string()), true),
        },
        Ended::Broken(why) => (text(&format!("Tool execution failed: {why}")), true),
        Ended::Declined => (text("The user declined this call."), true),
        Ended::Cancelled => (text(INTERRUPTED), true),
        Ended::Interrupted(interruption) => {
            let known = match interruption {
                Interruption::NotStarted => "Nothing was changed.",
                Interruption::Committed => "What it was to change has been changed.",
                Interruption::RolledBack => "It had changed some of its files, and these were put back.",
                Interruption::Unknown => "It is not known what it did; look before you go on.",
            };
            (text(&format!("{INTERRUPTED} {known}")), true)
        }
    }
}
