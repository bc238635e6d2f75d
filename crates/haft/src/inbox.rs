//! What waits to be said in a session: the person's follow-ups, results that arrive late, a change of agent.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::id::{AgentId, MessageId, SessionId};
use crate::sync::{Mutex, lock};
use crate::transcript::Part;

/// Something to be said in the user's place when the model has answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The message it becomes when it is said.
    pub id: MessageId,
    /// The agent that is to go on; nothing leaves the one that works.
    pub agent: Option<AgentId>,
    /// What is said.
    pub parts: Vec<Part>,
    /// Whether it is only there to be known: nobody is asked to answer it, and it is said along with something else.
    pub is_aside: bool,
}

impl Note {
    /// Something to be said to whoever works.
    pub fn new(parts: Vec<Part>) -> Note {
        Note { id: MessageId::mint(), agent: None, parts, is_aside: false }
    }

    /// The same, but nobody is to answer it.
    pub fn aside(self) -> Note {
        Note { is_aside: true, ..self }
    }

    /// The same, said to this agent.
    pub fn to(self, agent: AgentId) -> Note {
        Note { agent: Some(agent), ..self }
    }
}

/// Keeps what waits to be said, so that it is not lost with its process. Nobody waits for it; what is put there later is
/// kept later. What has been said is no longer on it.
pub trait Shelf: Send + Sync {
    /// Keeps a note, in place of what was kept of it before.
    fn put(&self, session: &SessionId, note: &Note);

    /// Takes a note away that is not to be said.
    fn remove(&self, session: &SessionId, note: &MessageId);
}

/// The notes of all sessions of this process. Cloning it is cheap.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    sessions: Mutex<HashMap<SessionId, Waiting>>,
    shelf: Option<Arc<dyn Shelf>>,
}

#[derive(Default)]
struct Waiting {
    notes: VecDeque<Note>,
    wakers: Vec<Waker>,
}

impl Waiting {
    /// Adds a note, or says differently what waits already.
    fn add(&mut self, note: Note) {
        match self.notes.iter_mut().find(|waiting| waiting.id == note.id) {
            Some(waiting) => *waiting = note,
            None => self.notes.push_back(note),
        }
    }

    /// Takes the oldest of those that are asides, or of those that are not.
    fn take(&mut self, is_aside: bool) -> Option<Note> {
        let at = self.notes.iter().position(|note| note.is_aside == is_aside)?;
        self.notes.remove(at)
    }
}

impl Inbox {
    /// An inbox whose notes are also on a shelf.
    pub fn kept_on(shelf: Arc<dyn Shelf>) -> Inbox {
        Inbox(Arc::new(Shared { sessions: Mutex::default(), shelf: Some(shelf) }))
    }

    /// Leaves a note, in place of one of the same id.
    pub fn deliver(&self, session: &SessionId, note: Note) {
        self.foresee(session, &note);
        self.wake(session, |waiting| waiting.add(note));
    }

    /// Says what is to be said if this process ends before anything else is: it is on the shelf, and does not wait here.
    pub fn foresee(&self, session: &SessionId, note: &Note) {
        if let Some(shelf) = &self.0.shelf {
            shelf.put(session, note);
        }
    }

    /// Takes back what was only foreseen: it is not to be said.
    pub fn dismiss(&self, session: &SessionId, note: &MessageId) {
        if let Some(shelf) = &self.0.shelf {
            shelf.remove(session, note);
        }
    }

    /// Puts notes from the shelf back, unless they wait already.
    pub fn restore(&self, session: &SessionId, notes: Vec<Note>) {
        self.wake(session, |waiting| {
            for note in notes {
                if waiting.notes.iter().all(|known| known.id != note.id) {
                    waiting.notes.push_back(note);
                }
            }
        });
    }

    /// Takes back everything that waits: it is not to be said.
    pub fn withdraw(&self, session: &SessionId) -> Vec<Note> {
        let notes: Vec<Note> = std::iter::from_fn(|| self.take(session)).collect();
        notes.iter().for_each(|note| self.dismiss(session, &note.id));
        notes
    }

    fn wake(&self, session: &SessionId, change: impl FnOnce(&mut Waiting)) {
        let mut sessions = lock(&self.0.sessions);
        let waiting = sessions.entry(session.clone()).or_default();
        change(waiting);
        let wakers = std::mem::take(&mut waiting.wakers);
        drop(sessions);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Takes the oldest note, if there is one, to say it. It stays on the shelf until it is said.
    pub fn take(&self, session: &SessionId) -> Option<Note> {
        self.take_by(session, |waiting| waiting.notes.pop_front())
    }

    /// The same, of those that somebody is to answer.
    pub fn take_question(&self, session: &SessionId) -> Option<Note> {
        self.take_by(session, |waiting| waiting.take(false))
    }

    /// The same, of those that nobody is to answer.
    pub fn take_aside(&self, session: &SessionId) -> Option<Note> {
        self.take_by(session, |waiting| waiting.take(true))
    }

    fn take_by(&self, session: &SessionId, take: impl FnOnce(&mut Waiting) -> Option<Note>) -> Option<Note> {
        let mut sessions = lock(&self.0.sessions);
        let note = take(sessions.get_mut(session)?);
        if sessions.get(session).is_some_and(|waiting| waiting.notes.is_empty() && waiting.wakers.is_empty())
        {
            sessions.remove(session);
        }
        note
    }

    /// What waits in a session, the oldest first. It stays where it is.
    pub fn waiting(&self, session: &SessionId) -> Vec<Note> {
        lock(&self.0.sessions)
            .get(session)
            .map(|waiting| waiting.notes.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// Waits for a note that somebody is to answer, and takes it.
    pub async fn next(&self, session: &SessionId) -> Note {
        poll_fn(|context| {
            let mut sessions = lock(&self.0.sessions);
            let waiting = sessions.entry(session.clone()).or_default();
            match waiting.take(false) {
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

#[cfg(test)]
mod tests {
    use super::{Inbox, Note};
    use crate::id::SessionId;
    use crate::transcript::Part;

    #[test]
    fn what_nobody_is_to_answer_waits_for_something_that_somebody_is() {
        let (inbox, session) = (Inbox::default(), SessionId::mint());
        let note = |text: &str| Note::new(vec![Part::text(text)]);
        let (aside, question) = (note("by the way").aside(), note("why?"));
        inbox.deliver(&session, aside.clone());
        assert_eq!(inbox.take_question(&session), None);
        inbox.deliver(&session, question.clone());
        assert_eq!(inbox.take_question(&session), Some(question.clone()));
        assert_eq!(inbox.take_aside(&session), Some(aside.clone()));
        assert!(inbox.waiting(&session).is_empty());

        inbox.deliver(&session, aside.clone());
        inbox.deliver(&session, question.clone());
        assert_eq!(inbox.take(&session), Some(aside), "whoever says everything says it in its order");
        assert_eq!(inbox.take(&session), Some(question));
    }
}
