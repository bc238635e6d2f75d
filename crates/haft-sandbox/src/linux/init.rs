//! The first process of the namespaces: makes the view, gives up all power, starts the command and waits for it.
//! When it ends, the kernel ends every other process in the namespace, whatever that did to get away.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;

use rustix::process::{DumpableBehavior, Pid, Signal, WaitOptions, kill_process_group, wait};
use rustix::process::{set_dumpable_behavior, set_parent_process_death_signal};

use super::becoming::Ready;
use super::limits::Counted;
use super::linger::{ENDING, linger};
use super::sys::{self, Signals};
use super::told::Told;
use super::view::{self, Surroundings};
use super::{confine, helper, loopback, proxy};
use crate::profile::Network;
use crate::spec::{Left, Spec};

pub(super) fn run(
    spec: &Spec,
    around: &Surroundings,
    supervisor: UnixStream,
    mut results: File,
    signals: &Signals,
) -> ! {
    if let Err(why) = settle_in(spec, around, supervisor) {
        helper::tell(&mut results, &[Told::Setup(why)]);
        sys::exit_now(1);
    }
    let told = match Ready::of(&spec.program, spec.profile.terminal) {
        Ok(ready) => {
            let mut child = || helper::tell(&mut &results, &[ready.become_it()]);
            match sys::start_sharing(&mut child) {
                Ok(command) => reap(command, signals).to_vec(),
                Err(error) => vec![Told::Setup(format!("could not start a process: {error}"))],
            }
        }
        Err(why) => vec![why],
    };
    helper::tell(&mut results, &told);
    sys::exit_now(0)
}

/// Everything that needs power, and then giving it up.
fn settle_in(spec: &Spec, around: &Surroundings, mut supervisor: UnixStream) -> Result<(), String> {
    let words = |what: &'static str| move |error: io::Error| format!("could not {what}: {error}");
    let mut go = [0];
    // Nothing to read means that the supervisor is gone already.
    supervisor.read_exact(&mut go).map_err(words("wait for the supervisor"))?;
    let view = view::make(&spec.profile, around).map_err(|error| error.to_string())?;
    match &spec.profile.network {
        Network::Off | Network::Host => {}
        Network::Loopback => loopback::up().map_err(words("bring the loopback up"))?,
        Network::Hosts(_) => {
            loopback::up().map_err(words("bring the loopback up"))?;
            proxy::listen(&supervisor).map_err(words("listen for the proxy"))?;
        }
    }
    drop(supervisor);
    confine::give_up_capabilities().map_err(words("drop capabilities"))?;
    confine::restrict(&spec.profile, &view.writable, Counted::Namespace)?;
    // Nobody in the namespace looks into this process, which still has the supervisor's memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|e| words("hide itself")(e.into()))?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| words("follow the supervisor")(e.into()))
}

/// Waits for the command and for every process that lost its parent; passes signals on. What the command leaves behind
/// has a moment to finish, unless it was asked to end. Returns how it ended, and what it left.
pub(super) fn reap(command: Pid, signals: &Signals) -> [Told; 2] {
    let mut is_asked = false;
    while let Ok(signal) = signals.next() {
        if signal != libc::SIGCHLD {
            is_asked |= ENDING.contains(&signal);
            if let Some(signal) = Signal::from_named_raw(signal) {
                kill_process_group(command, signal).ok();
            }
            continue;
        }
        while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
            if ended == command {
                let left = if is_asked { Left::default() } else { linger(signals) };
                return [Told::Status(u64::from(status.as_raw().cast_unsigned())), Told::Left(left)];
            }
        }
    }
    // As if killed: it can no longer be watched.
    [Told::Status(9), Told::Left(Left::default())]
}
