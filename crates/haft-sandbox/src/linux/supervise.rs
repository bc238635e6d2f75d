//! The helper that stays outside: starts the command, passes signals on, and ends everything when it ends, when it
//! is told to, or when nobody holds the other end of its channel any more.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

use super::becoming::Ready;
use super::bubblewrap::Wrapping;
use super::guard::{Guard, Look};
use super::linger::{ENDING, linger};
use super::memory::{self, Group};
use super::proxy::Proxy;
use super::sys::{self, Forked, Signals};
use super::told::Told;
use super::view::Surroundings;
use super::wire::Wire;
use super::{bubblewrap, confine, identity, init, sweep};
use crate::profile::{Access, Network};
use crate::report::Level;
use crate::spec::{Left, Spec};

/// So often bubblewrap is started: a socket that it is to cover may be gone by the time that it looks for it.
const BUBBLEWRAP_TRIES: usize = 5;
/// So much of what bubblewrap complains of is told.
const COMPLAINT_BYTES_MAX: u64 = 4 << 10;
/// How often what must not appear is looked for while a command runs.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Where there is so much to look for that it takes long, it is waited for so many times as long.
const LOOKING_SHARE: u32 = 4;

/// How a command ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// What was said from inside: why nothing was run, mostly.
    pub(super) told: Vec<Told>,
    /// Hosts that it asked for and that are not granted.
    pub(super) refused: Vec<String>,
    /// Whether it was ended because it wanted more memory than it may have.
    pub(super) has_run_out: bool,
    /// What was ended because the command itself had ended.
    pub(super) left: Left,
    /// Whether bubblewrap gave up before it came to the command.
    was_not_begun: bool,
}

/// Has a command's memory counted together. Where that is not allowed, each process is limited by itself.
fn admit(group: Option<&Group>, pid: Pid) {
    if let Some(group) = group {
        group.admit(pid).ok();
    }
}

/// Ends this process as the command ended, so that whoever waits sees the command's own status.
pub(super) fn end_as(status: ExitStatus) -> ! {
    match (status.code(), status.signal()) {
        (Some(code), _) => sys::exit_now(code),
        (None, Some(signal)) => {
            sys::unblock_signals().ok();
            sys::die_by(signal)
        }
        (None, None) => sys::exit_now(1),
    }
}

/// Which process stands for the whole command.
enum Head {
    /// The first process of a namespace: everything dies with it, and it passes signals on itself.
    Init(Pid),
    /// The command, in a session of its own; its descendants are swept up when it ends.
    Command(Pid),
}

/// Runs the command and waits until nothing is left of it.
pub(super) fn run(spec: &Spec, guard: &Guard, channel: &UnixStream, signals: &Signals) -> io::Result<Ended> {
    let mut ended = run_once(spec, guard, channel, signals)?;
    for _ in 1..BUBBLEWRAP_TRIES {
        // Whoever ended it by a signal does not want it again.
        if !ended.was_not_begun || ended.status.code().is_none() {
            break;
        }
        ended = run_once(spec, guard, channel, signals)?;
    }
    Ok(ended)
}

