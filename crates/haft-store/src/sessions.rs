//! Sessions: begun, closed, listed, and removed with everything that is theirs.

use haft::{AgentId, CallId, SessionId, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::json;

use crate::background::off_thread;
use crate::clock::now_ms;
use crate::events::{self, NewEvent};
use crate::fault::Fault;
use crate::process::Census;
use crate::store::Store;
use crate::sweep::remove_files;
use crate::writer::Durability;

/// A session, as it is begun. One that is only used begins by itself, without a parent or a title.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its identity.
    pub id: SessionId,
    /// The session that began it.
    pub parent: Option<SessionId>,
    /// The agent it belongs to.
    pub agent: AgentId,
    /// A few words for a person.
    pub title: String,
}

/// A session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its identity.
    pub id: SessionId,
    /// The session that began it.
    pub parent: Option<SessionId>,
    /// The project it works in.
    pub project: String,
    /// The directory it works in.
    pub directory: String,
    /// The agent it began with.
    pub agent: String,
    /// A few words for a person.
    pub title: String,
    /// When it began, in Unix milliseconds.
    pub created_ms: i64,
    /// When something last happened in it.
    pub updated_ms: i64,
    /// When it was closed.
    pub closed_ms: Option<i64>,
    /// How many calls were made in it.
    pub calls: u64,
}

/// What came of removing a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone, with the sessions it began.
    Removed {
        /// How many sessions went.
        sessions: u64,
        /// How many calls went.
        calls: u64,
        /// How many outputs went.
        outputs: u64,
    },
    /// There is no such session.
    NotFound,
    /// A living process runs this call in it.
    Running(CallId),
}

const COLUMNS: &str =
    "SELECT id, parent, project, directory, agent, title, created_ms, updated_ms, closed_ms,
                       (SELECT count(*) FROM call WHERE call.session = session.id) FROM session";

/// A session and all that descend from it.
const TREE: &str = "WITH RECURSIVE tree (id) AS (
                        SELECT ?1 UNION SELECT session.id FROM session JOIN tree ON session.parent = tree.id
                    )";

impl Store {
    /// Begins a session, or gives one that is in use its parent and title.
    pub async fn begin_session(&self, new: &NewSession) -> Result<(), StoreError> {
        let shared = &self.0;
        let (new, title) = (new.clone(), shared.redactor.owned(&new.title));
        let (project, directory) = (shared.project.clone(), shared.directory.clone());
        let (process, at_ms) = (shared.process.id().to_owned(), now_ms());
        self.write("begin a session", Durability::Process, move |connection| {
            let (id, parent) = (new.id.as_str(), new.parent.as_ref().map(SessionId::as_str));
            let known: bool = connection
                .query_row("SELECT count(*) FROM session WHERE id = ?1", [id], |row| row.get(0))?;
            connection.execute(
                "INSERT INTO session (id, parent, project, directory, agent, title, created_ms, updated_ms, process)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
                 ON CONFLICT (id) DO UPDATE SET parent = coalesce(parent, excluded.parent), title = excluded.title,
                     updated_ms = excluded.updated_ms, process = excluded.process, closed_ms = NULL",
                params![id, parent, project, directory, new.agent.as_str(), title, at_ms, process],
            )?;
            let name = if known { "session.updated" } else { "session.created" };
            let body = json!({ "sessionID": id, "parentID": parent, "agent": new.agent.as_str(), "title": title });
            events::insert(connection, &NewEvent { at_ms, name, session: id, call: None, body: &body }).map(drop)
        })
        .await
    }

    /// Closes a session. Using it opens it again.
    pub async fn close_session(&self, id: &SessionId) -> Result<(), StoreError> {
        let (id, at) = (id.clone(), now_ms());
        self.write("close a session", Durability::Process, move |connection| {
            connection
                .execute("UPDATE session SET closed_ms = ?2 WHERE id = ?1", params![id.as_str(), at])?;
            Ok(())
        })
        .await
    }

    /// The sessions, the one used last first; at most so many.
    pub fn sessions(&self, limit: Option<u32>) -> Result<Vec<SessionRow>, StoreError> {
        let order = format!("ORDER BY updated_ms DESC, id DESC LIMIT {}", limit.map_or(-1, i64::from));
        self.select_sessions(&order, &[])
    }

    /// A session.
    pub fn session(&self, id: &SessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(self.select_sessions("WHERE id = ?1", &[id.as_str()])?.pop())
    }

