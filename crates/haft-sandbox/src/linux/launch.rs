//! The side of the process that asks: what the helper is told, and what it tells back.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};

use super::told::Told;
use super::wire::Wire;
use super::{helper, sys};
use crate::spec::{Failure, Heard, Spec};

/// The command that starts the helper, and the end of the channel that holds it.
pub(crate) fn prepare(program: &Path, spec: &Spec) -> io::Result<(Command, Watch)> {
    let instruction = instruction(spec)?;
    let (ours, theirs) = UnixStream::pair()?;
    let theirs = OwnedFd::from(theirs);
    let mut command = Command::new(program);
    command.arg(helper::OUTER).arg(instruction.as_raw_fd().to_string()).arg(theirs.as_raw_fd().to_string());
    command.env_clear().current_dir("/").stdin(Stdio::null());
    sys::inherit(&mut command, vec![instruction, theirs]);
    Ok((command, Watch(ours)))
}

/// The instruction as a file in memory.
pub(super) fn instruction(spec: &Spec) -> io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    spec.put(&mut bytes);
    let mut file = File::from(memfd_create("haft-sandbox", MemfdFlags::CLOEXEC)?);
    file.write_all(&bytes)?;
    Ok(file.into())
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
                Told::Setup(why) => heard.failure = heard.failure.or(Some(Failure::Setup(why))),
                Told::Start(why) => heard.failure = heard.failure.or(Some(Failure::Start(why))),
                Told::Status(_) | Told::Begun => {}
            }
        }
        Ok(heard)
    }
}
