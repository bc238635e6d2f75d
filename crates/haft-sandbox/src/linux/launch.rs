//! The side of the process that asks: what the helper is told, and what it tells back.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

use super::program::Helper;
use super::told::Told;
use super::wire::Wire;
use super::{helper, sys};
use crate::spec::{Failure, Heard, Spec};

/// The command that starts a helper, and the way to tell it what to run, before or after it is started.
pub(crate) fn idle(program: &Helper) -> io::Result<(Command, Idle)> {
    let instruction = File::from(memfd_create("haft-sandbox", MemfdFlags::CLOEXEC)?);
    let (channel, theirs) = UnixStream::pair()?;
    let kept = vec![OwnedFd::from(instruction.try_clone()?), OwnedFd::from(theirs)];
    let mut command = Command::new(program.program());
    command.args([helper::OUTER, helper::BUILD]).args(kept.iter().map(|fd| fd.as_raw_fd().to_string()));
    command.env_clear().current_dir("/").stdin(Stdio::null());
    sys::inherit(&mut command, kept, program.clone());
    Ok((command, Idle { instruction, channel }))
}

/// The instruction as a file in memory.
pub(super) fn instruction(spec: &Spec) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("haft-sandbox", MemfdFlags::CLOEXEC)?);
    write(spec, &mut file)?;
    Ok(file.into())
}

fn write(spec: &Spec, instruction: &mut File) -> io::Result<()> {
    let mut bytes = Vec::new();
    spec.put(&mut bytes);
    instruction.write_all(&bytes)
}

/// A helper that waits for its instruction. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Idle {
    instruction: File,
    channel: UnixStream,
}

impl Idle {
    /// Has the helper run something. Fails if it is gone.
    pub(crate) fn instruct(mut self, spec: &Spec) -> io::Result<Watch> {
        write(spec, &mut self.instruction)?;
        self.channel.write_all(&[helper::GO])?;
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
                Told::Removed(path) => heard.removed.push(path),
                Told::Refused(host) => heard.refused.push(host),
                Told::OutOfMemory => heard.out_of_memory = true,
                Told::Tried(build) => heard.is_tried = build == helper::BUILD,
                Told::Setup(why) => heard.failure = heard.failure.or(Some(Failure::Setup(why))),
                Told::Start(why) => heard.failure = heard.failure.or(Some(Failure::Start(why))),
                Told::Status(_) | Told::Begun => {}
            }
        }
        Ok(heard)
    }
}
