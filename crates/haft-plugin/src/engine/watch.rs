//! Decides when JavaScript that does not let go is interrupted: when its order was aborted and some time has passed.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// How long code may go on after its abort before it is interrupted.
const GRACE: Duration = Duration::from_millis(150);
/// The same where the code might belong to another order.
const DOUBTFUL_GRACE: Duration = Duration::from_millis(1_000);

#[derive(Default)]
pub(super) struct Watch {
    stops: RefCell<Vec<(u64, Instant)>>,
    /// The order whose code was entered directly.
    running: Cell<Option<u64>>,
    active: Cell<usize>,
    gone: Cell<bool>,
    interrupted: Cell<bool>,
}

impl Watch {
    /// Remembers that an order was aborted.
    pub(super) fn wants_to_stop(&self, id: u64) {
        self.stops.borrow_mut().push((id, Instant::now()));
    }

    /// Forgets an abort that was delivered or came to nothing.
    pub(super) fn stopped(&self, id: u64) {
        self.stops.borrow_mut().retain(|(known, _)| *known != id);
    }

    /// haft is gone: nothing that still runs has a purpose.
    pub(super) fn closed(&self) {
        self.gone.set(true);
    }

    pub(super) fn enter(&self, id: u64) {
        self.running.set(Some(id));
    }

    pub(super) fn leave(&self) {
        self.running.set(None);
    }

    /// The order whose code was entered directly.
    pub(super) fn running(&self) -> Option<u64> {
        self.running.get()
    }

    pub(super) fn active(&self, orders: usize) {
        self.active.set(orders);
    }

    /// Asked by the engine while it runs code, thousands of times a second.
    pub(super) fn should_interrupt(&self) -> bool {
        if self.gone.get() {
            super::end(0);
        }
        let (running, alone) = (self.running(), self.active.get() <= 1);
        let overdue = self.stops.borrow().iter().any(|(id, since)| {
            let grace = if alone || running == Some(*id) { GRACE } else { DOUBTFUL_GRACE };
            since.elapsed() > grace
        });
        if overdue {
            self.interrupted.set(true);
        }
        overdue
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// Whether code was interrupted since the last question, and which orders that was for.
    pub(super) fn take_interrupted(&self) -> Option<Vec<u64>> {
        if !self.interrupted.replace(false) {
            return None;
        }
        let stops = self.stops.borrow();
        Some(stops.iter().filter(|(_, since)| since.elapsed() > GRACE).map(|(id, _)| *id).collect())
    }
}
