//! What the ends of a conversation with a host share: who waits for what, and how it ended.

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft::{ToolContext, ToolError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::lines::{LeftOut, Lines, cut};
use super::outbox::{Outbox, Untold};
use super::stripping::Stripping;
use super::told::Told;
use super::{Holds, Pulse};
use crate::desk::{Behalf, Desk, Unanswered};
use crate::error::HostError;
use crate::facts;
use crate::words::{Answered, Asked, FromHost, Said, Wish};

/// One message of a host is at most so long; a host that says more at once is ended.
const LINE_BYTES_MAX: u64 = 96 << 20;
/// So much of what a host writes beside its messages is kept for the error that tells of its end.
const WORDS_BYTES_MAX: usize = 4 << 10;
/// So much is heard at once.
const HEARD_BYTES: usize = 16 << 10;
/// A longer message is read where that keeps nobody waiting.
const READ_HERE_BYTES_MAX: usize = 128 << 10;
/// So many questions of one host are open at once.
const ASKED_MAX: usize = 256;

pub(super) struct Shared {
    desk: Arc<dyn Desk>,
    /// The file that it serves.
    file: PathBuf,
    stripping: Stripping,
    runtime: tokio::runtime::Handle,
    outbox: Mutex<Option<Outbox>>,
    holds: Mutex<Option<Box<dyn Holds>>>,
    state: Mutex<State>,
    words: Mutex<Vec<u8>>,
    lines: Mutex<Lines>,
}

#[derive(Default)]
pub(super) struct State {
    next: u64,
    pub(super) waiting: HashMap<u64, Waiting>,
    asked: usize,
    pub(super) gone: Option<Arc<str>>,
    /// Whether somebody looks after what it was told.
    pub(super) is_watched: bool,
}

/// Somebody who waits for an answer.
pub(super) struct Waiting {
    answer: oneshot::Sender<Result<Value, HostError>>,
    context: Option<ToolContext>,
    /// The address of a request that it is to carry.
    carries: Option<String>,
    /// What the host asked on the way, which ends with the waiting.
    asked: HashMap<u64, AbortHandle>,
    /// Consent that was refused on the way, as the host was told it. A tool that fails in these words was refused.
    refused: Option<(String, ToolError)>,
    /// How long people were waited for.
    paused: Duration,
    /// What it was only told, so that nobody waits for what comes of it.
    pub(super) told: Option<Told>,
}

/// A question of a host that is not answered yet.
struct OpenQuestion(Arc<Shared>);

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.state().asked -= 1;
    }
}

impl Waiting {
    pub(super) fn new(
        answer: oneshot::Sender<Result<Value, HostError>>,
        context: Option<ToolContext>,
    ) -> Waiting {
        Waiting {
            answer,
            context,
            carries: None,
            asked: HashMap::new(),
            refused: None,
            paused: Duration::ZERO,
            told: None,
        }
    }

    /// Somebody who waits for a request to be carried to this address.
    pub(super) fn carrying(self, carries: Option<String>) -> Waiting {
        Waiting { carries, ..self }
    }

    /// Nobody: something that is told.
    pub(super) fn told(name: Arc<str>) -> Waiting {
        Waiting { told: Some(Told::new(name)), ..Waiting::new(oneshot::channel().0, None) }
    }

    /// Ends what was asked on the way.
    pub(super) fn forget(&self) {
        self.asked.values().for_each(AbortHandle::abort);
    }
}

