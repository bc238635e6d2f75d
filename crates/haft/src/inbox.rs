//! What waits to be said in a session: the person's follow-ups, results that arrive late, a change of agent.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::id::{AgentId, SessionId};
use crate::sync::{Mutex, lock};
use crate::transcript::Part;

/// Something to be said in the user's place when the model has answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The agent that is to go on; nothing leaves the one that works.
    pub agent: Option<AgentId>,
    /// What is said.
    pub parts: Vec<Part>,
}

/// The notes of all sessions of this process. Cloning it is cheap.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<HashMap<SessionId, Waiting>>>);

#[derive(Default)]
struct Waiting {
    notes: VecDeque<Note>,
    wakers: Vec<Waker>,
}

impl Inbox {
    /// Leaves a note.
    pub fn deliver(&self, session: &SessionId, note: Note) {
        let mut sessions = lock(&self.0);
        let waiting = sessions.entry(session.clone()).or_default();
        waiting.notes.push_back(note);
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(sessions);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes the oldest note, if there is one.
    pub fn take(&self, session: &SessionId) -> Option<Note> {
        let mut sessions = lock(&self.0);
        let note = sessions.get_mut(session)?.notes.pop_front();
        if sessions.get(session).is_some_and(|waiting| waiting.notes.is_empty() && waiting.wakers.is_empty())
        {
            sessions.remove(session);
        }
        note
    }

    /// What waits in a session, the oldest first. It stays where it is.
    pub fn waiting(&self, session: &SessionId) -> Vec<Note> {
        lock(&self.0).get(session).map(|waiting| waiting.notes.iter().cloned().collect()).unwrap_or_default()
    }

    /// Waits for a note and takes it.
    pub async fn next(&self, session: &SessionId) -> Note {
        poll_fn(|context| {
            let mut sessions = lock(&self.0);
            let waiting = sessions.entry(session.clone()).or_default();
            match waiting.notes.pop_front() {
                Some(note) => Poll::Ready(note),
                None => {
                    waiting.wakers.push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}
