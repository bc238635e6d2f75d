//! A project that brings code of its own, and how its tools are called.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, Ran};

/// A place whose project is trusted.
pub(crate) fn trusted(files: &[(&str, &str)]) -> Place {
    let place = untrusted(files);
    trust(&place);
    place
}

/// A place whose project nobody has agreed to.
pub(crate) fn untrusted(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (path, text) in files {
        place.file(path, text);
    }
    place
}

pub(crate) fn trust(place: &Place) {
    let ran = place.run(&["trust"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// Calls a tool, and returns the document that says what became of it.
pub(crate) fn call(place: &Place, tool: &str, input: &Value) -> Value {
    attempt(place, &["--json", "call", tool, &input.to_string()]).json()
}

/// Runs haft and returns what it printed, whatever became of it.
pub(crate) fn attempt(place: &Place, args: &[&str]) -> Ran {
    place.run(args)
}

/// Calls a tool that has to work, and returns what the model reads.
pub(crate) fn output(place: &Place, tool: &str, input: &Value) -> String {
    let done = call(place, tool, input);
    assert_eq!(done["status"], "completed", "{done:#}");
    done["output"].as_str().unwrap().to_owned()
}

/// Calls a tool that has to fail, and returns what the model reads.
pub(crate) fn error(place: &Place, tool: &str, input: &Value) -> String {
    let done = call(place, tool, input);
    assert_eq!(done["status"], "error", "{done:#}");
    done["error"].to_string()
}

/// What `haft tools check` says of the file whose path ends like this.
pub(crate) fn checked(place: &Place, file: &str) -> Value {
    let report = place.run(&["tools", "check", "--json"]).json();
    let files = report["files"].as_array().unwrap();
    let is_it = |told: &&Value| told["source"].as_str().is_some_and(|source| source.ends_with(file));
    files.iter().find(is_it).unwrap_or_else(|| panic!("{file} is not in {report:#}")).clone()
}

/// The names of all tools.
pub(crate) fn names(place: &Place) -> Vec<String> {
    let listed = place.run(&["--json", "tools", "list"]).json();
    let tools = listed["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Has an agent work with a model that says these things, and returns how that went.
pub(crate) fn converse(place: &Place, turns: &Value) -> Ran {
    let script = place.root().join("script.json");
    std::fs::write(&script, json!({ "turns": turns }).to_string()).unwrap();
    place.run(&["run", "-m", &format!("scripted/{}", script.display()), "go", "--auto"])
}

/// Waits until something is so; panics when it has not become so in a long time.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {what}");
}

/// The processes that work in a directory or below.
pub(crate) fn working_in(directory: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_there = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
    };
    processes.filter(is_there).filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
