//! The seam to whatever makes calls durable.
//!
//! A call is recorded before it runs and its end before anybody is told of it. What changes the world is on the disk
//! before the first permit for it is used; what only looks survives the death of the process without an fsync.

use std::path::PathBuf;

use serde_json::Value;

use crate::BoxFuture;
use crate::error::BoxError;
use crate::events::Event;
use crate::id::CallId;
use crate::journal::{Change, Journal, Journaled};
use crate::settlement::{Call, Settlement};
use crate::sync::{Mutex, lock};
use crate::tool::ToolContext;

/// A store could not do what was asked of it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    what: String,
    #[source]
    source: Option<BoxError>,
}

impl StoreError {
    /// Says what could not be done, and why.
    pub fn new(what: impl Into<String>, source: impl Into<BoxError>) -> StoreError {
        StoreError { what: what.into(), source: Some(source.into()) }
    }

    /// Says what could not be done.
    pub fn bare(what: impl Into<String>) -> StoreError {
        StoreError { what: what.into(), source: None }
    }
}

/// The place of an event in the store's order. Events that were not stored have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Seq(pub u64);

/// What a recorder knows of a call that is being opened.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    /// It is new and now recorded.
    New {
        /// Its event.
        seq: Seq,
        /// How many calls right before it, in its session, were the same tool with the same input.
        repeats: u32,
    },
    /// The same call (session, message and provider id) was made before. It must not run again.
    Before(Box<Past>),
}

/// What became of a call that was made before.
#[derive(Debug, Clone, PartialEq)]
pub enum Past {
    /// It ended.
    Ended(CallId, Ended),
    /// It is under way.
    Running(CallId),
}

/// How a call ended, as it is recorded. It never changes again.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With a settlement, which the model is told.
    Settled(Box<Settlement>),
    /// By a person's no, which ends the turn.
    Declined,
    /// By something broken, in the operator's words.
    Broken(String),
    /// It was cancelled: dropped by whoever awaited it.
    Cancelled,
    /// Its process died.
    Interrupted(Interruption),
}

/// What is known of a call whose process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// Nothing had been changed.
    NotStarted,
    /// What it was to change has been changed.
    Committed,
    /// It had changed some of its files, and these were put back.
    RolledBack,
    /// It may or may not have changed something.
    Unknown,
}

/// A change that a call is about to make, by which a later process can tell whether it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The file.
    pub path: PathBuf,
    /// The digest of its content before; `None` if it did not exist.
    pub before: Option<String>,
    /// The digest of its content afterwards; `None` if it is to be removed.
    pub after: Option<String>,
    /// The digest of what it may hold instead, where the change only finishes what the call had done.
    pub midway: Option<String>,
}

impl Intent {
    /// How the name of a file begins that holds the new content until it takes its place. If the process dies before,
    /// whoever finds the call knows by it what was left behind.
    pub fn temporary(&self) -> String {
        let mark = self.after.as_deref().unwrap_or("gone");
        format!(".haft-tmp-{}", mark.get(..24).unwrap_or(mark))
    }
}

/// Makes calls and their ends durable.
pub trait Recorder: Send + Sync {
    /// Records that a call was made, before anything comes of it. Dropped before it returns, it leaves no call open:
    /// nobody will cancel one that was not reported as new.
    fn called<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Opened, StoreError>>;

    /// Records that a call runs now, with the input it runs on if a hook changed it.
    fn running<'a>(
        &'a self,
        context: &'a ToolContext,
        changed_input: Option<&'a Value>,
    ) -> BoxFuture<'a, Result<Seq, StoreError>>;

    /// Makes durable, to the disk, that a call is about to change something, and what is in the files it changes.
    fn acting<'a>(
        &'a self,
        context: &'a ToolContext,
        changes: &'a [Change],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Records how a call ended, before anybody is told.
    fn ended<'a>(
        &'a self,
        context: &'a ToolContext,
        ended: &'a Ended,
    ) -> BoxFuture<'a, Result<Seq, StoreError>>;

    /// Records that a call was dropped, if it had not ended. Called while dropping, so it must not wait.
    fn cancelled(&self, context: &ToolContext);

    /// Records something that happened beside the calls' own states.
    fn event<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<Seq, StoreError>>;
}

/// A recorder that forgets when the process ends: for tests, and for embedding without a store.
#[derive(Default)]
pub struct MemoryRecorder(Mutex<Vec<Remembered>>);

