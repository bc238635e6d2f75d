//! Where conversations are held: everything they need in one location.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use haft::permission::Ruleset;
use haft::{
    AgentId, BoxError, Event, Inbox, LeaseError, Memory, Note, OpenTurns, Registry, Services, SessionId,
    SessionStart, StoreError, Transcript, Viewer,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::agent::{AgentSpec, Agents, Models, Policies};
use crate::conversation::Conversation;
use crate::influence::Influence;
use crate::past::Past;
use crate::pruning;
use crate::shelf::Shelf;

/// How conversations are held.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many calls of one message run at once.
    pub calls_at_once: usize,
    /// How deep agents may give tasks to agents.
    pub subagent_depth: u32,
    /// Whether outputs that nobody needs any more are taken out of the conversation.
    pub prunes: bool,
    /// Whether a conversation that becomes too long is summarised.
    pub compacts: bool,
    /// Whether an agent goes on when the person declines something.
    pub continues_on_decline: bool,
    /// How often a provider is asked again.
    pub retries: u32,
    /// Actions that an agent which works for another has only if its own rules speak of them.
    pub not_for_subagents: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            calls_at_once: 8,
            subagent_depth: 1,
            prunes: true,
            compacts: true,
            continues_on_decline: false,
            retries: 5,
            not_for_subagents: Vec::new(),
        }
    }
}

/// What conversations are made of.
pub struct Parts {
    /// The tools.
    pub registry: Registry,
    /// What settling calls needs.
    pub services: Services,
    /// Keeps what is said.
    pub transcript: Arc<dyn Transcript>,
    /// Remembers what was taken out of conversations.
    pub memory: Arc<dyn Memory>,
    /// What waits to be said.
    pub inbox: Inbox,
    /// The turns under way, for tools that make calls.
    pub open_turns: OpenTurns,
    /// Knows the agents.
    pub agents: Arc<dyn Agents>,
    /// Knows the models.
    pub models: Arc<dyn Models>,
    /// Has a say in what is said and told.
    pub influence: Arc<dyn Influence>,
    /// The rules of sessions, which the gate decides by.
    pub policies: Policies,
    /// Through which program models are shown tools, and what is switched on there.
    pub viewer: Viewer,
    /// How conversations are held.
    pub settings: Settings,
    /// The directory in which long conversations lay what is long in them; otherwise all of it stays in memory.
    pub shelves: Option<PathBuf>,
    /// Told which conversation has ended, so that what was begun in it ends, too.
    pub ended: Box<dyn Fn(&SessionId) + Send + Sync>,
}

/// Holds conversations. It is made before the tools that give tasks, and furnished after them. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Agency(Arc<House>);

#[derive(Default)]
struct House {
    parts: OnceLock<Parts>,
    /// The conversations under way.
    under_way: Mutex<HashMap<SessionId, UnderWay>>,
    /// Told whenever a task in the background has told what came of it.
    task_told: Notify,
}

/// What others have to know of a conversation under way.
#[derive(Clone)]
pub(crate) struct UnderWay {
    pub(crate) rules: Arc<Ruleset>,
    /// The rules of whoever has it work, which no agent in it gets beyond.
    pub(crate) outer: Option<Arc<Ruleset>>,
    pub(crate) model: String,
    pub(crate) depth: u32,
    /// Its tasks that go on in the background.
    background: Vec<AbortHandle>,
    /// How many of them have not told what came of them.
    untold: usize,
}

/// Which conversation to begin or to go on with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The session.
    pub session: SessionId,
    /// The agent that is spoken to.
    pub agent: AgentId,
    /// The model, as `provider/model`; nothing means the agent's, or the one that is used unless one is named.
    pub model: Option<String>,
    /// A few words for a person.
    pub title: String,
    /// The session that began it.
    pub parent: Option<SessionId>,
    /// Whether an agent that has no more to do waits for its tasks in the background.
    pub waits_for_tasks: bool,
}

