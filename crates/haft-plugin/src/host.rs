//! One running host: a process that serves one file, spoken to in lines of JSON.
//!
//! A thread of its own speaks where it does not keep up, so a host that does not read keeps nobody waiting. Whoever stops
//! waiting for an answer has the host told so; one that does not answer then either is killed, with everything it
//! started.

mod lines;
mod outbox;
mod shared;
mod stripping;
mod told;

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::ToolContext;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::Instant;

use self::outbox::Outbox;
use self::shared::{Shared, Waiting};
use crate::desk::Desk;
use crate::error::HostError;

/// So many messages wait to be read by a host.
const OUTBOX_MAX: usize = 512;
/// A host that was told that nobody waits any more ends what it does within this time, or is killed.
const GRACE: Duration = Duration::from_secs(1);
/// So long the last words of a host that has ended are waited for; programs it left behind may keep them open.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// So many things that it was told a host may be busy with; half of what waits to be read.
const TOLD_AT_ONCE_MAX: usize = OUTBOX_MAX / 2;
/// A host has so long to do something about what it was told, when the end comes; how often that is looked at.
const TOLD_MAX: Duration = Duration::from_secs(2);
const LOOKING: Duration = Duration::from_millis(2);
/// Why it is ended when all is done.
const UNNEEDED: &str = "nobody needs it any more";
/// How often a host that works is asked whether it still listens.
const PULSE: Duration = Duration::from_millis(500);

/// A process that was started to serve a file, with our ends of its streams.
pub struct Launched {
    /// What it is told.
    pub input: OwnedFd,
    /// What it says: a pipe.
    pub output: OwnedFd,
    /// What it writes beside that.
    pub words: Box<dyn Read + Send>,
    /// When this is dropped, it is killed with everything it started.
    pub holds: Box<dyn Holds>,
}

/// Holds a process. When it is dropped, the process is killed with everything it started.
pub trait Holds: Send {
    /// Does so, and waits for it. Says why nothing was run at all, if that is so.
    fn end(self: Box<Self>) -> Option<String>;
}

/// How long a host may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// For the whole answer, apart from the time in which it waits for a person.
    pub(crate) answer: Duration,
    /// Without listening to us: a loop that does not end.
    pub(crate) busy: Duration,
}

/// Holds a host: when this is dropped, it is killed with everything it started.
pub(crate) struct Host {
    shared: Arc<Shared>,
    hearing: AbortHandle,
    /// Its end, if that was begun before it was waited for.
    ending: Mutex<Option<JoinHandle<()>>>,
}

impl Host {
    /// Begins to speak with a host that was started to serve a file.
    pub(crate) fn new(launched: Launched, desk: Arc<dyn Desk>, file: &Path) -> std::io::Result<Host> {
        let Launched { input, output, words, holds } = launched;
        // Whatever fails here drops what holds the process.
        let output = tokio::net::unix::pipe::Receiver::from_owned_fd(output)?;
        let shared = Shared::new(desk, file.to_owned(), Outbox::open(input, OUTBOX_MAX)?, holds);
        let shared = Arc::new(shared);
        let beside = std::thread::Builder::new().name("haft-host-words".to_owned()).spawn({
            let shared = shared.clone();
            move || shared.keep_words(words)
        })?;
        let hearing = shared.runtime().spawn({
            let shared = shared.clone();
            async move {
                let why = shared.listen(output).await;
                // What it wrote last often says why it ended.
                let waited = Instant::now();
                while !beside.is_finished() && waited.elapsed() < LAST_WORDS {
                    tokio::time::sleep(LOOKING).await;
                }
                // Its end is waited for, which is nothing to do here.
                tokio::task::spawn_blocking(move || shared.end(why));
            }
        });
        Ok(Host { shared, hearing: hearing.abort_handle(), ending: Mutex::default() })
    }

    /// Whether it can still be spoken with.
    pub(crate) fn is_usable(&self) -> bool {
        self.shared.state().gone.is_none()
    }

    /// Whether it waits for an answer of ours.
    pub(crate) fn is_asking(&self) -> bool {
        self.shared.is_asking()
    }

