//! Sessions: what a call costs inside one, against other agents with the same scripted model; what a long one holds in
//! memory; and very many at once.

pub(super) mod agents;
mod memory;
mod model;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Scratch;
use super::measure::percentile;
use super::settler::built;
use agents::{Agent, Agents};
use model::{Model, Script, Seen};

const LENGTHS: [usize; 3] = [1, 50, 200];
const ROUNDS: usize = 3;
const FILES: usize = 400;
const LONG: usize = 1_000;
const LOOK_EVERY: usize = 100;
const AT_ONCE: [&str; 2] = ["1000", "20"];
/// Nobody takes so long unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn run() -> Result<()> {
    let haft = built(&["build", "--release", "-p", "haft-cli", "--bins"], "haft")?;
    let many = built(&["build", "--release", "-p", "haft-cli", "--example", "sessions"], "sessions")?;
    let target = haft.ancestors().nth(2).context("a program lies in the target directory")?;
    let kept = target.join("bench");
    fs::create_dir_all(&kept)?;
    let scratch = Scratch::within(&kept)?;
    let agents = Agents::find(haft, &kept, &scratch.0.join("homes"))?;
    let files = scratch.0.join("files");
    fs::create_dir(&files)?;
    for file in 0..FILES {
        fs::write(path(&files, file), text(file))?;
    }
    let model = Model::start()?;
    contest(&agents, &model, &files)?;
    long(&agents, &model, &files)?;
    at_once(&many, &files, &scratch.0.join("many"))
}

fn path(files: &Path, number: usize) -> std::path::PathBuf {
    files.join(format!("f{}.txt", number % FILES))
}

fn text(file: usize) -> String {
    (0..100).map(|line| format!("line {line} of file {file}: some source text here\n")).collect()
}

/// One session of an agent.
struct Session {
    seconds: f64,
    seen: Seen,
}

fn session(agents: &Agents, agent: Agent, model: &Model, files: &Path, calls: usize) -> Result<Session> {
    let directory = files.to_owned();
    model.play(Script {
        calls,
        call: Box::new(move |turn| agent.read(&path(&directory, turn))),
        proof: format!("line 99 of file {}:", (calls - 1) % FILES),
    });
    let mut command = agents.command(agent, model, files)?;
    let log = files.with_file_name("said.txt");
    let said = fs::File::create(&log)?;
    let started = Instant::now();
    let mut child = command.stdout(said.try_clone()?).stderr(said).spawn()?;
    model.watch(child.id(), LOOK_EVERY);
    let status = awaited(&mut child)?;
    let seconds = started.elapsed().as_secs_f64();
    let seen = model.seen();
    let words = || fs::read_to_string(&log).unwrap_or_default();
    ensure!(status.success(), "{} ended with {status}: {}", agent.name(), words().trim());
    ensure!(
        seen.finished,
        "{} did not bring the last of {calls} results back: {}",
        agent.name(),
        words().trim()
    );
    Ok(Session { seconds, seen })
}

fn awaited(child: &mut Child) -> Result<std::process::ExitStatus> {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    bail!("an agent did not end in {} seconds", PATIENCE.as_secs())
}

