//! Whether a command has done anything at all for a while. What appears meanwhile is somebody else's.
//!
//! A thread that was on no processor since the last look has made no file, and neither has one that was started since,
//! because somebody would have had to start it. The kernel counts how long each thread ran and how often it was put on a
//! processor, and nothing else is needed: whether a thread says that it sleeps is up to the thread. Only where files are
//! made by whoever asks for them, that is: a server may make one for somebody who sleeps.
//!
//! Threads are listed first and looked at then, and one that is started in between is missed. So everything is looked at
//! twice, and counts only if nothing has moved: whoever started another one moved.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::Pid;

/// So many threads are looked at. A command with more is taken to be busy.
const THREADS_MAX: usize = 32;

/// File systems that are on this machine: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and overlays.
const LOCAL: [u64; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x794c_7630];

/// Processors that are not interrupted while one thread has them to itself, so that nobody counts how long that runs.
const UNCOUNTED: &str = "/sys/devices/system/cpu/nohz_full";

/// What every thread of a command has done so far: how long it ran, in nanoseconds, and how often it came to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stillness(BTreeMap<u32, (u64, u64)>);

impl Stillness {
    /// Looks at a process and everything below it; none if any of it moves, or cannot be looked at.
    pub(super) fn of(head: Pid) -> Option<Stillness> {
        let once = Stillness::once(head)?;
        (Stillness::once(head)? == once).then_some(once)
    }

    fn once(head: Pid) -> Option<Stillness> {
        let mut threads = BTreeMap::new();
        let mut waiting = vec![u32::try_from(head.as_raw_nonzero().get()).ok()?];
        while let Some(process) = waiting.pop() {
            for thread in fs::read_dir(format!("/proc/{process}/task")).ok()? {
                let thread: u32 = thread.ok()?.file_name().to_str()?.parse().ok()?;
                if threads.len() == THREADS_MAX {
                    return None;
                }
                let at = format!("/proc/{process}/task/{thread}");
                threads.insert(thread, ran(&fs::read_to_string(format!("{at}/schedstat")).ok()?)?);
                let children = fs::read_to_string(format!("{at}/children")).ok()?;
                for child in children.split_ascii_whitespace() {
                    waiting.push(child.parse().ok()?);
                }
            }
        }
        Some(Stillness(threads))
    }
}

/// Whether this machine counts all that threads do.
pub(super) fn is_counted() -> bool {
    let uncounted = fs::read_to_string(UNCOUNTED).unwrap_or_default();
    matches!(uncounted.trim(), "" | "(null)")
}

/// Whether files in a directory are made by whoever asks for them.
pub(super) fn is_local(directory: &Path) -> bool {
    // Some architectures have it with a sign.
    rustix::fs::statfs(directory).is_ok_and(|found| LOCAL.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

/// How long a thread ran and how often it came to; none where that is not counted. What stands between is how long it
/// waited for a processor.
fn ran(counted: &str) -> Option<(u64, u64)> {
    let numbers: Option<Vec<u64>> = counted.split_ascii_whitespace().map(|text| text.parse().ok()).collect();
    match numbers?.as_slice() {
        [ran, _, times] if *times > 0 => Some((*ran, *times)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use rustix::process::Pid;

    use super::{Stillness, ran};

    fn started(program: &str, script: &str) -> Child {
        let mut command = Command::new(program);
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn a_process_is_still_until_it_does_something_or_something_below_it_does() {
        let below = "bash -c 'echo; while read line; do echo; done' & while read line; do echo; done; wait";
        for script in ["echo; while read line; do echo; done", below] {
            let mut child = started("bash", script);
            let (mut asked, mut answered) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let mut one = || answered.read_exact(&mut [0]).unwrap();
            one();
            let still = || loop {
                // It may be on its way to sleep.
                let found = Stillness::of(Pid::from_child(&child));
                std::thread::sleep(Duration::from_millis(5));
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

    /// Whoever looks for children says that it sleeps, also if it does not wait for any.
    #[test]
    fn nobody_is_still_who_only_says_so() {
        let script = "import os, sys
for _ in range(20):
    if os.fork() == 0:
        sys.stdin.read()
        os._exit(0)
print(flush=True)
while True:
    os.waitpid(-1, os.WNOHANG)";
        let mut child = started("python3", script);
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        for _ in 0..20 {
            let before = Stillness::of(Pid::from_child(&child));
            std::thread::sleep(Duration::from_millis(20));
            assert!(before.is_none() || before != Stillness::of(Pid::from_child(&child)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn what_is_not_counted_says_nothing() {
        assert_eq!(ran("1207 55 3\n"), Some((1207, 3)));
        for counted in ["0 0 0\n", "", "1 2", "a b c"] {
            assert_eq!(ran(counted), None, "{counted}");
        }
    }
}
