//! Somebody to ask who may be in another process: requests wait in the store until they are answered.

use std::time::Duration;

use haft::permission::{Answer, Asker, Reply, Request, Scope};
use haft::{BoxFuture, RequestId, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::clock::now_ms;
use crate::events;
use crate::fault::Fault;
use crate::process::Census;
use crate::store::Store;
use crate::wire;
use crate::writer::Durability;

/// How often a request looks for its answer.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Puts questions where other processes find them, and waits for their answers.
pub struct Queue {
    store: Store,
    patience: Duration,
}

/// A question that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingRequest {
    /// Its identity, to answer it by.
    pub id: RequestId,
    /// The session that asks.
    pub session: String,
    /// The call that asks.
    pub call: String,
    /// The project it is asked in.
    pub project: String,
    /// When it was asked, in Unix milliseconds.
    pub asked_ms: i64,
    /// The question in opencode's words: `permission`, `patterns`, `always`, `metadata` with `title` and `detail`.
    pub body: Value,
}

/// What came of answering a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// The answer is on its way.
    Answered,
    /// There is no such request, or it was answered.
    NotFound,
}

impl Queue {
    /// Asks through a store, and gives up after a while.
    pub fn new(store: &Store, patience: Duration) -> Queue {
        Queue { store: store.clone(), patience }
    }

    async fn wait(&self, request: &Request) -> Result<Answer, StoreError> {
        let deadline = Instant::now() + self.patience;
        // From here on others may see the request; the guard takes it away again however this ends.
        let row = WaitingRow { store: &self.store, id: &request.id };
        self.put(request).await?;
        loop {
            sleep(LOOK_EVERY.min(deadline.saturating_duration_since(Instant::now()))).await;
            if let Some(reply) = row.look()? {
                return Ok(Answer::Reply(reply));
            }
            if Instant::now() >= deadline {
                // Taking it away and a last look are one step, so that no answer is lost between them.
                return Ok(match row.take().await? {
                    Some(reply) => Answer::Reply(reply),
                    None => Answer::Nobody(format!(
                        "nobody answered within {} s; answer such requests with `haft permission reply`",
                        self.patience.as_secs()
                    )),
                });
            }
        }
    }

    async fn put(&self, request: &Request) -> Result<(), StoreError> {
        let shared = &self.store.0;
        let body = shared.redactor.redact_json(&events::asked(request)).to_string();
        let (id, context) = (request.id.clone(), request.context.clone());
        let (project, process, at) = (shared.project.clone(), shared.process.id().to_owned(), now_ms());
        let work = move |connection: &Connection| {
            connection
                .prepare_cached(
                    "INSERT INTO request (id, session, call, project, body, asked_ms, process)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    id.as_str(),
                    context.session.as_str(),
                    context.call.as_str(),
                    project,
                    body,
                    at,
                    process
                ])?;
            Ok(())
        };
        self.store.write("queue a request", Durability::Process, work).await
    }
}

impl Asker for Queue {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let answer = self.wait(request).await;
            answer.unwrap_or_else(|error| Answer::Nobody(format!("the request could not wait: {error}")))
        })
    }
}

impl Store {
    /// The requests of living processes that wait for an answer, oldest first.
    pub fn pending_requests(&self) -> Result<Vec<PendingRequest>, StoreError> {
        let mut census = Census::new(&self.0.places.run);
        self.read("read the requests", |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, session, call, project, asked_ms, body, process FROM request
                 WHERE reply IS NULL ORDER BY asked_ms, id",
            )?;
            let mut rows = statement.query([])?;
            let mut requests = Vec::new();
            while let Some(row) = rows.next()? {
                if census.is_alive(&row.get::<_, String>(6)?) {
                    requests.push(pending(row)?);
                }
            }
            Ok(requests)
        })
    }

    /// Answers a request, whichever process asks.
    pub async fn answer_request(&self, id: &RequestId, reply: &Reply) -> Result<Answered, StoreError> {
        let (words, scope) = match reply {
            Reply::Once | Reply::Reject(None) => (None, None),
            Reply::Always(scope) => (None, Some(scope.as_str())),
            Reply::Reject(Some(words)) => (Some(self.0.redactor.owned(words)), None),
        };
        let (id, word, at, run) = (id.clone(), reply.as_str(), now_ms(), self.0.places.run.clone());
        self.write("answer a request", Durability::Process, move |connection| {
            let process: Option<String> = connection
                .query_row("SELECT process FROM request WHERE id = ?1", [id.as_str()], |row| row.get(0))
                .optional()?;
            if !process.is_some_and(|process| Census::new(&run).is_alive(&process)) {
                connection.execute("DELETE FROM request WHERE id = ?1", [id.as_str()])?;
                return Ok(Answered::NotFound);
            }
            let answered = connection.execute(
                "UPDATE request SET reply = ?2, words = ?3, scope = ?4, replied_ms = ?5
                 WHERE id = ?1 AND reply IS NULL",
                params![id.as_str(), word, words, scope, at],
            )?;
            Ok(if answered > 0 { Answered::Answered } else { Answered::NotFound })
        })
        .await
    }
}

/// A request that others can see. Dropping this takes it away.
struct WaitingRow<'a> {
    store: &'a Store,
    id: &'a RequestId,
}

impl WaitingRow<'_> {
    fn look(&self) -> Result<Option<Reply>, StoreError> {
        self.store.read("look for an answer", |connection| {
            let found = connection
                .prepare_cached("SELECT reply, words, scope FROM request WHERE id = ?1")?
                .query_row([self.id.as_str()], reply_of)
                .optional()?;
            // Whoever removes a session removes what it asks; that is an answer, too.
            Ok(found.unwrap_or(Some(Reply::Reject(None))))
        })
    }

    async fn take(&self) -> Result<Option<Reply>, StoreError> {
        let id = self.id.clone();
        let work = move |connection: &Connection| {
            let taken = connection
                .query_row(
                    "DELETE FROM request WHERE id = ?1 RETURNING reply, words, scope",
                    [id.as_str()],
                    reply_of,
                )
                .optional()?;
            Ok(taken.flatten())
        };
        self.store.write("take a request away", Durability::Process, work).await
    }
}

impl Drop for WaitingRow<'_> {
    fn drop(&mut self) {
        let id = self.id.clone();
        self.store.0.writer.post(Durability::Process, move |connection| {
            connection.execute("DELETE FROM request WHERE id = ?1", [id.as_str()])?;
            Ok(())
        });
    }
}

fn reply_of(row: &Row<'_>) -> rusqlite::Result<Option<Reply>> {
    let (word, words, scope): (Option<String>, Option<String>, Option<String>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    let scope = scope.and_then(|scope| Scope::parse(&scope)).unwrap_or(Scope::Session);
    Ok(word.and_then(|word| Reply::parse(&word, scope, words)))
}

fn pending(row: &Row<'_>) -> Result<PendingRequest, Fault> {
    let id: String = row.get(0)?;
    let body: String = row.get(5)?;
    Ok(PendingRequest {
        id: RequestId::parse(&id).map_err(|error| Fault::Nonsense("a request", error.to_string()))?,
        session: row.get(1)?,
        call: row.get(2)?,
        project: row.get(3)?,
        asked_ms: row.get(4)?,
        body: wire::read("a request", &body)?,
    })
}
