//! Starting a program that stays and is spoken to over its standard streams: a language server.

use std::io::{self, PipeReader, PipeWriter};
use std::path::Path;
use std::process::Child;

use haft_sandbox::{Network, Program, Watch};

use super::confined::with_writable;
use super::{FilterError, Processes, ProfileName};

/// A program that was started to serve, with our ends of its streams. When the watch is dropped, it is killed with
/// everything it started.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) watch: Watch,
    pub(crate) input: PipeWriter,
    pub(crate) output: PipeReader,
    pub(crate) words: PipeReader,
}

impl Processes {
    /// Starts a program that can look at these directories, and change nothing but what commands may change outside the
    /// workspace and private copies of the usual caches. This blocks for as long as a start takes.
    pub(crate) fn serve(&self, mut program: Program, readable: &[&Path]) -> Result<Serving, FilterError> {
        let mut profile = self.looking(None, readable);
        if self.confinement.profile != ProfileName::FullAccess {
            for path in &self.confinement.writable {
                profile = with_writable(profile, self, path);
            }
            if self.confinement.network {
                profile.network = Network::Host;
            }
            profile.limits.memory_bytes = self.confinement.memory_bytes.or(profile.limits.memory_bytes);
        }
        let suggested = profile.suggested_env(self.sandbox().level());
        program.env.extend(suggested.into_iter().map(|(name, value)| (name.into(), value.into())));
        let (taken, input) = io::pipe()?;
        let (mut starting, watch) = self.sandbox().command_reading(taken, &profile, &program)?.into_parts();
        let (output, printed) = io::pipe()?;
        let (words, said) = io::pipe()?;
        let child = starting.stdout(printed).stderr(said).spawn()?;
        // Its ends of the pipes must be the only ones.
        drop(starting);
        Ok(Serving { child, watch, input, output, words })
    }
}
