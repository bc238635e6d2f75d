//! The side of the process that asks: what the helper is told, and what it tells back.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

use super::program::Helper;
use super::told::Told;
use super::wire::Wire;
use super::{handed, helper};
use crate::spec::{Failure, Heard, Removed, Spec};

/// The command that starts a helper, and the way to tell it what to run, before or after it is started.
///
/// The channel is its standard input, and everything else comes over the channel: so nothing is to be done between fork
/// and exec, and the system need not copy this process, which may be large, to start a small one.
pub(crate) fn idle(program: &Helper) -> io::Result<(Command, Idle)> {
    let (channel, theirs) = UnixStream::pair()?;
    let mut command = Command::new(program.program());
    command.args([helper::OUTER, helper::BUILD]).env_clear().current_dir("/").stdin(OwnedFd::from(theirs));
    Ok((command, Idle { channel }))
}

/// The instruction as a file in memory.
pub(super) fn instruction(spec: &Spec) -> io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    spec.put(&mut bytes);
    let mut file = File::from(memfd_create("haft-sandbox", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    Ok(file.into())
}

/// A helper that waits for its instruction. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Idle {
    channel: UnixStream,
}

impl Idle {
    /// Has the helper run something that reads from `input`, or finds nothing to read. Fails if it is gone.
    pub(crate) fn instruct(self, spec: &Spec, input: Option<OwnedFd>) -> io::Result<Watch> {
        let given: Vec<OwnedFd> = [instruction(spec)?].into_iter().chain(input).collect();
        let given: Vec<_> = given.iter().map(OwnedFd::as_fd).collect();
        handed::give(&self.channel, &given)?;
        Ok(Watch(self.channel))
    }
}

/// Holds a command: when this is dropped, or its process dies, the command is killed with all it started.
#[derive(Debug)]
pub(crate) struct Watch(UnixStream);

impl Watch {
    /// Closes one half of the channel: the helper sees nobody hold it any more, and can still answer.
    pub(crate) fn end(&self) {
        // It is closed already where the helper is gone.
        self.0.shutdown(std::net::Shutdown::Write).ok();
    }

    /// What the helper told. To be asked once the helper has ended.
    pub(crate) fn told(mut self) -> io::Result<Heard> {
        self.0.set_nonblocking(true)?;
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) => return Err(error),
        }
        let (mut rest, mut heard) = (bytes.as_slice(), Heard::default());
        while !rest.is_empty() {
            match Told::take(&mut rest)? {
                Told::Removed(path, kept) => heard.removed.push(Removed { path, kept }),
                Told::RemovedBesides(count) => heard.removed_besides = count,
                Told::Refused(host) => heard.refused.push(host),
                Told::OutOfMemory => heard.out_of_memory = true,
                Told::Left(left) => heard.left = left,
                Told::Tried(build) => heard.is_tried = build == helper::BUILD,
                Told::Setup(why) => heard.failure = heard.failure.or(Some(Failure::Setup(why))),
                Told::Start(why) => heard.failure = heard.failure.or(Some(Failure::Start(why))),
                Told::Status(_) | Told::Begun => {}
            }
        }
        Ok(heard)
    }
}
