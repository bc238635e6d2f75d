//! What was said in a session, for a person to read and for programs.

use std::collections::HashSet;

use haft::{CallId, Finish, Message, Part, Role, visible, visible_lines};
use haft_store::{CallRow, Store};
use serde_json::{Value, json};

use crate::commands::log;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Prints the messages with their calls, and returns the calls that were among them.
pub(super) fn show(
    store: &Store,
    terminal: Terminal,
    said: &[Message],
    calls: &[CallRow],
) -> Result<HashSet<CallId>, Failure> {
    let style = terminal.out();
    let mut shown = HashSet::new();
    for message in said {
        let who = match message.role {
            Role::User => "user".to_owned(),
            Role::Assistant => message.agent.to_string(),
        };
        let model = message.model.as_ref().map(|model| format!("  {}/{}", model.provider, model.id));
        let summary = if message.is_summary { "  (summary)" } else { "" };
        let note = format!("{}{summary}", model.unwrap_or_default());
        terminal.line(&format!("\n{}{}", style.bold(&visible(&who)), style.dim(&visible(&note))))?;
        for part in &message.parts {
            match part {
                Part::Text { text, .. } => terminal.line(&visible_lines(text.trim_end()))?,
                Part::Reasoning { text, .. } => terminal.line(&style.dim(&visible_lines(text.trim_end())))?,
                Part::Media { mime, data, name } => {
                    let name = name.as_deref().unwrap_or("without a name");
                    terminal.line(&visible(&format!("[{mime}, {name}, {} bytes]", data.len())))?;
                }
                Part::Call(call) => {
                    shown.insert(call.call.clone());
                    let begun = calls.iter().find(|row| row.id == call.call);
                    let line = match begun {
                        Some(row) => log::line(store, terminal, row)?,
                        None => format!("{}  never begun  {}", call.call, visible(&call.name)),
                    };
                    terminal.line(&format!("  {line}"))?;
                }
            }
        }
        if let Some(end) = message.finish.as_ref().and_then(end) {
            terminal.line(&style.yellow(&visible(&end)))?;
        }
    }
    Ok(shown)
}

/// How a message ended, where that is worth a word.
fn end(finish: &Finish) -> Option<String> {
    match finish {
        Finish::Stop | Finish::Calls => None,
        Finish::Length => Some("(it ran out of room)".to_owned()),
        Finish::Filtered => Some("(its provider held something back)".to_owned()),
        Finish::Interrupted => Some("(interrupted)".to_owned()),
        Finish::Failed(why) => Some(format!("(failed: {why})")),
    }
}

/// One message as a document. The calls in it are told by their ids.
pub(super) fn document(message: &Message) -> Value {
    let part = |part: &Part| match part {
        Part::Text { text, is_synthetic } => {
            json!({ "type": "text", "text": text, "synthetic": is_synthetic })
        }
        Part::Reasoning { text, .. } => json!({ "type": "reasoning", "text": text }),
        Part::Media { mime, data, name } => {
            json!({ "type": "file", "mime": mime, "filename": name, "bytes": data.len() })
        }
        Part::Call(call) => json!({ "type": "tool", "call": call.call.as_str(), "tool": call.name }),
    };
    json!({
        "id": message.id.as_str(),
        "role": match message.role { Role::User => "user", Role::Assistant => "assistant" },
        "agent": message.agent.as_str(),
        "model": message.model.as_ref().map(|model| format!("{}/{}", model.provider, model.id)),
        "summary": message.is_summary,
        "finish": message.finish.as_ref().and_then(end),
        "parts": message.parts.iter().map(part).collect::<Vec<_>>(),
    })
}
