//! The end of a call's record: written once, read back exactly.

use std::sync::Arc;

use haft::{Ended, Interruption, Rejection, Seq, Settlement};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;

use crate::events::{self, NewEvent};
use crate::fault::Fault;
use crate::reconcile;
use crate::redact::Redactor;
use crate::wire::{self, Encoded, Media};

/// How much of an error an event repeats.
const ERROR_CHARS_MAX: usize = 2000;

/// How a call ended, as it is to be recorded, without secrets.
pub(crate) struct End {
    state: &'static str,
    reason: Option<&'static str>,
    title: String,
    error: Option<String>,
    record: Encoded,
}

impl End {
    pub(crate) fn of(ended: &Ended, redactor: &Redactor) -> Result<End, Fault> {
        let record = wire::encode(ended, redactor)?;
        let error = |reason, error: String| {
            let error = redactor.owned_command(&error).chars().take(ERROR_CHARS_MAX).collect();
            ("error", Some(reason), String::new(), Some(error))
        };
        let (state, reason, title, error) = match ended {
            Ended::Settled(settlement) => match &**settlement {
                Settlement::Completed(completed) => {
                    ("completed", None, redactor.owned_command(&completed.title), None)
                }
                Settlement::Rejected(rejection) => error(Rejection::kind(rejection), rejection.to_string()),
            },
            Ended::Declined => error("declined", "the person declined the call".to_owned()),
            Ended::Broken(why) => error("defect", why.clone()),
            Ended::Cancelled => error("cancelled", "the call was cancelled".to_owned()),
            Ended::Interrupted(interruption) => {
                error("interrupted", reconcile::words(*interruption).to_owned())
            }
        };
        Ok(End { state, reason, title, error, record })
    }

    /// Ends a call. `None` if it is not under way.
    pub(crate) fn record(
        &self,
        connection: &Connection,
        call: &str,
        at_ms: i64,
    ) -> Result<Option<Seq>, Fault> {
        let Some(told) = Told::of_call(connection, call)? else { return Ok(None) };
        connection
            .prepare_cached(
                "UPDATE call SET state = ?2, reason = ?3, title = ?4, settlement = ?5, ended_ms = ?6 WHERE id = ?1",
            )?
            .execute(params![call, self.state, self.reason, self.title, self.record.json, at_ms])?;
        keep_media(connection, &self.record.media, call)?;
        connection
            .prepare_cached("UPDATE session SET updated_ms = ?2 WHERE id = ?1")?
            .execute(params![told.session, at_ms])?;
        let mut body = told.body(call);
        body["status"] = self.state.into();
        match (&self.error, self.reason) {
            (Some(error), reason) => {
                body["reason"] = reason.into();
                body["error"] = error.as_str().into();
            }
            (None, _) => body["title"] = self.title.as_str().into(),
        }
        let name = format!("call.{}", self.state);
        let event = NewEvent { at_ms, name: &name, session: &told.session, call: Some(call), body: &body };
        events::insert(connection, &event).map(Some)
    }
}

/// Keeps images and documents for whoever refers to them: a call, or a message.
pub(crate) fn keep_media(connection: &Connection, media: &[Media], used_by: &str) -> Result<(), Fault> {
    for media in media {
        connection
            .prepare_cached("INSERT OR IGNORE INTO media (digest, mime, bytes) VALUES (?1, ?2, ?3)")?
            .execute(params![media.digest, media.mime, &media.bytes[..]])?;
        connection
            .prepare_cached("INSERT OR IGNORE INTO media_use (digest, call) VALUES (?1, ?2)")?
            .execute(params![media.digest, used_by])?;
    }
    Ok(())
}

/// Whether a call is known to have changed what it was to change, from its state and its settlement.
pub(crate) fn is_done(state: &str, settlement: Option<&str>) -> Result<bool, Fault> {
    let committed = || wire::encode(&Ended::Interrupted(Interruption::Committed), &Redactor::default());
    Ok(state == "completed" || (settlement.is_some() && settlement == Some(committed()?.json.as_str())))
}

/// Reads back how a call ended.
pub(crate) fn ended(connection: &Connection, settlement: &str) -> Result<Ended, Fault> {
    wire::decode(settlement, &mut |digest| media(connection, digest))
}

/// The bytes of an image or a document.
pub(crate) fn media(connection: &Connection, digest: &str) -> Result<Arc<[u8]>, Fault> {
    let bytes: Option<Vec<u8>> = connection
        .prepare_cached("SELECT bytes FROM media WHERE digest = ?1")?
        .query_row([digest], |row| row.get(0))
        .optional()?;
    bytes.map(Arc::from).ok_or_else(|| Fault::Nonsense("a record", format!("its media {digest} is missing")))
}

/// What events say of a call that is under way.
pub(crate) struct Told {
    pub(crate) session: String,
    message: String,
    tool: String,
    /// Whether it has not begun to run.
    pub(crate) is_pending: bool,
}

impl Told {
    /// What is to be said of a call; nothing if it was never recorded, or has ended. To be asked in the transaction that
    /// changes it: to have the change itself say so takes SQLite much longer.
    pub(crate) fn of_call(connection: &Connection, call: &str) -> rusqlite::Result<Option<Told>> {
        connection
            .prepare_cached(
                "SELECT session, message, tool, state = 'pending' FROM call
                 WHERE id = ?1 AND state IN ('pending', 'running')",
            )?
            .query_row([call], |row| {
                let (session, message, tool) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(Told { session, message, tool, is_pending: row.get(3)? })
            })
            .optional()
    }

    pub(crate) fn body(&self, call: &str) -> serde_json::Value {
        json!({ "sessionID": self.session, "messageID": self.message, "callID": call, "tool": self.tool })
    }
}
