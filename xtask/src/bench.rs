//! How fast and how large. Nothing here asserts: a number is compared with the floor of the same run.

mod contest;
mod disk;
mod files;
mod lsp;
mod measure;
mod plugins;
mod sessions;
mod settler;
mod shell;
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{Kind, build, cargo, root, run as run_command};
use measure::{Candidate, Measured, measure};

/// Which benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What the core costs, and a cold call.
    Core,
    /// Searching, reading and editing files, against their peers.
    Files,
    /// Only what changes files.
    Edits,
    /// Commands: starting, confining and hearing them.
    Shell,
    /// Conversations: a call in one, against other agents; a long one; very many at once.
    Sessions,
    /// Pages to Markdown, against turndown.
    Web,
    /// Language servers: asking them, and waiting for what they find.
    Lsp,
    /// Tools of others, against opencode and bun.
    Plugins,
}

/// Runs benchmarks in release.
pub(crate) fn run(part: Part) -> Result<()> {
    match part {
        Part::Core => core(),
        Part::Files => files::run(),
        Part::Edits => files::edits(),
        Part::Shell => shell::run(),
        Part::Sessions => sessions::run(),
        Part::Web => web::run(),
        Part::Lsp => lsp::run(),
        Part::Plugins => plugins::run(),
    }
}

fn core() -> Result<()> {
    if root().join("crates/haft/examples/bench_core.rs").exists() {
        run_command(&mut cargo(&["run", "--release", "-p", "haft", "--example", "bench_core"]))?;
    }
    cold_call()
}

const LINE: &str = "The haft is the part of the tool that the agent holds.\n";
const LINES: usize = 20;

/// Measures `haft call read` of a small file, from a process that does not exist yet to its result.
/// Cold is the process; the page cache is warm for all candidates alike.
fn cold_call() -> Result<()> {
    let built = build(&["build", "--release", "-p", "haft-cli", "--bins"])?;
    let haft =
        built.into_iter().find(|artifact| artifact.kind == Kind::Binary).context("no haft was built")?;
    let scratch = Scratch::new()?;
    let workspace = scratch.0.join("workspace");
    let file = workspace.join("small.txt");
    fs::create_dir(&workspace)?;
    fs::write(&file, LINE.repeat(LINES))?;

    let command = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(&workspace).env("HAFT_HOME", scratch.0.join("home"));
        // Cargo adds directories of its own, and the loader would search them first.
        command.env_remove("LD_LIBRARY_PATH");
        command
    };
    let path = file.to_str().context("the temporary directory is not UTF-8")?;
    let call = ["call", "read", &format!("filePath={path}")];
    let answer = command(&haft.executable, &call).output()?;
    ensure!(
        answer.status.success() && String::from_utf8_lossy(&answer.stdout).contains(LINE.trim_end()),
        "haft call read did not answer with the file ({}): {}",
        answer.status,
        String::from_utf8_lossy(&answer.stderr).trim()
    );

    let mut candidates = [
        Candidate { name: "/bin/true", command: command(Path::new("/bin/true"), &[]) },
        Candidate { name: "cat FILE", command: command(Path::new("cat"), &[path]) },
        Candidate { name: "haft call read", command: command(&haft.executable, &call) },
    ];
    print(&measure(&mut candidates, &scratch.0)?);
    Ok(())
}

fn print(measured: &[Measured]) {
    let [floor, cat, ..] = measured else { return };
    println!("\ncold call, {} runs each, interleaved", measure::RUNS);
    println!(
        "{:16}{:>12}{:>10}{:>10}{:>10}{:>10}{:>14}",
        "", "median ms", "p10 ms", "p90 ms", "x true", "x cat", "peak RSS KiB"
    );
    for row in measured {
        println!(
            "{:16}{:>12.2}{:>10.2}{:>10.2}{:>10.1}{:>10.1}{:>14}",
            row.name,
            row.median,
            row.p10,
            row.p90,
            row.median / floor.median,
            row.median / cat.median,
            row.peak_kib
        );
    }
}

/// A directory that goes when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        Scratch::within(&std::env::temp_dir())
    }

    fn within(directory: &Path) -> Result<Scratch> {
        let path = directory.join(format!("haft-bench-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("could not make {}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("could not remove {}: {error}", self.0.display());
        }
    }
}
