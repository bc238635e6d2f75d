//! Ending every descendant where there is no process namespace to do it.

use std::fs;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Rounds before giving up: each kills all it sees, so only something that forks faster than that outlives them.
const ROUNDS_MAX: usize = 1000;

/// Kills all that is left below this process, which is the one that orphans come to.
pub(super) fn descendants() {
    for _ in 0..ROUNDS_MAX {
        // An error says that there is nobody left to wait for.
        if wait(WaitOptions::NOHANG).is_err() {
            return;
        }
        for pid in below(getpid()) {
            kill_process(pid, Signal::KILL).ok();
        }
        wait(WaitOptions::empty()).ok();
    }
}

/// Every process below one, found by who its parent is.
fn below(top: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parents: Vec<(i32, i32)> = numbers.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![top.as_raw_nonzero().get()];
    let mut looked = 0;
    while let Some(above) = found.get(looked).copied() {
        found.extend(parents.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
        looked += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, also parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}
