//! A conversation on record as opencode's SDK tells it: what hooks are told of it, and what is only on record.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::{CallId, Content, Ended, Message, SessionId, Settlement, StoreError, Transcript};
use haft_agent::{Recalled, RecalledResult, recall, since_summary};
use haft_store::{CallFilter, Store};
use serde_json::{Map, Value, json};

use crate::plugins::messages::{info, parts};

/// So much of a conversation is told, as JSON: the newest messages that fit. One that does not is told without its parts,
/// and nothing before it is.
const BYTES_MAX: usize = 8 << 20;

/// A conversation.
pub(super) struct Conversation {
    session: SessionId,
    messages: Vec<Recalled>,
    calls: HashMap<CallId, Facts>,
}

/// What is only on record of a call.
#[derive(Default)]
struct Facts {
    title: String,
    metadata: Map<String, Value>,
    started_ms: Option<i64>,
    ended_ms: Option<i64>,
}

impl Conversation {
    /// Reads a conversation. This blocks for as long as that takes.
    pub(super) fn read(store: &Store, session: &SessionId) -> Result<Conversation, StoreError> {
        let history = tokio::runtime::Handle::current().block_on(store.history(session))?;
        let filter = CallFilter { session: Some(session.clone()), ..CallFilter::default() };
        let mut calls: HashMap<CallId, Facts> = HashMap::new();
        for row in store.calls(&filter)? {
            let facts = Facts {
                started_ms: row.started_ms,
                ended_ms: row.ended_ms,
                ..facts(history.ended.get(&row.id))
            };
            calls.insert(row.id, facts);
        }
        Ok(Conversation { session: session.clone(), messages: recall(history), calls })
    }

    /// The newest messages that fit, of the last so many.
    pub(super) fn last(&self, limit: usize) -> Vec<Value> {
        let first = self.messages.len().saturating_sub(limit);
        self.newest(&self.messages[first..])
    }

    /// The newest that fit, of those that still count for the model.
    pub(super) fn counting(&self) -> Vec<Value> {
        self.newest(since_summary(&self.messages))
    }

    /// One message.
    pub(super) fn message(&self, id: &str) -> Option<Value> {
        let found = self.messages.iter().find(|recalled| recalled.message.id.as_str() == id)?;
        self.newest(std::slice::from_ref(found)).pop()
    }

    fn newest(&self, messages: &[Recalled]) -> Vec<Value> {
        let mut room = BYTES_MAX;
        let mut told = Vec::new();
        for Recalled { message, results } in messages.iter().rev() {
            let info = info(message, &self.session);
            let whole = json!({ "info": info, "parts": self.parts(message, results) });
            let Some(left) = room.checked_sub(whole.to_string().len()) else {
                told.push(json!({ "info": info, "parts": [] }));
                break;
            };
            room = left;
            told.push(whole);
        }
        told.reverse();
        told
    }

    fn parts(&self, message: &Message, results: &[RecalledResult]) -> Vec<Value> {
        let mut told = parts(message, results, &self.session);
        let calls = told.iter_mut().filter(|part| part["type"] == "tool");
        for (part, call) in calls.zip(message.calls()) {
            let Some(facts) = self.calls.get(&call.call) else { continue };
            let result = results.iter().find(|result| result.call == call.call);
            facts.add_to(&mut part["state"], result.map(|result| &*result.content).unwrap_or_default());
        }
        told
    }
}

fn facts(ended: Option<&Ended>) -> Facts {
    let settled = match ended {
        Some(Ended::Settled(settlement)) => &**settlement,
        _ => return Facts::default(),
    };
    match settled {
        Settlement::Completed(done) => {
            Facts { title: done.title.clone(), metadata: done.metadata.clone(), ..Facts::default() }
        }
        Settlement::Rejected(_) => Facts::default(),
    }
}

impl Facts {
    /// Adds to the state of a call what is known of it.
    fn add_to(&self, state: &mut Value, content: &[Content]) {
        let times = [("start", self.started_ms), ("end", self.ended_ms)];
        let known = times.into_iter().filter_map(|(name, at)| Some((name.to_owned(), at?.into())));
        state["time"] = Value::Object(known.collect());
        if state["status"] != "completed" {
            return;
        }
        state["title"] = self.title.clone().into();
        state["metadata"] = self.metadata.clone().into();
        let attached: Vec<Value> = content.iter().filter_map(file).collect();
        if !attached.is_empty() {
            state["attachments"] = attached.into();
        }
    }
}

fn file(content: &Content) -> Option<Value> {
    match content {
        Content::Text(_) => None,
        Content::Media { mime, data, name } => {
            let url = format!("data:{mime};base64,{}", STANDARD.encode(data));
            Some(json!({ "type": "file", "mime": mime, "filename": name, "url": url }))
        }
    }
}

#[cfg(test)]
mod tests {
    use haft::{AgentId, Part, Role};

    use super::*;

    #[test]
    fn what_does_not_fit_is_told_without_its_parts_and_ends_what_is_told() {
        let said = |text: String| Recalled {
            message: Message::new(Role::User, AgentId::parse("build").unwrap()).with(Part::text(text)),
            results: Vec::new(),
        };
        let messages = vec![said("old".to_owned()), said("x".repeat(BYTES_MAX)), said("new".to_owned())];
        let ids: Vec<String> = messages.iter().map(|recalled| recalled.message.id.to_string()).collect();
        let conversation = Conversation { session: SessionId::mint(), messages, calls: HashMap::new() };
        let told = conversation.last(usize::MAX);
        let told_ids: Vec<&Value> = told.iter().map(|told| &told["info"]["id"]).collect();
        assert_eq!(told_ids, [&ids[1], &ids[2]]);
        assert_eq!((&told[0]["parts"], &told[1]["parts"][0]["text"]), (&json!([]), &json!("new")));
        assert_eq!(conversation.last(1).len(), 1);
        assert_eq!(conversation.message(&ids[0]).unwrap()["parts"][0]["text"], "old");
    }
}
