//! The seam of the journal: what calls changed, and which of it was undone.

use haft::{Attributes, BoxFuture, CallId, Change, Intent, Journal, Journaled, StoreError};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::end;
use crate::fault::Fault;
use crate::files::Places;
use crate::store::Store;
use crate::{kept, paths, reconcile};

/// How long a chain of undoing and undoing that is followed.
const CHAIN_MAX: usize = 1000;

impl Journal for Store {
    fn changes<'a>(&'a self, call: &'a CallId) -> BoxFuture<'a, Result<Vec<Journaled>, StoreError>> {
        let found = self.read("read the journal", |connection| {
            let ended = connection
                .query_row("SELECT state, settlement FROM call WHERE id = ?1", [call.as_str()], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
                })
                .optional()?;
            let Some((state, settlement)) = ended else { return Ok(Vec::new()) };
            let is_certain = end::is_done(&state, settlement.as_deref())?;
            let mut found = Vec::new();
            for (path, change) in rows(connection, &self.0.places, call.as_str())? {
                let undone_by = undone_by(connection, &self.0.places, call.as_str(), &path, 0)?;
                let undone_by = undone_by.and_then(|id| CallId::parse(&id).ok());
                found.push(Journaled { call: call.clone(), is_certain, undone_by, change });
            }
            Ok(found)
        });
        Box::pin(std::future::ready(found))
    }
}

impl Store {
    /// The calls that changed files, are no undoing themselves and are not undone altogether: of a session, or else of
    /// the project; the newest first. Of a call that was cancelled, failed or died, the files tell whether it did.
    pub fn undoable(
        &self,
        session: Option<&haft::SessionId>,
        limit: usize,
    ) -> Result<Vec<CallId>, StoreError> {
        self.read("read the journal", |connection| {
            let mut statement = connection.prepare(
                "SELECT call.id, state, settlement FROM call JOIN session ON session.id = call.session
                 WHERE (session.id = ?1 OR (?1 IS NULL AND session.project = ?2))
                   AND state IN ('completed', 'error')
                   AND EXISTS (SELECT 1 FROM intent WHERE intent.call = call.id)
                   AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.call = call.id)
                 ORDER BY call.seq DESC",
            )?;
            let mut calls = statement.query(params![session.map(haft::SessionId::as_str), self.0.project])?;
            let mut found = Vec::new();
            while let Some(row) = calls.next()? {
                let (id, state): (String, String) = (row.get(0)?, row.get(1)?);
                let is_certain = end::is_done(&state, row.get::<_, Option<String>>(2)?.as_deref())?;
                let mut is_standing = false;
                for (path, intent) in announced(connection, &self.0.places, &id)? {
                    let was_made = || is_certain || is_made(&intent);
                    is_standing |=
                        undone_by(connection, &self.0.places, &id, &path, 0)?.is_none() && was_made();
                }
                if is_standing {
                    found.extend(CallId::parse(&id).ok());
                }
                if found.len() == limit {
                    break;
                }
            }
            Ok(found)
        })
    }
}

/// The changes that a call announced, each with the name that its path is stored under.
pub(crate) fn announced(
    connection: &Connection,
    places: &Places,
    call: &str,
) -> Result<Vec<(SqlValue, Intent)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT path, sealed, before, after, midway FROM intent WHERE call = ?1 ORDER BY path",
    )?;
    let mut rows = statement.query([call])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let path = paths::exact(row.get_ref(0)?, row.get(1)?, places)?;
        let intent = Intent { path, before: row.get(2)?, after: row.get(3)?, midway: row.get(4)? };
        found.push((row.get(0)?, intent));
    }
    Ok(found)
}