fn run_once(spec: &Spec, guard: &Guard, channel: &UnixStream, signals: &Signals) -> io::Result<Ended> {
    let (result, results) = pipe_with(PipeFlags::CLOEXEC)?;
    let (complaint, complaints) = pipe_with(PipeFlags::CLOEXEC)?;
    let group = spec.profile.limits.memory_bytes.and_then(Group::make);
    let (head, proxy) = match (spec.profile.access, spec.level) {
        (Access::Full, _) => (free(spec, &File::from(results), group.as_ref())?, None),
        (Access::Confined, Level::Namespaces) => {
            in_namespaces(spec, guard, results, signals, group.as_ref())?
        }
        (Access::Confined, Level::Bubblewrap) => {
            let wrapping = Wrapping { guard, complaints: &complaints };
            (bare(spec, results, Kind::Wrapped(wrapping), group.as_ref())?, None)
        }
        (Access::Confined, Level::LandlockOnly) => {
            (bare(spec, results, Kind::Restricted, group.as_ref())?, None)
        }
        (Access::Confined, Level::None) => {
            return Err(io::Error::other("nothing here can confine a command"));
        }
    };
    let (status, left_here) = watch(&head, guard, channel, signals)?;
    if let Head::Command(_) = head {
        sweep::descendants();
    }
    let has_run_out = group.is_some_and(|group| group.has_run_out());
    let level = if spec.profile.access == Access::Full { Level::None } else { spec.level };
    let Said { status: inside, mut told, left, has_begun } = said(result);
    let was_not_begun = level == Level::Bubblewrap && !has_begun && told.is_empty();
    drop(complaints);
    if was_not_begun {
        let mut words = String::new();
        File::from(complaint).take(COMPLAINT_BYTES_MAX).read_to_string(&mut words).ok();
        told.push(Told::Setup(format!("bubblewrap failed: {}", words.trim())));
    }
    let refused = proxy.map(|proxy| proxy.refused()).unwrap_or_default();
    // Where there is a process inside that waits for the command, it alone sees what is left.
    let left = left.unwrap_or(left_here);
    Ok(Ended { status: inside.unwrap_or(status), told, refused, has_run_out, left, was_not_begun })
}

fn in_namespaces(
    spec: &Spec,
    guard: &Guard,
    results: OwnedFd,
    signals: &Signals,
    group: Option<&Group>,
) -> io::Result<(Head, Option<Proxy>)> {
    let around = Surroundings {
        read_only: guard.read_only.clone(),
        looked_after: guard.looked_after().cloned().collect(),
        sockets: sockets(),
    };
    let (ours, theirs) = UnixStream::pair()?;
    let mut flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    if spec.profile.network != Network::Host {
        flags |= libc::CLONE_NEWNET;
    }
    match sys::fork_into(flags)? {
        Forked::Child => {
            drop(ours);
            if spec.profile.limits.memory_bytes.is_some() {
                memory::give_way();
            }
            init::run(spec, &around, theirs, File::from(results), signals)
        }
        Forked::Parent(pid) => {
            drop(theirs);
            if let Err(error) = identity::map(pid) {
                kill_process(pid, Signal::KILL).ok();
                return Err(io::Error::other(format!("could not map users: {error}")));
            }
            admit(group, pid);
            (&ours).write_all(b"!")?;
            let proxy = match &spec.profile.network {
                Network::Hosts(grants) => Some(Proxy::serve(ours, grants.clone())?),
                Network::Off | Network::Loopback | Network::Host => None,
            };
            Ok((Head::Init(pid), proxy))
        }
    }
}

/// How a command runs that is not in namespaces of ours, and not free.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Restricted,
    Wrapped(Wrapping<'a>),
}

fn bare(spec: &Spec, results: OwnedFd, kind: Kind<'_>, group: Option<&Group>) -> io::Result<Head> {
    adopt_orphans()?;
    match sys::fork_into(0)? {
        Forked::Parent(pid) => Ok(Head::Command(pid)),
        Forked::Child => {
            prepare(spec, group);
            let told = match kind {
                Kind::Restricted => confine::become_command(spec, &confine::usual_places(&spec.profile)),
                Kind::Wrapped(wrapping) => bubblewrap::become_it(spec, wrapping, &results),
            };
            super::helper::tell(&mut File::from(results), &[told]);
            sys::exit_now(1)
        }
    }
}

/// Starts a command that nothing confines: until it begins, its process needs no memory of its own.
fn free(spec: &Spec, results: &File, group: Option<&Group>) -> io::Result<Head> {
    adopt_orphans()?;
    let ready = Ready::of(&spec.program, spec.profile.terminal);
    let mut child = || {
        prepare(spec, group);
        let told = match &ready {
            Ok(ready) => confine::become_free_command(&spec.profile, ready),
            Err(why) => why.clone(),
        };
        super::helper::tell(&mut &*results, &[told]);
    };
    sys::start_sharing(&mut child).map(Head::Command)
}

