//! What is true of jobs without a process. What they do is tested with the built binary, which confines them.

use serde_json::json;

use crate::testing::Bench;

#[test]
fn nothing_goes_on_where_the_process_ends_with_the_call() {
    let bench = Bench::new();
    let why = "nothing can run in the background here, because this haft ends with the call";
    for (tool, input) in [
        ("bash", json!({ "command": "sleep 1", "background": true })),
        ("jobs", json!({ "action": "list" })),
        ("jobs", json!({ "action": "kill", "id": "job_1" })),
    ] {
        let rejected = bench.rejected(tool, input);
        assert!(rejected.contains(why) && rejected.contains("foreground"), "{rejected}");
    }
}

#[test]
fn models_are_told_of_the_background_only_where_there_is_one() {
    let told = |bench: Bench| {
        let definitions = bench.definitions(None);
        let bash = definitions.iter().find(|tool| tool.name.as_str() == "bash").unwrap();
        let of_jobs = definitions.iter().any(|tool| tool.name.as_str() == "jobs");
        (of_jobs, bash.description.contains("set background"))
    };
    assert_eq!(told(Bench::new()), (false, false));
    assert_eq!(told(Bench::new().staying()), (true, true));
}

#[test]
fn a_job_that_is_not_there_is_told_of() {
    let bench = Bench::new().staying();
    let why = bench.rejected("jobs", json!({ "action": "read", "id": "job_1" }));
    assert!(why.contains("there is no job \"job_1\" in this session"), "{why}");
    let why = bench.rejected("jobs", json!({ "action": "read" }));
    assert!(why.contains("id is missing"), "{why}");
    assert!(bench.completed("jobs", json!({ "action": "list" })).text().contains("there are no jobs"));
}
