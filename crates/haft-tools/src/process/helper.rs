//! A helper of the sandbox that is started before it is known what it is to hold: to start one takes longer than to start
//! most programs.

use std::io;
use std::process::{Child, Stdio};
use std::time::Duration;

use haft_sandbox::{Idle, Sandbox, SandboxError, Watch};
#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

/// A helper that waits. It goes with this value.
pub(crate) struct Helper(Option<(Child, Idle)>);

impl Helper {
    /// Starts one. What it will hold prints to these, of which nobody else here keeps an end.
    pub(crate) fn start(
        sandbox: &Sandbox,
        output: impl Into<Stdio>,
        errors: impl Into<Stdio>,
    ) -> Result<Helper, SandboxError> {
        let (mut starting, idle) = sandbox.idle()?;
        let child = starting.stdout(output).stderr(errors).spawn().map_err(SandboxError::Prepare)?;
        Ok(Helper(Some((child, idle))))
    }

    /// Tells it what to do.
    pub(crate) fn hold(
        mut self,
        instruct: impl FnOnce(Idle) -> Result<Watch, SandboxError>,
    ) -> Result<(Child, Watch), SandboxError> {
        let gone = || SandboxError::Prepare(io::Error::other("its helper has ended"));
        let (mut child, idle) = self.0.take().ok_or_else(gone)?;
        let is_there = matches!(child.try_wait(), Ok(None));
        match instruct(idle).and_then(|watch| is_there.then_some(watch).ok_or_else(gone)) {
            Ok(watch) => Ok((child, watch)),
            Err(error) => {
                reap(&mut child);
                Err(error)
            }
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if let Some((mut child, _)) = self.0.take() {
            reap(&mut child);
        }
    }
}

/// Ends a helper that holds nothing. It is killed in case that it hangs: there is nothing to lose.
fn reap(child: &mut Child) {
    let _gone = child.kill();
    let _reaped = child.wait();
}

/// Whether a process ends within this time. Where the system has no way to ask that, none does.
#[cfg(target_os = "linux")]
pub(crate) fn ends_within(pid: Pid, time: Duration) -> bool {
    let Ok(process) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return false;
    };
    let Ok(time) = Timespec::try_from(time) else { return false };
    let mut ended = [PollFd::new(&process, PollFlags::IN)];
    rustix::io::retry_on_intr(|| poll(&mut ended, Some(&time))).is_ok_and(|ready| ready > 0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ends_within(_pid: Pid, _time: Duration) -> bool {
    false
}