/// All agents in turns, with sessions of every length.
fn contest(agents: &Agents, model: &Model, files: &Path) -> Result<()> {
    for agent in Agent::ALL {
        println!("{}: {}", agent.name(), agents.version(agent)?);
        // What an agent makes at its first start is not what is measured.
        session(agents, agent, model, files, 1)?;
    }
    let mut runs = [const { Vec::new() }; Agent::ALL.len()];
    for round in 0..ROUNDS {
        for calls in LENGTHS {
            for (agent, runs) in Agent::ALL.into_iter().zip(&mut runs) {
                let session = session(agents, agent, model, files, calls)?;
                eprintln!("round {round}: {} {calls} calls {:.2} s", agent.name(), session.seconds);
                runs.push((calls, session));
            }
        }
    }
    println!(
        "\na session of 1, 50 and 200 reads of 5 KB one after the other, {ROUNDS} rounds, agents in turns"
    );
    println!(
        "{:10}{:>12}{:>12}{:>26}{:>14}{:>16}",
        "", "1 call, s", "200, s", "turnaround ms (p10–p90)", "slope ms/call", "MiB at call 200"
    );
    let mut slopes = Vec::new();
    for (agent, runs) in Agent::ALL.into_iter().zip(&runs) {
        let slope = slope(runs) * 1e3;
        let of = |calls: usize| runs.iter().filter(move |(length, _)| *length == calls).map(|(_, run)| run);
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            percentile(&values, 50)
        };
        // The first calls load what is needed by all.
        let mut turns: Vec<f64> =
            of(200).flat_map(|run| run.seen.turnarounds.iter().skip(3).copied()).collect();
        turns.sort_by(f64::total_cmp);
        let [p10, p50, p90] = [10, 50, 90].map(|percent| percentile(&turns, percent));
        let memory = of(200).flat_map(|run| run.seen.memory.last()).map(|(_, kib)| kib / 1024).max();
        println!(
            "{:10}{:>12.2}{:>12.2}{:>26}{slope:>14.2}{:>16}",
            agent.name(),
            median(of(1).map(|run| run.seconds).collect()),
            median(of(200).map(|run| run.seconds).collect()),
            format!("{p50:.2} ({p10:.2}–{p90:.2})"),
            memory.unwrap_or(0)
        );
        slopes.push(slope);
    }
    if let [haft, opencode, codex] = slopes[..] {
        let (opencode, codex) = (opencode / haft, codex / haft);
        println!(
            "a call takes opencode {opencode:.1} times as long (aim 20), Codex {codex:.1} times (aim 8)"
        );
    }
    Ok(())
}

/// Seconds per call: the line that fits all runs best.
fn slope(runs: &[(usize, Session)]) -> f64 {
    let points = || runs.iter().map(|(calls, run)| (*calls as f64, run.seconds));
    let count = runs.len() as f64;
    let (x, y) = points().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let (over, under) = points().fold((0.0, 0.0), |(over, under), point| {
        (over + (point.0 - x) * (point.1 - y), under + (point.0 - x) * (point.0 - x))
    });
    over / under
}

/// One session of very many calls, and what it holds on the way.
fn long(agents: &Agents, model: &Model, files: &Path) -> Result<()> {
    let session = session(agents, Agent::Haft, model, files, LONG)?;
    println!("\none session of {LONG} reads of 5 KB: {:.1} s", session.seconds);
    let memory = session.seen.memory.iter();
    let shown: Vec<String> =
        memory.map(|(calls, kib)| format!("{calls}: {:.1}", *kib as f64 / 1024.0)).collect();
    println!("MiB after so many calls (aim 60): {}", shown.join(", "));
    Ok(())
}

/// Very many sessions at once in one process.
fn at_once(program: &Path, files: &Path, data: &Path) -> Result<()> {
    let mut command = Command::new(program);
    command.arg(files).arg(data).args(AT_ONCE).stdin(Stdio::null());
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "the sessions ended with {}", output.status);
    let told: Value = serde_json::from_slice(&output.stdout).context("the sessions told nothing")?;
    let number = |key: &str| told[key].as_f64().with_context(|| format!("no {key}"));
    let [sessions, calls] = AT_ONCE;
    println!("\n{sessions} sessions at once of {calls} reads each, in one process, with the store on disk");
    println!(
        "{:.0} calls/s in {:.1} s; turnaround p50 {:.0} ms, p99 {:.0} ms; at most {:.0} MiB",
        number("calls_per_second")?,
        number("seconds")?,
        number("p50_ms")?,
        number("p99_ms")?,
        number("peak_kib")? / 1024.0
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_leaves_out_what_a_start_costs() {
        let run = |calls: usize| {
            let seconds = 4.0 + calls as f64 * 0.25;
            (calls, Session { seconds, seen: Seen::default() })
        };
        assert!((slope(&LENGTHS.map(run)) - 0.25).abs() < 1e-9);
    }
}
