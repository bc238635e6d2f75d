//! The seam to conversations: the messages of a session, kept so that another process can go on with it.
//!
//! What came of a call is not in its message. The recorder has it, so that it is kept once and never disagrees.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::BoxFuture;
use crate::audience::Model;
use crate::id::{AgentId, CallId, MessageId, SessionId};
use crate::inbox::Note;
use crate::recorder::{Ended, StoreError};
use crate::settlement::Input;
use crate::sync::{Mutex, lock};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its identity.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// The agent that speaks, or is spoken to.
    pub agent: AgentId,
    /// The model that speaks, or is to answer.
    pub model: Option<Model>,
    /// What is said and asked for, in order.
    pub parts: Vec<Part>,
    /// What the model's provider counted.
    pub usage: Usage,
    /// How the message ended; nothing while it is being written.
    pub finish: Option<Finish>,
    /// Whether it stands for everything before it.
    pub is_summary: bool,
}

impl Message {
    /// A message without content.
    pub fn new(role: Role, agent: AgentId) -> Message {
        Message {
            id: MessageId::mint(),
            role,
            agent,
            model: None,
            parts: Vec::new(),
            usage: Usage::default(),
            finish: None,
            is_summary: false,
        }
    }

    /// Adds a part.
    pub fn with(mut self, part: Part) -> Message {
        self.parts.push(part);
        self
    }

    /// The calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &CallPart> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text { .. } | Part::Reasoning { .. } | Part::Media { .. } => None,
        })
    }

    /// What was said last.
    pub fn last_text(&self) -> Option<&str> {
        self.parts.iter().rev().find_map(|part| match part {
            Part::Text { text, .. } => Some(text.as_str()),
            Part::Call(_) | Part::Reasoning { .. } | Part::Media { .. } => None,
        })
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, or haft in their place.
    User,
    /// The model.
    Assistant,
}

/// A piece of a message.
#[derive(Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text {
        /// What is said.
        text: String,
        /// Whether haft said it in somebody's place.
        is_synthetic: bool,
    },
    /// What a model thought aloud.
    Reasoning {
        /// What may be shown of it.
        text: String,
        /// What its provider wants back, unread and unchanged, to go on from there.
        opaque: Option<Value>,
    },
    /// An image or a document.
    Media {
        /// Its media type.
        mime: String,
        /// Its bytes.
        data: Arc<[u8]>,
        /// Its file name, if it has one.
        name: Option<String>,
    },
    /// A call of a tool.
    Call(CallPart),
}

impl Part {
    /// Text that somebody said.
    pub fn text(text: impl Into<String>) -> Part {
        Part::Text { text: text.into(), is_synthetic: false }
    }

    /// Text that haft says in somebody's place.
    pub fn synthetic(text: impl Into<String>) -> Part {
        Part::Text { text: text.into(), is_synthetic: true }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Text { text, is_synthetic: false } => write!(f, "Text({text:?})"),
            Part::Text { text, is_synthetic: true } => write!(f, "Synthetic({text:?})"),
            Part::Reasoning { text, opaque } => write!(f, "Reasoning({text:?}, {opaque:?})"),
            Part::Media { mime, data, name } => write!(f, "Media({mime}, {} bytes, {name:?})", data.len()),
            Part::Call(call) => call.fmt(f),
        }
    }
}

/// A call of a tool, as it stands in a message.
#[derive(Debug, Clone, PartialEq)]
pub struct CallPart {
    /// The call, by which its end is found.
    pub call: CallId,
    /// The provider's own id of it.
    pub provider_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub input: Input,
    /// What its provider wants back with it, unread and unchanged.
    pub opaque: Option<Value>,
}

/// What a provider counted, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read, without what came from a cache.
    pub input: u64,
    /// Written, thoughts included.
    pub output: u64,
    /// Of those, thoughts.
    pub reasoning: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Put into a cache.
    pub cache_write: u64,
}

