//! One running server: requests with their answers, notifications, and its end.
//!
//! Two threads of its own speak and listen, so a server that does not read keeps nobody waiting, and one that is
//! starting goes on doing so when whoever wanted it has gone away.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::address;
use super::capabilities::{self, Capabilities};
use super::documents::Notices;
use super::failure::{Ended, RequestError};
use super::habits::{self, Fence};
use super::listening::Listener;
use super::shared::{GRACE, Pending, Phase, Purpose, Shared, State, Unasked};
use crate::process::Serving;

/// So many messages wait to be read by a server.
const OUTBOX_MAX: usize = 512;
/// Holds a server: when this is dropped, it is killed with everything it started.
pub(super) struct Client {
    shared: Arc<Shared>,
    /// Ends with the thread that listens.
    gone: Mutex<mpsc::Receiver<()>>,
}

impl Client {
    /// Begins to speak with a server that was started.
    pub(super) fn new(serving: Serving, purpose: Purpose) -> std::io::Result<Client> {
        let Serving { child, watch, mut input, output, words } = serving;
        let (outbox, letters) = mpsc::sync_channel::<Vec<u8>>(OUTBOX_MAX);
        let (listening, gone) = mpsc::channel::<()>();
        let shared = Arc::new(Shared {
            started: Instant::now(),
            phase: watch::Sender::new(Phase::Starting),
            news: watch::Sender::new(0),
            state: Mutex::default(),
            outbox: Mutex::new(Some(outbox)),
            holds: Mutex::new(Some(watch)),
            purpose,
        });
        let listener = Listener::new(shared.clone(), child, output, words)?;
        let client = Client { shared, gone: Mutex::new(gone) };
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("haft-lsp-say").spawn(move || {
            // One that is gone reads no more, and the other thread notices.
            let _gone = letters.into_iter().try_for_each(|letter| input.write_all(&letter));
        })?;
        thread("haft-lsp-hear").spawn(move || {
            listener.listen();
            drop(listening);
        })?;
        let purpose = &client.shared.purpose;
        let started = capabilities::introduction(&purpose.root, &purpose.initialization);
        client.shared.ask("initialize", &started, Pending::Start);
        Ok(client)
    }

    /// What it can do, once it is ready.
    pub(super) async fn ready(&self, limit: Duration) -> Result<Arc<Capabilities>, RequestError> {
        let mut phase = self.shared.phase.subscribe();
        let reached = async {
            let reached = phase.wait_for(|phase| !matches!(phase, Phase::Starting)).await;
            reached.map_or(Phase::Starting, |phase| phase.clone())
        };
        match tokio::time::timeout(limit, reached).await {
            Ok(Phase::Ready(capabilities)) => Ok(capabilities),
            Ok(Phase::Gone(ended)) => Err(RequestError::Gone(ended)),
            Ok(Phase::Starting) | Err(_) => Err(RequestError::TimedOut(limit)),
        }
    }

    /// How it ended, if it did.
    pub(super) fn ended(&self) -> Option<Arc<Ended>> {
        match &*self.shared.phase.borrow() {
            Phase::Gone(ended) => Some(ended.clone()),
            Phase::Starting | Phase::Ready(_) => None,
        }
    }

    /// Whether it is still to be used.
    pub(super) fn is_usable(&self) -> bool {
        self.ended().is_none() && self.state().closing.is_none()
    }

