//! What the threads of a server and those who ask it share: who waits for which answer, and how far the server is.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_sandbox::Watch;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::answers::{self, Asked};
use super::capabilities::Capabilities;
use super::documents::{Documents, Said};
use super::failure::{Ended, RequestError, outcome};
use super::habits::Fence;
use super::position::Units;
use super::{address, framing};

/// Between being asked to end and being made to.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How far a server is.
#[derive(Debug, Clone)]
pub(super) enum Phase {
    Starting,
    Ready(Arc<Capabilities>),
    Gone(Arc<Ended>),
}

/// What a server is started for.
pub(super) struct Purpose {
    pub(super) root: PathBuf,
    pub(super) initialization: Value,
    /// After so long without use it is ended.
    pub(super) idle: Duration,
    /// So long it is given to say more, if it needs it.
    pub(super) settling: Duration,
}

pub(super) struct Shared {
    pub(super) purpose: Purpose,
    pub(super) started: Instant,
    pub(super) phase: watch::Sender<Phase>,
    /// Changes whenever the server found or finished something.
    pub(super) news: watch::Sender<u64>,
    pub(super) state: Mutex<State>,
    pub(super) outbox: Mutex<Option<SyncSender<Vec<u8>>>>,
    pub(super) holds: Mutex<Option<Watch>>,
}

#[derive(Default)]
pub(super) struct State {
    next: i64,
    pub(super) pending: HashMap<i64, Pending>,
    pub(super) documents: Documents,
    /// What the server says it is busy with.
    progress: HashSet<String>,
    pub(super) has_progressed: bool,
    /// Whether the server says that it has not read the project yet, or is reading it anew.
    pub(super) is_unready: bool,
    /// So many times it has said that.
    pub(super) readings: u64,
    /// So many times in a row nothing was found in time.
    pub(super) silences: u32,
    /// Whether it said that it could be asked what it finds, and then that it cannot.
    pub(super) refuses_asking: bool,
    pub(super) closing: Option<Instant>,
    /// Why it would not begin.
    pub(super) complaint: Option<String>,
    pub(super) used: Option<Instant>,
}

/// Who waits for an answer.
pub(super) enum Pending {
    Asker(oneshot::Sender<Result<Value, RequestError>>),
    Start,
    End,
    /// Nobody; that it comes is what counts.
    Fence(PathBuf, i32),
}

impl Pending {
    fn is_fence(&self) -> bool {
        matches!(self, Pending::Fence(..))
    }
}

impl State {
    /// Whether somebody waits for an answer.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.pending.values().all(Pending::is_fence)
    }

    /// How many questions behind texts are not answered.
    pub(super) fn fences(&self) -> usize {
        self.pending.values().filter(|pending| pending.is_fence()).count()
    }
}

/// Takes back a request that nobody waits for any more.
pub(super) struct Unasked<'a> {
    pub(super) shared: &'a Shared,
    pub(super) id: i64,
}

