//! Many commands that leave something behind: none hangs, nothing survives, and the process does not grow.

use std::fs;

use serde_json::json;

use crate::bench::{Bench, alone, is_alone, is_running, mark, until};

/// So many processes run commands at the same time, each of them so many; `HAFT_SOAK=1000` has each run more.
const PROCESSES: u64 = 4;
const COMMANDS: u32 = 250;
/// What the commands of a process depend on.
const SEED: &str = "HAFT_SOAK_SEED";
/// Every so many it is looked whether anything is left.
const LOOK_EVERY: u32 = 25;

/// The helper that waits for the next command has a channel, an instruction and an output; it may have come only after
/// the first look.
const STANDBY_DESCRIPTORS: usize = 3;

/// What is left behind: children of every kind.
fn children(mark: &str) -> [String; 8] {
    [
        format!("sleep {mark} &"),
        format!("setsid sleep {mark} &"),
        format!("nohup sleep {mark} > nohup.out 2>&1 &"),
        format!("(setsid bash -c 'sleep {mark} & sleep {mark}' &)"),
        format!("bash -c 'trap \"\" TERM HUP INT; sleep {mark}; sleep {mark}' &"),
        // It holds the pipe and prints into it for ever.
        format!("(while sleep 0.01; do echo {mark}; done) &"),
        format!("exec 7>&1; (exec sleep {mark}) & disown"),
        format!("mkfifo f.$$; cat f.$$ & (sleep {mark} > f.$$) &"),
    ]
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn entries(directory: &str) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// Started by the test below: alone, so that the descriptors are its own.
#[test]
fn soaks() {
    if !is_alone() {
        return;
    }
    let commands = std::env::var("HAFT_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(COMMANDS);
    let bench = Bench::new();
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    let (mark, mut dice) = (mark(), Dice(seed));
    // What is only opened once is open from here on.
    bench.completed("bash", json!({ "command": "true" }));
    bench.job("kill", &bench.start("cat"));
    let (descriptors, threads) = (entries("/proc/self/fd"), entries("/proc/self/task"));
    for command in 0..commands {
        let kinds = children(&mark);
        let left: Vec<&str> = (0..dice.roll(4)).map(|_| kinds[dice.roll(kinds.len())].as_str()).collect();
        let script = format!("{}\necho done {command}", left.join("\n"));
        match dice.roll(10) {
            0 => {
                let script = format!("{script}; sleep {mark}");
                let ran = bench.completed("bash", json!({ "command": script, "timeout": 20 }));
                assert_eq!(ran.structured["exit"], json!(null));
            }
            1 => {
                let id = bench.start(&format!("{script}; sleep {mark}"));
                bench.read_until(&id, &format!("done {command}"));
                bench.job("kill", &id);
            }
            2 => bench.abandon(
                "bash",
                json!({ "command": format!("{script}; sleep {mark}{command}") }),
                || is_running(&format!("{mark}{command}")),
            ),
            kind => {
                let ran = bench.completed("bash", json!({ "command": script, "pty": kind == 3 }));
                assert!(ran.text().contains(&format!("done {command}")), "{}", ran.text());
            }
        }
        if command % LOOK_EVERY == 0 {
            assert!(!is_running(&mark), "something of command {command} or before is left");
        }
    }
    assert!(!is_running(&mark), "something is left");
    let left_open = entries("/proc/self/fd").saturating_sub(descriptors);
    assert!(left_open <= STANDBY_DESCRIPTORS, "{left_open} descriptors were left open");
    // A thread that has done its work takes a moment to go, and the runtime keeps idle ones for a while.
    until("no thread is left", || entries("/proc/self/task") <= threads);
}

#[test]
fn many_commands_leave_nothing_behind() {
    let one = |seed: u64| {
        let mut command = alone("soak::soaks");
        command.env(SEED, seed.to_string()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..PROCESSES).map(|at| one(7 + at)).collect();
    for output in started.into_iter().map(|child| child.wait_with_output().unwrap()) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}", said.lines().take(20).collect::<Vec<_>>().join("\n"));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }
}
