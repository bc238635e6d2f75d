//! `haft-host`: runs the code of plugins where it lies beside haft and is of the same build; haft alone does without it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::installed::Installed;
use crate::support::{HAFT, ran};

const HOST: &str = env!("CARGO_BIN_EXE_haft-host");

/// Says which program runs its code.
const WHO: &str = r#"
import { execSync } from "node:child_process"
export default { description: "d", args: {}, execute: () => String(execSync("readlink /proc/$PPID/exe")) }
"#;

fn installed(programs: &[(&str, &str)]) -> Installed {
    let installed = Installed::new(programs);
    installed.place.file(".opencode/tool/who.js", WHO);
    installed
}

/// The name of the program that runs the code of a plugin.
fn who(installed: &Installed) -> String {
    let told = ran(installed.command(&["call", "who", "--yes"]).env("HAFT_TRUST", "1").output().unwrap());
    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    Path::new(told.out.trim()).file_name().unwrap().to_string_lossy().into_owned()
}

fn doctor(installed: &Installed) -> String {
    installed.run(&["doctor"]).out
}

#[test]
fn plugins_are_run_by_the_host_beside_haft() {
    let installed = installed(&[(HAFT, "haft"), (HOST, "haft-host")]);
    assert_eq!(who(&installed), "haft-host");
    let told = doctor(&installed);
    assert!(told.contains(&format!("run by {}", installed.at("haft-host").display())), "{told}");
}

#[test]
fn a_host_of_another_build_is_not_used() {
    let installed = installed(&[(HAFT, "haft"), (HOST, "haft-host")]);
    let mut other = fs::read(HOST).unwrap();
    let note = other.windows(8).position(|bytes| bytes == b"\x03\0\0\0GNU\0").unwrap();
    other[note + 8] ^= 1;
    let changed = installed.at("changed");
    fs::write(&changed, other).unwrap();
    installed.install(&changed, "haft-host");
    assert_eq!(who(&installed), "haft");
    assert!(doctor(&installed).contains("haft-host is of another build"), "{}", doctor(&installed));
    installed.install(Path::new(HOST), "haft-host");
    assert_eq!(who(&installed), "haft-host");
}

#[test]
fn a_host_that_others_can_have_changed_is_not_used() {
    let installed = installed(&[(HAFT, "haft"), (HOST, "haft-host")]);
    fs::set_permissions(installed.at("haft-host"), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(who(&installed), "haft");
    assert!(doctor(&installed).contains("can be written to by others"), "{}", doctor(&installed));
}

#[test]
fn haft_alone_runs_plugins_itself_and_takes_no_host_from_where_commands_may_write() {
    let alone = installed(&[(HAFT, "haft")]);
    alone.place.file("haft-host", "#!/bin/sh\ntouch stolen\n");
    assert_eq!(who(&alone), "haft");
    // The same two, in the project that haft is started in.
    let both = installed(&[(HAFT, "haft"), (HOST, "haft-host")]);
    fs::create_dir_all(both.at(".opencode/tool")).unwrap();
    fs::write(both.at(".opencode/tool/who.js"), WHO).unwrap();
    let mut haft = both.command(&["call", "who", "--yes"]);
    let told = ran(haft.current_dir(both.at(".")).env("HAFT_TRUST", "1").output().unwrap());
    assert!(told.out.trim().ends_with("/haft"), "{} {}", told.out, told.err);
}

#[test]
fn by_hand_it_says_what_it_is() {
    let told = ran(std::process::Command::new(HOST).output().unwrap());
    assert!(told.code == 2 && told.err.contains("run haft instead"), "{}", told.err);
}