    /// The sessions that a session began, oldest first.
    pub fn children(&self, id: &SessionId) -> Result<Vec<SessionRow>, StoreError> {
        self.select_sessions("WHERE parent = ?1 ORDER BY created_ms, id", &[id.as_str()])
    }

    /// Removes a session, those it began, and everything that is theirs; unless a living process runs a call there.
    pub async fn remove_session(&self, id: &SessionId) -> Result<Removal, StoreError> {
        let (id, run) = (id.clone(), self.0.places.run.clone());
        let (removal, outputs) = self
            .write("remove a session", Durability::Disk, move |connection| {
                remove(connection, id.as_str(), &mut Census::new(&run))
            })
            .await?;
        let shelf = self.0.places.outputs.clone();
        let removed = off_thread(move || match remove_files(&shelf, &outputs).first() {
            Some((path, why)) => Err(Fault::Said(format!("could not remove {}: {why}", path.display()))),
            None => Ok(()),
        })
        .await;
        removed.map_err(|fault| {
            fault.into_error(format!("could not remove outputs from {}", self.0.places.outputs.display()))
        })?;
        Ok(removal)
    }

    fn select_sessions(&self, rest: &str, parameters: &[&str]) -> Result<Vec<SessionRow>, StoreError> {
        self.read("read the sessions", |connection| {
            let mut statement = connection.prepare_cached(&format!("{COLUMNS} {rest}"))?;
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(SessionRow::of(row)?);
            }
            Ok(sessions)
        })
    }
}

impl SessionRow {
    fn of(row: &Row<'_>) -> Result<SessionRow, Fault> {
        let nonsense = |error: haft::InvalidId| Fault::Nonsense("a session", error.to_string());
        let (id, parent): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok(SessionRow {
            id: SessionId::parse(&id).map_err(nonsense)?,
            parent: parent.map(|parent| SessionId::parse(&parent)).transpose().map_err(nonsense)?,
            project: row.get(2)?,
            directory: row.get(3)?,
            agent: row.get(4)?,
            title: row.get(5)?,
            created_ms: row.get(6)?,
            updated_ms: row.get(7)?,
            closed_ms: row.get(8)?,
            calls: row.get::<_, i64>(9)?.unsigned_abs(),
        })
    }
}

/// Removes the rows. Returns the outputs whose files are to go.
fn remove(
    connection: &Connection,
    id: &str,
    census: &mut Census<'_>,
) -> Result<(Removal, Vec<String>), Fault> {
    let known: Option<i64> =
        connection.query_row("SELECT 1 FROM session WHERE id = ?1", [id], |row| row.get(0)).optional()?;
    if known.is_none() {
        return Ok((Removal::NotFound, Vec::new()));
    }
    let unsettled = "FROM call WHERE state IN ('pending', 'running') AND session IN tree";
    for (call, process) in pairs(connection, &format!("{TREE} SELECT id, process {unsettled}"), id)? {
        if census.is_alive(&process) {
            let call = CallId::parse(&call).map_err(|error| Fault::Nonsense("a call", error.to_string()))?;
            return Ok((Removal::Running(call), Vec::new()));
        }
    }
    let outputs =
        pairs(connection, &format!("{TREE} SELECT id, session FROM output WHERE session IN tree"), id)?;
    let delete = |what: &str| connection.execute(&format!("{TREE} DELETE FROM {what}"), [id]);
    for table in ["intent", "media_use"] {
        delete(&format!("{table} WHERE call IN (SELECT id FROM call WHERE session IN tree)"))?;
    }
    delete("media_use WHERE call IN (SELECT id FROM message WHERE session IN tree)")?;
    delete("undo WHERE call IN (SELECT id FROM call WHERE session IN tree)")?;
    connection.execute("DELETE FROM media WHERE digest NOT IN (SELECT digest FROM media_use)", [])?;
    let calls = delete("call WHERE session IN tree")? as u64;
    for table in ["message", "event", "request", "memory", "output"] {
        delete(&format!("{table} WHERE session IN tree"))?;
    }
    delete("grant_ WHERE scope = 'session' AND session IN tree")?;
    let sessions = delete("session WHERE id IN tree")? as u64;
    let removal = Removal::Removed { sessions, calls, outputs: outputs.len() as u64 };
    Ok((removal, outputs.into_iter().map(|(output, _)| output).collect()))
}

fn pairs(connection: &Connection, query: &str, id: &str) -> Result<Vec<(String, String)>, Fault> {
    let mut statement = connection.prepare(query)?;
    let pairs = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(pairs.collect::<Result<_, _>>()?)
}
