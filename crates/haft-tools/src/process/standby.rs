//! A helper that waits for the next command.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use haft_sandbox::{Profile, Program, Sandbox, Watch};

use super::helper::Helper;
use super::start::without_blocking;

/// Where one helper at most waits. It is for commands that have nothing to read.
#[derive(Default)]
pub(super) struct Standby(Arc<Mutex<Option<Spare>>>);

impl Standby {
    /// Has the waiting helper run a program; `None` if none waits, or if it cannot.
    pub(super) fn run(&self, sandbox: &Sandbox, profile: &Profile, program: &Program) -> Option<Manned> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        spare.run(sandbox, profile, program)
    }

    /// What puts a helper there, to be done when there is time for it. Without one, the next command only takes a little
    /// longer.
    pub(super) fn refill(&self, sandbox: &Sandbox) -> impl FnOnce() + Send + use<> {
        let (place, sandbox) = (Arc::downgrade(&self.0), sandbox.clone());
        move || {
            if !is_free(&place) {
                return;
            }
            let Ok(spare) = Spare::start(&sandbox) else { return };
            // The place may be gone by now, or taken; then this one ends.
            let Some(place) = place.upgrade() else { return };
            let _surplus = place.lock().unwrap_or_else(PoisonError::into_inner).replace(spare);
        }
    }
}

fn is_free(place: &Weak<Mutex<Option<Spare>>>) -> bool {
    place.upgrade().is_some_and(|place| place.lock().unwrap_or_else(PoisonError::into_inner).is_none())
}

/// A helper that has something to do.
pub(super) struct Manned {
    pub(super) child: Child,
    pub(super) watch: Watch,
    pub(super) printed: OwnedFd,
}

/// A helper that waits, and where what it will hold prints to.
struct Spare {
    helper: Helper,
    printed: OwnedFd,
}

impl Spare {
    fn start(sandbox: &Sandbox) -> io::Result<Spare> {
        let (printed, output) = io::pipe()?;
        without_blocking(&printed)?;
        let helper = Helper::start(sandbox, output.try_clone()?, output).map_err(io::Error::other)?;
        Ok(Spare { helper, printed: printed.into() })
    }

    fn run(self, sandbox: &Sandbox, profile: &Profile, program: &Program) -> Option<Manned> {
        let Spare { helper, printed } = self;
        let (child, watch) = helper.hold(|idle| sandbox.instruct(idle, profile, program)).ok()?;
        Some(Manned { child, watch, printed })
    }
}
