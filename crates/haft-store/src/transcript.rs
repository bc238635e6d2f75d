//! The seam of conversations: who may run a session, and what was said in it.

use std::collections::HashMap;

use haft::{
    BoxFuture, CallId, History, Lease, LeaseError, Message, MessageId, Note, SessionId, SessionStart, Shelf,
    StoreError, Transcript,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::clock::now_ms;
use crate::end::{ended, keep_media, media};
use crate::fault::Fault;
use crate::process::Census;
use crate::sessions::NewSession;
use crate::store::Store;
use crate::wire;
use crate::wire::message::{MessageRecord, encode, encode_note};
use crate::writer::Durability;

impl Transcript for Store {
    fn lease<'a>(&'a self, start: &'a SessionStart) -> BoxFuture<'a, Result<Lease, LeaseError>> {
        Box::pin(async move {
            let SessionStart { id, parent, agent, title } = start.clone();
            let known = self.session(&id)?;
            let title = match (title.is_empty(), &known) {
                (true, Some(known)) => known.title.clone(),
                (true, None) | (false, _) => title,
            };
            let new = NewSession { id: id.clone(), parent, agent, title };
            // Whoever is refused has changed nothing.
            let fence = match known {
                Some(_) => {
                    let fence = self.take_over(&id).await?;
                    self.begin_session(&new).await?;
                    fence
                }
                None => {
                    self.begin_session(&new).await?;
                    self.take_over(&id).await?
                }
            };
            let (store, session) = (self.clone(), id.clone());
            Ok(Lease::new(id, fence, move || store.give_back(&session, fence)))
        })
    }

    fn save<'a>(&'a self, lease: &'a Lease, message: &'a Message) -> BoxFuture<'a, Result<(), StoreError>> {
        let what = "keep a message";
        let (body, kept) = match encode(message, &self.0.redactor) {
            Ok(encoded) => encoded,
            Err(fault) => return Box::pin(std::future::ready(Err(self.0.put(what, fault)))),
        };
        let (session, fence, id) = (lease.session().clone(), lease.fence(), message.id.clone());
        let (role, at_ms) = (wire::message::role(message.role), now_ms());
        Box::pin(self.write(what, Durability::Process, move |connection| {
            if fence_of(connection, session.as_str())? != Some(fence) {
                return Err(Fault::Said(format!("somebody else runs the session {session} now")));
            }
            connection
                .prepare_cached(
                    "INSERT INTO message (id, session, role, created_ms, body, place)
                     VALUES (?1, ?2, ?3, ?4, ?5, (SELECT coalesce(max(place), 0) + 1 FROM message WHERE session = ?2))
                     ON CONFLICT (session, id)
                     DO UPDATE SET body = excluded.body, place = coalesce(message.place, excluded.place)",
                )?
                .execute(params![id.as_str(), session.as_str(), role, at_ms, body])?;
            keep_media(connection, &kept, id.as_str())
        }))
    }

    fn history<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<History, StoreError>> {
        let history = self.session(session).and_then(|known| {
            self.read("read a conversation", |connection| {
                Ok(History {
                    parent: known.and_then(|known| known.parent),
                    messages: messages(connection, session.as_str())?,
                    ended: ends(connection, session.as_str())?,
                })
            })
        });
        Box::pin(std::future::ready(history))
    }

    fn waiting<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Note>, StoreError>> {
        let notes = self.read("read what waits to be said", |connection| notes(connection, session.as_str()));
        Box::pin(std::future::ready(notes))
    }
}

impl Shelf for Store {
    fn put(&self, session: &SessionId, note: &Note) {
        // What cannot be written down waits in its process alone, as it would without a shelf.
        let Ok((body, kept)) = encode_note(note, &self.0.redactor) else { return };
        let (session, id, at_ms) = (session.clone(), note.id.clone(), now_ms());
        self.0.writer.post(Durability::Process, move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO message (id, session, role, created_ms, body) VALUES (?1, ?2, 'user', ?3, ?4)
                     ON CONFLICT (session, id) DO UPDATE SET body = excluded.body WHERE place IS NULL",
                )?
                .execute(params![id.as_str(), session.as_str(), at_ms, body])?;
            keep_media(connection, &kept, id.as_str())
        });
    }

    fn remove(&self, session: &SessionId, note: &MessageId) {
        let (session, id) = (session.clone(), note.clone());
        self.0.writer.post(Durability::Process, move |connection| {
            let removed = connection
                .prepare_cached("DELETE FROM message WHERE session = ?1 AND id = ?2 AND place IS NULL")?
                .execute([session.as_str(), id.as_str()])?;
            if removed > 0 {
                connection.prepare_cached("DELETE FROM media_use WHERE call = ?1")?.execute([id.as_str()])?;
            }
            Ok(())
        });
    }
}

