//! Protected names that were absent when a command began: what somebody was let write there meanwhile stays, and nothing
//! else that appears there is lost.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::Place;

fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("never: {what}");
}

#[test]
fn what_another_haft_is_let_write_while_a_command_runs_stays_and_the_rest_is_kept() {
    let place = Place::new();
    let found = place.run(&["doctor"]).out;
    if !found.contains("sandbox  namespaces") && !found.contains("sandbox  bubblewrap") {
        eprintln!("NOT TESTED: commands are not confined here: {found}");
        return;
    }
    let script = "command=touch begun; until [ -e stop ]; do :; done";
    let running = place
        .command(&["--json", "call", "bash", script, "description=d"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("it runs", || place.ws().join("begun").exists());
    let agreed = |args: &[&str]| {
        let ran = place.run(&[args, &["--allow", "protected_path"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    agreed(&["call", "write", "filePath=.vscode/settings.json", "content={}"]);
    agreed(&["call", "write", "filePath=.vscode/gone.json", "content={}"]);
    let patch = "patchText=*** Begin Patch\n*** Add File: .mcp.json\n+{}\n*** Delete File: .vscode/gone.json\n*** End Patch";
    agreed(&["call", "apply_patch", patch]);
    agreed(&["call", "edit", "filePath=.vscode/settings.json", "oldString={}", "newString={ }"]);
    let new = place.run(&["new", "tool", "greet"]);
    assert_eq!(new.code, 0, "{}", new.err);
    // This one nobody has agreed to, and who wrote it nobody knows.
    place.file(".envrc", "export MINE=1\n");
    until("it is taken away", || !place.ws().join(".envrc").exists());
    let undone = place.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    place.file("stop", "");
    let ended = running.wait_with_output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(told["status"], "completed", "{told:#}");
    assert_eq!((place.read(".vscode/settings.json"), place.read(".mcp.json")), ("{}".into(), "{}\n".into()));
    assert!(!place.ws().join(".vscode/gone.json").exists());
    let made = Path::new(new.out.trim());
    assert!(made.starts_with(place.ws()) && made.exists(), "{made:?}");
    let words = told["output"].as_str().unwrap();
    let (_, kept) = words.split_once("taken away, and is kept at ").unwrap_or_else(|| panic!("{words}"));
    let kept = Path::new(kept.split(';').next().unwrap());
    assert!(words.contains(".envrc is protected") && !words.contains("settings.json"), "{words}");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "export MINE=1\n");
    let listed = place.run(&["--json", "gc"]).json();
    let taken = listed["takenAway"].as_array().unwrap();
    assert_eq!((taken.len(), taken[0]["path"].as_str()), (1, kept.to_str()), "{listed:#}");
    assert!(place.run(&["gc"]).out.contains(kept.to_str().unwrap()));
    // It goes when it is old, and not before.
    assert_eq!(place.run(&["gc", "--yes"]).code, 0);
    assert!(kept.exists());
    let (directory, name) = (kept.parent().unwrap(), kept.file_name().unwrap());
    let old = directory.with_file_name("1000-old");
    std::fs::rename(directory, &old).unwrap();
    assert!(place.run(&["gc"]).out.contains("1 things taken away"));
    assert_eq!(place.run(&["gc", "--yes"]).code, 0);
    assert!(!old.join(name).exists());
}
