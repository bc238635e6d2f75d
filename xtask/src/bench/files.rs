//! Files: searching, reading and editing, each against the best tool for it, in the same run on the same machine.

mod changing;
mod peers;
mod searching;
pub(super) mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::Scratch;
use super::settler::{Program, built};
use peers::Peers;

/// What takes part.
struct Programs {
    settler: Program,
    haft: PathBuf,
    peers: Peers,
}

pub(super) fn run() -> Result<()> {
    let (settler, kept) = Program::built()?;
    let programs = Programs {
        settler,
        haft: built(&["build", "--release", "-p", "haft-cli", "--bins"], "haft")?,
        peers: peers::find()?,
    };
    let tree = tree::searched(&kept)?;
    let scratch = Scratch::within(&kept)?;
    searching::run(&programs, &tree, &scratch.0)?;
    changing::read(&programs, &tree::large(&kept)?)?;
    changing::edit(&programs.settler, &scratch.0)
}

/// Only what changes files, which needs no peers and little time.
pub(super) fn edits() -> Result<()> {
    let (settler, kept) = Program::built()?;
    changing::edit(&settler, &Scratch::within(&kept)?.0)
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
