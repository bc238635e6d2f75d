//! Death and interruption: nothing acknowledged is lost, nothing runs twice, no file is torn.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::Place;

/// How many calls are killed.
const ROUNDS: u64 = 60;

#[test]
fn one_call_leaves_nothing_in_the_background() {
    let place = Place::new();
    for call in [&["bash", "command=touch made", "background:=true"][..], &["jobs", "action=list"]] {
        let ran = place.run(&[&["call"], call].concat());
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("this haft ends with the call"), "{}", ran.err);
    }
    assert!(!place.ws().join("made").exists());
    // What a conversation would have is shown all the same.
    assert!(place.run(&["tools", "list"]).out.contains("\njobs "));
    place.global_config(r#"{ "shell": { "program": "/bin/sh", "background_after": 1 } }"#);
    let ran = place.run(&["call", "bash", "command=sleep 0.2; echo waited for"]);
    assert!(ran.code == 0 && ran.out.contains("waited for"), "{} {}", ran.out, ran.err);
    place.global_config(r#"{ "shell": { "background_after": 0 } }"#);
    let ran = place.run(&["call", "bash", "command=true"]);
    assert!(ran.code == 2 && ran.err.contains("a whole number above zero"), "{}", ran.err);
}

#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost_and_no_file_is_torn() {
    let place = Place::new();
    let (old, new) = ("old\n".repeat(5000), "new\n".repeat(5000));
    for round in 0..ROUNDS {
        std::fs::write(place.ws().join("f"), &old).unwrap();
        let content = format!("content={new}");
        let (key, session) = (format!("k{round}"), format!("kill{round}"));
        let mut child = place
            .command(&[
                "call",
                "write",
                "filePath=f",
                &content,
                "--session",
                &session,
                "--key",
                &key,
                "--json",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From before the store is opened until after the end, in steps that drift against the work.
        std::thread::sleep(Duration::from_micros(round * round * 10 % 30_000));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let told = serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default();
        let acknowledged = told["status"] == "completed";

        let now = place.read("f");
        assert!(now == old || now == new, "round {round}: the file is torn ({} bytes)", now.len());
        if acknowledged {
            assert!(now == new, "round {round}: acknowledged, but not done");
        }
        let again = place.run(&[
            "call",
            "write",
            "filePath=f",
            &content,
            "--session",
            &session,
            "--key",
            &key,
            "--json",
        ]);
        let known = place.log().into_iter().filter(|call| call["key"] == key.as_str()).count();
        assert_eq!(known, 1, "round {round}: one key is one call");
        if acknowledged {
            assert_eq!(again.code, 0, "round {round}: the settlement was lost: {}", again.out);
        }
        if now == new {
            // Whatever it says, it does not say that nothing happened.
            let message = again.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
            assert!(!message.contains("before it changed anything"), "round {round}: {message}");
        }
    }
    let left = std::fs::read_dir(place.ws()).unwrap().filter_map(Result::ok).map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".haft-tmp-")).collect();
    assert!(left.is_empty(), "the next start removes what a killed one left: {left:?}");
}

#[test]
fn an_interrupted_call_is_on_record_as_cancelled() {
    let place = Place::new();
    place.file(".env", "x");
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 143)] {
        let child = place
            .command(&["call", "read", "filePath=.env", "--on-ask", "wait:60"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for(|| place.run(&["permission", "pending", "--json"]).json()["requests"][0].is_object());
        // Twice, as `timeout` and terminals that close have it. It may be gone by then.
        let ask = format!("kill {signal} {0}; kill {signal} {0}; true", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &ask]).status().unwrap().success());
        let ran = crate::support::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, code, "{}", ran.err);
        assert_eq!(place.log().last().unwrap()["reason"], "cancelled");
    }
}

#[test]
fn the_deadline_is_haft_s_own() {
    let place = Place::new();
    place.file(".env", "x");
    let ran = place.run(&["call", "read", "filePath=.env", "--on-ask", "wait:60", "--timeout", "0.3"]);
    assert_eq!(ran.code, 124, "{}", ran.err);
    assert_eq!(place.log().last().unwrap()["reason"], "cancelled");
}

#[test]
fn what_a_command_printed_before_it_was_cancelled_is_kept() {
    let place = Place::new();
    for script in ["echo part; sleep 600", "seq 1 9000; echo part; sleep 600"] {
        let ran = place.run(&["call", "bash", &format!("command={script}"), "--timeout", "2"]);
        assert_eq!(ran.code, 124, "{}", ran.err);
        assert!(ran.err.contains("what it printed until then: haft output cal_"), "{}", ran.err);
        let call = place.log().last().unwrap()["call"].as_str().unwrap().to_owned();
        let kept = place.run(&["output", &call]);
        assert!(kept.out.ends_with("part\n"), "{}", kept.out);
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt"]);
    let mut child =
        place.command(&["log", "-f"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    wait_for(|| {
        place.run(&["call", "read", "filePath=a.txt"]);
        ended(&child)
    });
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn whoever_is_not_read_ends_all_the_same_when_asked() {
    let place = Place::new();
    // More than a pipe holds.
    let args = ["call", "bash", "command=head -c 45000 /dev/zero | tr '\\0' x", "--json"];
    let mut child = place.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| place.log().last().is_some_and(|call| call["status"] == "completed"));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_for(|| ended(&child));
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

/// Whether a process has ended, without waiting for it.
fn ended(child: &std::process::Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    status.is_empty() || status.contains(") Z ")
}

#[test]
fn a_call_whose_process_died_says_what_is_known() {
    let place = Place::new();
    place.file(".env", "x");
    let args = ["call", "read", "filePath=.env", "--on-ask", "wait:60", "--session", "s", "--key", "k"];
    let mut child = place.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| place.run(&["permission", "pending", "--json"]).json()["requests"][0].is_object());
    child.kill().unwrap();
    child.wait().unwrap();
    let again = place.run(&args);
    assert_eq!(again.code, 3, "{}", again.err);
    assert!(again.err.contains("before it changed anything"), "{}", again.err);
    assert_eq!(place.log().last().unwrap()["reason"], "interrupted");
    assert_eq!(place.run(&["permission", "pending", "--json"]).json()["requests"], serde_json::json!([]));
}

fn wait_for(condition: impl Fn() -> bool) {
    for _ in 0..400 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("it did not happen within ten seconds");
}

#[test]
fn fifty_processes_edit_one_file_and_every_edit_is_there() {
    let place = Place::new();
    let lines: String = (0..50).map(|line| format!("line {line:02}\n")).collect();
    place.file("a.txt", &lines);
    let editing: Vec<_> = (0..50)
        .map(|line| {
            let (old, new) = (format!("oldString=line {line:02}"), format!("newString=done {line:02}"));
            let args = ["call", "edit", "filePath=a.txt", old.as_str(), new.as_str()];
            place.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in editing {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(place.read("a.txt"), lines.replace("line", "done"));
}
