//! Sessions and the log: what was called stays, as it was, until it is removed.

use std::process::Stdio;

use serde_json::Value;

use crate::support::Place;

#[test]
fn every_call_is_on_record_with_its_end() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt"]);
    place.run(&["call", "read", "filePath=nope"]);
    place.run(&["call", "raed", "{}"]);
    place.run(&["call", "read", "filePath=a.txt", "--deny", "read"]);
    let log = place.log();
    let ends: Vec<(&str, &str, &Value)> = log
        .iter()
        .map(|call| (call["tool"].as_str().unwrap(), call["status"].as_str().unwrap(), &call["reason"]))
        .collect();
    assert_eq!(ends[0], ("read", "completed", &Value::Null));
    assert_eq!(ends[1], ("read", "error", &"failed".into()));
    assert_eq!(ends[2], ("raed", "error", &"unknown_tool".into()));
    assert_eq!(ends[3], ("read", "error", &"denied".into()));
    assert_eq!(place.run(&["log", "--status", "denied", "--json"]).out.lines().count(), 1);
    assert_eq!(place.run(&["log", "--tool", "raed", "--json"]).out.lines().count(), 1);
    let failed = place.run(&["log", "--status", "failed"]).out;
    assert!(failed.contains("read nope"), "what did not complete is told by its input: {failed}");
    let call = log[0]["call"].as_str().unwrap();
    let shown = place.run(&["log", "show", call]);
    assert!(shown.code == 0 && shown.out.contains("a.txt") && shown.out.contains("1: x"), "{}", shown.out);
    assert!(!shown.out.contains("cannot be undone"), "it changed nothing: {}", shown.out);
}

#[test]
fn a_session_is_exported_as_messages_with_tool_parts() {
    let place = Place::new();
    place.file("a.txt", "exported text");
    place.run(&["call", "read", "filePath=a.txt", "--session", "one"]);
    place.run(&["call", "raed", "{}", "--session", "one"]);
    let ran = place.run(&["session", "export", "one"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("exported text") && ran.out.contains(r#""type":"tool""#), "{}", ran.out);
    assert!(
        ran.out.contains(r#""tool":"invalid""#),
        "an unknown tool appears as the invalid tool: {}",
        ran.out
    );
    assert!(place.run(&["session", "export", "--all"]).out.contains("exported text"));
    assert!(place.run(&["session", "show", "one"]).out.contains("read"));
    place.run(&["call", "read", "filePath=a.txt", "--session", "two"]);
    let listed = place.run(&["session", "list", "-n", "1", "--json"]).json();
    assert_eq!(listed["sessions"][0]["id"], "two", "the newest is never left out");
    let all = place.run(&["session", "list"]).out;
    assert!(all.find("one").unwrap() < all.find("two").unwrap(), "the newest stands last: {all}");
    assert!(place.run(&["session", "tree", "one"]).out.contains("one"));
}

#[test]
fn a_removed_session_is_gone() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.run(&["call", "read", "filePath=a.txt", "--session", "one"]);
    assert_eq!(place.run(&["session", "rm", "one"]).code, 6, "without a terminal it needs --yes");
    assert_eq!(place.run(&["session", "rm", "one", "--yes"]).code, 0);
    assert_eq!(place.run(&["session", "show", "one"]).code, 2);
    assert!(place.log().is_empty());
}

#[test]
fn todos_belong_to_their_session() {
    let place = Place::new();
    let todos = r#"{"todos":[{"content":"a","status":"pending","priority":"low"}]}"#;
    place.run(&["call", "todowrite", todos, "--session", "one"]);
    assert!(place.run(&["call", "todoread", "--session", "one"]).out.contains("\"a\""));
    assert_eq!(place.run(&["call", "todoread", "--session", "two"]).out.trim(), "[]");
}

#[test]
fn the_same_key_never_runs_twice() {
    let place = Place::new();
    let write = |content: &str| {
        let content = format!("content={content}");
        place.run(&["call", "write", "filePath=a", &content, "--session", "s", "--key", "k1", "--json"])
    };
    let first = write("one").json();
    assert_eq!(place.read("a"), "one");
    std::fs::write(place.ws().join("a"), "changed by hand").unwrap();
    let second = write("one");
    assert_eq!((second.code, &second.json()["output"]), (0, &first["output"]));
    assert_eq!(place.read("a"), "changed by hand", "the earlier settlement is told again, nothing is done");
}

#[test]
fn a_key_stands_for_one_call_and_no_other() {
    let place = Place::new();
    place.file("a.txt", "x");
    let first =
        place.run(&["call", "read", "filePath=a.txt", "--session", "s", "--key", "k", "--json"]).json();
    let again =
        place.run(&["call", "read", "filePath=a.txt", "--session", "s", "--key", "k", "--json"]).json();
    assert_eq!(again["call"], first["call"], "a repetition is the call it repeats");
    let other = place.run(&["call", "write", "filePath=b.txt", "content=x", "--session", "s", "--key", "k"]);
    assert_eq!(other.code, 1, "{}", other.out);
    assert!(other.err.contains(first["call"].as_str().unwrap()), "it names the other call: {}", other.err);
    assert!(!place.ws().join("b.txt").exists());
}

#[test]
fn a_followed_log_shows_calls_as_they_end() {
    let place = Place::new();
    place.file("a.txt", "x");
    let following =
        place.command(&["log", "-f", "--json", "--tool", "read"]).stdout(Stdio::piped()).spawn().unwrap();
    let place_in_log = || place.run(&["call", "read", "filePath=a.txt"]);
    // It looks several times a second; one of these calls ends after it began to look.
    for _ in 0..8 {
        place_in_log();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let status =
        std::process::Command::new("kill").arg("-INT").arg(following.id().to_string()).status().unwrap();
    assert!(status.success());
    let ran = crate::support::ran(following.wait_with_output().unwrap());
    assert_eq!(ran.code, 130, "{}", ran.err);
    let ended = ran.out.lines().filter(|line| line.contains(r#""status":"completed""#)).count();
    assert!(ended >= 1, "{}", ran.out);
}
