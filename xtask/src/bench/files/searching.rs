//! `grep` against ripgrep and `glob` against fd, on the same tree with the same files in question.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Programs;
use super::tree::{ABSENT, COMMON, RARE};
use crate::bench::contest::{Times, compete};
use crate::bench::measure::peak_kib;

const RUNS: usize = 15;
/// As many as haft shows.
const SHOWN_MAX: usize = 100;
/// By so much haft may hold more than its peer.
const MEMORY_KIB_MAX: u64 = 20 << 10;

/// One search, as haft and its peer are told it.
struct Search {
    what: &'static str,
    tool: &'static str,
    input: Value,
    peer: Command,
    /// What haft shows, in the form of the peer's lines.
    found: fn(&str) -> BTreeSet<String>,
}

pub(super) fn run(programs: &Programs, tree: &Path, scratch: &Path) -> Result<()> {
    println!(
        "\nsearching, median (p10–p90) of {RUNS} runs, milliseconds; memory is the peak of a process that does it once"
    );
    println!(
        "{:24}{:>22}{:>22}{:>8}{:>22}{:>12}{:>12}  same results",
        "", "haft, settled", "peer", "ratio", "haft call", "haft KiB", "peer KiB"
    );
    let mut missed = Vec::new();
    for search in searches(programs, tree) {
        let row = search.run(programs, tree, scratch)?;
        println!("{}", row.text(search.what));
        missed.extend(row.misses().map(|miss| format!("{}: {miss}", search.what)));
    }
    println!("{}", if missed.is_empty() { "every aim is met".to_owned() } else { missed.join("\n") });
    Ok(())
}

fn searches(programs: &Programs, tree: &Path) -> Vec<Search> {
    let either = "(quetzal|ptero|archae)[a-z]+us\\b|token_[0-9]{3}$";
    let grep = |what, pattern: &str| {
        let mut peer = Command::new(&programs.peers.rg);
        peer.args(["-nH", "--no-heading", "--color=never", "--hidden", "--glob=!.git", "-e", pattern]);
        peer.arg(tree).current_dir(tree);
        Search { what, tool: "grep", input: json!({"pattern": pattern}), peer, found: matches }
    };
    let glob = |what, pattern: &str| {
        let mut peer = Command::new(&programs.peers.fd);
        peer.args(["--type=f", "--color=never", "--absolute-path", "--glob", pattern]).current_dir(tree);
        Search { what, tool: "glob", input: json!({"pattern": pattern}), peer, found: paths }
    };
    vec![
        grep("grep rare literal", RARE),
        grep("grep common literal", COMMON),
        grep("grep alternation", either),
        grep("grep no match", ABSENT),
        glob("glob *.toml", "*.toml"),
        glob("glob file123*", "file123*"),
        glob("glob no match", "*.none"),
    ]
}

struct Row {
    settled: Times,
    peer: Times,
    called: Times,
    settled_kib: u64,
    peer_kib: u64,
    found: usize,
}

impl Search {
    fn run(&self, programs: &Programs, tree: &Path, scratch: &Path) -> Result<Row> {
        let mut settler = programs.settler.start(tree)?;
        let found = self.check(&settler.settle(self.tool, &self.input)?.text)?;
        let (mut peer, mut call) = (again(&self.peer), programs.call(self.tool, &self.input, tree, scratch));
        let [settled, peer_times, called] = compete(
            RUNS,
            [
                Box::new(|| Ok(settler.settle(self.tool, &self.input)?.milliseconds)),
                Box::new(|| timed(&mut peer)),
                Box::new(|| timed(&mut call)),
            ],
        )?;
        let once = programs.settler.once(tree, self.tool, &self.input);
        Ok(Row {
            settled,
            peer: peer_times,
            called,
            settled_kib: peak_kib(&once, scratch)?,
            peer_kib: peak_kib(&self.peer, scratch)?,
            found,
        })
    }

    /// What haft shows is what the peer finds, as much of it as haft shows. Returns how much the peer found.
    fn check(&self, shown: &str) -> Result<usize> {
        let output = again(&self.peer).output()?;
        let theirs = String::from_utf8(output.stdout)?;
        let theirs: BTreeSet<String> = theirs.lines().map(str::to_owned).collect();
        let ours = (self.found)(shown);
        let stray: Vec<_> = ours.difference(&theirs).take(3).collect();
        ensure!(stray.is_empty(), "{}: only haft found {stray:?}", self.what);
        let expected = theirs.len().min(SHOWN_MAX);
        ensure!(ours.len() == expected, "{}: haft shows {}, not {expected}", self.what, ours.len());
        Ok(theirs.len())
    }
}

impl Row {
    fn text(&self, what: &str) -> String {
        format!(
            "{what:24}{:>22}{:>22}{:>8.2}{:>22}{:>12}{:>12}  {} found",
            self.settled.to_string(),
            self.peer.to_string(),
            self.settled.median / self.peer.median,
            self.called.to_string(),
            self.settled_kib,
            self.peer_kib,
            self.found
        )
    }

    fn misses(&self) -> impl Iterator<Item = &'static str> {
        let slower = (self.settled.median > self.peer.median).then_some("slower than its peer");
        let larger = (self.settled_kib > self.peer_kib + MEMORY_KIB_MAX)
            .then_some("holds over 20 MiB more than its peer");
        slower.into_iter().chain(larger)
    }
}

/// The lines of haft's grep in the form of ripgrep's: `path:number:text`.
fn matches(shown: &str) -> BTreeSet<String> {
    let mut path = "";
    let mut found = BTreeSet::new();
    for line in shown.lines() {
        match line.strip_prefix("  Line ").and_then(|line| line.split_once(": ")) {
            Some((number, text)) => drop(found.insert(format!("{path}:{number}:{text}"))),
            None => path = line.strip_suffix(':').unwrap_or(path),
        }
    }
    found
}

fn paths(shown: &str) -> BTreeSet<String> {
    shown.lines().filter(|line| line.starts_with('/')).map(str::to_owned).collect()
}

/// A command is run many times, and its result is not `Clone`.
fn again(command: &Command) -> Command {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        again.current_dir(directory);
    }
    again
}

/// From starting it to the last byte it wrote.
pub(super) fn timed(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let output = command.output().with_context(|| format!("could not start {command:?}"))?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    // One is what a search without result ends with.
    ensure!(matches!(output.status.code(), Some(0 | 1)), "{command:?} ended with {}", output.status);
    Ok(took)
}
