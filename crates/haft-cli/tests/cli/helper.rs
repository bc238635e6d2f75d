//! `haft-helper`: used where it lies beside haft and is of the same build; haft alone does without it.

use std::path::Path;
use std::process::Command;

use crate::installed::Installed;
use crate::support::{HAFT, ran};

const HELPER: &str = env!("CARGO_BIN_EXE_haft-helper");

/// Prints which program started it.
const WHO: &str = "command=readlink /proc/$PPID/exe";

/// The name of the program that starts commands.
fn who(installed: &Installed) -> String {
    let told = installed.run(&["call", "bash", WHO, "description=d", "--yes"]);
    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    Path::new(told.out.trim()).file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn no_helper_is_looked_for_where_commands_may_write() {
    let installed = Installed::new(&[(HAFT, "haft"), (HELPER, "haft-helper")]);
    assert_eq!(who(&installed), "haft-helper");
    // The same two, in the project that haft is started in.
    let mut haft = Command::new(installed.at("haft"));
    let plain = installed.place.command(&["call", "bash", WHO, "description=d", "--yes"]);
    haft.args(plain.get_args()).current_dir(installed.at("."));
    haft.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let told = ran(haft.output().unwrap());
    assert!(told.out.trim().ends_with("/haft"), "{} {}", told.out, told.err);
}

#[test]
fn the_helper_beside_haft_is_used() {
    let installed = Installed::new(&[(HAFT, "haft"), (HELPER, "haft-helper")]);
    assert_eq!(who(&installed), "haft-helper");
    assert_eq!(who(&installed), "haft-helper", "also where it is remembered");
    let told = installed.run(&["doctor"]);
    assert!(told.out.contains(&format!("helper: {}", installed.at("haft-helper").display())), "{}", told.out);
    // One of another build, as while an upgrade is under way.
    let mut other = std::fs::read(HELPER).unwrap();
    let by_hand = ran(Command::new(HELPER).output().unwrap());
    assert!(by_hand.code == 2 && by_hand.err.lines().count() == 1, "{}", by_hand.err);
    let build = by_hand.err.split(['(', ')']).nth(1).unwrap().strip_prefix("build ").unwrap();
    for at in 0..other.len() - build.len() {
        if other[at..].starts_with(build.as_bytes()) {
            other[at] = b'x';
        }
    }
    let changed = installed.at("changed");
    std::fs::write(&changed, other).unwrap();
    installed.install(&changed, "haft-helper");
    assert_eq!(who(&installed), "haft");
    assert_eq!(who(&installed), "haft", "also where it is remembered");
    assert!(installed.run(&["doctor"]).out.contains("another build"));
    installed.install(Path::new(HELPER), "haft-helper");
    assert_eq!(who(&installed), "haft-helper");
}

#[test]
fn haft_alone_does_without_it() {
    let installed = Installed::new(&[(HAFT, "haft")]);
    assert_eq!(who(&installed), "haft");
    // Nothing of the directory it works in is a helper.
    installed.place.file("haft-helper", "#!/bin/sh\ntouch stolen\n");
    let file = installed.place.ws().join("haft-helper");
    assert!(Command::new("chmod").arg("755").arg(&file).status().unwrap().success());
    let mut command = installed.command(&["call", "bash", WHO, "description=d", "--yes"]);
    let told = ran(command
        .env("PATH", format!("{}:/usr/bin:/bin", installed.place.ws().display()))
        .output()
        .unwrap());
    assert!(told.code == 0 && !installed.place.ws().join("stolen").exists(), "{} {}", told.out, told.err);
    assert_eq!(Path::new(told.out.trim()), installed.at("haft"));
}