impl Usage {
    /// Everything that took place in the model's context.
    pub fn context(&self) -> u64 {
        self.input + self.cache_read + self.cache_write + self.output
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input += other.input;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The model had said what it had to say.
    Stop,
    /// It waits for its calls.
    Calls,
    /// It ran out of room.
    Length,
    /// Its provider held something back.
    Filtered,
    /// Somebody interrupted it, or its process died.
    Interrupted,
    /// Something failed, in words for a person.
    Failed(String),
}

/// The right to run a session, which one runner has at a time. Dropping it gives it back.
#[must_use = "a lease that is dropped is given back"]
pub struct Lease {
    session: SessionId,
    fence: u64,
    release: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Lease {
    /// A lease of a session. What a holder of an earlier one saves is refused. `release` is called at the end.
    pub fn new(session: SessionId, fence: u64, release: impl FnOnce() + Send + Sync + 'static) -> Lease {
        Lease { session, fence, release: Some(Box::new(release)) }
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// A number that grows with every lease of the session.
    pub fn fence(&self) -> u64 {
        self.fence
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({}, {})", self.session, self.fence)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

/// Why a session cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// Somebody runs it.
    #[error("the session {0} is being run already; wait until that ends, or begin another session")]
    Held(SessionId),
    /// The record cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A session, as it is begun.
#[derive(Debug, Clone)]
pub struct SessionStart {
    /// Its identity.
    pub id: SessionId,
    /// The session that began it.
    pub parent: Option<SessionId>,
    /// The agent it belongs to.
    pub agent: AgentId,
    /// A few words for a person; empty leaves those it has.
    pub title: String,
}

/// A conversation so far.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The session that began it.
    pub parent: Option<SessionId>,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// How the calls in them ended. Those that are missing never began.
    pub ended: HashMap<CallId, Ended>,
}

/// Keeps conversations.
pub trait Transcript: Send + Sync {
    /// Begins a session, or goes on with it, as the only one who runs it.
    fn lease<'a>(&'a self, start: &'a SessionStart) -> BoxFuture<'a, Result<Lease, LeaseError>>;

    /// Keeps a message, in place of what was kept of it before. Fails if the lease is no longer the newest.
    fn save<'a>(&'a self, lease: &'a Lease, message: &'a Message) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The conversation so far.
    fn history<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<History, StoreError>>;

    /// What was to be said, and was not, the oldest first. A message of the same id that is saved says it.
    fn waiting<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Note>, StoreError>>;
}

/// Conversations that are forgotten when the process ends: for tests, and for embedding without a store. It knows
/// nothing of how calls ended.
#[derive(Default, Clone)]
pub struct MemoryTranscript(Arc<Mutex<HashMap<SessionId, Conversation>>>);

#[derive(Default)]
struct Conversation {
    parent: Option<SessionId>,
    messages: Vec<Message>,
    fence: u64,
    held: bool,
}

impl Transcript for MemoryTranscript {
    fn lease<'a>(&'a self, start: &'a SessionStart) -> BoxFuture<'a, Result<Lease, LeaseError>> {
        let mut sessions = lock(&self.0);
        let conversation = sessions.entry(start.id.clone()).or_default();
        let leased = match conversation.held {
            true => Err(LeaseError::Held(start.id.clone())),
            false => {
                conversation.held = true;
                conversation.parent = conversation.parent.take().or_else(|| start.parent.clone());
                conversation.fence += 1;
                let (all, id) = (self.0.clone(), start.id.clone());
                Ok(Lease::new(start.id.clone(), conversation.fence, move || {
                    if let Some(conversation) = lock(&all).get_mut(&id) {
                        conversation.held = false;
                    }
                }))
            }
        };
        Box::pin(std::future::ready(leased))
    }

    fn save<'a>(&'a self, lease: &'a Lease, message: &'a Message) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut sessions = lock(&self.0);
        let conversation = sessions.entry(lease.session.clone()).or_default();
        let saved = match conversation.fence == lease.fence {
            false => Err(StoreError::bare("somebody else runs the session now")),
            true => {
                match conversation.messages.iter_mut().find(|known| known.id == message.id) {
                    Some(known) => known.clone_from(message),
                    None => conversation.messages.push(message.clone()),
                }
                Ok(())
            }
        };
        Box::pin(std::future::ready(saved))
    }

    fn history<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<History, StoreError>> {
        let known = lock(&self.0);
        let history = known.get(session).map(|known| History {
            parent: known.parent.clone(),
            messages: known.messages.clone(),
            ended: HashMap::new(),
        });
        Box::pin(std::future::ready(Ok(history.unwrap_or_default())))
    }

    fn waiting<'a>(&'a self, _session: &'a SessionId) -> BoxFuture<'a, Result<Vec<Note>, StoreError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
