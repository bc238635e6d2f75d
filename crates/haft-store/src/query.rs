//! Looking things up: the calls, one by one or filtered.

use haft::{CallId, Ended, Input, Intent, MessageId, Output, SessionId, Settlement, StoreError};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::Value;

use crate::fault::Fault;
use crate::store::Store;
use crate::{end, journal, wire};

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It waits to run.
    Pending,
    /// It runs.
    Running,
    /// It did its work.
    Completed,
    /// It ended otherwise, for this reason: `denied`, `cancelled`, `interrupted`, `failed` and so on.
    Error {
        /// The reason, in one word.
        reason: String,
    },
}

impl State {
    /// The word for it: `pending`, `running`, `completed` or `error`.
    pub fn as_str(&self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Running => "running",
            State::Completed => "completed",
            State::Error { .. } => "error",
        }
    }
}

/// Which calls are wanted. The default is all of them.
#[derive(Debug, Clone, Default)]
pub struct CallFilter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this tool.
    pub tool: Option<String>,
    /// In this state, or ended for this reason.
    pub status: Option<String>,
    /// Made at or after this time, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Recorded after the call with this place in the order.
    pub after: Option<u64>,
    /// No more than so many: the first after `after`, or else the last.
    pub limit: Option<u32>,
}

impl CallFilter {
    /// Whether a call is one of those wanted, wherever it stands in the order.
    pub fn takes(&self, call: &CallRow) -> bool {
        let status = |wanted: &String| match &call.state {
            State::Error { reason } => wanted == reason || wanted == call.state.as_str(),
            State::Pending | State::Running | State::Completed => wanted == call.state.as_str(),
        };
        self.session.as_ref().is_none_or(|session| *session == call.session)
            && self.tool.as_ref().is_none_or(|tool| *tool == call.tool)
            && self.status.as_ref().is_none_or(status)
            && self.since_ms.is_none_or(|since| call.called_ms >= since)
    }
}

/// A call, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    /// Its place in the order.
    pub seq: u64,
    /// Its identity.
    pub id: CallId,
    /// Its session.
    pub session: SessionId,
    /// The message that holds it.
    pub message: MessageId,
    /// The provider's own id of it.
    pub provider_id: Option<String>,
    /// The agent on whose behalf it was made.
    pub agent: String,
    /// The tool's name, as it was written.
    pub tool: String,
    /// How far it is.
    pub state: State,
    /// Whether it changed, or was about to change, something.
    pub acted: bool,
    /// A few words for a person.
    pub title: String,
    /// When it was made, in Unix milliseconds.
    pub called_ms: i64,
    /// When it began to run.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
}

/// A call, with everything that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDetail {
    /// The call, in short.
    pub row: CallRow,
    /// Its input, as it was sent.
    pub input: Input,
    /// The input it ran on, if a hook changed it.
    pub changed_input: Option<Value>,
    /// How it ended.
    pub ended: Option<Ended>,
    /// The changes it announced.
    pub intents: Vec<Intent>,
    /// The output it retained, if that is still there.
    pub output: Option<Output>,
}

/// What was found under the beginning of an id.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// Exactly one.
    One(Box<T>),
    /// Nothing.
    Nothing,
    /// Several, some of which are these.
    Several(Vec<CallId>),
}

/// How many ids are named when a beginning fits several.
const NAMED_MAX: usize = 5;

pub(crate) const COLUMNS: &str = "SELECT seq, id, session, message, provider_id, agent, tool, state, reason, acted, \
                                  title, called_ms, started_ms, ended_ms";

impl Store {
    /// The calls that a filter lets through, in the order they were made.
    pub fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, StoreError> {
        let (condition, parameters) = condition(filter);
        let order = if filter.after.is_some() { "ASC" } else { "DESC" };
        let limit = filter.limit.map_or(-1, i64::from);
        let query = format!("{COLUMNS} FROM call WHERE {condition} ORDER BY seq {order} LIMIT {limit}");
        let mut calls = self.read("read the calls", |connection| {
            let mut statement = connection.prepare(&query)?;
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            let mut calls = Vec::new();
            while let Some(row) = rows.next()? {
                calls.push(CallRow::of(row)?);
            }
            Ok(calls)
        })?;
        if filter.after.is_none() {
            calls.reverse();
        }
        Ok(calls)
    }

    /// The call of an id, or of the beginning of one.
    pub fn call(&self, id: &str) -> Result<Lookup<CallDetail>, StoreError> {
        let found = self.read("find a call", |connection| {
            let ids = ids_beginning(connection, id)?;
            match ids.as_slice() {
                [] => Ok(Lookup::Nothing),
                [only] => detail(connection, only).map(Lookup::One),
                several => {
                    Ok(Lookup::Several(several.iter().filter_map(|id| CallId::parse(id).ok()).collect()))
                }
            }
        })?;
        match found {
            Lookup::One(mut detail) => {
                detail.output = self.output_told_by(&detail)?;
                Ok(Lookup::One(detail))
            }
            other => Ok(other),
        }
    }

