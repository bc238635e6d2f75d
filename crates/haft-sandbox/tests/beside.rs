//! Which program is the helper: the small one that lies beside the program, where it can be trusted and is of the same
//! build; otherwise the program itself. The program here is `haft-sandboxed`, and the small one a copy of it.

#![allow(clippy::unwrap_used, reason = "these are tests, though not in test functions")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use haft_sandbox::{Level, Sandbox};

use crate::common::{HELPER, World, is_full};

/// Prints which program started it.
const WHO: &str = "readlink /proc/$PPID/exe";

/// A directory with the program, and perhaps something beside it.
struct Installed {
    world: World,
}

impl Installed {
    fn alone() -> Installed {
        let installed = Installed { world: World::new() };
        installed.copy("program");
        installed
    }

    fn with_helper() -> Installed {
        let installed = Installed::alone();
        installed.copy("haft-helper");
        installed
    }

    /// By another process: what this one has open for writing, a test beside this one may keep from being run.
    fn copy(&self, name: &str) {
        assert!(Command::new("cp").arg(HELPER).arg(self.at(name)).status().unwrap().success());
    }

    /// With a file of this content and mode beside it.
    fn with(content: &[u8], mode: u32) -> Installed {
        let installed = Installed::alone();
        installed.put(content, mode);
        installed
    }

    fn put(&self, content: &[u8], mode: u32) {
        fs::write(self.at("haft-helper"), content).unwrap();
        fs::set_permissions(self.at("haft-helper"), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.world.out.join(name)
    }

    fn command(&self, options: &[&str], script: &str) -> Command {
        let mut command = Command::new(self.at("program"));
        command.args(options).args(["sh", "-c", script]).current_dir(&self.world.ws);
        command
    }

    /// The name of the program that started a command without confinement.
    fn who(&self) -> String {
        let ran = self.command(&["--full"], WHO).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        name(Path::new(String::from_utf8(ran.stdout).unwrap().trim_end()))
    }

    fn report(&self) -> String {
        let ran = self.command(&["--report"], "").output().unwrap();
        String::from_utf8(ran.stderr).unwrap()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// This build's helper with another name of the build in it.
fn of_another_build() -> Vec<u8> {
    let (mut program, build) = (fs::read(HELPER).unwrap(), haft_sandbox::build().as_bytes());
    let places: Vec<usize> =
        (0..program.len() - build.len()).filter(|at| program[*at..].starts_with(build)).collect();
    assert!(!places.is_empty());
    places
        .into_iter()
        .for_each(|at| program[at..at + build.len()].copy_from_slice(&[b'x'].repeat(build.len())));
    program
}

#[test]
fn the_small_program_beside_is_the_helper() {
    let installed = Installed::with_helper();
    assert_eq!(installed.who(), "haft-helper");
    assert!(installed.report().contains(&format!("helper: {}\n", installed.at("haft-helper").display())));
    if !is_full() {
        return;
    }
    let mut running = installed
        .command(
            &["--workspace", "."],
            "echo ready; read word; echo $word >made; (echo $word >$0/made) 2>&-; true",
        )
        .arg(&installed.world.out)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let id = running.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let supervisor = children.split_whitespace().next().unwrap();
    assert_eq!(name(&fs::read_link(format!("/proc/{supervisor}/exe")).unwrap()), "haft-helper");
    running.stdin.take().unwrap().write_all(b"word\n").unwrap();
    assert!(running.wait().unwrap().success());
    assert!(installed.world.ws.join("made").exists() && !installed.at("made").exists(), "it is confined");
}

#[test]
fn a_program_alone_is_its_own_helper() {
    assert_eq!(Installed::alone().who(), "program");
}

#[test]
fn what_others_may_have_put_there_is_not_used() {
    let program = fs::read(HELPER).unwrap();
    for (mode, why) in [
        (0o757, "can be written to by others"),
        (0o775, "can be written to by others"),
        (0o4755, "would run as somebody else"),
        (0o644, "Permission denied"),
    ] {
        let installed = Installed::with(&program, mode);
        assert_eq!(installed.who(), "program", "{mode:o}");
        assert!(installed.report().contains(why), "{}", installed.report());
    }
    let linked = Installed::alone();
    std::os::unix::fs::symlink(HELPER, linked.at("haft-helper")).unwrap();
    assert_eq!(linked.who(), "program");
    let open = Installed::with_helper();
    fs::set_permissions(&open.world.out, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(open.who(), "program");
    fs::set_permissions(&open.world.out, fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(open.who(), "haft-helper", "nobody else can put one there that belongs to us");
    if rustix::process::geteuid().is_root() {
        let foreign = Installed::with(&program, 0o755);
        std::os::unix::fs::chown(foreign.at("haft-helper"), Some(65534), None).unwrap();
        assert_eq!(foreign.who(), "program");
    }
}

#[test]
fn a_helper_of_another_build_is_not_used_and_does_nothing() {
    let installed = Installed::with(&of_another_build(), 0o755);
    assert_eq!(installed.who(), "program");
    assert!(installed.report().contains("another build"), "{}", installed.report());
    // Named as the only one, it is refused altogether.
    let other = Sandbox::with_helper(&installed.at("haft-helper"));
    assert_eq!(other.level(), Level::None);
    assert!(other.report().to_string().contains("another build"));
    let world = &installed.world;
    let full = haft_sandbox::Profile::full_access();
    let error = world.try_run(&other, &full, "touch $WS/made", None).unwrap_err();
    assert!(error.to_string().contains("another build") && !world.ws.join("made").exists(), "{error}");
}

#[test]
fn what_is_no_helper_is_not_taken_for_one_because_it_ends_well() {
    let truth = fs::read("/bin/true").unwrap();
    assert_eq!(Installed::with(&truth, 0o755).who(), "program");
    assert_eq!(Installed::with(b"#!/bin/sh\nexit 0\n", 0o755).who(), "program");
    assert_eq!(Installed::with(b"", 0o755).who(), "program");
    assert_eq!(Sandbox::with_helper(Path::new("/bin/true")).level(), Level::None);
}

#[test]
fn what_is_upgraded_meanwhile_is_not_used_and_commands_still_run() {
    let seen = |installed: &Installed, how: &str| {
        fs::write(installed.at("new"), of_another_build()).unwrap();
        // It runs bare and confined in turns, and is upgraded by the first.
        let out = installed.world.out.display();
        let script = format!("cd '{out}'; {WHO} >>log; [ ! -e new ] || {{ {how}; rm -f new; }}");
        let program = installed.at("script");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(installed.at("program"));
        let ran = command.args(["--full", "--time", "2"]).arg(&program).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        let log = fs::read_to_string(installed.at("log")).unwrap();
        log.lines().map(|line| name(Path::new(line))).collect::<Vec<_>>()
    };
    let (itself, helper) = ("program", "haft-helper");
    assert_eq!(seen(&Installed::with_helper(), "true"), [itself, helper, itself, helper]);
    assert_eq!(seen(&Installed::with_helper(), "mv new haft-helper"), [itself; 4]);
    assert_eq!(seen(&Installed::with_helper(), "cat new >haft-helper"), [itself; 4]);
}
