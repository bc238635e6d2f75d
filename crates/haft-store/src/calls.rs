//! The life of a call's record: pending, running, completed or error. Each step is one statement that checks the last.

use std::sync::Arc;

use haft::{Call, CallId, Change, Ended, Image, Input, Opened, Past, Restorer, Seq};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use crate::canonical::input_digest;
use crate::end::{Told, ended};
use crate::events::{self, NewEvent};
use crate::fault::Fault;
use crate::files::Places;
use crate::paths::StoredPath;
use crate::process::Census;
use crate::reconcile;
use crate::store::{JournalBounds, Shared};
use crate::{images, journal};

/// How far back equal calls are counted.
const REPEATS_MAX: u32 = 100;

/// A call as it is to be recorded, without secrets.
pub(crate) struct NewCall {
    call: Call,
    digest: String,
    project: String,
    directory: String,
    process: String,
    places: Places,
    restorer: Arc<dyn Restorer>,
    at_ms: i64,
}

impl NewCall {
    pub(crate) fn of(call: &Call, store: &Shared, at_ms: i64) -> NewCall {
        let redactor = &store.redactor;
        let input = match &call.input {
            Input::Json(value) => Input::Json(redactor.redact_json(value)),
            Input::Malformed { text, problem } => {
                Input::Malformed { text: redactor.owned_command(text), problem: redactor.owned(problem) }
            }
        };
        let digest = input_digest(&input);
        let name = redactor.owned(&call.name);
        NewCall {
            call: Call { context: call.context.clone(), provider_id: call.provider_id.clone(), name, input },
            digest,
            project: store.project.clone(),
            directory: store.directory.clone(),
            process: store.process.id().to_owned(),
            places: store.places.clone(),
            restorer: store.restorer.clone(),
            at_ms,
        }
    }

