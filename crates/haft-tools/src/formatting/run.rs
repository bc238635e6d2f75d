//! Running one formatter on one text.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_sandbox::Program;
use tokio::time::Instant;

use super::Formatters;
use super::builtin::Takes;
use super::choice::Chosen;
use crate::blocking::blocking;
use crate::process::{Filter, FilterError};
use crate::workspace::LeftFile;

const FILE: &str = "$FILE";
const EDITION: &str = "$EDITION";

/// No formatter makes a text so much larger.
const GROWTH_BYTES_MAX: usize = 1 << 20;
const GROWTH_MAX: usize = 4;
/// A formatter that prints instead of writing says little.
const SAID_BYTES_MAX: usize = 1 << 20;

/// Why a formatter did not format.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormatError {
    /// Others took all the time there was.
    #[error("there was no time left for it")]
    NoTime,
    /// Its file is somebody's whom nobody trusts.
    #[error("it was not run, because {0}")]
    Untrusted(String),
    /// It did not run to a good end.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// There is no place for a copy.
    #[error("the file could not be copied for it: {0}")]
    Copy(#[source] io::Error),
    /// Its file is gone, or no file any longer.
    #[error("it left no file that could be read: {0}")]
    Gone(#[source] io::Error),
    /// A text that is empty, or none, is not what it was to make of the file.
    #[error("what it made of the file is {0}")]
    Nonsense(&'static str),
}

impl Formatters {
    /// What a formatter makes of a text.
    pub(super) async fn run(
        &self,
        chosen: &Chosen<'_>,
        file: &LeftFile,
        text: &str,
        deadline: Instant,
    ) -> Result<String, FormatError> {
        let limit = deadline.saturating_duration_since(Instant::now());
        if limit == Duration::ZERO {
            return Err(FormatError::NoTime);
        }
        let bytes_max = GROWTH_BYTES_MAX + GROWTH_MAX * text.len();
        let made = match chosen.known.own.takes {
            Takes::Input => self.run_on_input(chosen, file, text, bytes_max, limit).await?,
            Takes::File => self.run_on_copy(chosen, file, text, bytes_max, limit).await?,
        };
        match String::from_utf8(made) {
            Ok(made) if made.len() > bytes_max => Err(FormatError::Nonsense("far too large")),
            Ok(made) if made.contains('\0') => Err(FormatError::Nonsense("not text")),
            Ok(made) if made.trim().is_empty() && !text.trim().is_empty() => {
                Err(FormatError::Nonsense("empty"))
            }
            Ok(made) => Ok(made),
            Err(_) => Err(FormatError::Nonsense("not text")),
        }
    }

    async fn run_on_input(
        &self,
        chosen: &Chosen<'_>,
        file: &LeftFile,
        text: &str,
        bytes_max: usize,
        limit: Duration,
    ) -> Result<Vec<u8>, FormatError> {
        let real = file.place().real();
        // Those that are not told a name look for their configuration where they are started.
        let directory = real.parent().unwrap_or(self.workspace.directory());
        let filter = Filter {
            program: self.command(chosen, file, real, directory),
            writable: None,
            readable: self.roots(),
            input: text.as_bytes().to_vec(),
            printed_bytes_max: bytes_max,
            limit,
        };
        Ok(self.processes.filter(filter).await?)
    }

    async fn run_on_copy(
        &self,
        chosen: &Chosen<'_>,
        file: &LeftFile,
        text: &str,
        bytes_max: usize,
        limit: Duration,
    ) -> Result<Vec<u8>, FormatError> {
        let (workspace, copied, text) = (self.workspace.clone(), file.clone(), text.to_owned());
        let copy = blocking(move |_| workspace.copy_beside(&copied, &text)).await;
        let copy = copy.map_err(FormatError::Copy)?;
        let filter = Filter {
            program: self.command(chosen, file, &copy.path(), self.workspace.directory()),
            writable: Some(copy.directory()),
            readable: self.roots(),
            input: Vec::new(),
            printed_bytes_max: SAID_BYTES_MAX,
            limit,
        };
        self.processes.filter(filter).await?;
        copy.read(bytes_max + 1).map_err(FormatError::Gone)
    }

    fn command(&self, chosen: &Chosen<'_>, file: &LeftFile, path: &Path, directory: &Path) -> Program {
        let mut args: Vec<OsString> = Vec::new();
        for part in &chosen.known.command[1..] {
            match part.as_str() {
                EDITION => {
                    args.extend(self.edition(file).map(|edition| format!("--edition={edition}").into()))
                }
                part => args.push(with_path(part, path)),
            }
        }
        let mut env = self.processes.environment.clone();
        let given = chosen.known.environment.iter();
        env.extend(given.map(|(name, value)| (name.into(), value.into())));
        Program { program: chosen.program.clone().into(), args, env, cwd: directory.to_owned() }
    }

    fn roots(&self) -> Vec<&Path> {
        vec![self.workspace.base(), self.workspace.directory()]
    }
}

/// A part of a command with the path in place of its stand-in, whatever the path is made of.
fn with_path(part: &str, path: &Path) -> OsString {
    let mut pieces = part.split(FILE);
    let mut made = OsString::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        made.push(PathBuf::from(path));
        made.push(piece);
    }
    made
}
