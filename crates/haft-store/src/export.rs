//! Export: sessions with their messages, in opencode's shape, one piece at a time.

mod said;

use base64::Engine;
use haft::{Content, Ended, SessionId, Settlement, StoreError};
use rusqlite::Connection;
use serde_json::{Map, Value, json};

use crate::connection;
use crate::fault::Fault;
use crate::query::{CallDetail, State, detail_query};
use crate::reconcile;
use crate::sessions::SessionRow;
use crate::store::Store;

/// Whose record is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// One session's.
    Session(SessionId),
    /// Everybody's.
    All,
}

impl Store {
    /// Hands out a record piece by piece: for each session `{"type":"session",…}`, then for each of its messages
    /// `{"type":"message","info":…,"parts":[…]}`. Returns how many sessions there were.
    pub fn export(&self, whose: &Whose, give: &mut dyn FnMut(Value)) -> Result<u64, StoreError> {
        let sessions = match whose {
            Whose::Session(id) => self.session(id)?.into_iter().collect(),
            Whose::All => {
                let mut all = self.sessions(None)?;
                all.reverse();
                all
            }
        };
        for session in &sessions {
            give(session_piece(session));
            // A connection of its own, so that whoever is given a piece may use the store.
            let given = connection::open_reading(&self.0.places.database)
                .map_err(Fault::from)
                .and_then(|connection| messages(&connection, session, give));
            given.map_err(|fault| self.0.put("export a session", fault))?;
        }
        Ok(sessions.len() as u64)
    }
}

fn session_piece(session: &SessionRow) -> Value {
    let mut time = json!({ "created": session.created_ms, "updated": session.updated_ms });
    if let Some(closed) = session.closed_ms {
        time["closed"] = closed.into();
    }
    let mut piece = json!({
        "type": "session",
        "id": session.id.as_str(),
        "projectID": session.project,
        "directory": session.directory,
        "agent": session.agent,
        "title": session.title,
        "time": time,
    });
    if let Some(parent) = &session.parent {
        piece["parentID"] = parent.as_str().into();
    }
    piece
}