impl Shared {
    pub(super) fn new(desk: Arc<dyn Desk>, file: PathBuf, outbox: Outbox, holds: Box<dyn Holds>) -> Shared {
        Shared {
            desk,
            file,
            runtime: tokio::runtime::Handle::current(),
            outbox: Mutex::new(Some(outbox)),
            holds: Mutex::new(Some(holds)),
            stripping: Stripping::default(),
            state: Mutex::default(),
            words: Mutex::default(),
            lines: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn outbox(&self) -> MutexGuard<'_, Option<Outbox>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn gone(&self) -> HostError {
        let why = self.state().gone.clone();
        HostError::Gone(why.unwrap_or_else(|| Arc::from("it ended")))
    }

    /// Adds somebody who waits, under a number of their own.
    pub(super) fn expect(&self, waiting: Waiting) -> Result<u64, HostError> {
        let mut state = self.state();
        if let Some(why) = &state.gone {
            return Err(HostError::Gone(why.clone()));
        }
        state.next += 1;
        let id = state.next;
        state.waiting.insert(id, waiting);
        Ok(id)
    }

    pub(super) fn say(self: &Arc<Shared>, what: &Value) -> Result<(), HostError> {
        let line = format!("{what}\n");
        let told = self.outbox().as_mut().map(|outbox| outbox.tell(line.into_bytes()));
        match told {
            Some(Ok(())) => Ok(()),
            Some(Err(Untold::Full)) => {
                let why = "it does not read what it is told";
                let shared = self.clone();
                // Its end is waited for, which is nothing to do here.
                self.runtime.spawn_blocking(move || shared.end(why.to_owned()));
                Err(HostError::Gone(Arc::from(why)))
            }
            Some(Err(Untold::Gone)) | None => Err(self.gone()),
        }
    }

    /// So many things that it was told it is still busy with.
    pub(super) fn told(&self) -> usize {
        self.state().waiting.values().filter(|waiting| waiting.told.is_some()).count()
    }

    /// Asks whether it still listens.
    pub(super) fn pulse(self: &Arc<Shared>) -> Result<Pulse, HostError> {
        let (answer, beat) = oneshot::channel();
        let id = self.expect(Waiting::new(answer, None))?;
        self.say(&json!({ "id": id, "do": "ping" }))?;
        Ok(Pulse(beat))
    }

    pub(super) fn paused(&self, id: u64) -> Duration {
        self.state().waiting.get(&id).map_or(Duration::ZERO, |waiting| waiting.paused)
    }

    /// Keeps the last of what it writes beside its messages. All of it is read: programs that it started may print there
    /// too, and must not end because nobody reads.
    pub(super) fn keep_words(&self, mut words: impl Read) {
        let mut chunk = [0; 1024];
        loop {
            let length = match words.read(&mut chunk) {
                Ok(0) => return,
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let mut kept = self.words.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..length]);
            let too_many = kept.len().saturating_sub(WORDS_BYTES_MAX);
            kept.drain(..too_many);
        }
    }

