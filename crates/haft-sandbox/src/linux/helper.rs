//! Where the second process starts: this code in a process that does nothing but set a sandbox up.
//!
//! Between fork and exec a process with threads may do next to nothing. So a program with this code is started, alone
//! and with an empty environment, and the instruction comes over its standard input. Which program it is says `program.rs`;
//! it is told the build that started it, and does nothing for another one than its own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};

use super::guard::Guard;
use super::supervise::{self, Ended};
use super::sys::{self, Forked, Signals};
use super::told::Told;
use super::wire::Wire;
use super::{confine, handed, init};
use crate::profile::Access;
use crate::report::Level;
use crate::spec::{Removed, Spec};

/// The first argument of the outer helper, which supervises.
pub(super) const OUTER: &str = "__haft-sandbox";
/// The first argument of the helper that bubblewrap starts inside.
pub(super) const INNER: &str = "__haft-sandbox-inner";

/// What this is built of. A helper of another build may understand its instruction otherwise than it is meant.
pub(crate) const BUILD: &str = env!("HAFT_SANDBOX_BUILD");

/// How the helper ends when nothing was run. The reason is told over the channel.
const NOT_RUN: i32 = 125;

/// So many paths that were put back are told, and so many bytes of them: whoever started this reads what it tells only
/// when it has ended, and the channel does not hold more than some hundred kilobytes.
const REMOVED_MAX: usize = 100;
const REMOVED_BYTES_MAX: usize = 64 << 10;

/// Never returns if this process was started as a helper.
pub(crate) fn become_helper() {
    let mut args = std::env::args_os().skip(1);
    let Some(mode) = args.next() else { return };
    let run = if mode == OsStr::new(OUTER) {
        outer
    } else if mode == OsStr::new(INNER) {
        inner
    } else {
        return;
    };
    let build = args.next();
    let args: Vec<OsString> = args.collect();
    let done = if build.is_some_and(|build| build == BUILD) { run(&args) } else { refuse() };
    if let Err(error) = done {
        // Nobody to tell over the channel: somebody typed this.
        writeln!(io::stderr(), "this is started by haft itself: {error}").ok();
    }
    sys::exit_now(NOT_RUN)
}

/// Tells that nothing was done. How a setup that failed is told must stay the same in every build.
fn refuse() -> io::Result<()> {
    tell(&mut channel()?, &[Told::Setup(format!("the helper is of another build of haft ({BUILD})"))]);
    Ok(())
}

