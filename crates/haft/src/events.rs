//! What happens, as it happens: the states of calls, permission requests, whatever a tool reports.
//!
//! An event is recorded before it is announced, so whoever sees it can find it again by its place in the order.

use std::sync::{Arc, Weak};

use serde_json::Value;

use crate::catch::caught_now;
use crate::id::{MessageId, SessionId};
use crate::permission::{Reply, Request};
use crate::recorder::{Ended, Recorder, Seq, StoreError};
use crate::settlement::Call;
use crate::sync::{Mutex, lock};
use crate::tool::ToolContext;

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A call was made and waits to run.
    Called(Call),
    /// A call runs.
    Running(ToolContext),
    /// A call ended.
    Ended(ToolContext, Ended),
    /// Somebody's consent is needed.
    Asked(Arc<Request>),
    /// Somebody answered, or a cascade did.
    Replied(Arc<Request>, Reply),
    /// A piece of what a call is just producing. It is told and not recorded: the whole is retained elsewhere.
    Output {
        /// The call.
        context: ToolContext,
        /// What was added.
        delta: String,
    },
    /// A piece of what a model is just saying. It is told and not recorded: the message is kept elsewhere.
    Said {
        /// The session.
        session: SessionId,
        /// The message.
        message: MessageId,
        /// What was added.
        delta: Saying,
    },
    /// Something happened to a session, under a name such as `session.idle`.
    Session {
        /// The name of the event.
        name: &'static str,
        /// The session.
        session: SessionId,
        /// What happened.
        body: Value,
    },
    /// A tool reports something under a name of its own, such as `todo.updated`.
    Reported {
        /// The name of the event.
        name: &'static str,
        /// The call that reports.
        context: ToolContext,
        /// What it reports.
        body: Value,
    },
}

/// A piece of what a model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saying {
    /// Text.
    Text(String),
    /// A thought.
    Thought(String),
    /// It begins to write a call of this tool.
    Calling(String),
    /// All of it is taken back: the answer broke off, and is asked for again.
    TakenBack,
}

type Listener = dyn Fn(Seq, &Event) + Send + Sync;

/// Announces events to whoever listens in this process.
#[derive(Clone)]
pub struct Events {
    recorder: Arc<dyn Recorder>,
    listeners: Arc<Mutex<Vec<Weak<Listener>>>>,
}

/// A listener's place. Dropping it ends the listening.
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    _listener: Arc<Listener>,
}

impl Events {
    /// Events that are recorded by this recorder.
    pub fn new(recorder: Arc<dyn Recorder>) -> Events {
        Events { recorder, listeners: Arc::default() }
    }

    /// Calls back on every event, on the thread it happens on. The callback must be quick.
    pub fn subscribe(&self, listener: impl Fn(Seq, &Event) + Send + Sync + 'static) -> Subscription {
        let listener: Arc<Listener> = Arc::new(listener);
        let mut listeners = lock(&self.listeners);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        Subscription { _listener: listener }
    }

    /// Records an event and announces it.
    pub async fn publish(&self, event: Event) -> Result<(), StoreError> {
        let seq = self.recorder.event(&event).await?;
        self.announce(seq, || event);
        Ok(())
    }

    /// Tells whoever listens right now, and records nothing.
    pub fn tell(&self, event: impl FnOnce() -> Event) {
        self.announce(Seq::default(), event);
    }

    /// Announces an event that is recorded already. It is only made if somebody listens.
    pub(crate) fn announce(&self, seq: Seq, event: impl FnOnce() -> Event) {
        let listeners: Vec<_> = lock(&self.listeners).iter().filter_map(Weak::upgrade).collect();
        if listeners.is_empty() {
            return;
        }
        let event = event();
        for listener in listeners {
            // A listener that panics hurts nobody but itself: the call it was told of goes on.
            let _panicked = caught_now(|| listener(seq, &event));
        }
    }
}