    /// Records the call, or says what became of it when it was made before.
    pub(crate) fn open(&self, connection: &Connection) -> Result<Opened, Fault> {
        if let Some(past) = self.past(connection)? {
            return Ok(Opened::Before(Box::new(past)));
        }
        self.touch_session(connection)?;
        let context = &self.call.context;
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO message (id, session, role, created_ms, place)
                 VALUES (?1, ?2, 'assistant', ?3, (SELECT coalesce(max(place), 0) + 1 FROM message WHERE session = ?2))",
            )?
            .execute(params![context.message.as_str(), context.session.as_str(), self.at_ms])?;
        let repeats = self.repeats(connection)?;
        self.insert(connection)?;
        let body = json!({
            "sessionID": context.session.as_str(),
            "messageID": context.message.as_str(),
            "callID": context.call.as_str(),
            "agent": context.agent.as_str(),
            "tool": self.call.name,
        });
        let seq = self.event(connection, "call.pending", &body)?;
        Ok(Opened::New { seq, repeats })
    }

    fn past(&self, connection: &Connection) -> Result<Option<Past>, Fault> {
        let context = &self.call.context;
        let by_key = connection
            .prepare_cached(&past_where("session = ?1 AND message = ?2 AND provider_id = ?3"))?
            .query_row(
                params![context.session.as_str(), context.message.as_str(), self.call.provider_id],
                PastRow::of,
            )
            .optional()?;
        let found = match by_key {
            Some(row) => Some(row),
            None => connection
                .prepare_cached(&past_where("id = ?1"))?
                .query_row([context.call.as_str()], PastRow::of)
                .optional()?,
        };
        let Some(row) = found else { return Ok(None) };
        if let (Some(theirs), Some(ours)) = (&row.provider_id, &self.call.provider_id)
            && theirs != ours
        {
            return Err(Fault::Said(format!("the call id {} is taken by another call", context.call)));
        }
        if (row.tool.as_str(), row.digest.as_str()) != (self.call.name.as_str(), self.digest.as_str()) {
            return Err(Fault::Said(format!(
                "{} was another call: a repetition has the same tool and input",
                row.id
            )));
        }
        row.into_past(connection, self).map(Some)
    }

    fn touch_session(&self, connection: &Connection) -> Result<(), Fault> {
        let context = &self.call.context;
        let touched = connection
            .prepare_cached(
                "UPDATE session SET updated_ms = ?2, process = ?3, closed_ms = NULL WHERE id = ?1",
            )?
            .execute(params![context.session.as_str(), self.at_ms, self.process])?;
        if touched > 0 {
            return Ok(());
        }
        connection
            .prepare_cached(
                "INSERT INTO session (id, project, directory, agent, title, created_ms, updated_ms, process)
                 VALUES (?1, ?2, ?3, ?4, '', ?5, ?5, ?6)",
            )?
            .execute(params![
                context.session.as_str(),
                self.project,
                self.directory,
                context.agent.as_str(),
                self.at_ms,
                self.process,
            ])?;
        let body = json!({ "sessionID": context.session.as_str(), "agent": context.agent.as_str() });
        self.event(connection, "session.created", &body).map(drop)
    }

    /// How many calls right before this one were the same.
    fn repeats(&self, connection: &Connection) -> Result<u32, Fault> {
        let mut statement = connection.prepare_cached(
            "SELECT tool = ?2 AND input_digest = ?3 FROM call WHERE session = ?1 ORDER BY seq DESC LIMIT ?4",
        )?;
        let mut rows = statement.query(params![
            self.call.context.session.as_str(),
            self.call.name,
            self.digest,
            REPEATS_MAX
        ])?;
        let mut repeats = 0;
        while let Some(row) = rows.next()? {
            if !row.get::<_, bool>(0)? {
                break;
            }
            repeats += 1;
        }
        Ok(repeats)
    }

    fn insert(&self, connection: &Connection) -> Result<(), Fault> {
        let context = &self.call.context;
        let (input, malformed) = match &self.call.input {
            Input::Json(value) => (value.to_string(), None),
            Input::Malformed { text, problem } => (text.clone(), Some(problem)),
        };
        connection
            .prepare_cached(
                "INSERT INTO call (id, session, message, provider_id, agent, tool, input, malformed, input_digest,
                                   state, process, called_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending', ?10, ?11)",
            )?
            .execute(params![
                context.call.as_str(),
                context.session.as_str(),
                context.message.as_str(),
                self.call.provider_id,
                context.agent.as_str(),
                self.call.name,
                input,
                malformed,
                self.digest,
                self.process,
                self.at_ms,
            ])?;
        Ok(())
    }

    fn event(&self, connection: &Connection, name: &str, body: &serde_json::Value) -> Result<Seq, Fault> {
        let context = &self.call.context;
        let call = name.starts_with("call.").then(|| context.call.as_str());
        let session = context.session.as_str();
        events::insert(connection, &NewEvent { at_ms: self.at_ms, name, session, call, body })
    }
}

fn past_where(condition: &str) -> String {
    format!("SELECT id, provider_id, process, settlement, tool, input_digest FROM call WHERE {condition}")
}

/// A call that was made before.
struct PastRow {
    id: String,
    provider_id: Option<String>,
    process: String,
    settlement: Option<String>,
    tool: String,
    digest: String,
}

impl PastRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<PastRow> {
        Ok(PastRow {
            id: row.get(0)?,
            provider_id: row.get(1)?,
            process: row.get(2)?,
            settlement: row.get(3)?,
            tool: row.get(4)?,
            digest: row.get(5)?,
        })
    }

    fn into_past(self, connection: &Connection, asking: &NewCall) -> Result<Past, Fault> {
        let id = CallId::parse(&self.id).map_err(|error| Fault::Nonsense("a call", error.to_string()))?;
        if let Some(settlement) = self.settlement {
            return Ok(Past::Ended(id, ended(connection, &settlement)?));
        }
        // Its process may have died since this one started.
        if self.process != asking.process && !Census::new(&asking.places.run).is_alive(&self.process) {
            let settled = reconcile::one(connection, &asking.places, &*asking.restorer, &self.id)?;
            // Otherwise somebody else is just finding out what became of it.
            if let Some(interruption) = settled {
                return Ok(Past::Ended(id, Ended::Interrupted(interruption)));
            }
        }
        Ok(Past::Running(id))
    }
}