    /// Whether nobody waits for it.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.state().waiting.is_empty()
    }

    /// Says something and waits for the answer. Whoever stops waiting has the host stop.
    pub(crate) async fn request(
        &self,
        what: Value,
        context: Option<&ToolContext>,
        patience: Patience,
    ) -> Result<Value, HostError> {
        self.carry(what, context, None, patience).await
    }

    /// The same for a request that it is to carry to an address.
    pub(crate) async fn carry(
        &self,
        what: Value,
        context: Option<&ToolContext>,
        carries: Option<String>,
        patience: Patience,
    ) -> Result<Value, HostError> {
        let (sender, mut answer) = oneshot::channel();
        let id = self.shared.expect(Waiting::new(sender, context.cloned()).carrying(carries))?;
        let leaving = Leaving { shared: self.shared.clone(), id, is_answered: false };
        self.shared.say(&numbered(id, what))?;
        let started = Instant::now();
        let mut pulse: Option<(Instant, Pulse)> = None;
        loop {
            tokio::select! {
                answered = &mut answer => {
                    leaving.finish();
                    return answered.unwrap_or_else(|_| Err(self.shared.gone()));
                }
                () = tokio::time::sleep(PULSE) => {}
            }
            // Whoever waits for a person, or for haft, is neither late nor in a loop.
            if self.shared.is_asking() {
                pulse = None;
                continue;
            }
            if started.elapsed() > patience.answer + self.shared.paused(id) {
                self.shared.end(format!("it took longer than {} s", patience.answer.as_secs_f32()));
                return Err(HostError::TimedOut(patience.answer));
            }
            pulse = match pulse {
                Some((_, beat)) if beat.is_felt() => None,
                Some((since, _)) if since.elapsed() > patience.busy => {
                    self.shared.end(format!("it ran for {} s without a pause", patience.busy.as_secs_f32()));
                    return Err(HostError::Busy(patience.busy));
                }
                still => still,
            };
            if pulse.is_none() {
                pulse = Some((Instant::now(), self.shared.pulse()?));
            }
        }
    }

    /// Tells it something whose answer nobody waits for, and that it may do something about for a while: then it is
    /// given up, under the name by which people know it.
    pub(crate) fn tell(&self, what: Value, name: &Arc<str>, patience: Patience) {
        // One that does not keep up misses something, rather than being ended for it.
        if self.shared.told() >= TOLD_AT_ONCE_MAX {
            return;
        }
        // One that is gone has nothing to be told.
        let told = self.shared.expect(Waiting::told(name.clone()));
        let _gone = told.and_then(|id| self.shared.say(&numbered(id, what)));
        told::watch(&self.shared, patience);
    }

    /// Says something about it in the log, in haft's own words.
    pub(crate) fn note(&self, words: String) {
        self.shared.log("warn", words);
    }

    /// Lets code that was told to stop do so, as long as it is given for that. Call this when nobody waits any more.
    pub(crate) async fn stopped(&self) {
        let began = Instant::now();
        while self.shared.works_at_more() && began.elapsed() < GRACE {
            tokio::time::sleep(LOOKING).await;
        }
    }

    /// Ends it without waiting for that; closing it does. From now on it cannot be used.
    pub(crate) fn dismiss(&self) {
        // What it says at its end is of no interest, nor that it ends.
        self.hearing.abort();
        self.shared.state().gone.get_or_insert_with(|| Arc::from(UNNEEDED));
        *self.ending.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.end());
    }

    fn end(&self) -> JoinHandle<()> {
        let shared = self.shared.clone();
        self.shared.runtime().spawn_blocking(move || shared.end(UNNEEDED.to_owned()))
    }

    /// Lets it finish for a while what it was told, and end by itself; what is left is killed with this value.
    pub(crate) async fn close(&self) {
        self.stopped().await;
        // One that has hung for longer keeps nobody waiting.
        while self.shared.is_busy_with_news(TOLD_MAX) {
            tokio::time::sleep(LOOKING).await;
        }
        self.shared.give_up(Duration::ZERO, "at the end");
        self.shared.log_left_out();
        self.shared.outbox().take();
        // As long as anything of it is there, what must not appear in the project is taken away, whoever makes it.
        let begun = self.ending.lock().unwrap_or_else(PoisonError::into_inner).take();
        let _ended = begun.unwrap_or_else(|| self.end()).await;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.end(UNNEEDED.to_owned());
        self.hearing.abort();
    }
}

fn numbered(id: u64, mut what: Value) -> Value {
    what["id"] = id.into();
    what
}

/// A question whether it still listens.
struct Pulse(oneshot::Receiver<Result<Value, HostError>>);

impl Pulse {
    /// Waits for the answer, and says whether it came in time.
    async fn comes_within(self, time: Duration) -> bool {
        tokio::time::timeout(time, self.0).await.is_ok()
    }

    /// Whether it was answered. A host that does not know the question answers that, which is an answer.
    fn is_felt(&self) -> bool {
        !self.0.is_empty() || self.0.is_terminated()
    }
}

/// Somebody who waits, and may stop doing so.
struct Leaving {
    shared: Arc<Shared>,
    id: u64,
    is_answered: bool,
}

impl Leaving {
    fn finish(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let (shared, id) = (self.shared.clone(), self.id);
        // It answers once it has really stopped.
        let Some(stopped) = shared.leave(id) else { return };
        let _gone = shared.say(&json!({ "do": "abort", "id": id }));
        // A host that goes on with what nobody wants is not heard to the end.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return shared.end("it was stopped".into());
        };
        runtime.spawn(async move {
            if tokio::time::timeout(GRACE, stopped).await.is_err() {
                shared.end("it did not stop when it was told to".to_owned());
            }
        });
    }
}
