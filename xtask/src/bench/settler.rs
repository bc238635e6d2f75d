//! The process that settles calls for us, one after the other, as an agent's would.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::measure::high_water_kib;
use crate::cargo::{Artifact, build};

/// The program that settles calls, and how it is to do that.
#[derive(Clone)]
pub(super) struct Program {
    path: PathBuf,
    options: Vec<OsString>,
}

/// Builds something, and says where it lies.
pub(super) fn built(args: &[&str], target: &str) -> Result<PathBuf> {
    let is_it = |artifact: &Artifact| artifact.target == target;
    let found = build(args)?.into_iter().find(is_it);
    Ok(found.with_context(|| format!("no {target} was built"))?.executable)
}

/// What became of a call.
pub(super) struct Settled {
    pub(super) milliseconds: f64,
    pub(super) completed: bool,
    pub(super) text: String,
}

impl Program {
    /// Builds it. Returns also a directory beside what was built: it goes with `cargo clean`, and stays until then.
    pub(super) fn built() -> Result<(Program, PathBuf)> {
        let path = built(
            &["build", "--release", "-p", "haft-cli", "--example", "settler", "--bin", "haft-helper"],
            "settler",
        )?;
        let target = path.ancestors().nth(3).context("an example lies in the target directory")?;
        let kept = target.join("bench");
        std::fs::create_dir_all(&kept)?;
        Ok((Program { path, options: Vec::new() }, kept))
    }

    /// With everything recorded on disk, in this directory.
    pub(super) fn storing(&self, data: &Path) -> Program {
        self.with(["--store".into(), data.into()])
    }

    /// With commands that run without the sandbox.
    pub(super) fn unconfined(&self) -> Program {
        self.with(["--unconfined".into()])
    }

    /// With language servers, one of which is this program.
    pub(super) fn serving(&self, server: &Path) -> Program {
        self.with(["--lsp".into(), server.into()])
    }

    /// With the custom tools of the directory.
    pub(super) fn with_plugins(&self) -> Program {
        self.with(["--plugins".into()])
    }

    fn with(&self, options: impl IntoIterator<Item = OsString>) -> Program {
        Program { path: self.path.clone(), options: self.options.iter().cloned().chain(options).collect() }
    }

    pub(super) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.options).arg(directory);
        command
    }

    pub(super) fn start(&self, directory: &Path) -> Result<Settler> {
        let mut command = self.command(directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let calls = child.stdin.take().context("the settler has no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("the settler has no stdout")?);
        Ok(Settler { child, calls, answers })
    }

    /// A process that settles one call and ends.
    pub(super) fn once(&self, directory: &Path, tool: &str, input: &Value) -> Command {
        let mut command = self.command(directory);
        command.arg(tool).arg(input.to_string());
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

impl Settler {
    /// The most memory that it has held so far.
    pub(super) fn peak_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        high_water_kib(&status).context("the kernel does not say")
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait().map(drop)) {
            eprintln!("the settler could not be ended: {error}");
        }
    }
}