/// The channel to whoever started this, which is the standard input until that is read for good.
fn channel() -> io::Result<UnixStream> {
    let stdin = rustix::stdio::stdin();
    rustix::net::sockopt::socket_type(stdin)?;
    let channel = rustix::io::fcntl_dupfd_cloexec(stdin, 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(channel.into())
}

fn outer(_args: &[OsString]) -> io::Result<()> {
    let mut channel = channel()?;
    sys::close_on_exec_from(3)?;
    let signals = sys::take_signals()?;
    let Some(instruction) = told_to_go(&channel, &signals).transpose() else { sys::exit_now(0) };
    let ran = instruction
        .and_then(understood)
        .and_then(|spec| Ok((spec.program.is_none(), run(&spec, &channel, &signals)?)));
    match ran {
        Ok((is_trial, (ended, removed))) => {
            let Ended { status, mut told, refused, has_run_out, left, .. } = ended;
            let is_run = told.is_empty();
            told.extend(is_trial.then(|| Told::Tried(BUILD.to_owned())));
            told.extend(told_of(removed));
            told.extend(refused.into_iter().map(Told::Refused));
            told.extend(has_run_out.then_some(Told::OutOfMemory));
            told.extend((left.processes > 0).then_some(Told::Left(left)));
            tell(&mut channel, &told);
            if is_run { supervise::end_as(status) } else { sys::exit_now(NOT_RUN) }
        }
        Err(error) => {
            tell(&mut channel, &[Told::Setup(error.to_string())]);
            sys::exit_now(NOT_RUN)
        }
    }
}

/// What is told of paths that were put back, which is little, however much a command made.
fn told_of(mut removed: Vec<Removed>) -> impl Iterator<Item = Told> {
    let mut left = REMOVED_BYTES_MAX;
    let mut is_told = |Removed { path, kept }: &&Removed| {
        let bytes = |path: &PathBuf| path.as_os_str().len();
        let after = left.checked_sub(bytes(path) + kept.iter().map(bytes).sum::<usize>());
        left = after.unwrap_or(left);
        after.is_some()
    };
    let count = removed.iter().take(REMOVED_MAX).take_while(|removed| is_told(removed)).count();
    let besides = removed.split_off(count).len() as u64;
    let besides = (besides > 0).then_some(Told::RemovedBesides(besides));
    removed.into_iter().map(|Removed { path, kept }| Told::Removed(path, kept)).chain(besides)
}

/// Waits for the instruction and for what the command is to read; nothing if whoever was to give it is gone. What is
/// signalled until then is not meant for the command: at a terminal, whoever interrupts something else interrupts this
/// process too.
fn told_to_go(channel: &UnixStream, signals: &Signals) -> io::Result<Option<OwnedFd>> {
    let mut patience = Some(Timespec { tv_sec: 0, tv_nsec: 0 });
    loop {
        let mut fds = [PollFd::new(signals, PollFlags::IN), PollFd::new(channel, PollFlags::IN)];
        if rustix::io::retry_on_intr(|| poll(&mut fds, patience.as_ref()))? == 0 {
            // There is time.
            sys::fetch_own_code();
            patience = None;
            continue;
        }
        let [on_signals, on_channel] = fds.map(|fd| !fd.revents().is_empty());
        // Those that are there already came before the instruction, or as good as.
        if on_signals {
            signals.next()?;
        } else if on_channel {
            let Some(given) = handed::take(channel)? else { return Ok(None) };
            let mut given = given.into_iter();
            let instruction = given.next().ok_or_else(|| io::Error::other("the instruction was lost"))?;
            if let Some(input) = given.next() {
                rustix::stdio::dup2_stdin(input)?;
            }
            return Ok(Some(instruction));
        }
    }
}

fn run(spec: &Spec, channel: &UnixStream, signals: &Signals) -> io::Result<(Ended, Vec<Removed>)> {
    let holds_paths = spec.profile.access == Access::Confined && spec.level >= Level::Bubblewrap;
    let guard = if holds_paths { Guard::raise(&spec.profile)? } else { Guard::default() };
    let ended = supervise::run(spec, &guard, channel, signals);
    // Also where nothing could be run: what was put there goes away.
    let removed = guard.lower();
    Ok((ended?, removed))
}

/// What bubblewrap starts: a process that waits for the command, as the first one of our own namespaces does, and one that
/// confines itself and becomes the command.
fn inner(args: &[OsString]) -> io::Result<()> {
    let [instruction, result, stderr] = descriptors(args)?;
    let mut result = File::from(result);
    sys::close_on_exec_from(3)?;
    rustix::stdio::dup2_stderr(stderr)?;
    let told = match understood(instruction).and_then(|spec| Ok((spec, parted()?))) {
        Ok((_, (Forked::Parent(command), signals))) => {
            tell(&mut result, &[Told::Begun]);
            tell(&mut result, &init::reap(command, &signals));
            sys::exit_now(0)
        }
        Ok((spec, (Forked::Child, _))) => {
            confine::become_command(&spec, &confine::private_places(&spec.profile))
        }
        Err(error) => Told::Setup(error.to_string()),
    };
    tell(&mut result, &[told]);
    sys::exit_now(NOT_RUN)
}

/// Becomes two processes: one that nobody inside can look into and that orphans come to, and one for the command.
fn parted() -> io::Result<(Forked, Signals)> {
    let signals = sys::take_signals()?;
    set_child_subreaper(Some(getpid()))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok((sys::fork_into(0)?, signals))
}

fn descriptors<const N: usize>(args: &[OsString]) -> io::Result<[OwnedFd; N]> {
    let taken = args.iter().map(|text| {
        let number = text.to_str().and_then(|text| text.parse().ok());
        sys::inherited(number.ok_or_else(|| io::Error::other("a descriptor is a number"))?)
    });
    let taken: Vec<OwnedFd> = taken.collect::<io::Result<_>>()?;
    taken.try_into().map_err(|_| io::Error::other(format!("{N} descriptors are expected")))
}

fn understood(instruction: OwnedFd) -> io::Result<Spec> {
    let mut file = File::from(instruction);
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Spec::take(&mut bytes.as_slice())
}

pub(super) fn tell(channel: &mut impl Write, told: &[Told]) {
    let mut bytes = Vec::new();
    told.iter().for_each(|told| told.put(&mut bytes));
    // Whoever asked may be gone; then nobody needs to know.
    channel.write_all(&bytes).ok();
}