impl Store {
    /// Becomes the one who runs a session, unless a living process is. Returns the new fence.
    async fn take_over(&self, id: &SessionId) -> Result<u64, LeaseError> {
        let (session, process) = (id.clone(), self.0.process.id().to_owned());
        let run = self.0.places.run.clone();
        let taken = self.write("take a session over", Durability::Process, move |connection| {
            take(connection, session.as_str(), &process, &mut Census::new(&run))
        });
        taken.await?.ok_or_else(|| LeaseError::Held(id.clone()))
    }

    /// Lets others run a session, unless somebody does so already.
    fn give_back(&self, session: &SessionId, fence: u64) {
        let session = session.clone();
        self.0.writer.post(Durability::Process, move |connection| {
            connection
                .prepare_cached("UPDATE session SET runner = NULL WHERE id = ?1 AND fence = ?2")?
                .execute(params![session.as_str(), fence.cast_signed()])?;
            Ok(())
        });
    }
}

/// Takes a session over, unless a living process runs it. Returns the new fence.
fn take(
    connection: &Connection,
    session: &str,
    process: &str,
    census: &mut Census<'_>,
) -> Result<Option<u64>, Fault> {
    let runner: Option<String> = connection
        .prepare_cached("SELECT runner FROM session WHERE id = ?1")?
        .query_row([session], |row| row.get(0))?;
    if runner.is_some_and(|runner| census.is_alive(&runner)) {
        return Ok(None);
    }
    let fence: i64 = connection
        .prepare_cached(
            "UPDATE session SET runner = ?2, fence = fence + 1, process = ?2 WHERE id = ?1 RETURNING fence",
        )?
        .query_row([session, process], |row| row.get(0))?;
    Ok(Some(fence.cast_unsigned()))
}

fn fence_of(connection: &Connection, session: &str) -> Result<Option<u64>, Fault> {
    let fence: Option<i64> = connection
        .prepare_cached("SELECT fence FROM session WHERE id = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    Ok(fence.map(i64::cast_unsigned))
}

fn messages(connection: &Connection, session: &str) -> Result<Vec<Message>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, role, body FROM message
         WHERE session = ?1 AND body IS NOT NULL AND place IS NOT NULL ORDER BY place",
    )?;
    let mut rows = statement.query([session])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, role, body): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let record: MessageRecord = wire::read("a message", &body)?;
        messages.push(record.into_core(&id, &role, &mut |digest| media(connection, digest))?);
    }
    Ok(messages)
}

fn notes(connection: &Connection, session: &str) -> Result<Vec<Note>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT id, body FROM message
         WHERE session = ?1 AND body IS NOT NULL AND place IS NULL ORDER BY created_ms, id",
    )?;
    let mut rows = statement.query([session])?;
    let mut notes = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, body): (String, String) = (row.get(0)?, row.get(1)?);
        let record: MessageRecord = wire::read("a note", &body)?;
        notes.push(record.into_note(&id, &mut |digest| media(connection, digest))?);
    }
    Ok(notes)
}

fn ends(connection: &Connection, session: &str) -> Result<HashMap<CallId, haft::Ended>, Fault> {
    let mut statement = connection
        .prepare_cached("SELECT id, settlement FROM call WHERE session = ?1 AND settlement IS NOT NULL")?;
    let mut rows = statement.query([session])?;
    let mut ends = HashMap::new();
    while let Some(row) = rows.next()? {
        let (id, settlement): (String, String) = (row.get(0)?, row.get(1)?);
        let id = CallId::parse(&id).map_err(|error| Fault::Nonsense("a call", error.to_string()))?;
        ends.insert(id, ended(connection, &settlement)?);
    }
    Ok(ends)
}
