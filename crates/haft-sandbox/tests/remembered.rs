//! That a machine was tried is remembered, and forgotten when it turns out otherwise.

#![allow(clippy::unwrap_used, reason = "these are tests, though not in test functions")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use haft_sandbox::{Level, Sandbox, SandboxError};

use crate::common::{HELPER, World, is_ours};

/// A helper that leaves a line whenever it is started, and may make no namespaces as long as there is a file
/// `forbidden`.
struct Counting {
    world: World,
    helper: PathBuf,
}

impl Counting {
    fn new() -> Counting {
        let world = World::new();
        let helper = world.out.join("helper");
        let (out, real) = (world.out.display(), HELPER);
        let forbid = "echo 0 >/proc/sys/user/max_user_namespaces";
        let script = format!(
            r#"#!/bin/sh
echo >>'{out}/starts'
[ -e '{out}/forbidden' ] || exec '{real}' "$@"
exec unshare -Ur sh -c '{forbid}; exec {real} "$@"' sh "$@"
"#
        );
        // Written by another process: what this one has open for writing while another test starts something, nobody can
        // start.
        let text = world.out.join("helper.txt");
        fs::write(&text, script).unwrap();
        let copied = Command::new("install").args(["-m", "755"]).args([&text, &helper]).status().unwrap();
        assert!(copied.success());
        Counting { world, helper }
    }

    fn memory(&self) -> PathBuf {
        self.world.out.join("tried")
    }

    fn sandbox(&self) -> Sandbox {
        Sandbox::recalled_with_helper(&self.helper, &self.memory())
    }

    fn starts(&self) -> usize {
        fs::read_to_string(self.world.out.join("starts")).unwrap_or_default().lines().count()
    }

    fn run(&self, sandbox: &Sandbox, script: &str) -> Result<String, SandboxError> {
        let ran = self.world.try_run(sandbox, &self.world.profile(), script, None)?;
        Ok(ran.output)
    }
}

#[test]
fn a_machine_is_tried_once() {
    if !is_ours() {
        return;
    }
    let counting = Counting::new();
    assert_eq!(counting.sandbox().level(), Level::Namespaces);
    assert_eq!(counting.starts(), 1);
    let again = counting.sandbox();
    assert_eq!((again.level(), counting.starts()), (Level::Namespaces, 1), "it was not tried again");
    assert_eq!(
        counting.run(&again, "touch $OUT/file2 2>&1; echo held").unwrap().lines().last(),
        Some("held")
    );
    assert!(!counting.world.out.join("file2").exists(), "it is confined all the same");
    assert_eq!(counting.starts(), 2);
}

#[test]
fn another_machine_is_tried_again() {
    if !is_ours() {
        return;
    }
    let counting = Counting::new();
    for then in ["", "something else\n"] {
        fs::write(counting.memory(), then).unwrap();
        let starts = counting.starts();
        assert_eq!(counting.sandbox().level(), Level::Namespaces);
        assert_eq!(counting.starts(), starts + 1);
    }
    // The helper is another one.
    fs::write(&counting.helper, fs::read_to_string(&counting.helper).unwrap() + "\n").unwrap();
    let starts = counting.starts();
    counting.sandbox();
    assert_eq!(counting.starts(), starts + 1);
    // Nowhere to remember it.
    let nowhere = Sandbox::recalled_with_helper(&counting.helper, Path::new("/nonexistent/tried"));
    assert_eq!(nowhere.level(), Level::Namespaces);
}

#[test]
fn what_does_not_hold_runs_nothing_and_is_forgotten() {
    if !is_ours() {
        return;
    }
    let counting = Counting::new();
    counting.sandbox();
    fs::write(counting.world.out.join("forbidden"), "").unwrap();
    let mistaken = counting.sandbox();
    assert_eq!(mistaken.level(), Level::Namespaces, "so it is remembered");
    let error = counting.run(&mistaken, "touch $WS/made").unwrap_err();
    assert!(matches!(error, SandboxError::Setup(_)), "{error}");
    assert!(!counting.world.ws.join("made").exists(), "{error}");
    assert!(counting.sandbox().level() < Level::Namespaces, "it is tried again: {error}");
}

#[test]
fn what_is_no_file_of_ours_is_neither_waited_for_nor_followed() {
    if !is_ours() {
        return;
    }
    let counting = Counting::new();
    let (memory, elsewhere) = (counting.memory(), counting.world.out.join("elsewhere"));
    fs::write(&elsewhere, "mine").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &memory).unwrap();
    assert_eq!(counting.sandbox().level(), Level::Namespaces);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    assert!(memory.symlink_metadata().unwrap().is_file(), "it took the place of the link");
    fs::remove_file(&memory).unwrap();
    for made in ["mkfifo", "mkdir"] {
        assert!(std::process::Command::new(made).arg(&memory).status().unwrap().success());
        assert_eq!(counting.sandbox().level(), Level::Namespaces);
        counting.sandbox();
        let _either = fs::remove_file(&memory).or_else(|_| fs::remove_dir(&memory));
    }
    let names = fs::read_dir(&counting.world.out).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with("tried.")));
}
