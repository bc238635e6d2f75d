//! Being asked to end by a signal, and ending although nothing ends: whoever is blocked in writing to somebody who does
//! not read hears of none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// To end in order may take so long: what runs is asked to end before it is made to.
const PATIENCE: Duration = Duration::from_secs(15);

/// Only after this time is it to ask again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A signal, and how haft leaves because of it.
pub(crate) type Asking = (SignalKind, Exit);

/// The signals that ask a single call to end.
pub(crate) fn of_call() -> Vec<Asking> {
    [of_conversation(), vec![(SignalKind::interrupt(), Exit::Interrupted)]].concat()
}

/// The signals that ask a conversation to end. An interrupt asks it for something else.
pub(crate) fn of_conversation() -> Vec<Asking> {
    let hangup = (!is_hangup_ignored()).then_some((SignalKind::hangup(), Exit::Terminated));
    [(SignalKind::terminate(), Exit::Terminated)].into_iter().chain(hangup).collect()
}

/// Whether whoever started this wants it to outlive the terminal, as `nohup` does.
fn is_hangup_ignored() -> bool {
    const HANGUP: u64 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANGUP != 0)
}

/// Listens to signals.
pub(crate) struct Asked(Vec<(Signal, Exit)>);

impl Asked {
    pub(crate) fn listen(askings: &[Asking]) -> io::Result<Asked> {
        askings.iter().map(|(kind, exit)| Ok((signal(*kind)?, *exit))).collect::<io::Result<_>>().map(Asked)
    }

    /// Waits to be asked; returns how to leave.
    pub(crate) async fn next(&mut self) -> Exit {
        let signals = &mut self.0;
        std::future::poll_fn(|context| {
            let asked = |(signal, exit): &mut (Signal, Exit)| signal.poll_recv(context).map(|_| *exit);
            signals.iter_mut().map(asked).find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }
}

/// Has the process end when it was asked to and does not.
pub(crate) struct Insistence {
    is_over: Arc<AtomicBool>,
}

impl Insistence {
    /// Listens on a thread of its own. Where there is none to be had, everything is as without it.
    pub(crate) fn begin(askings: Vec<Asking>) -> Insistence {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let insist = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(insist(&askings, &over))
        };
        let _thread = std::thread::Builder::new().name("haft-insist".to_owned()).spawn(insist);
        Insistence { is_over }
    }

    /// All is done and on record, and has only to be told: from here on, whoever asks is obeyed at once.
    pub(crate) fn is_over(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

async fn insist(askings: &[Asking], is_over: &AtomicBool) -> io::Result<()> {
    let mut asked = Asked::listen(askings)?;
    let exit = asked.next().await;
    if !is_over.load(Ordering::Relaxed) {
        // `timeout` and terminals that close ask twice at once, and mean it once.
        tokio::time::sleep(AGAIN_AFTER).await;
        // Whoever asks again does not want to wait.
        let mut asked = Asked::listen(askings)?;
        let _again = tokio::time::timeout(PATIENCE, asked.next()).await;
    }
    std::process::exit(exit as i32)
}
