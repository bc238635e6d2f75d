//! The process that settles calls for us, one after the other, as an agent's would.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Where the program lies that settles calls.
pub(super) struct Program(pub(super) PathBuf);

/// What became of a call.
pub(super) struct Settled {
    pub(super) milliseconds: f64,
    pub(super) completed: bool,
    pub(super) text: String,
}

impl Program {
    pub(super) fn start(&self, directory: &Path) -> Result<Settler> {
        let mut command = Command::new(&self.0);
        let mut child = command.arg(directory).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let calls = child.stdin.take().context("the settler has no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("the settler has no stdout")?);
        Ok(Settler { child, calls, answers })
    }

    /// A process that settles one call and ends.
    pub(super) fn once(&self, directory: &Path, tool: &str, input: &Value) -> Command {
        let mut command = Command::new(&self.0);
        command.arg(directory).arg(tool).arg(input.to_string());
        command
    }
}

pub(super) struct Settler {
    child: Child,
    calls: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Settler {
    pub(super) fn settle(&mut self, tool: &str, input: &Value) -> Result<Settled> {
        writeln!(self.calls, "{}", json!({"tool": tool, "input": input}))?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line).context("the settler gave no answer")?;
        let nanoseconds = answer["nanoseconds"].as_f64().context("no time")?;
        Ok(Settled {
            milliseconds: nanoseconds / 1e6,
            completed: answer["completed"].as_bool().context("no outcome")?,
            text: answer["text"].as_str().context("no text")?.to_owned(),
        })
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait().map(drop)) {
            eprintln!("the settler could not be ended: {error}");
        }
    }
}
