//! Whether a command waits for input: one of its threads is in the middle of waiting for what only we could send.
//!
//! The kernel says which call a thread is in (`/proc/PID/task/TID/syscall`), and which files that call is about: it
//! names them itself, or they stand in the memory that it points to.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};

use rustix::process::Pid;

/// So many threads of a command are looked at.
const THREADS_MAX: usize = 2000;
/// So many files of those that one call waits for.
const FILES_MAX: usize = 1024;

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

/// Whether something below this process waits for it right now. `None` where the system does not say.
pub(super) fn is_read(supervisor: Pid, wanted: Wanted) -> Option<bool> {
    let mut processes = vec![supervisor.as_raw_pid()];
    let (mut at, mut threads, mut knows) = (0, 0, false);
    while at < processes.len() && threads < THREADS_MAX {
        let pid = processes[at];
        at += 1;
        for thread in numbers(&format!("/proc/{pid}/task")).into_iter().take(THREADS_MAX - threads) {
            threads += 1;
            // The supervisor and whoever ended meanwhile have nothing to say.
            let call = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).ok();
            knows |= call.is_some() && at > 1;
            if call.is_some_and(|call| waits(pid, &call, wanted) == Some(true)) {
                return Some(true);
            }
            // Each thread may have started some.
            let children =
                fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
            processes.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
        }
    }
    knows.then_some(false)
}

/// The entries of a directory that are numbers.
fn numbers(directory: &str) -> Vec<i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a thread that is in this call waits for what is wanted, and for nobody else: whoever also waits for a socket
/// has other things to do than to ask.
fn waits(pid: i32, call: &str, wanted: Wanted) -> Option<bool> {
    let mut words = call.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut arguments = words.map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let mut argument = || arguments.next().flatten();
    let files = match number {
        calls::READ | calls::READV => vec![u32::try_from(argument()?).ok()?],
        _ if calls::POLL.contains(&number) => polled(pid, argument()?, argument()?)?,
        _ if calls::SELECT.contains(&number) => selected(pid, argument()?, argument()?)?,
        _ if calls::EPOLL.contains(&number) => registered(pid, argument()?)?,
        _ => return None,
    };
    let files: Vec<Metadata> =
        files.iter().filter_map(|file| fs::metadata(format!("/proc/{pid}/fd/{file}")).ok()).collect();
    let has_others = files.iter().any(|file| file.file_type().is_socket());
    Some(!has_others && files.iter().any(|file| is_wanted(file, wanted)))
}

fn is_wanted(file: &Metadata, wanted: Wanted) -> bool {
    match wanted {
        Wanted::Pipe(inode) => file.ino() == inode && file.rdev() == 0,
        Wanted::Terminal => {
            let major = rustix::fs::major(file.rdev());
            TERMINALS.contains(&major) || major == OWN_TERMINAL
        }
    }
}

/// The numbers of calls that wait for something to read.
#[cfg(target_arch = "x86_64")]
mod calls {
    pub(super) const READ: u64 = 0;
    pub(super) const READV: u64 = 19;
    pub(super) const POLL: &[u64] = &[7, 271];
    pub(super) const SELECT: &[u64] = &[23, 270];
    pub(super) const EPOLL: &[u64] = &[232, 281, 441];
}
#[cfg(not(target_arch = "x86_64"))]
mod calls {
    pub(super) const READ: u64 = 63;
    pub(super) const READV: u64 = 65;
    pub(super) const POLL: &[u64] = &[73];
    pub(super) const SELECT: &[u64] = &[72];
    pub(super) const EPOLL: &[u64] = &[22, 441];
}

/// There is something to read, as `poll` and `epoll` write it.
const READABLE: u32 = 1;

/// What `poll` looks at: eight bytes for each file, the first four of which are its number, and then what it looks for.
fn polled(pid: i32, at: u64, count: u64) -> Option<Vec<u32>> {
    let count = usize::try_from(count).ok()?.min(FILES_MAX);
    let bytes = memory(pid, at, count * 8)?;
    let files = bytes.chunks_exact(8).filter_map(|entry| {
        let number = u32::from_ne_bytes(entry[..4].try_into().ok()?);
        let events = u16::from_ne_bytes(entry[4..6].try_into().ok()?);
        (u32::from(events) & READABLE != 0).then_some(number)
    });
    Some(files.collect())
}

/// What `select` looks at: a bit for each file. The place of those to be read from follows their number.
fn selected(pid: i32, count: u64, at: u64) -> Option<Vec<u32>> {
    let count = u32::try_from(count).ok()?.min(FILES_MAX as u32);
    // The bits are kept in words of the machine; byte by byte they are in order only where the lowest comes first.
    let bytes = memory(pid, at, count.div_ceil(8) as usize)?;
    let is_set = |file: &u32| bytes[*file as usize / 8] >> (file % 8) & 1 == 1;
    Some((0..count).filter(is_set).collect())
}

/// What is registered with an `epoll`, which the kernel lists.
fn registered(pid: i32, epoll: u64) -> Option<Vec<u32>> {
    let listed = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).ok()?;
    let files = listed.lines().filter_map(|line| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let file = words.next()?.parse().ok()?;
        let events = words.skip_while(|word| *word != "events:").nth(1)?;
        (u32::from_str_radix(events, 16).ok()? & READABLE != 0).then_some(file)
    });
    Some(files.take(FILES_MAX).collect())
}

fn memory(pid: i32, at: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut read = vec![0; bytes];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut read, at).ok()?;
    Some(read)
}
