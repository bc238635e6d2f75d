//! Running a program over a text: it is given one, prints another, and can do nothing else.

use std::io::{self, PipeReader, Read, Write};
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use haft_sandbox::{Profile, Program, SandboxError};

use super::{Processes, ProfileName};
use crate::blocking::blocking;

/// So much of what a program says about itself is listened to.
const WORDS_BYTES_MAX: usize = 4 << 10;
/// When everything of a program is gone, what it printed arrives within this time.
const DRAIN: Duration = Duration::from_secs(5);

/// A program, what it is given, and how far it may go.
pub(crate) struct Filter<'a> {
    pub(crate) program: Program,
    /// A directory that it may change; everything else it can only look at.
    pub(crate) writable: Option<&'a Path>,
    /// Directories that it must be able to look into.
    pub(crate) readable: Vec<&'a Path>,
    pub(crate) input: Vec<u8>,
    pub(crate) printed_bytes_max: usize,
    pub(crate) limit: Duration,
}

/// Why nothing came of a program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    /// Nothing was run.
    #[error("it was not run: {0}")]
    Sandbox(#[from] SandboxError),
    /// It could not be started, or not be heard.
    #[error("it could not be run: {0}")]
    Start(#[from] io::Error),
    /// It took too long.
    #[error("it took longer than {} s and was stopped", .0.as_secs_f32())]
    TimedOut(Duration),
    /// It failed.
    #[error("{}", failure(*.0, .1))]
    Failed(ExitStatus, String),
    /// It printed too much.
    #[error("it printed more than {0} bytes")]
    TooMuch(usize),
}

fn failure(status: ExitStatus, words: &str) -> String {
    match words.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => line.trim().to_owned(),
        None => status.to_string(),
    }
}

impl Processes {
    /// Runs a program to its end and returns what it printed. Dropping the future kills it and everything it started.
    pub(crate) async fn filter(&self, filter: Filter<'_>) -> Result<Vec<u8>, FilterError> {
        let Filter { mut program, writable, readable, input, printed_bytes_max, limit } = filter;
        let profile = self.looking(writable, &readable);
        let suggested = profile.suggested_env(self.sandbox().level());
        program.env.extend(suggested.into_iter().map(|(name, value)| (name.into(), value.into())));
        let (taken, mut given) = io::pipe()?;
        let (prepared, watch) = self.sandbox().command_reading(taken, &profile, &program)?.into_parts();
        let (printed, out) = io::pipe()?;
        let (said, err) = io::pipe()?;
        let mut starting = tokio::process::Command::from(prepared);
        starting.stdout(out).stderr(err).kill_on_drop(true);
        let mut child = starting.spawn()?;
        // Its ends of the pipes must be the only ones.
        drop(starting);
        let feeding = tokio::spawn(blocking(move |_| {
            // One that needs less than all of it stops reading.
            let _enough = given.write_all(&input);
        }));
        let hearing = tokio::spawn(blocking(move |_| heard(printed, printed_bytes_max + 1)));
        let listening = tokio::spawn(blocking(move |_| heard_out(said)));
        let Ok(status) = tokio::time::timeout(limit, child.wait()).await else {
            child.kill().await?;
            return Err(FilterError::TimedOut(limit));
        };
        let status = status?;
        // Once the supervisor has ended, nothing that could hold the pipes is left.
        let silent = || io::Error::other("its output did not come to an end");
        let ends = async { (hearing.await, listening.await, feeding.await) };
        let (printed, said, fed) = tokio::time::timeout(DRAIN, ends).await.map_err(|_| silent())?;
        watch.finish()?;
        fed.map_err(|_| silent())?;
        let (printed, said) = (printed.map_err(|_| silent())??, said.map_err(|_| silent())??);
        if printed.len() > printed_bytes_max {
            return Err(FilterError::TooMuch(printed_bytes_max));
        }
        match status.success() {
            true => Ok(printed),
            false => Err(FilterError::Failed(status, String::from_utf8_lossy(&said).into_owned())),
        }
    }

    /// A profile that lets a program look, and change one directory.
    pub(super) fn looking(&self, writable: Option<&Path>, readable: &[&Path]) -> Profile {
        if self.confinement.profile == ProfileName::FullAccess {
            return Profile::full_access();
        }
        let mut profile = Profile::read_only();
        if let Some(home) = &self.home {
            profile = profile.with_home(home);
        }
        profile.hidden.extend(self.hidden.iter().cloned());
        profile.readable.extend(readable.iter().map(|path| path.to_path_buf()));
        profile.writable.extend(writable.map(Path::to_owned));
        profile
    }
}

/// The beginning of what is printed. Whoever prints more finds nobody listening.
fn heard(reader: PipeReader, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut heard = Vec::new();
    reader.take(bytes_max as u64).read_to_end(&mut heard)?;
    Ok(heard)
}

/// The beginning of what is said; the rest is let pass.
fn heard_out(mut reader: PipeReader) -> io::Result<Vec<u8>> {
    let mut heard = Vec::new();
    reader.by_ref().take(WORDS_BYTES_MAX as u64).read_to_end(&mut heard)?;
    io::copy(&mut reader, &mut io::sink())?;
    Ok(heard)
}
