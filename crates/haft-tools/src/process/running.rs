//! A command that was started. Threads of its own hear it and wait for it, so it needs no runtime and can outlive the
//! call that started it; it cannot outlive what holds it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use haft::StoreError;
use haft_sandbox::Watch;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::sync::watch;

use super::RunError;
use super::capture::{Capture, Captured};
use super::helper::ends_within;
use super::listen::{self, Teller};
use super::traces::Traces;
use super::waiting;

/// Between being asked to end and being made to.
const GRACE: Duration = Duration::from_secs(2);
/// When everything of a command is gone, what it printed arrives within this time.
const DRAIN: Duration = Duration::from_secs(5);
/// Most commands end within this time, and would take longer if anything else were done in it.
const MOMENT: Duration = Duration::from_millis(20);
/// What follows the end of a command is over within this time.
const SETTLING: Duration = Duration::from_millis(3);
/// A command that is sent something takes it within this time.
const SENDING: Duration = Duration::from_secs(5);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Exited(i32),
    Signalled(i32),
    TimedOut,
}

/// What became of a command that was started.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    /// It ended, and left this.
    Ended(Ending, Traces),
    /// Nothing was run, or it was lost sight of.
    Failed(Arc<RunError>),
}

/// Where what a command reads comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// There is nothing to read.
    Nothing,
    /// The end of a pipe that is written to; the command reads this one.
    Pipe { sink: OwnedFd, inode: u64 },
    /// A terminal.
    Terminal(OwnedFd),
}

/// Holds a command: when this is dropped, it is killed with everything it started, and gone.
pub(crate) struct Running {
    shared: Arc<Shared>,
    since: Instant,
    /// Ends with the thread that waits.
    gone: Mutex<mpsc::Receiver<()>>,
}

struct Shared {
    pid: Pid,
    life: Mutex<Life>,
    heard: Mutex<Heard>,
    source: Mutex<Source>,
    fate: watch::Sender<Option<Fate>>,
}

struct Life {
    /// Once it is reaped, its number may be another's.
    is_reaped: bool,
    watch: Option<Watch>,
}

struct Heard {
    capture: Capture,
    /// Why nothing more is heard.
    failure: Option<StoreError>,
    is_lost: bool,
}

impl Heard {
    /// What was heard since this was last asked for.
    fn take(&mut self) -> Capture {
        let next = self.capture.renewed();
        std::mem::replace(&mut self.capture, next)
    }
}

/// The parts of a command that has just been started.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) watch: Watch,
    pub(super) printed: OwnedFd,
    pub(super) source: Source,
    pub(super) capture: Capture,
    pub(super) teller: Teller,
    /// What is done while it runs, or as soon as it has ended.
    pub(super) meanwhile: Option<Box<dyn FnOnce() + Send>>,
}

impl Running {
    pub(super) fn new(started: Started) -> Result<Running, RunError> {
        let Started { child, watch, printed, source, capture, mut teller, meanwhile } = started;
        let pid = Pid::from_child(&child);
        let shared = Arc::new(Shared {
            pid,
            life: Mutex::new(Life { is_reaped: false, watch: Some(watch) }),
            heard: Mutex::new(Heard { capture, failure: None, is_lost: false }),
            source: Mutex::new(source),
            fate: watch::Sender::new(None),
        });
        let (hearing, heard) = mpsc::channel::<()>();
        let (waiting, gone) = mpsc::channel::<()>();
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let waits = shared.clone();
        let waiter = thread("haft-wait").spawn(move || {
            let mut aside = meanwhile;
            if !ends_within(waits.pid, MOMENT) {
                aside.take().into_iter().for_each(|aside| aside());
            }
            waits.wait(child, &heard);
            // Whoever waits for the command finds nothing left of it.
            drop(waits);
            drop(waiting);
            // Whoever is told of the end has more to do at once than whoever makes ready for the next command.
            if let Some(aside) = aside {
                std::thread::sleep(SETTLING);
                aside();
            }
        });
        let running = Running { shared: shared.clone(), since: Instant::now(), gone: Mutex::new(gone) };
        waiter.map_err(RunError::Start)?;
        let listener = thread("haft-listen").spawn(move || {
            listen::listen(&printed, &mut teller, |bytes| shared.hear(bytes));
            // Closed before it is said that all was heard, so that a command that has ended holds no descriptor.
            drop(printed);
            drop(hearing);
        });
        listener.map_err(RunError::Start)?;
        Ok(running)
    }

