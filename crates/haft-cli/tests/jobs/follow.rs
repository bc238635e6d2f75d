//! Following a job: it goes on from call to call, and every reading gives what is new.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft::permission::Effect;
use haft::{BoxError, BoxFuture, Event, Hook, SessionId, ToolContext};
use serde_json::json;

use crate::bench::{Bench, With, until};

#[test]
fn a_job_goes_on_from_call_to_call_and_each_reading_gives_what_is_new() {
    let bench = Bench::new();
    let id = bench.start("echo one; read line; echo \"got $line\"; read line; exit 7");
    assert_eq!(bench.read_until(&id, "one"), "one\n");
    assert_eq!(bench.job("read", &id), (String::new(), "runs".to_owned()));
    let listed = bench.completed("jobs", json!({ "action": "list" })).text();
    assert!(listed.contains(&id) && listed.contains("echo one"), "{listed}");

    bench.write(&id, "two\n");
    assert_eq!(bench.read_until(&id, "got"), "got two\n");
    bench.write(&id, "three\n");
    assert_eq!(bench.job("wait", &id), (String::new(), "exited with code 7".to_owned()));
    let why = bench.rejected("jobs", json!({ "action": "write", "id": id, "input": "more" }));
    assert!(why.contains("has ended"), "{why}");
}

#[test]
fn waiting_ends_with_the_time_or_the_job() {
    let bench = Bench::with(With { rules: vec![("doom_loop", "*", Effect::Deny)], ..With::default() });
    let id = bench.start("echo begun; cat; echo ended");
    bench.read_until(&id, "begun");
    for _ in 0..4 {
        // The same call time and again is no going in circles here.
        let waited = bench.completed("jobs", json!({ "action": "wait", "id": id, "timeout": 1 }));
        assert_eq!(waited.structured["jobs"][0]["running"], true);
    }
    bench.completed("jobs", json!({ "action": "write", "id": id, "input": "last", "close": true }));
    assert_eq!(bench.job("wait", &id), ("lastended\n".to_owned(), "exited with code 0".to_owned()));
}

#[test]
fn a_session_has_its_own_jobs_only() {
    let bench = Bench::new();
    let id = bench.start("cat");
    let other = SessionId::mint();
    for action in ["read", "wait", "write", "kill"] {
        let why = bench.rejected_in(&other, "jobs", json!({ "action": action, "id": id, "input": "x" }));
        assert!(why.contains("there is no job"), "{why}");
    }
    assert_eq!(bench.job("read", &id).1, "runs");
}

#[test]
fn much_output_is_kept_whole_and_shown_at_both_ends() {
    let bench = Bench::new();
    let id = bench.start("seq 1 200000");
    let (shown, state) = bench.job("wait", &id);
    assert_eq!(state, "exited with code 0");
    assert!(shown.starts_with("1\n2\n") && shown.ends_with("\n200000\n"));
    assert!(shown.contains("haft://output/out_") && shown.len() < 60_000);
    let whole: String = (1..=200_000).map(|line| format!("{line}\n")).collect();
    assert!(bench.outputs.wholes() == [whole], "it is not kept whole");
}

#[test]
fn a_job_whose_output_cannot_be_kept_is_ended() {
    let bench = Bench::with(With { kept_bytes_max: Some(100_000), ..With::default() });
    let id = bench.start("yes");
    until("it is ended", || bench.completed("jobs", json!({ "action": "list" })).text().contains("failed"));
    let listed = bench.completed("jobs", json!({ "action": "list" })).text();
    assert!(listed.contains(&id) && listed.contains("could not be kept"), "{listed}");
}

