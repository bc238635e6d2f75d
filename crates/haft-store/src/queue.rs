//! Somebody to ask who may be in another process: requests wait in the store until they are answered.
//!
//! Requests for consent and questions of the model's own wait in the same place, told apart by their ids.

mod inquiries;

use std::time::Duration;

use haft::permission::{Answer, Asker, Inquiry, Reply, Request, Scope, Told};
use haft::{BoxFuture, RequestId, StoreError, ToolContext};
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
pub use inquiries::{PendingInquiry, written_question};

/// How ids of requests for consent begin.
const CONSENT: &str = "per_";
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
    /// It cannot be answered so from another process.
    Impossible,
}

impl Queue {
    /// Asks through a store, and gives up after a while.
    pub fn new(store: &Store, patience: Duration) -> Queue {
        Queue { store: store.clone(), patience }
    }

    async fn wait(&self, request: &Request) -> Result<Answer, StoreError> {
        let answer =
            self.put_and_wait(request.id.as_str(), &request.context, &events::asked(request)).await?;
        Ok(match answer {
            Some(written) => Answer::Reply(written.as_reply().unwrap_or(Reply::Reject(None))),
            None => Answer::Nobody(self.gave_up()),
        })
    }

    fn gave_up(&self) -> String {
        let seconds = self.patience.as_secs();
        format!("nobody answered within {seconds} s; answer such requests with `haft permission reply`")
    }

    /// Puts a question where others see it, and waits for what they write; nothing if nobody does.
    async fn put_and_wait(
        &self,
        id: &str,
        context: &ToolContext,
        body: &Value,
    ) -> Result<Option<Written>, StoreError> {
        let deadline = Instant::now() + self.patience;
        // From here on others may see the request; the guard takes it away again however this ends.
        let row = WaitingRow { store: &self.store, id };
        self.put(id, context, body).await?;
        loop {
            sleep(LOOK_EVERY.min(deadline.saturating_duration_since(Instant::now()))).await;
            if let Some(written) = row.look()? {
                return Ok(Some(written));
            }
            if Instant::now() >= deadline {
                // Taking it away and a last look are one step, so that no answer is lost between them.
                return row.take().await;
            }
        }
    }

    async fn put(&self, id: &str, context: &ToolContext, body: &Value) -> Result<(), StoreError> {
        let shared = &self.store.0;
        let body = shared.redactor.redact_json(body).to_string();
        let (id, context) = (id.to_owned(), context.clone());
        let (project, process, at) = (shared.project.clone(), shared.process.id().to_owned(), now_ms());
        let work = move |connection: &Connection| {
            connection
                .prepare_cached(
                    "INSERT INTO request (id, session, call, project, body, asked_ms, process)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    id,
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

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        Box::pin(async move {
            let told = self.wait_for_answers(inquiry).await;
            told.unwrap_or_else(|error| Told::Nobody(format!("the questions could not wait: {error}")))
        })
    }
}

impl Store {
    /// The requests of living processes that wait for an answer, oldest first.
    pub fn pending_requests(&self) -> Result<Vec<PendingRequest>, StoreError> {
        self.waiting(
            "read the requests",
            CONSENT,
            |Waiting { id, session, call, project, asked_ms, body }| {
                let id =
                    RequestId::parse(&id).map_err(|error| Fault::Nonsense("a request", error.to_string()))?;
                Ok(PendingRequest { id, session, call, project, asked_ms, body })
            },
        )
    }

    /// What living processes wait to be told, of those whose ids begin so, oldest first.
    fn waiting<T>(
        &self,
        doing: &'static str,
        beginning: &str,
        read: impl Fn(Waiting) -> Result<T, Fault>,
    ) -> Result<Vec<T>, StoreError> {
        let mut census = Census::new(&self.0.places.run);
        self.read(doing, |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, session, call, project, asked_ms, body, process FROM request
                 WHERE reply IS NULL ORDER BY asked_ms, id",
            )?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let is_meant = row.get::<_, String>(0)?.starts_with(beginning);
                if is_meant && census.is_alive(&row.get::<_, String>(6)?) {
                    found.push(read(Waiting::of(row)?)?);
                }
            }
            Ok(found)
        })
    }

    /// Answers a request, whichever process asks.
    pub async fn answer_request(&self, id: &RequestId, reply: &Reply) -> Result<Answered, StoreError> {
        let (words, scope) = match reply {
            Reply::Once | Reply::Reject(None) => (None, None),
            Reply::Always(scope) => (None, Some(scope.as_str())),
            Reply::Reject(Some(words)) => (Some(self.0.redactor.owned(words)), None),
            // An input may hold secrets, and what is left of it when they are taken out is another.
            Reply::Edit(_) => return Ok(Answered::Impossible),
        };
        self.answer(id.as_str(), reply.as_str(), words, scope).await
    }

    /// Writes an answer beside what was asked, if somebody still waits for it.
    async fn answer(
        &self,
        id: &str,
        word: &'static str,
        words: Option<String>,
        scope: Option<&'static str>,
    ) -> Result<Answered, StoreError> {
        let (id, at, run) = (id.to_owned(), now_ms(), self.0.places.run.clone());
        self.write("answer a request", Durability::Process, move |connection| {
            let process: Option<String> = connection
                .query_row("SELECT process FROM request WHERE id = ?1", [&id], |row| row.get(0))
                .optional()?;
            if !process.is_some_and(|process| Census::new(&run).is_alive(&process)) {
                connection.execute("DELETE FROM request WHERE id = ?1", [&id])?;
                return Ok(Answered::NotFound);
            }
            let answered = connection.execute(
                "UPDATE request SET reply = ?2, words = ?3, scope = ?4, replied_ms = ?5
                 WHERE id = ?1 AND reply IS NULL",
                params![id, word, words, scope, at],
            )?;
            Ok(if answered > 0 { Answered::Answered } else { Answered::NotFound })
        })
        .await
    }
}

