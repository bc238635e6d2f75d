//! Files: searching, reading and editing, each against the best tool for it, in the same run on the same machine.

mod changing;
mod contest;
mod peers;
mod searching;
mod settler;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Scratch;
use crate::cargo::{Artifact, build};
use peers::Peers;
use settler::Program;

/// What takes part.
struct Programs {
    settler: Program,
    haft: PathBuf,
    peers: Peers,
}

pub(super) fn run() -> Result<()> {
    let programs = Programs {
        settler: Program(built(
            &["build", "--release", "-p", "haft-tools", "--example", "settler"],
            "settler",
        )?),
        haft: built(&["build", "--release", "-p", "haft-cli", "--bin", "haft"], "haft")?,
        peers: peers::find()?,
    };
    // Beside what was built: it goes with `cargo clean`, and stays until then.
    let target = programs.haft.ancestors().nth(2).context("a program lies in the target directory")?;
    let kept = target.join("bench");
    let tree = tree::searched(&kept)?;
    let scratch = Scratch::within(&kept)?;
    searching::run(&programs, &tree, &scratch.0)?;
    changing::read(&programs, &tree::large(&kept)?)?;
    changing::edit(&programs, &scratch.0)
}

fn built(args: &[&str], target: &str) -> Result<PathBuf> {
    let is_it = |artifact: &Artifact| artifact.target == target;
    let found = build(args)?.into_iter().find(is_it);
    Ok(found.with_context(|| format!("no {target} was built"))?.executable)
}

impl Programs {
    /// The call as somebody at a terminal makes it.
    fn call(&self, tool: &str, input: &Value, directory: &Path, scratch: &Path) -> Command {
        let mut command = Command::new(&self.haft);
        command.args(["call", tool, &input.to_string()]).current_dir(directory);
        command.env("HAFT_HOME", scratch.join("home"));
        command
    }
}
