//! Requests that wait, and the verdicts they wait for.
//!
//! Answering is two steps, because saving a grant takes time: whoever claims a request alone may settle it, and a
//! claim that is dropped instead gives the request back.

use std::sync::Arc;
use std::task::{Poll, Waker};

use serde_json::Value;

use super::ask::Request;
use crate::id::{RequestId, SessionId};
use crate::sync::{Mutex, lock};

/// What somebody decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    Declined,
    Corrected(String),
    Edited(Value),
}

/// The requests that wait for a verdict, oldest first.
#[derive(Clone, Default)]
pub(super) struct Waiting(Arc<Mutex<Vec<Entry>>>);

struct Entry {
    request: Arc<Request>,
    state: State,
    waker: Option<Waker>,
}

enum State {
    Open,
    Claimed,
    Settled(Verdict),
}

impl Waiting {
    /// Adds a request. It waits until the returned guard is dropped.
    pub(super) fn push(&self, request: Arc<Request>) -> Pending {
        let id = request.id.clone();
        lock(&self.0).push(Entry { request, state: State::Open, waker: None });
        Pending { waiting: self.clone(), id }
    }

    pub(super) fn requests(&self) -> Vec<Arc<Request>> {
        let entries = lock(&self.0);
        entries.iter().filter(|entry| entry.is_open()).map(|entry| entry.request.clone()).collect()
    }

    /// Takes the right to settle a request, if nobody has it.
    pub(super) fn claim(&self, id: &RequestId) -> Option<Claim> {
        self.claim_where(|request| request.id == *id).pop()
    }

    pub(super) fn claim_all(&self, session: &SessionId) -> Vec<Claim> {
        self.claim_where(|request| request.context.session == *session)
    }

    fn claim_where(&self, wanted: impl Fn(&Request) -> bool) -> Vec<Claim> {
        let mut entries = lock(&self.0);
        let open = entries.iter_mut().filter(|entry| entry.is_open() && wanted(&entry.request));
        open.map(|entry| {
            entry.state = State::Claimed;
            Claim { waiting: self.clone(), request: entry.request.clone(), settled: false }
        })
        .collect()
    }

    fn with<T>(&self, id: &RequestId, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        lock(&self.0).iter_mut().find(|entry| entry.request.id == *id).map(change)
    }
}

impl Entry {
    fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }
}

/// A request that waits. Dropping it takes the request away.
pub(super) struct Pending {
    waiting: Waiting,
    id: RequestId,
}

impl Pending {
    /// Waits for the verdict.
    pub(super) async fn verdict(&self) -> Verdict {
        std::future::poll_fn(|cx| {
            let verdict = self.waiting.with(&self.id, |entry| match &entry.state {
                State::Settled(verdict) => Some(verdict.clone()),
                State::Open | State::Claimed => {
                    entry.waker = Some(cx.waker().clone());
                    None
                }
            });
            verdict.flatten().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl Pending {
    /// Waits for whoever has claimed the request. `None` if nobody has, or they gave it back.
    pub(super) async fn claimed(&self) -> Option<Verdict> {
        std::future::poll_fn(|cx| {
            let state = self.waiting.with(&self.id, |entry| match &entry.state {
                State::Settled(verdict) => Poll::Ready(Some(verdict.clone())),
                State::Open => Poll::Ready(None),
                State::Claimed => {
                    entry.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            });
            state.unwrap_or(Poll::Ready(None))
        })
        .await
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        lock(&self.waiting.0).retain(|entry| entry.request.id != self.id);
    }
}

/// The right to settle a request.
pub(super) struct Claim {
    waiting: Waiting,
    request: Arc<Request>,
    settled: bool,
}

impl Claim {
    pub(super) fn request(&self) -> &Arc<Request> {
        &self.request
    }

    pub(super) fn settle(mut self, verdict: Verdict) {
        self.settled = true;
        let waker = self.waiting.with(&self.request.id, |entry| {
            entry.state = State::Settled(verdict);
            entry.waker.take()
        });
        if let Some(waker) = waker.flatten() {
            waker.wake();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.settled {
            let waker = self.waiting.with(&self.request.id, |entry| {
                entry.state = State::Open;
                entry.waker.take()
            });
            if let Some(waker) = waker.flatten() {
                waker.wake();
            }
        }
    }
}
