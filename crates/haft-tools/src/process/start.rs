//! Starting what was agreed to: its environment, its streams, and the process that holds it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use haft::permission::Permit;
use haft::{Events, OutputStore, ToolContext};
use haft_sandbox::{Profile, Program};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat};

use super::capture::{Capture, Printed};
use super::confined::ConfinedCommand;
use super::listen::Teller;
use super::running::{Running, Source, Started};
use super::standby::Manned;
use super::{Processes, RunError, terminal};

/// What a terminal calls itself. Programs that ask for a terminal use it, and one that can do nothing makes many of
/// them refuse; what they send to it is taken out again.
const TERM: &str = "xterm-256color";

/// What a start needs besides the command.
pub(crate) struct Start {
    pub(crate) outputs: Arc<dyn OutputStore>,
    pub(crate) events: Events,
    pub(crate) context: ToolContext,
    pub(crate) streams: Streams,
    /// Variables besides those that every command has; they come last and so prevail.
    pub(crate) added: Vec<(OsString, OsString)>,
}

/// What a command reads from and prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    /// There is nothing to read.
    Deaf,
    /// It reads what it is sent.
    Piped,
    /// Both are a terminal.
    Terminal,
}

/// The ends of a command's streams: theirs for the process, ours to hear it and to send to it.
struct Ends {
    input: Option<OwnedFd>,
    output: OwnedFd,
    printed: OwnedFd,
    source: Source,
}

impl Processes {
    /// Starts what was agreed to. Dropping what is returned kills it and everything it started.
    pub(crate) fn start(&self, permit: Permit<ConfinedCommand>, start: Start) -> Result<Running, RunError> {
        let Start { outputs, events, context, streams, added } = start;
        let ConfinedCommand { command, mut profile, .. } = permit.into_target();
        let shell = self.shell().ok_or(RunError::NoShell)?;
        let is_terminal = streams == Streams::Terminal;
        profile.terminal = is_terminal;
        let mut env = self.environment.clone();
        let suggested = profile.suggested_env(self.sandbox().level());
        env.extend(suggested.into_iter().map(|(name, value)| (name.into(), value.into())));
        env.extend(is_terminal.then(|| ("TERM".into(), TERM.into())));
        env.extend(added);
        let program = Program {
            program: shell.into(),
            args: vec![OsString::from("-c"), command.script().into()],
            env,
            cwd: command.workdir().real().to_owned(),
        };
        let waiting = if streams == Streams::Deaf {
            self.standby.run(self.sandbox(), &profile, &program)
        } else {
            None
        };
        let (Manned { child, watch, printed }, source) = match waiting {
            Some(manned) => (manned, Source::Nothing),
            None => self.man(&profile, &program, streams)?,
        };
        let printing = if is_terminal { Printed::OnTerminal } else { Printed::Plainly };
        let capture = Capture::new(outputs, context.clone(), self.shown, self.kept_bytes_max, printing);
        let teller = Teller::new(events, context);
        let meanwhile = self.keeps_helper.then(|| Box::new(self.standby.refill(self.sandbox())) as Box<_>);
        Running::new(Started { child, watch, printed, source, capture, teller, meanwhile })
    }

    /// Starts a helper that has something to do at once.
    fn man(
        &self,
        profile: &Profile,
        program: &Program,
        streams: Streams,
    ) -> Result<(Manned, Source), RunError> {
        let Ends { input, output, printed, source } = ends(streams).map_err(RunError::Start)?;
        let confined = match input {
            Some(input) => self.sandbox().command_reading(input, profile, program)?,
            None => self.sandbox().command(profile, program)?,
        };
        let (mut starting, watch) = confined.into_parts();
        let also = output.try_clone().map_err(RunError::Start)?;
        let child = starting.stdout(output).stderr(also).spawn().map_err(RunError::Start)?;
        // The helper's ends of the streams must be the only ones.
        drop(starting);
        Ok((Manned { child, watch, printed }, source))
    }
}

fn ends(streams: Streams) -> io::Result<Ends> {
    if streams == Streams::Terminal {
        let (ours, theirs) = terminal::open()?;
        without_blocking(&ours)?;
        let (input, source) = (Some(theirs.try_clone()?), Source::Terminal(ours.try_clone()?));
        return Ok(Ends { input, output: theirs, printed: ours, source });
    }
    let (printed, output) = io::pipe()?;
    without_blocking(&printed)?;
    let (input, source) = match streams {
        Streams::Piped => {
            let (reads, sink) = io::pipe()?;
            without_blocking(&sink)?;
            let inode = fstat(&sink)?.st_ino;
            (Some(reads.into()), Source::Pipe { sink: sink.into(), inode })
        }
        Streams::Deaf | Streams::Terminal => (None, Source::Nothing),
    };
    Ok(Ends { input, output: output.into(), printed: printed.into(), source })
}

/// Of our end only: the command's is another.
pub(super) fn without_blocking(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}
