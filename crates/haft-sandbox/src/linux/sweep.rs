//! The descendants of a process: which there are, and ending every one where there is no process namespace to do it.

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
        for process in below(getpid()) {
            kill_process(process.pid, Signal::KILL).ok();
        }
        wait(WaitOptions::empty()).ok();
    }
}

/// A process below another.
pub(super) struct Process {
    pub(super) pid: Pid,
    parent: i32,
    /// What it calls itself, which may be anything.
    pub(super) name: String,
    /// Whether it has ended, and nobody has asked how.
    pub(super) has_ended: bool,
}

/// Every process below one, found by who its parent is.
pub(super) fn below(top: Pid) -> Vec<Process> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut others: Vec<Process> = numbers.filter_map(process).collect();
    let mut found: Vec<Process> = Vec::new();
    let mut above = vec![top.as_raw_pid()];
    while !above.is_empty() {
        let (children, rest) = others.into_iter().partition(|process| above.contains(&process.parent));
        others = rest;
        above = children.iter().map(|child: &Process| child.pid.as_raw_pid()).collect();
        found.extend(children);
    }
    found
}

fn process(number: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{number}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name in parentheses may contain anything, also parentheses.
    let (before, rest) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    let mut rest = rest.split(' ');
    let has_ended = matches!(rest.next()?, "Z" | "X");
    let (pid, parent) = (Pid::from_raw(number)?, rest.next()?.parse().ok()?);
    Some(Process { pid, parent, name: name.to_owned(), has_ended })
}
