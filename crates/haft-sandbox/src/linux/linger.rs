//! What a command leaves behind may finish: `make > >(tee log)` is over before `tee` has written what it was given.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{WaitOptions, getpid, wait};

use super::sweep;
use super::sys::Signals;
use crate::spec::Left;

/// Signals by which a command is asked to end, with all that it has started.
pub(super) const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// So long it may take. Most of it needs a few milliseconds, and what wants to stay for good is ended.
const LINGERING_MAX: Duration = Duration::from_millis(200);

/// So many different names of what was left running are told.
const NAMES_MAX: usize = 8;

/// Waits until no process is left that is this one's, for a short while, or until somebody wants it all to end. Returns
/// what is still there because it takes longer.
pub(super) fn linger(signals: &Signals) -> Left {
    let until = Instant::now() + LINGERING_MAX;
    while is_any_left() {
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).ok().filter(|_| !left.is_zero());
        let Some(left) = left else { return still_there() };
        let mut fds = [PollFd::new(signals, PollFlags::IN)];
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, Some(&left)));
        let is_child = || signals.next().is_ok_and(|signal| signal == libc::SIGCHLD);
        if ready == Ok(0) {
            continue;
        }
        if ready != Ok(1) || !is_child() {
            break;
        }
    }
    Left::default()
}

fn still_there() -> Left {
    let mut left = Left::default();
    for process in sweep::below(getpid()).into_iter().filter(|process| !process.has_ended) {
        left.processes += 1;
        if left.names.len() < NAMES_MAX && !left.names.contains(&process.name) {
            left.names.push(process.name);
        }
    }
    left
}

/// Reaps those that have ended, and says whether there are others.
fn is_any_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}