/// What loses its parent becomes ours, wherever it hides.
fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// The first steps of the command's own process.
fn prepare(spec: &Spec, group: Option<&Group>) {
    if spec.profile.limits.memory_bytes.is_some() {
        memory::give_way();
    }
    admit(group, rustix::process::getpid());
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok();
}

/// Waits for the end, and brings it about when it is asked for. Returns how it ended, and what it left.
fn watch(
    head: &Head,
    guard: &Guard,
    channel: &UnixStream,
    signals: &Signals,
) -> io::Result<(ExitStatus, Left)> {
    let (Head::Init(pid) | Head::Command(pid)) = *head;
    let (mut is_held, mut is_asked) = (true, false);
    let mut look_again = guard.is_watchful().then_some(LOOK_AGAIN);
    loop {
        let mut fds = [PollFd::new(signals, PollFlags::IN), PollFd::new(channel, PollFlags::IN)];
        // A channel that was closed is not asked again: it would say so each time, without end.
        let asked = if is_held { 2 } else { 1 };
        let timeout = look_again.and_then(|wait| Timespec::try_from(wait).ok());
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds[..asked], timeout.as_ref()))?;
        if ready == 0 {
            let begun = Instant::now();
            guard.undo(Look::Passing, Some(pid));
            look_again = Some(LOOK_AGAIN.max(begun.elapsed() * LOOKING_SHARE));
        }
        let [on_signals, on_channel] = fds.map(|fd| !fd.revents().is_empty());
        if on_channel && is_held {
            (is_held, is_asked) = (false, true);
            kill_process(pid, Signal::KILL).ok();
        }
        if !on_signals {
            continue;
        }
        let signal = signals.next()?;
        if signal != libc::SIGCHLD {
            is_asked |= ENDING.contains(&signal);
            pass_on(head, signal);
            continue;
        }
        while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
            if ended == pid {
                let left = if is_asked { Left::default() } else { linger(signals) };
                return Ok((ExitStatus::from_raw(status.as_raw()), left));
            }
        }
    }
}

fn pass_on(head: &Head, signal: i32) {
    let Some(signal) = Signal::from_named_raw(signal) else { return };
    match head {
        Head::Init(pid) => kill_process(*pid, signal).ok(),
        Head::Command(pid) => kill_process_group(*pid, signal).ok(),
    };
}

/// What was said from inside.
struct Said {
    /// The command's own status, if it came to one.
    status: Option<ExitStatus>,
    told: Vec<Told>,
    /// What it left, if somebody inside has looked.
    left: Option<Left>,
    /// Whether bubblewrap has come to the command.
    has_begun: bool,
}

fn said(result: OwnedFd) -> Said {
    let mut bytes = Vec::new();
    File::from(result).read_to_end(&mut bytes).ok();
    let (mut rest, mut told, mut status, mut has_begun) = (bytes.as_slice(), Vec::new(), None, false);
    let mut left = None;
    while let Ok(next) = Told::take(&mut rest) {
        match next {
            Told::Status(raw) => status = i32::try_from(raw).ok().map(ExitStatus::from_raw),
            other @ (Told::Setup(_)
            | Told::Start(_)
            | Told::Removed(_, _)
            | Told::RemovedBesides(_)
            | Told::Refused(_)
            | Told::OutOfMemory) => told.push(other),
            Told::Begun => has_begun = true,
            Told::Left(these) => left = Some(these),
            // It is said outside only.
            Told::Tried(_) => {}
        }
    }
    Said { status, told, left, has_begun }
}

/// Sockets of the host that have a path. To connect to one is not to write a file, so mounts do not prevent it.
pub(super) fn sockets() -> Vec<PathBuf> {
    let known = fs::read("/proc/net/unix").unwrap_or_default();
    let known = String::from_utf8_lossy(&known);
    let paths = known.lines().filter_map(|line| line.find('/').map(|start| PathBuf::from(&line[start..])));
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths.dedup();
    paths
}