#[test]
fn what_takes_long_goes_on_in_the_background_if_that_is_configured() {
    let bench = Bench::with(With { background_after: Some(Duration::from_millis(500)), ..With::default() });
    let quick = bench.completed("bash", json!({ "command": "echo quick" }));
    assert!(quick.structured.get("job").is_none() && quick.text().contains("quick"));
    let script = "echo before; until [ -e go ]; do sleep 0.05; done; echo after; exit 3";
    let moved = bench.completed("bash", json!({ "command": script }));
    let id = moved.structured["job"].as_str().unwrap();
    assert_eq!((&moved.structured["output"], &moved.structured["exit"]), (&json!("before\n"), &json!(null)));
    assert!(moved.text().contains(id) && moved.text().contains("goes on in the background"));
    let listed = bench.completed("jobs", json!({ "action": "list" }));
    assert!(listed.structured["jobs"][0]["age"].as_u64() >= Some(500), "{}", listed.structured);
    let why = bench.rejected("jobs", json!({ "action": "write", "id": id, "input": "x" }));
    assert!(why.contains("begun in the foreground"), "{why}");
    bench.completed("bash", json!({ "command": "touch go" }));
    assert_eq!(bench.job("wait", id), ("after\n".to_owned(), "exited with code 3".to_owned()));
    let stays = bench.completed("bash", json!({ "command": "sleep 0.7; echo here", "background": false }));
    assert!(stays.structured.get("job").is_none() && stays.text().contains("here"), "{}", stays.text());
    // A shorter time of the call's own still holds.
    let timed_out = bench.completed("bash", json!({ "command": "sleep 60", "timeout": 100 }));
    assert!(timed_out.text().contains("exceeding timeout 100 ms"), "{}", timed_out.text());
}

#[test]
fn what_a_job_prints_is_told_under_the_call_that_started_it() {
    let bench = Bench::new();
    let told: Arc<Mutex<Vec<(ToolContext, String)>>> = Arc::default();
    let hears = told.clone();
    let _subscription = bench.services.events.subscribe(move |_, event| {
        if let Event::Output { context, delta } = event {
            hears.lock().unwrap().push((context.clone(), delta.clone()));
        }
    });
    let id = bench.start("read line; echo \"late $line\"; read line");
    bench.write(&id, "words\n");
    until("it is told", || told.lock().unwrap().iter().any(|(_, delta)| delta.contains("late words")));
    assert!(told.lock().unwrap().iter().all(|(context, _)| context.session == bench.session));
}

struct Adds;

impl Hook for Adds {
    fn environment<'a>(
        &'a self,
        context: &'a ToolContext,
        directory: &'a std::path::Path,
    ) -> BoxFuture<'a, Result<Vec<(std::ffi::OsString, std::ffi::OsString)>, BoxError>> {
        let added = vec![
            ("CALL".into(), context.call.as_str().into()),
            ("PLACE".into(), directory.as_os_str().to_owned()),
            ("LANG".into(), "of the hook".into()),
        ];
        Box::pin(std::future::ready(Ok(added)))
    }
}

struct Fails;

impl Hook for Fails {
    fn environment<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a std::path::Path,
    ) -> BoxFuture<'a, Result<Vec<(std::ffi::OsString, std::ffi::OsString)>, BoxError>> {
        Box::pin(std::future::ready(Err("no luck".into())))
    }
}

#[test]
fn hooks_add_to_the_environment_of_commands() {
    let bench = Bench::with(With { hooks: vec![Arc::new(Adds)], ..With::default() });
    let ran =
        bench.completed("bash", json!({ "command": "echo $CALL; [ \"$PLACE\" = \"$PWD\" ] && echo $LANG" }));
    assert!(ran.text().starts_with("cal_") && ran.text().ends_with("\nof the hook\n"), "{}", ran.text());
    let id = bench.start("echo $CALL");
    assert!(bench.job("wait", &id).0.starts_with("cal_"));

    let bench = Bench::with(With { hooks: vec![Arc::new(Fails)], ..With::default() });
    let why = bench.rejected("bash", json!({ "command": "echo ran > file" }));
    assert!(why.contains("a hook failed: no luck"), "{why}");
}
