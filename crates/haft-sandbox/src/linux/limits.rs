//! How much of the machine a command may use, and what others may do to this process.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::profile::Limits;

/// Closes this process to others of the same user.
pub(crate) fn harden() -> io::Result<()> {
    lower(Resource::Core, Some(0))?;
    Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?)
}

/// Whose processes are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Those of the namespace.
    Namespace,
    /// All of the user's, which is no measure of one command.
    User,
}

/// Sets the limits that a process hands on to what it starts.
pub(super) fn apply(limits: &Limits, counted: Counted) -> io::Result<()> {
    // A core file would be written by the kernel, wherever the host says.
    lower(Resource::Core, Some(0))?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Nofile, limits.open_files)?;
    // Of the data, not of the address space: Java and others reserve far more than they use.
    lower(Resource::Data, limits.memory_bytes)?;
    match counted {
        Counted::Namespace => lower(Resource::Nproc, limits.processes.map(u64::from)),
        Counted::User => Ok(()),
    }
}

/// A limit is never raised: what the host set holds as well.
fn lower(resource: Resource, to: Option<u64>) -> io::Result<()> {
    let Some(to) = to else { return Ok(()) };
    let now = rustix::process::getrlimit(resource);
    let to = to.min(now.maximum.unwrap_or(u64::MAX));
    Ok(setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) })?)
}

/// Ids below this are given out only once, so they are added to the limit.
const RESERVED_IDS: u32 = 300;

/// Limits the ids of the new process namespace, and with it the processes: the limit per user does not hold for
/// root. `/proc` must be the namespace's own and writable.
pub(super) fn limit_ids(limits: &Limits) -> io::Result<()> {
    // Before, the same file is the whole machine's.
    let (Some(processes), true) = (limits.processes, kernel_at_least(6, 14)) else { return Ok(()) };
    fs::write("/proc/sys/kernel/pid_max", (processes.saturating_add(RESERVED_IDS)).to_string())
}

fn kernel_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(a)), Some(Ok(b))) => (a, b) >= (major, minor),
        _ => false,
    }
}