    /// How long ago it was started.
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) -> Fate {
        let mut fate = self.shared.fate.subscribe();
        match fate.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(fate)) => fate.clone(),
            Ok(None) | Err(_) => unreachable!("the sender lives as long as this, and it was waited for"),
        }
    }

    /// What became of it, if it has ended.
    pub(crate) fn fate(&self) -> Option<Fate> {
        self.shared.fate.borrow().clone()
    }

    /// What it printed since this was last asked for.
    pub(crate) async fn heard(&self) -> Result<Captured, StoreError> {
        let taken = {
            let mut heard = lock(&self.shared.heard);
            let capture = heard.take();
            heard.failure.take().map_or(Ok(capture), Err)
        };
        taken?.finish().await
    }

    /// Whether it was stopped because what it printed could not be kept.
    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.shared.heard).is_lost
    }

    /// Whether one of its processes is just waiting for input that only we could give. `None` if that cannot be known.
    pub(crate) fn waits_for_input(&self) -> Option<bool> {
        let wanted = match &*lock(&self.shared.source) {
            Source::Nothing => return Some(false),
            Source::Pipe { inode, .. } => waiting::Wanted::Pipe(*inode),
            Source::Terminal(_) => waiting::Wanted::Terminal,
        };
        waiting::is_read(self.shared.pid, wanted)
    }

    /// Whether it can be sent anything.
    pub(crate) fn has_input(&self) -> bool {
        !matches!(*lock(&self.shared.source), Source::Nothing)
    }

    /// Sends it bytes, as many as it takes in time, and returns how many that were. This blocks.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        // A copy, so that nobody who only wants to look has to wait.
        let sink = match &*lock(&self.shared.source) {
            Source::Nothing => return Err(io::ErrorKind::BrokenPipe.into()),
            Source::Pipe { sink, .. } | Source::Terminal(sink) => sink.try_clone()?,
        };
        listen::send(&sink, bytes, SENDING)
    }

    /// Lets it read to the end of its input. A terminal has none: there, a program is sent the character that means it.
    pub(crate) fn close_input(&self) -> io::Result<()> {
        if matches!(*lock(&self.shared.source), Source::Terminal(_)) {
            return self.send(&[END_OF_TRANSMISSION]).map(drop);
        }
        *lock(&self.shared.source) = Source::Nothing;
        Ok(())
    }

    /// Asks it to end, and makes it. If this is dropped half way, it is made to at once.
    pub(crate) async fn stop(&self) -> Fate {
        let at_once = EndOnDrop(&self.shared);
        self.shared.signal(Signal::TERM);
        if let Ok(fate) = tokio::time::timeout(GRACE, self.ended()).await {
            return fate;
        }
        drop(at_once);
        if let Ok(fate) = tokio::time::timeout(GRACE, self.ended()).await {
            return fate;
        }
        self.shared.signal(Signal::KILL);
        self.ended().await
    }

    /// Begins to end it. Nothing is waited for.
    pub(crate) fn end(&self) {
        self.shared.end();
    }

    /// Waits, without a runtime, until one that is being ended is gone.
    pub(crate) fn wait_until_gone(&self) {
        let gone = lock(&self.gone);
        // Nothing is ever sent: this returns when the thread that waits is gone.
        if gone.recv_timeout(GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
            self.shared.signal(Signal::KILL);
            let _gone = gone.recv_timeout(DRAIN + GRACE);
        }
    }
}

/// What a terminal's end of input is typed as.
const END_OF_TRANSMISSION: u8 = 4;

impl Drop for Running {
    /// Ends what is still running. What it printed and nobody has asked for is kept.
    fn drop(&mut self) {
        self.shared.end();
        self.wait_until_gone();
        let (capture, is_lost) = {
            let mut heard = lock(&self.shared.heard);
            (heard.take(), heard.is_lost)
        };
        if !is_lost {
            capture.keep();
        }
    }
}

struct EndOnDrop<'a>(&'a Shared);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Shared {
    /// Takes what was printed; `false` if it cannot be kept, and then there is no point in the command's going on.
    fn hear(&self, bytes: &[u8]) -> bool {
        let mut heard = lock(&self.heard);
        let Err(error) = heard.capture.push(bytes) else { return true };
        heard.failure = Some(error);
        heard.is_lost = true;
        drop(heard);
        self.end();
        false
    }

    /// Has the supervisor end everything.
    fn end(&self) {
        if let Some(watch) = &lock(&self.life).watch {
            watch.end();
        }
    }

    fn signal(&self, signal: Signal) {
        let life = lock(&self.life);
        if !life.is_reaped {
            // It may have ended in this moment.
            let _gone = kill_process(self.pid, signal);
        }
    }

    /// Waits until nothing is left of the command and all it printed is heard, and says what became of it.
    fn wait(&self, mut child: Child, heard: &mpsc::Receiver<()>) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // It is left unreaped, so that its number stays its own until nobody sends it a signal any more.
        let _ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.pid), options));
        // Once the supervisor has ended, nothing that could hold the pipe is left.
        let is_heard = heard.recv_timeout(DRAIN) != Err(mpsc::RecvTimeoutError::Timeout);
        let (status, watch) = {
            let mut life = lock(&self.life);
            life.is_reaped = true;
            (child.wait(), life.watch.take())
        };
        // A descriptor less, and whoever sends something is told that nobody reads.
        *lock(&self.source) = Source::Nothing;
        let fate = match fate(status, watch) {
            Ok(_) if !is_heard => Err(RunError::Start(io::Error::other("its output did not come to an end"))),
            other => other,
        };
        self.fate.send_replace(Some(fate.unwrap_or_else(|error| Fate::Failed(Arc::new(error)))));
    }
}

fn fate(status: io::Result<ExitStatus>, watch: Option<Watch>) -> Result<Fate, RunError> {
    let status = status.map_err(RunError::Start)?;
    let traces = match watch.map(Watch::finish).transpose()? {
        Some(finished) => Traces {
            removed: finished.removed,
            removed_besides: finished.removed_besides,
            refused: finished.refused,
            out_of_memory: finished.out_of_memory,
            left: finished.left,
        },
        None => Traces::default(),
    };
    let ending = match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Exited(-1),
    };
    Ok(Fate::Ended(ending, traces))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
