//! The sessions of this project as opencode's SDK tells them. Those of others are not there.

use std::sync::Arc;

use haft::{Inbox, Memory, Message, Note, Part, Role, SessionId, StoreError};
use haft_agent::Agency;
use haft_store::{SessionRow, Store};
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::{Given, Problem};
use crate::plugins::messages::{info, parts};
use crate::plugins::project_id;
use crate::setting::Setting;

/// So many sessions are told at most, the newest.
const SESSIONS_MAX: usize = 1000;
/// So much a plugin says at once, and so many of its asides wait in a session.
const ASIDE_BYTES_MAX: usize = 256 << 10;
const ASIDES_MAX: usize = 64;

/// The sessions that plugins may look at.
pub(crate) struct Sessions {
    /// Nothing where nothing is recorded.
    store: Option<Store>,
    memory: Arc<dyn Memory>,
    inbox: Inbox,
    agency: Agency,
    /// The project they belong to, as the store knows it.
    project: String,
    /// The same as plugins know it.
    project_id: String,
    reading: tokio::sync::Mutex<()>,
}

impl Sessions {
    pub(crate) fn new(
        setting: &Setting,
        store: &Option<Store>,
        memory: &Arc<dyn Memory>,
        inbox: &Inbox,
        agency: &Agency,
    ) -> Sessions {
        Sessions {
            store: store.clone(),
            memory: memory.clone(),
            inbox: inbox.clone(),
            agency: agency.clone(),
            project: setting.project().to_string_lossy().into_owned(),
            project_id: project_id(setting),
            reading: tokio::sync::Mutex::default(),
        }
    }

    /// The newest sessions. Single calls are sessions to haft, in which nobody says anything; they are left out.
    pub(super) fn list(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let limit = given.limit().unwrap_or(SESSIONS_MAX).min(SESSIONS_MAX);
        let Some(store) = &self.store else { return Ok(json!([])) };
        let own = |row: &SessionRow| row.project == self.project && !row.title.is_empty();
        let rows = store.sessions(None)?.into_iter().filter(own);
        Ok(rows.take(limit).map(|row| self.told(&row)).collect())
    }

    pub(super) fn get(&self, given: &Given<'_>) -> Result<Value, Problem> {
        Ok(self.told(&self.known(given)?.1))
    }

    pub(super) fn children(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let (store, row) = self.known(given)?;
        let rows = store.children(&row.id)?.into_iter().filter(|row| row.project == self.project);
        Ok(rows.map(|row| self.told(&row)).collect())
    }

    pub(super) async fn messages(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let (store, row) = self.known(given)?;
        let limit = given.limit().unwrap_or(usize::MAX);
        Ok(self.read(store, &row.id, move |conversation| conversation.last(limit)).await?.into())
    }

    pub(super) async fn message(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let id = given.text(&["messageID"])?.to_owned();
        let (store, row) = self.known(given)?;
        let missing = Problem::Missing(format!("there is no message {} in {}", haft::visible(&id), row.id));
        let found = self.read(store, &row.id, move |conversation| conversation.message(&id)).await?;
        found.ok_or(missing)
    }

    /// What was said in a session and still counts for its model; nothing in one that nobody speaks in.
    pub(super) async fn counting(&self, session: &SessionId) -> Result<Value, StoreError> {
        let Some(store) = &self.store else { return Ok(json!([])) };
        Ok(self.read(store, session, |conversation| conversation.counting()).await?.into())
    }

    pub(super) async fn todo(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let (_, row) = self.known(given)?;
        let known = self.memory.recall(&row.id, &haft_tools::todos_topic()).await?;
        let mut todos = known.unwrap_or_else(|| json!([]));
        // opencode's have ids, which are their places.
        for (at, todo) in todos.as_array_mut().into_iter().flatten().enumerate() {
            todo["id"] = (at + 1).to_string().into();
        }
        Ok(todos)
    }

    /// Has something said along with whatever is said next in a conversation that is under way here. It is haft's to say,
    /// not the person's: hooks about what a person says are not asked, or one that prompts would ask itself.
    pub(super) fn prompt(&self, given: &Given<'_>) -> Result<Value, Problem> {
        let (_, row) = self.known(given)?;
        if !self.agency.is_under_way(&row.id) {
            let message = format!(
                "the session {} is not under way in this process, so nothing can be said in it",
                row.id
            );
            return Err(Problem::Asked(message));
        }
        let wanted = given.field("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let text = |part: &Value| {
            let is_text = part.get("type").and_then(Value::as_str) == Some("text");
            Some(part.get("text")?.as_str().filter(|_| is_text)?.to_owned())
        };
        let texts: Option<Vec<String>> = wanted.iter().map(text).collect();
        let texts = texts.filter(|texts| texts.iter().any(|text| !text.is_empty())).ok_or_else(|| {
            Problem::Asked("body.parts must be texts: [{ type: \"text\", text: \"…\" }]".to_owned())
        })?;
        if texts.iter().map(String::len).sum::<usize>() > ASIDE_BYTES_MAX {
            return Err(Problem::Asked(format!("more than {} KiB at once", ASIDE_BYTES_MAX >> 10)));
        }
        if self.inbox.waiting(&row.id).iter().filter(|note| note.is_aside).count() >= ASIDES_MAX {
            return Err(Problem::Asked(format!("{ASIDES_MAX} prompts wait to be said already")));
        }
        let note = Note::new(texts.into_iter().map(Part::synthetic).collect()).aside();
        let agent = haft::AgentId::parse(&row.agent).map_err(|error| Problem::Asked(error.to_string()))?;
        let message =
            Message { id: note.id.clone(), parts: note.parts.clone(), ..Message::new(Role::User, agent) };
        self.inbox.deliver(&row.id, note);
        Ok(json!({ "info": info(&message, &row.id), "parts": parts(&message, &[], &row.id) }))
    }

    /// Looks at a conversation, away from those who wait for other things. One is read at a time: they may be large, and
    /// a plugin can ask for many.
    async fn read<T: Send + 'static>(
        &self,
        store: &Store,
        session: &SessionId,
        look: impl FnOnce(&Conversation) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let _alone = self.reading.lock().await;
        let (store, session) = (store.clone(), session.clone());
        let reading = move || Conversation::read(&store, &session).map(|conversation| look(&conversation));
        let read = tokio::task::spawn_blocking(reading).await;
        read.unwrap_or_else(|broken| Err(StoreError::new("could not read a conversation", broken)))
    }

    /// A session of this project.
    fn known(&self, given: &Given<'_>) -> Result<(&Store, SessionRow), Problem> {
        let id = given.text(&["id", "sessionID"])?;
        let missing =
            || Problem::Missing(format!("there is no session {} in this project", haft::visible(id)));
        let (store, parsed) = self.store.as_ref().zip(SessionId::parse(id).ok()).ok_or_else(missing)?;
        let row = store.session(&parsed)?.filter(|row| row.project == self.project);
        row.map(|row| (store, row)).ok_or_else(missing)
    }

    fn told(&self, row: &SessionRow) -> Value {
        let mut told = json!({
            "id": row.id.as_str(),
            "projectID": self.project_id,
            "directory": row.directory,
            "title": row.title,
            "version": env!("CARGO_PKG_VERSION"),
            "time": { "created": row.created_ms, "updated": row.updated_ms },
        });
        if let Some(parent) = &row.parent {
            told["parentID"] = parent.as_str().into();
        }
        told
    }
}
