//! The helper that waits for the next command: it is used, it need not be there, and it ends with its process.

use std::fs;

use serde_json::json;

use crate::bench::{Bench, alone, is_alone, until};

/// The helpers of this process that wait. Those that run something have children.
fn waiting() -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_ours = |id: &i32| {
        let read = |what: &str| fs::read_to_string(format!("/proc/{id}/{what}")).unwrap_or_default();
        let parent = format!("\nPPid:\t{}\n", std::process::id());
        read("cmdline").contains("__haft-sandbox")
            && read("status").contains(&parent)
            && read(&format!("task/{id}/children")).trim().is_empty()
    };
    ids.filter(is_ours).collect()
}

/// Started by the test below: alone, so that the helpers are its own.
#[test]
fn waits() {
    if !is_alone() {
        return;
    }
    let mut bench = Bench::new();
    let says = |bench: &Bench, text: &str| {
        let ran = bench.completed("bash", json!({ "command": format!("echo {text} $PPID") }));
        assert!(ran.text().contains(text), "{}", ran.text());
    };
    says(&bench, "first");
    until("one waits", || waiting().len() == 1);
    let first = waiting();
    says(&bench, "second");
    until("another waits", || waiting().len() == 1 && waiting() != first);
    for helper in waiting() {
        let id = rustix::process::Pid::from_raw(helper).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    }
    until("it is gone", || waiting().is_empty());
    says(&bench, "third");
    until("one waits again", || waiting().len() == 1);
    bench.let_go();
    until("none waits for nothing", || waiting().is_empty());
}

#[test]
fn a_helper_waits_for_the_next_command_and_is_not_missed_when_it_is_gone() {
    let output = alone("standby::waits").stderr(std::process::Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", said.lines().take(20).collect::<Vec<_>>().join("\n"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