/// The changes that a call announced, as they may be shown.
pub(crate) fn shown(connection: &Connection, call: &str) -> Result<Vec<Intent>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT path, before, after, midway FROM intent WHERE call = ?1 ORDER BY path")?;
    let found = statement.query_map([call], |row| {
        let path = paths::shown(row.get_ref(0)?);
        Ok(Intent { path, before: row.get(1)?, after: row.get(2)?, midway: row.get(3)? })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Whether a file holds what a call was to leave, and did not before.
fn is_made(intent: &Intent) -> bool {
    let found = reconcile::look(intent);
    found.is_after && !found.is_before
}

/// The changes that a call announced, with their images.
pub(crate) fn changes(connection: &Connection, places: &Places, call: &str) -> Result<Vec<Change>, Fault> {
    Ok(rows(connection, places, call)?.into_iter().map(|(_, change)| change).collect())
}

fn rows(connection: &Connection, places: &Places, call: &str) -> Result<Vec<(SqlValue, Change)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT path, before, after, before_attributes, after_attributes, made, midway, sealed FROM intent
         WHERE call = ?1 ORDER BY path",
    )?;
    let mut rows = statement.query([call])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let image = |digest: usize, attributes: usize| -> Result<_, Fault> {
            let Some(digest) = row.get::<_, Option<String>>(digest)? else { return Ok(None) };
            let mut image = kept::find(connection, places, digest)?;
            image.attributes =
                row.get::<_, Option<String>>(attributes)?.map(|text| read(&text)).transpose()?;
            Ok(Some(image))
        };
        let path: SqlValue = row.get(0)?;
        let change = Change {
            path: paths::exact(row.get_ref(0)?, row.get(7)?, places)?,
            before: image(1, 3)?,
            after: image(2, 4)?,
            midway: row.get(6)?,
            made: usize::try_from(row.get::<_, i64>(5)?).unwrap_or(0),
            undoes: undoes(connection, call, &path)?,
        };
        found.push((path, change));
    }
    Ok(found)
}

fn undoes(connection: &Connection, call: &str, path: &SqlValue) -> Result<Vec<CallId>, Fault> {
    let mut statement = connection.prepare_cached("SELECT undone FROM undo WHERE call = ?1 AND path = ?2")?;
    let found = statement.query_map(params![call, path], |row| row.get::<_, String>(0))?;
    let found = found.collect::<Result<Vec<_>, _>>()?;
    Ok(found.iter().filter_map(|id| CallId::parse(id).ok()).collect())
}

/// The call that undid a change, unless that was undone in turn. Of one that did not complete, the file tells.
pub(crate) fn undone_by(
    connection: &Connection,
    places: &Places,
    call: &str,
    path: &SqlValue,
    depth: usize,
) -> Result<Option<String>, Fault> {
    if depth > CHAIN_MAX {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached(
        "SELECT undo.call, state, settlement FROM undo JOIN call ON call.id = undo.call
         WHERE undo.undone = ?1 AND undo.path = ?2 AND state IN ('completed', 'error') ORDER BY call.seq DESC",
    )?;
    let undoing = statement.query_map(params![call, path], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    })?;
    for (by, state, settlement) in undoing.collect::<Result<Vec<_>, _>>()? {
        let is_undoing =
            end::is_done(&state, settlement.as_deref())? || is_made_at(connection, places, &by, path)?;
        if is_undoing && undone_by(connection, places, &by, path, depth + 1)?.is_none() {
            return Ok(Some(by));
        }
    }
    Ok(None)
}

/// Whether a file holds what a call was to leave there.
pub(crate) fn is_made_at(
    connection: &Connection,
    places: &Places,
    call: &str,
    path: &SqlValue,
) -> Result<bool, Fault> {
    let announced = announced(connection, places, call)?;
    Ok(announced.iter().any(|(name, intent)| name == path && is_made(intent)))
}

/// What a file has besides its content, as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    mode: u32,
    owner: u32,
    group: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extended: Vec<(Vec<u8>, Vec<u8>)>,
}

pub(crate) fn written(attributes: &Attributes) -> Result<String, Fault> {
    let Attributes { mode, owner, group, extended } = attributes.clone();
    let stored = Stored { mode, owner, group, extended };
    serde_json::to_string(&stored).map_err(|error| Fault::Json("a file's attributes", error))
}

fn read(text: &str) -> Result<Attributes, Fault> {
    let stored: Stored =
        serde_json::from_str(text).map_err(|error| Fault::Json("a file's attributes", error))?;
    let Stored { mode, owner, group, extended } = stored;
    Ok(Attributes { mode, owner, group, extended })
}
