//! Events: what happened, in order, under opencode's names.

use haft::permission::{Reply, Request};
use haft::{Seq, StoreError};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::store::Store;
use crate::wire;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// Its place in the order.
    pub seq: u64,
    /// When, in Unix milliseconds.
    pub at_ms: i64,
    /// Its name, such as `call.completed`.
    pub name: String,
    /// The session it happened in.
    pub session: String,
    /// The call it is about.
    pub call: Option<String>,
    /// What happened.
    pub body: Value,
}

impl Store {
    /// The place of what happened last, from which to go on.
    pub fn last_event(&self) -> Result<u64, StoreError> {
        self.read("read the events", |connection| {
            let last: i64 =
                connection.query_row("SELECT coalesce(max(seq), 0) FROM event", [], |row| row.get(0))?;
            Ok(last.unsigned_abs())
        })
    }

    /// What happened after a place in the order, at most so much.
    pub fn events_after(&self, seq: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        self.read("read the events", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT seq, at_ms, name, session, call, body FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            )?;
            let mut rows = statement.query(params![i64::try_from(seq).unwrap_or(i64::MAX), limit])?;
            let mut events = Vec::new();
            while let Some(row) = rows.next()? {
                events.push(StoredEvent {
                    seq: row.get::<_, i64>(0)?.unsigned_abs(),
                    at_ms: row.get(1)?,
                    name: row.get(2)?,
                    session: row.get(3)?,
                    call: row.get(4)?,
                    body: wire::read("an event", row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
                });
            }
            Ok(events)
        })
    }
}

/// What is to be put into the order of events.
pub(crate) struct NewEvent<'a> {
    pub(crate) at_ms: i64,
    pub(crate) name: &'a str,
    pub(crate) session: &'a str,
    pub(crate) call: Option<&'a str>,
    pub(crate) body: &'a Value,
}

/// Puts an event into the order.
pub(crate) fn insert(connection: &Connection, event: &NewEvent<'_>) -> Result<Seq, Fault> {
    connection
        .prepare_cached("INSERT INTO event (at_ms, name, session, call, body) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![event.at_ms, event.name, event.session, event.call, event.body.to_string()])?;
    Ok(Seq(connection.last_insert_rowid().unsigned_abs()))
}

/// A request, in opencode's words.
pub(crate) fn asked(request: &Request) -> Value {
    let patterns: Vec<&str> = request.question.resources.iter().map(|resource| resource.name()).collect();
    json!({
        "id": request.id.as_str(),
        "sessionID": request.context.session.as_str(),
        "permission": request.question.action.as_str(),
        "patterns": patterns,
        "always": request.question.save,
        "metadata": {
            "title": request.showing.title,
            "detail": request.showing.detail,
            "agent": request.context.agent.as_str(),
        },
        "tool": { "messageID": request.context.message.as_str(), "callID": request.context.call.as_str() },
    })
}

/// A reply, in opencode's words.
pub(crate) fn replied(request: &Request, reply: &Reply) -> Value {
    let mut body = json!({
        "sessionID": request.context.session.as_str(),
        "requestID": request.id.as_str(),
        "permission": request.question.action.as_str(),
        "reply": reply.as_str(),
    });
    match reply {
        Reply::Once | Reply::Reject(None) => {}
        Reply::Always(scope) => body["scope"] = scope.as_str().into(),
        Reply::Reject(Some(words)) => body["message"] = words.as_str().into(),
        Reply::Edit(input) => body["input"] = input.clone(),
    }
    body
}
