//! Whether a command has done anything at all for a while. What appears meanwhile is somebody else's.
//!
//! A thread that sleeps now, slept before, and was put on no processor in between has made no file, and neither has one
//! that was started in between, since somebody would have had to start it. The kernel counts how often each thread was
//! put aside, and that is all that is needed. Only where files are made by whoever asks for them, that is: a server may
//! make one for somebody who sleeps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// So many threads are looked at. A command with more is taken to be busy.
const THREADS_MAX: usize = 64;

/// File systems that are on this machine: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlays.
const LOCAL: [u64; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];

/// Threads that all sleep, each with how often it was put aside so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stillness(BTreeMap<u32, [u64; 2]>);

impl Stillness {
    /// Looks at a process and everything below it; none if any of it is awake, or cannot be looked at.
    pub(super) fn of(head: Pid) -> Option<Stillness> {
        let mut threads = BTreeMap::new();
        let mut waiting = vec![u32::try_from(head.as_raw_nonzero().get()).ok()?];
        while let Some(process) = waiting.pop() {
            for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
                let thread: u32 = thread.ok()?.file_name().to_str()?.parse().ok()?;
                if threads.len() == THREADS_MAX {
                    return None;
                }
                let at = format!("/proc/{process}/task/{thread}");
                threads.insert(thread, put_aside(&fs::read_to_string(format!("{at}/status")).ok()?)?);
                let children = fs::read_to_string(format!("{at}/children")).ok()?;
                for child in children.split_ascii_whitespace() {
                    waiting.push(child.parse().ok()?);
                }
            }
        }
        Some(Stillness(threads))
    }
}

/// Whether files in a directory are made by whoever asks for them.
pub(super) fn is_local(directory: &Path) -> bool {
    // Some architectures have it with a sign.
    rustix::fs::statfs(directory).is_ok_and(|found| LOCAL.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// How often a thread was put aside, of its own accord and otherwise; none if it does not sleep. One that has ended and was
/// not looked after yet does nothing either.
fn put_aside(status: &str) -> Option<[u64; 2]> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(':').map(str::trim)
    };
    let state = field("State")?.chars().next()?;
    if !matches!(state, 'S' | 'Z') {
        return None;
    }
    let count = |name: &str| field(name)?.parse().ok();
    Some([count("voluntary_ctxt_switches")?, count("nonvoluntary_ctxt_switches")?])
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use rustix::process::Pid;

    use super::{Stillness, put_aside};

    #[test]
    fn a_process_is_still_until_it_does_something_or_something_below_it_does() {
        let script = "bash -c 'echo; while read line; do echo; done' & while read line; do echo; done; wait";
        for script in ["echo; while read line; do echo; done", script] {
            let mut child = Command::new("bash")
                .args(["-c", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let (mut asked, mut answered) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let mut one = || answered.read_exact(&mut [0]).unwrap();
            one();
            let still = || loop {
                // It may be on its way to sleep.
                let found = Stillness::of(Pid::from_child(&child));
                std::thread::sleep(std::time::Duration::from_millis(5));
                if found.is_some() && found == Stillness::of(Pid::from_child(&child)) {
                    return found;
                }
            };
            let before = still();
            asked.write_all(b"\n").unwrap();
            one();
            let after = still();
            assert_ne!(before, after, "{script}");
            assert_eq!(after, still());
            drop(asked);
            child.wait().unwrap();
            assert_eq!(Stillness::of(Pid::from_child(&child)), None);
        }
    }

    #[test]
    fn only_a_thread_that_sleeps_is_still() {
        let status = |state: &str| {
            format!(
                "Name:\tState: R\nState:\t{state}\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n"
            )
        };
        assert_eq!(put_aside(&status("S (sleeping)")), Some([7, 2]));
        for state in ["R (running)", "D (disk sleep)", "T (stopped)", ""] {
            assert_eq!(put_aside(&status(state)), None, "{state}");
        }
    }
}