impl Drop for Unasked<'_> {
    fn drop(&mut self) {
        let was_pending = self.shared.state().pending.remove(&self.id).is_some();
        if was_pending {
            let params = json!({ "id": self.id });
            self.shared.send(&json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": params }));
        }
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request; `None` if it cannot be sent.
    pub(super) fn ask(&self, method: &str, params: &Value, pending: Pending) -> Option<i64> {
        self.ask_within(&mut self.state(), method, params, pending)
    }

    /// The same, by who holds the lock already, so that nothing comes between.
    pub(super) fn ask_within(
        &self,
        state: &mut State,
        method: &str,
        params: &Value,
        pending: Pending,
    ) -> Option<i64> {
        state.next += 1;
        let id = state.next;
        state.pending.insert(id, pending);
        state.used = Some(Instant::now());
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if self.send(&message) {
            return Some(id);
        }
        state.pending.remove(&id);
        None
    }

    /// Puts a message where it is sent from; `false` if nobody reads.
    pub(super) fn send(&self, message: &Value) -> bool {
        let outbox = self.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        match outbox.as_ref().map(|outbox| outbox.try_send(framing::encode(message))) {
            Some(Ok(())) => true,
            Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None => false,
        }
    }

    /// Takes a message of the server's.
    pub(super) fn hear(&self, message: &Value) {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let asked = Asked { root: &self.purpose.root, initialization: &self.purpose.initialization };
                self.send(&answers::answer(&asked, id, method, &message["params"]));
            }
            (Some(method), None) => self.note(method, &message["params"]),
            (None, Some(id)) => {
                let pending = id.as_i64().and_then(|id| self.state().pending.remove(&id));
                self.take(pending, message);
            }
            (None, None) => {}
        }
    }

    fn take(&self, pending: Option<Pending>, message: &Value) {
        match pending {
            // Somebody who no longer waits, or nobody ever.
            None => {}
            Some(Pending::Asker(asker)) => {
                let _gone = asker.send(outcome(message));
            }
            Some(Pending::Start) => match outcome(message) {
                Ok(introduced) => self.begin(&introduced),
                Err(refused) => {
                    self.state().complaint = Some(refused.to_string());
                    self.kill();
                }
            },
            Some(Pending::Fence(path, version)) => {
                self.state().documents.fence(&path, version, Fence::Passed);
                self.tell_news();
            }
            Some(Pending::End) => {
                self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
                // Once that is written, there is nothing more to read.
                *self.outbox.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
    }

    fn begin(&self, introduced: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        if !self.purpose.initialization.is_null() {
            let params = json!({ "settings": self.purpose.initialization });
            self.send(&json!({
                "jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": params,
            }));
        }
        self.phase.send_replace(Phase::Ready(Arc::new(Capabilities::of(introduced))));
    }

    fn note(&self, method: &str, params: &Value) {
        match method {
            "textDocument/publishDiagnostics" => {
                let Some(path) = params["uri"].as_str().and_then(address::path) else { return };
                let version = params["version"].as_i64().and_then(|version| i32::try_from(version).ok());
                self.published(&path, version, &params["diagnostics"]);
            }
            "$/progress" => {
                let token = params["token"].to_string();
                let mut state = self.state();
                state.has_progressed = true;
                match params["value"]["kind"].as_str() {
                    Some("begin") => {
                        state.progress.insert(token);
                    }
                    Some("end") => {
                        state.progress.remove(&token);
                    }
                    Some(_) | None => return,
                }
            }
            "experimental/serverStatus" => {
                let mut state = self.state();
                state.is_unready = params["quiescent"] == false;
                state.readings += u64::from(state.is_unready);
            }
            _ => return,
        }
        self.tell_news();
    }

    /// Takes what the server found in a file, by itself.
    fn published(&self, path: &Path, version: Option<i32>, diagnostics: &Value) {
        let Some(units) = self.units() else { return };
        let mut state = self.state();
        let can_be_asked = self.can_be_asked(&state);
        // What it finds before it has read the project is not what it finds in the end; it is asked again then.
        if state.is_unready && can_be_asked {
            return;
        }
        state.silences = 0;
        let said = Said { version, diagnostics, units };
        state.documents.publish(path, said, can_be_asked, self.purpose.settling);
    }

    /// Takes what the server found in a version of a file when it was asked; `false` if it is too early for that.
    pub(super) fn pulled(&self, path: &Path, version: i32, diagnostics: &Value) -> bool {
        let Some(units) = self.units() else { return true };
        let mut state = self.state();
        if state.is_unready {
            return false;
        }
        state.silences = 0;
        state.documents.find(path, version, diagnostics, units);
        true
    }

    /// Whether the server can be asked what it finds.
    pub(super) fn can_be_asked(&self, state: &State) -> bool {
        match &*self.phase.borrow() {
            Phase::Ready(capabilities) => capabilities.pulling.is_some() && !state.refuses_asking,
            Phase::Starting | Phase::Gone(_) => false,
        }
    }

    fn units(&self) -> Option<Units> {
        match &*self.phase.borrow() {
            Phase::Ready(capabilities) => Some(capabilities.units),
            Phase::Starting | Phase::Gone(_) => None,
        }
    }

    pub(super) fn tell_news(&self) {
        self.news.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Whether the server says that it is busy.
    pub(super) fn is_busy(&self) -> bool {
        let state = self.state();
        state.is_unready || !state.progress.is_empty()
    }

    pub(super) fn begin_close(&self) {
        let is_ready = matches!(&*self.phase.borrow(), Phase::Ready(_));
        {
            let mut state = self.state();
            if state.closing.is_some() {
                return;
            }
            state.closing = Some(Instant::now());
        }
        // One that has not begun has nothing to put in order.
        if !is_ready || self.ask("shutdown", &Value::Null, Pending::End).is_none() {
            self.kill();
        }
    }

    /// Has everything of it killed. The thread that listens finds out.
    pub(super) fn kill(&self) {
        if let Some(watch) = &*self.holds.lock().unwrap_or_else(PoisonError::into_inner) {
            watch.end();
        }
    }

    /// How long nothing has to be done about time; zero if it is time to.
    pub(super) fn patience(&self) -> Duration {
        let state = self.state();
        let (since, limit) = match state.closing {
            Some(since) => (since, GRACE),
            None => (state.used.unwrap_or(self.started), self.purpose.idle),
        };
        limit.saturating_sub(since.elapsed())
    }

    /// Does what it is time for.
    pub(super) fn grow_impatient(&self) {
        let (is_closing, is_waited_for) = {
            let state = self.state();
            (state.closing.is_some(), state.is_waited_for())
        };
        match (is_closing, is_waited_for) {
            (true, _) => self.kill(),
            (false, true) => self.state().used = Some(Instant::now()),
            (false, false) => self.begin_close(),
        }
    }

    /// Says to everybody that it is gone.
    pub(super) fn part(&self, why: String) {
        *self.outbox.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let (pending, is_wanted) = {
            let mut state = self.state();
            state.progress.clear();
            state.is_unready = false;
            (std::mem::take(&mut state.pending), state.closing.is_some())
        };
        let ended = Arc::new(Ended { why, is_wanted, at: Instant::now(), lived: self.started.elapsed() });
        self.phase.send_replace(Phase::Gone(ended.clone()));
        for pending in pending.into_values() {
            if let Pending::Asker(asker) = pending {
                let _gone = asker.send(Err(RequestError::Gone(ended.clone())));
            }
        }
        self.tell_news();
    }
}