/// What waits for an answer, as it is kept.
struct Waiting {
    id: String,
    session: String,
    call: String,
    project: String,
    asked_ms: i64,
    body: Value,
}

impl Waiting {
    fn of(row: &Row<'_>) -> Result<Waiting, Fault> {
        Ok(Waiting {
            id: row.get(0)?,
            session: row.get(1)?,
            call: row.get(2)?,
            project: row.get(3)?,
            asked_ms: row.get(4)?,
            body: wire::read("a request", &row.get::<_, String>(5)?)?,
        })
    }
}

/// A request that others can see. Dropping this takes it away.
struct WaitingRow<'a> {
    store: &'a Store,
    id: &'a str,
}

/// What somebody wrote beside a request: a word, and what belongs to it.
struct Written {
    word: String,
    words: Option<String>,
    scope: Option<String>,
}

impl Written {
    fn of(row: &Row<'_>) -> rusqlite::Result<Option<Written>> {
        let word: Option<String> = row.get(0)?;
        let (words, scope) = (row.get(1)?, row.get(2)?);
        Ok(word.map(|word| Written { word, words, scope }))
    }

    fn as_reply(&self) -> Option<Reply> {
        let scope = self.scope.as_deref().and_then(Scope::parse).unwrap_or(Scope::Session);
        Reply::parse(&self.word, scope, self.words.clone())
    }
}

impl WaitingRow<'_> {
    fn look(&self) -> Result<Option<Written>, StoreError> {
        self.store.read("look for an answer", |connection| {
            let found = connection
                .prepare_cached("SELECT reply, words, scope FROM request WHERE id = ?1")?
                .query_row([self.id], Written::of)
                .optional()?;
            // Whoever removes a session removes what it asks; that is an answer, too.
            let removed = || Written { word: "reject".to_owned(), words: None, scope: None };
            Ok(found.unwrap_or_else(|| Some(removed())))
        })
    }

    async fn take(&self) -> Result<Option<Written>, StoreError> {
        let id = self.id.to_owned();
        let work = move |connection: &Connection| {
            let taken = connection
                .query_row(
                    "DELETE FROM request WHERE id = ?1 RETURNING reply, words, scope",
                    [id],
                    Written::of,
                )
                .optional()?;
            Ok(taken.flatten())
        };
        self.store.write("take a request away", Durability::Process, work).await
    }
}

impl Drop for WaitingRow<'_> {
    fn drop(&mut self) {
        let id = self.id.to_owned();
        self.store.0.writer.post(Durability::Process, move |connection| {
            connection.execute("DELETE FROM request WHERE id = ?1", [id])?;
            Ok(())
        });
    }
}
