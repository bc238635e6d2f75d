//! Decides when JavaScript that does not let go is interrupted: when its order was aborted and some time has passed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long code may go on after its abort before it is interrupted.
const GRACE: Duration = Duration::from_millis(150);
/// The same where the code might belong to another order.
const DOUBTFUL_GRACE: Duration = Duration::from_millis(1_000);

/// Nothing is running, or nobody knows for whom.
const NOBODY: u64 = 0;

#[derive(Default)]
pub(super) struct Watch {
    /// Whether there is anything to look at: the engine asks thousands of times a second.
    alarmed: AtomicBool,
    stops: Mutex<Vec<(u64, Instant)>>,
    /// The order whose code was entered directly, plus one.
    running: AtomicU64,
    active: AtomicU64,
    gone: AtomicBool,
    interrupted: AtomicBool,
}

impl Watch {
    /// Remembers that an order was aborted; called by the reading thread.
    pub(super) fn wants_to_stop(&self, id: u64) {
        self.lock().push((id, Instant::now()));
        self.alarmed.store(true, Ordering::Release);
    }

    /// Forgets an abort that was delivered or came to nothing.
    pub(super) fn stopped(&self, id: u64) {
        let mut stops = self.lock();
        stops.retain(|(known, _)| *known != id);
        if stops.is_empty() && !self.gone.load(Ordering::Acquire) {
            self.alarmed.store(false, Ordering::Release);
        }
    }

    /// haft is gone: nothing that still runs has a purpose.
    pub(super) fn closed(&self) {
        self.gone.store(true, Ordering::Release);
        self.alarmed.store(true, Ordering::Release);
    }

    pub(super) fn enter(&self, id: u64) {
        self.running.store(id + 1, Ordering::Release);
    }

    pub(super) fn leave(&self) {
        self.running.store(NOBODY, Ordering::Release);
    }

    /// The order whose code was entered directly.
    pub(super) fn running(&self) -> Option<u64> {
        self.running.load(Ordering::Acquire).checked_sub(1)
    }

    pub(super) fn active(&self, orders: usize) {
        self.active.store(orders as u64, Ordering::Release);
    }

    /// Asked by the engine while it runs code.
    pub(super) fn should_interrupt(&self) -> bool {
        if !self.alarmed.load(Ordering::Relaxed) {
            return false;
        }
        if self.gone.load(Ordering::Acquire) {
            super::end(0);
        }
        let running = self.running();
        let alone = self.active.load(Ordering::Acquire) <= 1;
        let overdue = self.lock().iter().any(|(id, since)| {
            let grace = if alone || running == Some(*id) { GRACE } else { DOUBTFUL_GRACE };
            since.elapsed() > grace
        });
        if overdue {
            self.interrupted.store(true, Ordering::Release);
        }
        overdue
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    /// Whether code was interrupted since the last question, and which orders that was for.
    pub(super) fn take_interrupted(&self) -> Option<Vec<u64>> {
        if !self.interrupted.swap(false, Ordering::AcqRel) {
            return None;
        }
        Some(self.lock().iter().filter(|(_, since)| since.elapsed() > GRACE).map(|(id, _)| *id).collect())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Instant)>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