    /// The output that the model was told of, be it one of several: a command may have been run again with more than it
    /// had at first. Of a call that came to no result it is the last.
    fn output_told_by(&self, call: &CallDetail) -> Result<Option<Output>, StoreError> {
        let told = match &call.ended {
            Some(Ended::Settled(settlement)) => match &**settlement {
                Settlement::Completed(completed) => Some(&completed.retained),
                Settlement::Rejected(_) => None,
            },
            Some(Ended::Declined | Ended::Broken(_) | Ended::Cancelled | Ended::Interrupted(_)) | None => {
                None
            }
        };
        match told {
            Some(Some(output)) => self.output(&output.id),
            Some(None) => Ok(None),
            None => self.output_of(&call.row.id),
        }
    }
}

impl CallRow {
    pub(crate) fn of(row: &Row<'_>) -> Result<CallRow, Fault> {
        let text = |at: usize| row.get::<_, String>(at);
        let nonsense = |error: haft::InvalidId| Fault::Nonsense("a call", error.to_string());
        let (state, reason) = (text(7)?, row.get::<_, Option<String>>(8)?);
        Ok(CallRow {
            seq: row.get::<_, i64>(0)?.unsigned_abs(),
            id: CallId::parse(&text(1)?).map_err(nonsense)?,
            session: SessionId::parse(&text(2)?).map_err(nonsense)?,
            message: MessageId::parse(&text(3)?).map_err(nonsense)?,
            provider_id: row.get(4)?,
            agent: text(5)?,
            tool: text(6)?,
            state: match state.as_str() {
                "pending" => State::Pending,
                "running" => State::Running,
                "completed" => State::Completed,
                _ => State::Error { reason: reason.unwrap_or_default() },
            },
            acted: row.get(9)?,
            title: text(10)?,
            called_ms: row.get(11)?,
            started_ms: row.get(12)?,
            ended_ms: row.get(13)?,
        })
    }
}

impl CallDetail {
    /// Reads a row of [`COLUMNS`] followed by `input, malformed, changed_input, settlement`.
    pub(crate) fn of(connection: &Connection, row: &Row<'_>) -> Result<CallDetail, Fault> {
        let (text, malformed): (String, Option<String>) = (row.get(14)?, row.get(15)?);
        let input = match malformed {
            Some(problem) => Input::Malformed { text, problem },
            None => Input::Json(wire::read("an input", &text)?),
        };
        let changed: Option<String> = row.get(16)?;
        let settlement: Option<String> = row.get(17)?;
        let row = CallRow::of(row)?;
        Ok(CallDetail {
            input,
            changed_input: changed.map(|json| wire::read("an input", &json)).transpose()?,
            ended: settlement.map(|json| end::ended(connection, &json)).transpose()?,
            intents: journal::shown(connection, row.id.as_str())?,
            output: None,
            row,
        })
    }

    /// The input the call ran on, or would have.
    pub fn effective_input(&self) -> Value {
        match (&self.changed_input, &self.input) {
            (Some(changed), _) => changed.clone(),
            (None, Input::Json(value)) => value.clone(),
            (None, Input::Malformed { text, .. }) => Value::from(text.as_str()),
        }
    }
}

pub(crate) fn detail_query(condition: &str) -> String {
    format!("{COLUMNS}, input, malformed, changed_input, settlement FROM call WHERE {condition}")
}

fn detail(connection: &Connection, id: &str) -> Result<Box<CallDetail>, Fault> {
    let mut statement = connection.prepare_cached(&detail_query("id = ?1"))?;
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => CallDetail::of(connection, row).map(Box::new),
        None => Err(Fault::Nonsense("a call", format!("{id} is gone"))),
    }
}

fn ids_beginning(connection: &Connection, start: &str) -> Result<Vec<String>, Fault> {
    let exact: Option<String> =
        connection.query_row("SELECT id FROM call WHERE id = ?1", [start], |row| row.get(0)).optional()?;
    if let Some(id) = exact {
        return Ok(vec![id]);
    }
    if start.is_empty() {
        return Ok(Vec::new());
    }
    // Every character of an id sorts before `~`.
    let mut statement =
        connection.prepare("SELECT id FROM call WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2")?;
    let ids = statement.query_map((start, NAMED_MAX as i64), |row| row.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

fn condition(filter: &CallFilter) -> (String, Vec<SqlValue>) {
    let mut conditions = vec!["true".to_owned()];
    let mut parameters: Vec<SqlValue> = Vec::new();
    let mut add = |condition: &str, parameter: SqlValue| {
        parameters.push(parameter);
        conditions.push(condition.replace('?', &format!("?{}", parameters.len())));
    };
    let CallFilter { session, tool, status, since_ms, after, limit: _ } = filter;
    if let Some(session) = session {
        add("session = ?", session.as_str().to_owned().into());
    }
    if let Some(tool) = tool {
        add("tool = ?", tool.clone().into());
    }
    if let Some(status) = status {
        add("(state = ? OR reason = ?)", status.clone().into());
    }
    if let Some(since) = since_ms {
        add("called_ms >= ?", (*since).into());
    }
    if let Some(after) = after {
        add("seq > ?", i64::try_from(*after).unwrap_or(i64::MAX).into());
    }
    (conditions.join(" AND "), parameters)
}