/// Records that a call runs.
pub(crate) fn run(
    connection: &Connection,
    call: &str,
    changed_input: Option<&str>,
    at_ms: i64,
) -> Result<Seq, Fault> {
    let told = Told::of_call(connection, call)?;
    let runs_anew = |told: &Told| told.is_pending || changed_input.is_some();
    let told = told.filter(runs_anew).ok_or_else(|| not_under_way(call))?;
    connection
        .prepare_cached(
            "UPDATE call SET state = 'running', started_ms = ?2, changed_input = ?3 WHERE id = ?1",
        )?
        .execute(params![call, at_ms, changed_input])?;
    let body = told.body(call);
    events::insert(
        connection,
        &NewEvent { at_ms, name: "call.running", session: &told.session, call: Some(call), body: &body },
    )
}

/// Records that a call is about to change something. A change of a file that the call has changed already goes on from
/// there; otherwise the earlier one was never made, and was planned anew. Says whether the journal
/// forgot something to make room.
pub(crate) fn act(
    connection: &Connection,
    call: &str,
    changes: &[(StoredPath, Change)],
    places: &Places,
    bounds: JournalBounds,
    at_ms: i64,
) -> Result<bool, Fault> {
    let changed = connection
        .prepare_cached(
            "UPDATE call SET acted = 1, blind = max(blind, ?2) WHERE id = ?1 AND state IN ('pending', 'running')",
        )?
        .execute(params![call, changes.is_empty()])?;
    if changed == 0 {
        return Err(not_under_way(call));
    }
    for (path, change) in changes {
        announce(connection, call, path, change)?;
        for image in [&change.before, &change.after].into_iter().flatten() {
            images::keep(connection, places, bounds, image, at_ms)?;
        }
    }
    if images::total(connection)? > bounds.bytes {
        // With room to spare, so that a full journal is not searched at every change.
        let roomy = JournalBounds { bytes: bounds.bytes - bounds.bytes / 8, ..bounds };
        let (forgotten, _) = images::forget(connection, roomy, at_ms)?;
        return Ok(forgotten > 0);
    }
    Ok(false)
}

fn announce(connection: &Connection, call: &str, path: &StoredPath, change: &Change) -> Result<(), Fault> {
    let digest = |image: &Option<Image>| image.as_ref().map(|image| image.digest.clone());
    let attributes = |image: &Option<Image>| {
        image.as_ref().and_then(|image| image.attributes.as_ref()).map(journal::written).transpose()
    };
    connection
        .prepare_cached(
            "INSERT INTO intent (call, path, before, after, before_attributes, after_attributes, made, midway, sealed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, ?9)
             ON CONFLICT (call, path) DO UPDATE SET
                 before = iif(excluded.before IS after OR excluded.before = midway, before, excluded.before),
                 before_attributes = iif(excluded.before IS after OR excluded.before = midway,
                                         before_attributes, excluded.before_attributes),
                 made = iif(excluded.before IS after OR excluded.before = midway, made, excluded.made),
                 midway = iif(excluded.before IS after OR excluded.before = midway, ?8, NULL),
                 after = excluded.after,
                 after_attributes = excluded.after_attributes",
        )?
        .execute(params![
            call,
            path.name,
            digest(&change.before),
            digest(&change.after),
            attributes(&change.before)?,
            attributes(&change.after)?,
            i64::try_from(change.made).unwrap_or(0),
            change.midway,
            path.sealed,
        ])?;
    let mut undo =
        connection.prepare_cached("INSERT OR IGNORE INTO undo (call, path, undone) VALUES (?1, ?2, ?3)")?;
    for undone in &change.undoes {
        undo.execute(params![call, path.name, undone.as_str()])?;
    }
    Ok(())
}

/// The fault of taking a step with a call that never began or has ended.
pub(crate) fn not_under_way(call: &str) -> Fault {
    Fault::Said(format!("the call {call} is not under way: it was never recorded, or it has ended"))
}
