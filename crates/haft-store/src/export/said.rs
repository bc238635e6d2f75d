//! What was said in a message, in opencode's shape, with its calls where they were made.

use base64::Engine;
use haft::{CallPart, Finish, Input, Message, Part, SessionId};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::part;
use crate::end::media;
use crate::fault::Fault;
use crate::query::CallDetail;
use crate::wire;
use crate::wire::message::MessageRecord;

/// Reads a message from its record.
pub(super) fn message(connection: &Connection, id: &str, role: &str, body: &str) -> Result<Message, Fault> {
    let record: MessageRecord = wire::read("a message", body)?;
    record.into_core(id, role, &mut |digest| media(connection, digest))
}

/// Adds who spoke, with which model, and how it ended.
pub(super) fn tell(message: &Message, info: &mut Value) {
    info["agent"] = message.agent.as_str().into();
    if let Some(model) = &message.model {
        info["providerID"] = model.provider.as_str().into();
        info["modelID"] = model.id.as_str().into();
    }
    if let Some(finish) = &message.finish {
        info["finish"] = match finish {
            Finish::Stop => "stop",
            Finish::Calls => "tool-calls",
            Finish::Length => "length",
            Finish::Filtered => "content-filter",
            Finish::Interrupted => "interrupted",
            Finish::Failed(why) => {
                info["error"] = json!({ "name": "UnknownError", "data": { "message": why } });
                "error"
            }
        }
        .into();
    }
    if message.is_summary {
        info["summary"] = true.into();
    }
    let usage = &message.usage;
    if usage.context() > 0 {
        info["tokens"] = json!({
            "input": usage.input, "output": usage.output, "reasoning": usage.reasoning,
            "cache": { "read": usage.cache_read, "write": usage.cache_write },
        });
    }
}

/// The parts in their order; calls that stand in none of them, such as those of a batch, come last.
pub(super) fn parts(message: &Message, session: &SessionId, calls: &[CallDetail]) -> Vec<Value> {
    let is_said = |call: &&CallDetail| message.calls().any(|said| said.call == call.row.id);
    let said = message.parts.iter().enumerate().map(|(at, piece)| match piece {
        Part::Call(said) => {
            let begun = calls.iter().find(|call| call.row.id == said.call);
            begun.map_or_else(|| never_begun(message, session, said), part)
        }
        Part::Text { text, is_synthetic } => {
            let mut shown = shown(message, session, at, "text");
            shown["text"] = text.as_str().into();
            if *is_synthetic {
                shown["synthetic"] = true.into();
            }
            shown
        }
        Part::Reasoning { text, .. } => {
            let mut shown = shown(message, session, at, "reasoning");
            shown["text"] = text.as_str().into();
            shown
        }
        Part::Media { mime, data, name } => {
            let mut shown = shown(message, session, at, "file");
            let encoded = base64::engine::general_purpose::STANDARD.encode(data);
            shown["mime"] = mime.as_str().into();
            shown["url"] = format!("data:{mime};base64,{encoded}").into();
            if let Some(name) = name {
                shown["filename"] = name.as_str().into();
            }
            shown
        }
    });
    said.chain(calls.iter().filter(|call| !is_said(call)).map(part)).collect()
}

fn shown(message: &Message, session: &SessionId, at: usize, kind: &str) -> Value {
    let tail = message.id.as_str().trim_start_matches("msg_");
    json!({
        "id": format!("prt_{tail}{at}"),
        "sessionID": session.as_str(),
        "messageID": message.id.as_str(),
        "type": kind,
    })
}

/// A call that was asked for and never recorded: its stream was cut, or the process died before it.
fn never_begun(message: &Message, session: &SessionId, call: &CallPart) -> Value {
    let tail = call.call.as_str().trim_start_matches("cal_");
    let input = match &call.input {
        Input::Json(value) => value.clone(),
        Input::Malformed { text, .. } => Value::from(text.as_str()),
    };
    json!({
        "id": format!("prt_{tail}"),
        "sessionID": session.as_str(),
        "messageID": message.id.as_str(),
        "type": "tool",
        "callID": call.call.as_str(),
        "tool": call.name,
        "state": { "status": "pending", "input": input },
        "metadata": { "providerCallID": call.provider_id },
    })
}
