//! A helper that is started before it is needed: to start one takes longer than to start most commands.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use haft_sandbox::{Idle, Profile, Program, Sandbox, Watch};
#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

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

/// A helper that waits.
struct Spare(Option<(Child, Idle, OwnedFd)>);

impl Spare {
    fn start(sandbox: &Sandbox) -> io::Result<Spare> {
        let (mut starting, idle) = sandbox.idle().map_err(io::Error::other)?;
        let (printed, output) = io::pipe()?;
        without_blocking(&printed)?;
        let child = starting.stdout(output.try_clone()?).stderr(output).spawn()?;
        Ok(Spare(Some((child, idle, printed.into()))))
    }

    fn run(mut self, sandbox: &Sandbox, profile: &Profile, program: &Program) -> Option<Manned> {
        let (mut child, idle, printed) = self.0.take()?;
        let is_there = matches!(child.try_wait(), Ok(None));
        match sandbox.instruct(idle, profile, program) {
            Ok(watch) if is_there => Some(Manned { child, watch, printed }),
            Ok(_) | Err(_) => {
                end(&mut child);
                None
            }
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some((mut child, idle, _)) = self.0.take() {
            drop(idle);
            end(&mut child);
        }
    }
}

/// Reaps a helper that has nothing to do any more. It is killed in case that it hangs: there is nothing to lose.
fn end(child: &mut Child) {
    let _gone = child.kill();
    let _reaped = child.wait();
}

/// Whether a process ends within this time. Where the system has no way to ask that, none does.
#[cfg(target_os = "linux")]
pub(super) fn ends_within(pid: Pid, time: Duration) -> bool {
    let Ok(process) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return false;
    };
    let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ends_within(_pid: Pid, _time: Duration) -> bool {
    false
}
