//! Commands: what haft adds to starting one, to confining it and to hearing it out.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::Scratch;
use super::contest::{Contestant, compete};
use super::disk::{self, Work};
use super::files::tree;
use super::settler::Program;
use crate::cargo::{cargo, run as run_command};

const STARTS: usize = 61;
const PRINTS: usize = 5;

pub(super) fn run() -> Result<()> {
    let (program, kept) = Program::built()?;
    let scratch = Scratch::within(&kept)?;
    start(&program, &scratch.0)?;
    print(&program, &scratch.0, &tree::large(&kept)?)?;
    println!("\na script of 200 lines, the best of many runs");
    run_command(&mut cargo(&["run", "--release", "-p", "haft-cli", "--example", "bench_shell"]))
}

/// `true`, which does nothing: all that is left is starting it and recording that.
fn start(program: &Program, scratch: &Path) -> Result<()> {
    let directory = scratch.join("started");
    fs::create_dir_all(&directory)?;
    let input = || json!({"command": "true", "description": "Does nothing"});
    let free = program.unconfined();
    let work = disk::counted(&free, &scratch.join("counted"), &directory, "bash", input)?;
    let mut free = free.storing(&scratch.join("free")).start(&directory)?;
    let mut confined = program.storing(&scratch.join("confined")).start(&directory)?;
    let settle = |settler: &mut super::settler::Settler| {
        let settled = settler.settle("bash", &input())?;
        ensure!(settled.completed, "{}", settled.text);
        Ok(settled.milliseconds)
    };
    let record = directory.join("record");
    let contestants: [Contestant<'_>; 3] = [
        Box::new(|| settle(&mut free)),
        Box::new(|| settle(&mut confined)),
        Box::new(|| bare(&record, work)),
    ];
    let [free, confined, bare] = compete(STARTS, contestants)?;
    println!("\n`bash -c true`, median (p10–p90) of {STARTS} runs, milliseconds");
    println!("one call writes {work}; the bare one as much");
    println!("{:24}{:>22}{:>22}{:>8}", "", "haft, settled", "bare", "ratio");
    for (name, haft) in [("unconfined", &free), ("confined", &confined)] {
        println!(
            "{name:24}{:>22}{:>22}{:>8.2}",
            haft.to_string(),
            bare.to_string(),
            haft.median / bare.median
        );
    }
    println!("the sandbox adds {:.1} ms", confined.median - free.median);
    Ok(())
}

fn bare(record: &Path, work: Work) -> Result<f64> {
    let started = Instant::now();
    let half = Work { syncs: work.syncs / 2, bytes: work.bytes / 2, ..work };
    let rest = Work { syncs: work.syncs - half.syncs, bytes: work.bytes - half.bytes, renames: 0 };
    // What is about to happen is on disk before it does, and what happened afterwards.
    disk::record(record, &[b'x'; 4096], half)?;
    let output = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "bash ended with {}", output.status);
    disk::record(record, &[b'x'; 4096], rest)?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// A gibibyte of output, which is heard, looked through for secrets, and kept whole.
fn print(program: &Program, scratch: &Path, large: &Path) -> Result<()> {
    let directory = large.parent().context("a file lies in a directory")?;
    let input = json!({"command": "cat large.txt", "description": "Prints a gibibyte"});
    let mut settler = program.unconfined().storing(&scratch.join("printed")).start(directory)?;
    let (kept, copy) = (scratch.join("printed/outputs"), scratch.join("copy.txt"));
    // What was written goes before the next turn, on both sides alike: memory that a machine uses for the first time can
    // cost several times as much as what it used before, and a file that is there has to be emptied first.
    let cat = |script: &str| {
        let started = Instant::now();
        let mut cat = Command::new("sh");
        cat.arg("-c").arg(script).arg("sh").arg(&copy).current_dir(directory);
        ensure!(cat.status()?.success(), "{script} failed");
        let took = started.elapsed().as_secs_f64() * 1e3;
        fs::remove_file(&copy)?;
        Ok(took)
    };
    let contestants: [Contestant<'_>; 4] = [
        Box::new(|| {
            let settled = settler.settle("bash", &input)?;
            ensure!(settled.completed, "{}", settled.text);
            fs::remove_dir_all(&kept)?;
            fs::create_dir(&kept)?;
            Ok(settled.milliseconds)
        }),
        Box::new(|| cat("cat large.txt > \"$1\"")),
        Box::new(|| cat("cat large.txt | cat > \"$1\"")),
        Box::new(|| cat("cat large.txt | cat > \"$1\" && sync \"$1\"")),
    ];
    let [haft, inside, piped, synced] = compete(PRINTS, contestants)?;
    println!("\n1 GiB of output, median (p10–p90) of {PRINTS} runs, milliseconds");
    println!("{:32}{:>26}{:>26}{:>12}", "", "haft, settled", "peer", "throughput");
    for (name, peer) in
        [("cat > file", &inside), ("cat | cat > file", &piped), ("the same, on the disk", &synced)]
    {
        let share = peer.median / haft.median;
        println!("{name:32}{:>26}{:>26}{share:>12.2}", haft.to_string(), peer.to_string());
    }
    println!("the most memory that the process held: {} KiB", settler.peak_kib()?);
    Ok(())
}
