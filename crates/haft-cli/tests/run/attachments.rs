//! Files and standard input, attached to what is said.

use serde_json::{Value, json};

use crate::support::Place;
use crate::window::script;

/// Everything that was said in the only session.
fn said(place: &Place) -> String {
    place.run(&["session", "export", "--all"]).out
}

fn plain() -> Value {
    json!({ "turns": [{ "text": "Seen." }] })
}

#[test]
fn a_mentioned_file_is_read_and_may_be_read_again() {
    let place = Place::new();
    place.file(".env", "KEY=of-the-person\n");
    place.file("other/.env", "KEY=of-another\n");
    let read = |path: &str| json!({ "calls": [{ "tool": "read", "input": { "filePath": path } }] });
    let model = script(&place, &json!({ "turns": [read(".env"), read("other/.env"), { "text": "Seen." }] }));
    let ran = place.run(&["run", "-m", &model, "look at @.env, please"]);
    assert_eq!(ran.code, 6, "the other file still needs consent: {}", ran.err);
    let ends: Vec<Value> = place.log().iter().map(|call| call["status"].clone()).collect();
    assert_eq!(ends, ["completed", "completed", "error"], "{}", ran.err);
}

#[test]
fn a_rule_that_denies_holds_for_attachments() {
    let place = Place::new();
    place.file(".env", "KEY=x\n");
    let ran = place.run(&["run", "-m", &script(&place, &plain()), "look at @.env", "--deny", "read"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
    assert!(ran.err.contains(".env cannot be attached"), "{}", ran.err);
}

#[test]
fn files_outside_are_attached_this_once() {
    let place = Place::new();
    std::fs::write(place.outside().join("x.txt"), "from elsewhere\n").unwrap();
    let path = place.outside().join("x.txt").display().to_string();
    let read = json!({ "calls": [{ "tool": "read", "input": { "filePath": path } }] });
    let model = script(&place, &json!({ "turns": [read, { "text": "Seen." }] }));
    let ran = place.run(&["run", "-m", &model, "see", "--file", &path]);
    assert_eq!(ran.code, 6, "a rule about leaving the project speaks of whole directories: {}", ran.err);
    let ends: Vec<Value> = place.log().iter().map(|call| call["status"].clone()).collect();
    assert_eq!(ends, ["completed", "error"]);
}

#[test]
fn standard_input_is_attached_or_is_the_prompt() {
    let place = Place::new();
    let model = script(&place, &plain());
    let ran = place.run_with(&["run", "-m", &model, "what is this?"], "from a pipe é\n".as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, "Seen.\n"), "{}", ran.err);
    assert!(said(&place).contains("from a pipe é"), "{}", said(&place));
    let ran = place.run_with(&["run", "-m", &model], b"do what the pipe says");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = place.run_with(&["run", "-m", &model, "what is this?"], b"\xff\xfe\x00");
    assert_eq!(ran.code, 2, "{}", ran.err);
}
