//! How jobs end: by themselves, when they are killed, and with the process that holds them, however that ends.

use std::io::{BufRead, BufReader};

use serde_json::json;

use crate::bench::{Bench, alone, is_alone, is_running, mark, until};

/// A script whose processes try to get away in every way there is, and that says when they run.
fn stubborn(mark: &str) -> String {
    format!(
        "trap '' TERM HUP INT; sleep {mark} & setsid sleep {mark} & \
         (setsid bash -c 'trap \"\" TERM; sleep {mark}; sleep {mark}' &); \
         nohup sleep {mark} > nohup.out 2>&1 & echo begun; while :; do sleep {mark}; done"
    )
}

#[test]
fn to_kill_a_job_ends_everything_it_started() {
    let bench = Bench::new();
    let mark = mark();
    let id = bench.start(&stubborn(&mark));
    bench.read_until(&id, "begun");
    assert!(is_running(&mark));
    assert_eq!(bench.job("kill", &id).1, "was killed");
    assert!(!is_running(&mark));
    // Again, it is over already.
    assert_eq!(bench.job("kill", &id).1, "was killed");
}

#[test]
fn a_job_that_heeds_being_asked_ends_by_itself() {
    let bench = Bench::new();
    let id = bench.start("trap 'echo bye; exit 4' TERM; echo begun; while :; do sleep 0.05; done");
    bench.read_until(&id, "begun");
    let (printed, state) = bench.job("kill", &id);
    assert_eq!((printed.lines().last(), state.as_str()), (Some("bye"), "exited with code 4"));
}

#[test]
fn jobs_end_with_what_holds_them() {
    let mut bench = Bench::new();
    let marks: Vec<String> = (0..3).map(|_| mark()).collect();
    for mark in &marks {
        let id = bench.start(&stubborn(mark));
        bench.read_until(&id, "begun");
    }
    bench.let_go();
    assert!(!marks.iter().any(|mark| is_running(mark)));
}

#[test]
fn jobs_end_with_their_session_and_leave_their_places() {
    let bench = Bench::new();
    let mark = mark();
    let id = bench.start(&stubborn(&mark));
    bench.read_until(&id, "begun");
    (1..16).for_each(|_| drop(bench.start("cat")));
    bench.end_session();
    until("it has gone", || !is_running(&mark));
    (0..16).for_each(|_| drop(bench.start("cat")));
    let why = bench.rejected("jobs", json!({ "action": "read", "id": id }));
    assert!(why.contains("there is no job"), "{why}");
}

#[test]
fn only_so_many_jobs_run_at_a_time() {
    let bench = Bench::new();
    let ids: Vec<String> = (0..16).map(|_| bench.start("cat")).collect();
    let why = bench.rejected("bash", json!({ "command": "cat", "background": true }));
    assert!(why.contains("16 jobs run already"), "{why}");
    bench.job("kill", &ids[3]);
    bench.start("cat");
    // Those that have ended are remembered, but not all of them for ever.
    for id in &ids[4..] {
        bench.job("kill", id);
    }
    for _ in 0..20 {
        let id = bench.start("true");
        bench.job("wait", &id);
    }
    let listed = bench.completed("jobs", json!({ "action": "list" })).structured;
    let listed = listed["jobs"].as_array().unwrap();
    assert!(listed.len() <= 16 + 16, "{}", listed.len());
    assert!(listed.iter().any(|job| job["id"] == ids[0].as_str()), "one that runs was forgotten");
}

#[test]
fn a_call_that_is_dropped_leaves_nothing_running() {
    let bench = Bench::new();
    let mark = mark();
    bench.abandon("bash", json!({ "command": stubborn(&mark) }), || is_running(&mark));
    assert!(!is_running(&mark));
}

/// Started by the test below: holds jobs until it is killed.
#[test]
fn holds_jobs() {
    if !is_alone() {
        return;
    }
    let bench = Bench::new();
    let mark = mark();
    let id = bench.start(&stubborn(&mark));
    bench.read_until(&id, "begun");
    let id = bench.start_as(json!({ "command": stubborn(&mark), "background": true, "pty": true }));
    bench.read_until(&id, "begun");
    eprintln!("holding {mark}");
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn a_process_that_is_killed_leaves_no_job_behind() {
    let mut holder = alone("ends::holds_jobs").stderr(std::process::Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stderr.take().unwrap()).lines();
    let mark = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("holding ").map(str::to_owned));
    let mark = mark.unwrap();
    assert!(is_running(&mark));
    holder.kill().unwrap();
    holder.wait().unwrap();
    until("everything is gone", || !is_running(&mark));
}
