//! Time and memory of whole processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

pub(super) const RUNS: usize = 50;
const WARM_UPS: usize = 5;
const MEMORY_RUNS: usize = 5;
const GNU_TIME: &str = "/usr/bin/time";

pub(super) struct Candidate {
    pub(super) name: &'static str,
    pub(super) command: Command,
}

/// Times in milliseconds, and the most memory that any run held.
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) median: f64,
    pub(super) p10: f64,
    pub(super) p90: f64,
    pub(super) peak_kib: u64,
}

/// Runs the candidates in turns, so that a slow moment of the machine meets all of them.
pub(super) fn measure(candidates: &mut [Candidate], scratch: &Path) -> Result<Vec<Measured>> {
    let mut times = vec![Vec::with_capacity(RUNS); candidates.len()];
    for round in 0..WARM_UPS + RUNS {
        for (candidate, times) in candidates.iter_mut().zip(&mut times) {
            let started = Instant::now();
            candidate.command.output().with_context(|| format!("could not start {}", candidate.name))?;
            let took = started.elapsed().as_secs_f64() * 1e3;
            if round >= WARM_UPS {
                times.push(took);
            }
        }
    }
    let rows = candidates.iter().zip(times).map(|(candidate, mut times)| {
        times.sort_by(f64::total_cmp);
        Ok(Measured {
            name: candidate.name,
            median: percentile(&times, 50),
            p10: percentile(&times, 10),
            p90: percentile(&times, 90),
            peak_kib: peak_kib(&candidate.command, scratch)?,
        })
    });
    rows.collect()
}

/// The value below which `percent` of the sorted times lie, by nearest rank.
pub(super) fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

/// Measured apart from the times: what watches a process also slows it.
pub(super) fn peak_kib(command: &Command, scratch: &Path) -> Result<u64> {
    let one = if Path::new(GNU_TIME).exists() { peak_by_time } else { peak_by_polling };
    let mut peak = 0;
    for _ in 0..MEMORY_RUNS {
        peak = peak.max(one(command, scratch)?);
    }
    Ok(peak)
}

/// Asks the kernel's own account of the ended process.
fn peak_by_time(command: &Command, scratch: &Path) -> Result<u64> {
    let report = scratch.join("peak");
    let mut timed = Command::new(GNU_TIME);
    timed.args(["-f", "%M", "-o"]).arg(&report).arg(command.get_program()).args(command.get_args());
    copy_surroundings(command, &mut timed);
    timed.output()?;
    // The number is the last line: a process that failed has a remark above it.
    let text = fs::read_to_string(&report)?;
    text.lines().last().unwrap_or_default().trim().parse().context("time wrote no number")
}

/// Reads the high-water mark as often as it can; misses what happens after the last look.
fn peak_by_polling(command: &Command, _scratch: &Path) -> Result<u64> {
    let mut watched = Command::new(command.get_program());
    watched.args(command.get_args()).stdout(Stdio::null()).stderr(Stdio::null());
    copy_surroundings(command, &mut watched);
    let mut child = watched.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(high_water_kib(&fs::read_to_string(&status).unwrap_or_default()).unwrap_or(0));
    }
    Ok(peak)
}

pub(super) fn high_water_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn copy_surroundings(from: &Command, to: &mut Command) {
    for (name, value) in from.get_envs() {
        match value {
            Some(value) => to.env(name, value),
            None => to.env_remove(name),
        };
    }
    if let Some(directory) = from.get_current_dir() {
        to.current_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_take_the_nearest_rank() {
        let times: Vec<f64> = (1..=50).map(f64::from).collect();
        assert_eq!(
            (percentile(&times, 10), percentile(&times, 50), percentile(&times, 90)),
            (5.0, 25.0, 45.0)
        );
        assert_eq!(percentile(&[7.0], 10), 7.0);
    }

    #[test]
    fn the_high_water_mark_is_read_from_status() {
        assert_eq!(high_water_kib("Name:\tcat\nVmHWM:\t    1780 kB\nVmRSS:\t 10 kB\n"), Some(1780));
        assert_eq!(high_water_kib("Name:\tcat\n"), None);
    }
}
