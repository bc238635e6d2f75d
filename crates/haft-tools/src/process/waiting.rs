//! Whether a command waits for input: one of its processes is in the middle of reading what only we could send.
//!
//! The kernel says which call a process is in (`/proc/PID/syscall`), and which file that call is about.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

/// So many processes of a command are looked at.
const PROCESSES_MAX: usize = 1000;

/// The number of the call that reads.
#[cfg(target_arch = "x86_64")]
const READ: &str = "0";
#[cfg(not(target_arch = "x86_64"))]
const READ: &str = "63";

/// The major numbers of terminals that programs have open: those of pairs, and whichever is theirs.
const TERMINALS: std::ops::RangeInclusive<u32> = 136..=143;
const OWN_TERMINAL: u32 = 5;

/// What would be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    /// The pipe with this number.
    Pipe(u64),
    /// A terminal.
    Terminal,
}

/// Whether something below this process reads it right now. `None` where the system does not say.
pub(super) fn is_read(supervisor: Pid, wanted: Wanted) -> Option<bool> {
    let mut processes = vec![supervisor.as_raw_pid()];
    let (mut at, mut knows) = (0, false);
    while at < processes.len().min(PROCESSES_MAX) {
        let pid = processes[at];
        at += 1;
        // The supervisor and whoever ended meanwhile have nothing to say.
        let call = fs::read_to_string(format!("/proc/{pid}/syscall")).ok();
        knows |= call.is_some() && at > 1;
        if call.is_some_and(|call| reads(pid, &call, wanted)) {
            return Some(true);
        }
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        processes.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }
    knows.then_some(false)
}

fn reads(pid: i32, call: &str, wanted: Wanted) -> bool {
    let mut words = call.split_whitespace();
    let (Some(READ), Some(file)) = (words.next(), words.next()) else { return false };
    let Some(file) = file.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
        return false;
    };
    let Ok(file) = fs::metadata(format!("/proc/{pid}/fd/{file}")) else { return false };
    match wanted {
        Wanted::Pipe(inode) => file.ino() == inode && file.rdev() == 0,
        Wanted::Terminal => {
            let major = rustix::fs::major(file.rdev());
            TERMINALS.contains(&major) || major == OWN_TERMINAL
        }
    }
}