    /// Hears it out, and says why it ended. This is done where its answers are waited for, so that no other thread has
    /// to be woken for one.
    pub(super) async fn listen(self: &Arc<Shared>, output: Receiver) -> String {
        let mut output = BufReader::with_capacity(HEARD_BYTES, output);
        loop {
            let mut line = Vec::new();
            match (&mut output).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
                Ok(0) => return "it ended".to_owned(),
                Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == LINE_BYTES_MAX => {
                    return format!("it said more than {LINE_BYTES_MAX} bytes at once");
                }
                Ok(_) => {}
                Err(error) => return format!("it cannot be heard: {error}"),
            }
            match understood(line).await {
                Ok(FromHost::Answered(answered)) => self.answered(answered),
                Ok(FromHost::Asked(asked)) => self.asked(asked),
                Ok(FromHost::Said(said)) => self.said(said),
                Err(why) => return format!("it said something that is no message: {why}"),
            }
        }
    }

    fn answered(&self, Answered { id, ok, error }: Answered) {
        // Nobody waits for it any more if this fails.
        let Some(waiting) = self.state().waiting.remove(&id) else { return };
        waiting.forget();
        let result = match (error.map(HostError::from), waiting.refused) {
            (None, _) => Ok(ok),
            (Some(HostError::Failure(said)), Some((words, refused))) if said.contains(&words) => {
                Err(HostError::Refused(refused))
            }
            (Some(error), _) => Err(error),
        };
        let _left = waiting.answer.send(result);
    }

    /// Has the desk answer what a host asks, on behalf of the call it asks for.
    fn asked(self: &Arc<Shared>, Asked { ask, wish, about }: Asked) {
        let Some(open) = self.open_question() else {
            let why = json!({ "name": "Error", "message": "too many requests at once" });
            let _gone = self.say(&json!({ "answer": ask, "error": why }));
            return;
        };
        // What arrives belongs to whoever reads it, which may be code that goes on when its order has been answered.
        let outlives = matches!(wish, Wish::Read(_) | Wish::Drop(_));
        let (id, behalf) = self.on_whose_behalf(about);
        let shared = self.clone();
        let task = self.runtime.spawn(async move {
            let _open = open;
            let began = Instant::now();
            let answer = match wish {
                Wish::Strip(wanted) => shared.stripping.strip(&shared.desk, &wanted).await,
                Wish::Module(wanted) => crate::runtimes::own_modules(&wanted.name)
                    .ok_or_else(|| Unanswered::failed("there are no such modules")),
                wish => shared.desk.answer(wish, behalf).await,
            };
            let (told, refused) = match answer {
                Ok(value) => (json!({ "answer": ask, "ok": value }), None),
                Err(problem) => {
                    let words = problem.to_string();
                    let told = json!({ "answer": ask, "error": problem.told() });
                    (told, problem.refusal().map(|refusal| (words, refusal)))
                }
            };
            shared.with_waiting(id, |waiting| {
                waiting.paused += began.elapsed();
                waiting.asked.remove(&ask);
                waiting.refused = waiting.refused.take().or(refused);
            });
            let _gone = shared.say(&told);
        });
        self.with_waiting(id, |waiting| {
            if !task.is_finished() && !outlives {
                waiting.asked.insert(ask, task.abort_handle());
            }
        });
    }

    /// Changes something about whoever waits, if they still do.
    fn with_waiting(&self, id: Option<u64>, change: impl FnOnce(&mut Waiting)) {
        let mut state = self.state();
        if let Some(waiting) = id.and_then(|id| state.waiting.get_mut(&id)) {
            change(waiting);
        }
    }

    /// Whether it waits for an answer of ours.
    pub(super) fn is_asking(&self) -> bool {
        self.state().asked > 0
    }

    /// Stops waiting for an answer. What is returned is told when it comes all the same.
    pub(super) fn leave(&self, id: u64) -> Option<oneshot::Receiver<Result<Value, HostError>>> {
        let mut state = self.state();
        let left = state.waiting.remove(&id)?;
        left.forget();
        let (answer, stopped) = oneshot::channel();
        state.waiting.insert(id, Waiting::new(answer, None));
        Some(stopped)
    }

    /// A place for one more question, if there is one.
    fn open_question(self: &Arc<Shared>) -> Option<OpenQuestion> {
        let mut state = self.state();
        let is_free = state.asked < ASKED_MAX;
        state.asked += usize::from(is_free);
        is_free.then(|| OpenQuestion(self.clone()))
    }

    /// The call that something is asked for. What names none belongs to the only one, or the one that began last.
    fn on_whose_behalf(&self, about: Option<u64>) -> (Option<u64>, Behalf) {
        let state = self.state();
        let known = about.filter(|id| state.waiting.contains_key(id));
        let latest =
            || state.waiting.iter().filter(|(_, waiting)| waiting.context.is_some()).map(|(id, _)| *id).max();
        let found = known.or_else(latest).and_then(|id| Some((id, state.waiting.get(&id)?)));
        let found = found.filter(|(_, waiting)| waiting.context.is_some());
        let behalf = Behalf {
            file: self.file.clone(),
            context: found.and_then(|(_, waiting)| waiting.context.clone()),
            carries: found.and_then(|(_, waiting)| waiting.carries.clone()),
        };
        (found.map(|(id, _)| id), behalf)
    }

    fn said(&self, said: Said) {
        let (said, context) = match said {
            Said::Log { level, text } => {
                let text = cut(text);
                let (before, is_told) = self.lines().take(std::time::Instant::now(), &level, &text);
                self.tell_left_out(before);
                if is_told {
                    self.log(&level, text);
                }
                return;
            }
            Said::Metadata { about, title, metadata } => {
                let context = self.state().waiting.get(&about).and_then(|waiting| waiting.context.clone());
                let (title, metadata) = (title.map(facts::cut), facts::bounded(metadata));
                (Said::Metadata { about, title, metadata }, context)
            }
        };
        self.desk.heard(said, context);
    }

    /// Logs something of our own.
    pub(super) fn log(&self, level: &str, text: String) {
        self.desk.heard(Said::Log { level: level.to_owned(), text }, None);
    }

    /// Says how much of what it logged was left out.
    pub(super) fn log_left_out(&self) {
        let left_out = self.lines().rest();
        self.tell_left_out(left_out);
    }

    fn tell_left_out(&self, left_out: Option<LeftOut>) {
        if let Some(left_out) = left_out {
            self.log(left_out.level(), left_out.words(&self.file.display().to_string()));
        }
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn runtime(&self) -> &tokio::runtime::Handle {
        &self.runtime
    }

    /// Kills it, with everything it started. Whoever waits for it is told why.
    pub(super) fn end(&self, why: String) {
        let why = {
            // Held to the end: whoever comes second waits until nothing of it is left, too.
            let mut holds = self.holds.lock().unwrap_or_else(PoisonError::into_inner);
            // One that never ran has said nothing itself.
            holds.take().and_then(|holds| holds.end()).unwrap_or(why)
        };
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let words = String::from_utf8_lossy(&words);
        // Node says why before it shows where.
        let fatal = words.lines().rev().find(|line| line.starts_with("FATAL ERROR"));
        let last = fatal.or_else(|| words.lines().rev().find(|line| !line.trim().is_empty()));
        let why = match last {
            Some(last) => format!("{why} ({})", haft::visible(last.trim())),
            None => why,
        };
        let waiting = {
            let mut state = self.state();
            state.gone.get_or_insert_with(|| Arc::from(why));
            std::mem::take(&mut state.waiting)
        };
        self.log_left_out();
        self.outbox().take();
        for (_, waiting) in waiting {
            waiting.forget();
            let _left = waiting.answer.send(Err(self.gone()));
        }
    }
}

/// The message that a line is.
async fn understood(line: Vec<u8>) -> Result<FromHost, String> {
    let read = |line: &[u8]| serde_json::from_slice(line).map_err(|error| error.to_string());
    if line.len() <= READ_HERE_BYTES_MAX {
        return read(&line);
    }
    let read = tokio::task::spawn_blocking(move || read(&line)).await;
    read.unwrap_or_else(|error| Err(error.to_string()))
}