fn messages(connection: &Connection, session: &SessionRow, give: &mut dyn FnMut(Value)) -> Result<(), Fault> {
    // One view of the database from the first message to the last.
    let view = connection.unchecked_transaction()?;
    let mut statement = view.prepare(
        "SELECT id, role, created_ms, body FROM message WHERE session = ?1 AND place IS NOT NULL ORDER BY place",
    )?;
    let mut places = places(&view, session.id.as_str())?;
    let mut rows = statement.query([session.id.as_str()])?;
    while let Some(row) = rows.next()? {
        let (id, role, created): (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let body: Option<String> = row.get(3)?;
        let mut calls = Vec::new();
        let mut call = view.prepare_cached(&detail_query("seq = ?1"))?;
        for seq in places.remove(&id).unwrap_or_default() {
            let mut found = call.query([seq])?;
            if let Some(row) = found.next()? {
                calls.push(CallDetail::of(&view, row)?);
            }
        }
        let mut info = json!({
            "id": id, "sessionID": session.id.as_str(), "role": role, "agent": session.agent,
            "time": { "created": created },
        });
        let parts = match body {
            Some(body) => {
                let message = said::message(&view, &id, &role, &body)?;
                said::tell(&message, &mut info);
                said::parts(&message, &session.id, &calls)
            }
            None => calls.iter().map(part).collect(),
        };
        give(json!({ "type": "message", "info": info, "parts": parts }));
    }
    Ok(())
}

/// Where the calls of each message are.
fn places(
    connection: &Connection,
    session: &str,
) -> Result<std::collections::HashMap<String, Vec<i64>>, Fault> {
    let mut statement =
        connection.prepare("SELECT message, seq FROM call WHERE session = ?1 ORDER BY seq")?;
    let mut rows = statement.query([session])?;
    let mut places = std::collections::HashMap::<String, Vec<i64>>::new();
    while let Some(row) = rows.next()? {
        places.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(places)
}

/// A call as a part of its message.
fn part(call: &CallDetail) -> Value {
    let row = &call.row;
    let (tool, input) = appearance(call);
    let end = |state: Map<String, Value>| {
        let tail = row.id.as_str().trim_start_matches("cal_");
        let mut part = json!({
            "id": format!("prt_{tail}"),
            "sessionID": row.session.as_str(),
            "messageID": row.message.as_str(),
            "type": "tool",
            "callID": row.id.as_str(),
            "tool": tool,
            "state": state,
        });
        if let Some(provider_id) = &row.provider_id {
            part["metadata"] = json!({ "providerCallID": provider_id });
        }
        part
    };
    let mut state = Map::new();
    state.insert("status".to_owned(), row.state.as_str().into());
    state.insert("input".to_owned(), input);
    match &row.state {
        State::Pending => {}
        State::Running => {
            state.insert("time".to_owned(), json!({ "start": row.started_ms }));
        }
        State::Completed | State::Error { .. } => {
            outcome(call, &mut state);
            let start = row.started_ms.unwrap_or(row.called_ms);
            state.insert("time".to_owned(), json!({ "start": start, "end": row.ended_ms }));
        }
    }
    end(state)
}

/// The tool and input that a call shows in a transcript. What is no proper call of a tool is one of `invalid`.
fn appearance(call: &CallDetail) -> (String, Value) {
    let invalid = match &call.ended {
        Some(Ended::Settled(settlement)) => match &**settlement {
            Settlement::Rejected(rejection) => rejection.as_invalid(&call.row.tool),
            Settlement::Completed(_) => None,
        },
        Some(Ended::Declined | Ended::Broken(_) | Ended::Cancelled | Ended::Interrupted(_)) | None => None,
    };
    match invalid {
        Some(input) => ("invalid".to_owned(), input),
        None => (call.row.tool.clone(), call.effective_input()),
    }
}

fn outcome(call: &CallDetail, state: &mut Map<String, Value>) {
    let mut set = |key: &str, value: Value| state.insert(key.to_owned(), value).map_or((), drop);
    let reason = match &call.row.state {
        State::Error { reason } => json!({ "reason": reason }),
        State::Pending | State::Running | State::Completed => json!({}),
    };
    let mut error = |text: String| {
        set("error", text.into());
        set("metadata", reason.clone());
    };
    match &call.ended {
        Some(Ended::Settled(settlement)) => match &**settlement {
            Settlement::Completed(completed) => {
                set("output", completed.text().into());
                set("title", completed.title.as_str().into());
                set("metadata", Value::Object(completed.metadata.clone()));
                let attachments: Vec<Value> = completed
                    .content
                    .iter()
                    .enumerate()
                    .filter_map(|(at, part)| attachment(call, at, part))
                    .collect();
                if !attachments.is_empty() {
                    set("attachments", attachments.into());
                }
            }
            Settlement::Rejected(rejection) => error(rejection.to_string()),
        },
        Some(Ended::Declined) => error("the person declined the call".to_owned()),
        Some(Ended::Broken(why)) => error(why.clone()),
        Some(Ended::Cancelled) => error("the call was cancelled".to_owned()),
        Some(Ended::Interrupted(interruption)) => error(reconcile::words(*interruption).to_owned()),
        None => error("how the call ended is not on record".to_owned()),
    }
}

fn attachment(call: &CallDetail, at: usize, part: &Content) -> Option<Value> {
    let Content::Media { mime, data, name } = part else { return None };
    let encoded = base64::engine::general_purpose::STANDARD.encode(data);
    let tail = call.row.id.as_str().trim_start_matches("cal_");
    let mut attachment = json!({
        "id": format!("prt_{tail}{at}"),
        "sessionID": call.row.session.as_str(),
        "messageID": call.row.message.as_str(),
        "type": "file",
        "mime": mime,
        "url": format!("data:{mime};base64,{encoded}"),
    });
    if let Some(name) = name {
        attachment["filename"] = name.as_str().into();
    }
    Some(attachment)
}
