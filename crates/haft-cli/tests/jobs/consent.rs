//! To send something to a job is as much as to run a script: the program may be a shell.

use haft::permission::Effect;
use serde_json::json;

use crate::bench::{Bench, With};

fn ruled(rules: &[(&'static str, &'static str, Effect)]) -> Bench {
    Bench::with(With { rules: rules.to_vec(), ..With::default() })
}

#[test]
fn only_a_lone_star_allows_to_write_to_a_job() {
    let bench = ruled(&[
        ("bash", "*", Effect::Ask),
        ("bash", "cat", Effect::Allow),
        ("bash", "echo *", Effect::Allow),
    ]);
    let id = bench.start("cat");
    let why = bench.rejected("jobs", json!({ "action": "write", "id": id, "input": "echo hello\n" }));
    assert!(why.contains("requires approval"), "{why}");
    assert_eq!(bench.job("read", &id), (String::new(), "runs".to_owned()));

    let bench = Bench::new();
    let id = bench.start("bash");
    bench.write(&id, "echo hello\n");
    bench.read_until(&id, "hello");
}

#[test]
fn a_command_that_is_denied_cannot_be_typed_without_being_asked_about() {
    let bench = ruled(&[("bash", "touch *", Effect::Deny)]);
    let id = bench.start("cat");
    for text in ["touch file\n", "tou", "ch file\n"] {
        bench.rejected("jobs", json!({ "action": "write", "id": id, "input": text }));
    }
    assert_eq!(bench.job("kill", &id).0, "");
}

#[test]
fn looking_after_jobs_asks_nothing_more() {
    let bench = ruled(&[("bash", "*", Effect::Ask), ("bash", "cat", Effect::Allow)]);
    let id = bench.start("cat");
    for action in ["list", "read", "kill"] {
        bench.completed("jobs", json!({ "action": action, "id": id }));
    }
}