    /// Whether nobody waits for it, and since when.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (!state.is_waited_for()).then(|| state.used.unwrap_or(self.shared.started))
    }

    pub(super) fn age(&self) -> Duration {
        self.shared.started.elapsed()
    }

    pub(super) fn root(&self) -> &Path {
        &self.shared.purpose.root
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    /// Asks something. Whoever stops waiting lets the server stop working.
    pub(super) async fn request(
        &self,
        method: &str,
        params: &Value,
        limit: Duration,
    ) -> Result<Value, RequestError> {
        let (asker, answer) = oneshot::channel();
        let id = self.shared.ask(method, params, Pending::Asker(asker)).ok_or_else(|| self.deaf())?;
        let _unasked = Unasked { shared: &self.shared, id };
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(self.deaf()),
            Err(_) => Err(RequestError::TimedOut(limit)),
        }
    }

    /// Makes a file hold a text for the server, and returns the version that it has there.
    pub(super) fn put(&self, path: &Path, text: &str) -> Result<i32, RequestError> {
        let mut state = self.state();
        self.put_within(&mut state, path, text)
    }

    fn put_within(&self, state: &mut State, path: &Path, text: &str) -> Result<i32, RequestError> {
        let (version, notices) = state.documents.put(path, text);
        let is_sent = !notices.is_empty();
        self.send_all(state, notices)?;
        if is_sent && self.needs_fences(state) {
            let pending = Pending::Fence(path.to_owned(), version);
            if self.shared.ask_within(state, habits::QUESTION, &Value::Null, pending).is_some() {
                state.documents.fence(path, version, Fence::Ahead);
            }
        }
        Ok(version)
    }

    /// Whether it can only be told from the order of messages which version findings are of.
    fn needs_fences(&self, state: &State) -> bool {
        let names_versions = state.documents.habits.gives_versions == Some(true);
        !self.shared.can_be_asked(state) && !names_versions && state.fences() < habits::UNANSWERED_MAX
    }

    /// Brings open files that were changed on disk to what is there now.
    pub(super) fn refresh(&self, read: impl Fn(&Path) -> Option<String>) -> Result<(), RequestError> {
        let outdated = self.state().documents.outdated();
        for path in outdated {
            let text = read(&path);
            let mut state = self.state();
            match text {
                Some(text) => drop(self.put_within(&mut state, &path, &text)?),
                None => {
                    let notices = state.documents.close(&path).into_iter().collect();
                    self.send_all(&mut state, notices)?;
                }
            }
        }
        Ok(())
    }

    /// Says that files on disk were made or changed.
    pub(super) fn announce(&self, files: &[(PathBuf, Happened)]) -> Result<(), RequestError> {
        let change = |(path, happened): &(PathBuf, Happened)| {
            let kind = match happened {
                Happened::Made => 1,
                Happened::Changed => 2,
            };
            json!({ "uri": address::of(path), "type": kind })
        };
        let changes: Vec<Value> = files.iter().map(change).collect();
        let mut state = self.state();
        let notice = ("workspace/didChangeWatchedFiles", json!({ "changes": changes }));
        state.documents.tell();
        self.send_all(&mut state, vec![notice])
    }

    /// Says that a file was saved, to a server that wants to know.
    pub(super) fn saved(&self, path: &Path) -> Result<(), RequestError> {
        let wants = match &*self.shared.phase.borrow() {
            Phase::Ready(capabilities) => capabilities.wants_saves,
            Phase::Starting | Phase::Gone(_) => false,
        };
        let notice = ("textDocument/didSave", json!({ "textDocument": { "uri": address::of(path) } }));
        let mut state = self.state();
        if wants { self.send_all(&mut state, vec![notice]) } else { Ok(()) }
    }

    /// Asks it to end. Nothing is waited for.
    pub(super) fn begin_close(&self) {
        self.shared.begin_close();
    }

    /// Waits, without a runtime, until one that was asked to end is gone; makes it, if it takes too long.
    pub(super) fn wait_until_gone(&self) {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing is ever sent: this returns when the thread that listens is gone.
        if gone.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
            self.shared.kill();
            let _gone = gone.recv_timeout(2 * GRACE);
        }
    }

    /// Sends notices in their order; the lock is what keeps it.
    fn send_all(&self, state: &mut State, notices: Notices) -> Result<(), RequestError> {
        state.used = Some(Instant::now());
        for (method, params) in notices {
            let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            if !self.shared.send(&message) {
                return Err(self.deaf());
            }
        }
        Ok(())
    }

    fn deaf(&self) -> RequestError {
        self.ended().map_or(RequestError::Deaf, RequestError::Gone)
    }
}

/// What happened to a file on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Happened {
    Made,
    Changed,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.kill();
    }
}