/// What a [`MemoryRecorder`] knows of a call.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// The call as it was made.
    pub call: Call,
    /// Whether it ran.
    pub ran: bool,
    /// Whether it changed, or was about to change, something.
    pub acted: bool,
    /// The files it changed, or was about to change.
    pub changes: Vec<Change>,
    /// How it ended.
    pub ended: Option<Ended>,
}

impl MemoryRecorder {
    /// Everything that was recorded, in order.
    pub fn calls(&self) -> Vec<Remembered> {
        lock(&self.0).clone()
    }

    fn update(&self, context: &ToolContext, change: impl FnOnce(&mut Remembered)) {
        let mut calls = lock(&self.0);
        if let Some(known) = calls.iter_mut().rev().find(|known| known.call.context.call == context.call) {
            change(known);
        }
    }
}

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Recorder for MemoryRecorder {
    fn called<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Opened, StoreError>> {
        let mut calls = lock(&self.0);
        if let Some(known) = calls.iter().find(|known| known.call.is_same_as(call)) {
            let id = known.call.context.call.clone();
            return done(Opened::Before(Box::new(match &known.ended {
                Some(ended) => Past::Ended(id, ended.clone()),
                None => Past::Running(id),
            })));
        }
        let in_session =
            calls.iter().rev().filter(|known| known.call.context.session == call.context.session);
        let same = |known: &&Remembered| known.call.name == call.name && known.call.input == call.input;
        let repeats = in_session.take_while(same).count() as u32;
        calls.push(Remembered {
            call: call.clone(),
            ran: false,
            acted: false,
            changes: Vec::new(),
            ended: None,
        });
        done(Opened::New { seq: Seq::default(), repeats })
    }

    fn running<'a>(
        &'a self,
        context: &'a ToolContext,
        _changed_input: Option<&'a Value>,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        self.update(context, |known| known.ran = true);
        done(Seq::default())
    }

    fn acting<'a>(
        &'a self,
        context: &'a ToolContext,
        changes: &'a [Change],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.update(context, |known| {
            known.acted = true;
            for change in changes {
                match known.changes.iter_mut().find(|earlier| earlier.path == change.path) {
                    Some(earlier) => *earlier = earlier.followed_by(change),
                    None => known.changes.push(change.clone()),
                }
            }
        });
        done(())
    }

    fn ended<'a>(
        &'a self,
        context: &'a ToolContext,
        ended: &'a Ended,
    ) -> BoxFuture<'a, Result<Seq, StoreError>> {
        self.update(context, |known| {
            known.ended.get_or_insert_with(|| ended.clone());
        });
        done(Seq::default())
    }

    fn cancelled(&self, context: &ToolContext) {
        self.update(context, |known| {
            known.ended.get_or_insert(Ended::Cancelled);
        });
    }

    fn event<'a>(&'a self, _event: &'a Event) -> BoxFuture<'a, Result<Seq, StoreError>> {
        done(Seq::default())
    }
}

impl Journal for MemoryRecorder {
    fn changes<'a>(&'a self, call: &'a CallId) -> BoxFuture<'a, Result<Vec<Journaled>, StoreError>> {
        let calls = lock(&self.0);
        let Some(known) = calls.iter().find(|known| known.call.context.call == *call) else {
            return done(Vec::new());
        };
        let is_certain = known.is_done();
        let journaled = |change: &Change| Journaled {
            call: call.clone(),
            is_certain,
            undone_by: undone_by(&calls, call, change),
            change: change.clone(),
        };
        done(known.changes.iter().map(journaled).collect())
    }
}

impl Remembered {
    /// Whether it is known to have changed what it was to change.
    fn is_done(&self) -> bool {
        match &self.ended {
            Some(Ended::Settled(settlement)) => matches!(**settlement, Settlement::Completed(_)),
            Some(Ended::Interrupted(interruption)) => *interruption == Interruption::Committed,
            Some(Ended::Declined | Ended::Broken(_) | Ended::Cancelled) | None => false,
        }
    }
}

fn undone_by(calls: &[Remembered], call: &CallId, change: &Change) -> Option<CallId> {
    let undoing = calls.iter().rev().filter(|known| known.is_done()).find_map(|known| {
        let undoes = |other: &&Change| other.path == change.path && other.undoes.contains(call);
        Some((&known.call.context.call, known.changes.iter().find(undoes)?))
    })?;
    let (by, undo) = undoing;
    undone_by(calls, by, undo).is_none().then(|| by.clone())
}
