//! Runs without a terminal: nothing hangs, and the exit code says what was refused.

use serde_json::{Value, json};

use crate::support::Place;
use crate::window::script;

fn asking() -> Value {
    json!({ "turns": [
        { "text": "I try.", "calls": [{ "tool": "read", "input": { "filePath": ".env" } }] },
        { "text": "It did not work." },
    ]})
}

#[test]
fn words_are_data_and_everything_else_is_not() {
    let place = Place::new();
    place.file("a.txt", "x\n");
    let read = json!([{ "tool": "read", "input": { "filePath": "a.txt" } }]);
    let turns = json!({ "turns": [{ "text": "One \u{1b}[1m\ntwo", "calls": read }, { "text": "Three" }] });
    let ran = place.run(&["run", "-m", &script(&place, &turns), "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "One \u{1b}[1m\ntwo\nThree\n"), "{}", ran.err);
    assert!(ran.err.contains("read a.txt: ") && ran.err.contains("2 steps"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
    let short = place.run(&["-m", &script(&place, &turns), "go on then"]);
    assert_eq!(short.out, ran.out, "a prompt needs no command: {}", short.err);
}

#[test]
fn a_question_is_refused_at_once_and_the_run_goes_on() {
    let place = Place::new();
    place.file(".env", "KEY=hidden\n");
    let model = script(&place, &asking());
    let ran = place.run(&["run", "-m", &model, "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (6, "I try.\nIt did not work.\n"), "{}", ran.err);
    assert!(ran.err.contains("--allow"), "{}", ran.err);
    assert_eq!(place.run(&["run", "-m", &model, "go", "--auto"]).code, 0);
    assert_eq!(place.run(&["run", "-m", &model, "go", "--allow", "read=.env"]).code, 0);
    let denied = place.run(&["run", "-m", &model, "go", "--deny", "read=.env", "--auto"]);
    assert_eq!(denied.code, 5, "--auto never outranks a rule that denies: {}", denied.err);
}

#[test]
fn events_for_programs() {
    let place = Place::new();
    place.file(".env", "KEY=hidden\n");
    let ran = place.run(&["run", "-m", &script(&place, &asking()), "go", "--format", "json"]);
    assert_eq!(ran.code, 6, "{}", ran.err);
    let documents: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(documents.iter().all(|document| document["v"] == 1 && document["type"].is_string()));
    let of = |name: &str| documents.iter().find(|document| document["type"] == name).unwrap();
    for name in ["session.created", "message.part.delta", "call.pending", "permission.asked", "session.idle"]
    {
        of(name);
    }
    assert_eq!(of("call.error")["properties"]["error"]["kind"], "approval_needed");
    assert!(of("call.pending")["seq"].is_u64(), "what is on record has its place");
    let last = documents.last().unwrap();
    assert_eq!((&last["type"], &last["properties"]["exit"]), (&json!("run.finished"), &json!(6)));
    assert_eq!(last["properties"]["text"], "It did not work.");
    assert_eq!(last["properties"]["steps"], 2);
}

#[test]
fn mistakes_are_told_before_anything_is_sent() {
    let place = Place::new();
    let model = script(&place, &asking());
    let cases: [(&[&str], &str); 7] = [
        (&["run", "-m", &model], "there is nothing to do"),
        (&["run", "-m", &model, "see @missing.txt"], "missing.txt"),
        (&["run", "-m", &model, "see", "--file", "nope"], "nope"),
        (&["run", "-m", &model, "go", "-s", "ses_unknown"], "there is no session"),
        (&["run", "-m", &model, "go", "-c"], "no session to go on with"),
        (&["run", "-m", "scripted/missing.json", "go"], "missing.json"),
        (&["rnu", "go on"], "unrecognized"),
    ];
    for (args, says) in cases {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?} should say {says:?}: {}", ran.err);
    }
}

#[test]
fn a_model_that_fails_is_an_error() {
    let place = Place::new();
    let ran = place.run(&["run", "-m", &script(&place, &json!({ "turns": [] })), "go"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("0 answers"), "{}", ran.err);
}