/// Why there is no conversation.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such agent, or it may not work.
    #[error(transparent)]
    Agent(BoxError),
    /// There is no such model, or no way to it.
    #[error(transparent)]
    Model(BoxError),
    /// Somebody else runs the session.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Agency {
    /// Gives it what it needs. A second time changes nothing.
    pub fn furnish(&self, parts: Parts) {
        // Whoever furnished it first was the one who knew.
        let _furnished = self.0.parts.set(parts);
    }

    /// Begins a conversation, or goes on with it.
    pub async fn open(&self, start: Start) -> Result<Conversation, OpenError> {
        self.open_within(start, None).await
    }

    /// The same, for somebody who may do no more than these rules say.
    pub(crate) async fn open_within(
        &self,
        start: Start,
        outer: Option<(Arc<Ruleset>, u32)>,
    ) -> Result<Conversation, OpenError> {
        let parts = self.parts();
        let agent = parts.agents.agent(&start.agent).map_err(OpenError::Agent)?;
        let named = start.model.as_deref().or(agent.model.as_deref());
        let served = parts.models.serve(named).map_err(OpenError::Model)?;
        let lease = parts
            .transcript
            .lease(&SessionStart {
                id: start.session.clone(),
                parent: start.parent.clone(),
                agent: start.agent.clone(),
                title: start.title.clone(),
            })
            .await?;
        let history = parts.transcript.history(&start.session).await?;
        parts.inbox.restore(&start.session, parts.transcript.waiting(&start.session).await?);
        let pruned = pruning::recall(&*parts.memory, &start.session).await?;
        let past = Past::new(history, &pruned, Shelf::within(parts.shelves.as_deref())).await;
        let depth = outer.as_ref().map_or(0, |(_, depth)| depth + 1);
        let outer = outer.map(|(rules, _)| rules);
        let model = served.name();
        parts.services.events.tell(|| Event::Session {
            name: "session.created",
            session: start.session.clone(),
            body: json!({
                "parentID": start.parent.as_ref().map(SessionId::as_str),
                "agent": start.agent.as_str(),
                "title": start.title,
                "model": model,
            }),
        });
        let rules = rules_within(&agent, outer.as_deref());
        parts.policies.set(&start.session, rules.clone());
        let under_way = UnderWay { rules, outer, model, depth, background: Vec::new(), untold: 0 };
        self.map().insert(start.session.clone(), under_way);
        let waits = start.waits_for_tasks;
        Ok(Conversation::new(self.clone(), lease, agent, served, past, pruned, waits))
    }

    /// Whether a conversation is under way in a session, here in this process.
    pub fn is_under_way(&self, session: &SessionId) -> bool {
        self.map().contains_key(session)
    }

    /// How many tasks of a session go on in the background.
    pub fn tasks_in_background(&self, session: &SessionId) -> usize {
        self.map().get(session).map_or(0, |under_way| under_way.untold)
    }

    /// What waits to be said and answered in a session; as long as tasks go on in the background, what comes of them.
    pub async fn next_note(&self, session: &SessionId) -> Option<Note> {
        let inbox = &self.parts().inbox;
        loop {
            let mut told = std::pin::pin!(self.0.task_told.notified());
            told.as_mut().enable();
            let is_last = self.tasks_in_background(session) == 0;
            // A task tells before it stops counting, so nothing comes after this look.
            match inbox.take_question(session) {
                Some(note) => return Some(note),
                None if is_last => return None,
                None => {}
            }
            tokio::select! {
                note = inbox.next(session) => return Some(note),
                () = told => {}
            }
        }
    }

    pub(crate) fn parts(&self) -> &Parts {
        self.0.parts.get().expect("an agency is furnished before it holds conversations")
    }

    pub(crate) fn under_way(&self, session: &SessionId) -> Option<UnderWay> {
        self.map().get(session).cloned()
    }

    /// Says that something will be told of a task in the background.
    pub(crate) fn expect_background(&self, session: &SessionId) {
        if let Some(under_way) = self.map().get_mut(session) {
            under_way.untold += 1;
        }
    }

    /// Says which task it is, so that it ends with its session.
    pub(crate) fn add_background(&self, session: &SessionId, task: AbortHandle) {
        if let Some(under_way) = self.map().get_mut(session) {
            under_way.background.retain(|task| !task.is_finished());
            under_way.background.push(task);
        }
    }

    /// Says what came of it.
    pub(crate) fn tell_background(&self, session: &SessionId, note: Note) {
        self.parts().inbox.deliver(session, note);
        if let Some(under_way) = self.map().get_mut(session) {
            under_way.untold = under_way.untold.saturating_sub(1);
        }
        self.0.task_told.notify_waiters();
    }

    /// Says that another agent goes on in a session.
    pub(crate) fn switch(&self, session: &SessionId, agent: &AgentSpec) {
        let mut map = self.map();
        let outer = map.get(session).and_then(|under_way| under_way.outer.clone());
        let rules = rules_within(agent, outer.as_deref());
        if let Some(under_way) = map.get_mut(session) {
            under_way.rules = rules.clone();
        }
        drop(map);
        self.parts().policies.set(session, rules);
    }

    /// Says that another model answers in a session, and those that are given tasks there.
    pub(crate) fn answer_by(&self, session: &SessionId, model: String) {
        if let Some(under_way) = self.map().get_mut(session) {
            under_way.model = model;
        }
    }

    /// Ends what a session has going on, and with it whatever that has going on.
    pub(crate) fn leave(&self, session: &SessionId) {
        let left = self.map().remove(session);
        left.into_iter().flat_map(|under_way| under_way.background).for_each(|task| task.abort());
        self.parts().policies.forget(session);
        (self.parts().ended)(session);
    }

    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, UnderWay>> {
        self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An agent's rules, and no more than those of whoever has it work.
fn rules_within(agent: &AgentSpec, outer: Option<&Ruleset>) -> Arc<Ruleset> {
    match outer {
        None => agent.rules.clone(),
        Some(outer) => Arc::new(Ruleset::clone(&agent.rules).within(outer)),
    }
}
