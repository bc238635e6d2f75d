//! How commands begin and end: statuses, signals, and nothing left behind whoever is killed.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{HELPER, World, is_full, is_ours, is_running, listing, machine, until};
use haft_sandbox::{Idle, Level, Profile, SandboxError, Watch};
use rustix::process::{Pid, Signal, kill_process};

/// Profiles of both kinds: in namespaces, and watched without them.
fn profiles(world: &World) -> Vec<Profile> {
    let mut profiles = vec![Profile::full_access()];
    if is_ours() {
        profiles.push(world.profile());
    }
    profiles
}

#[test]
fn a_command_ends_as_it_would_unconfined() {
    let world = World::new();
    for profile in profiles(&world) {
        assert_eq!(world.run(&profile, "exit 0").code, Some(0));
        assert_eq!(world.run(&profile, "exit 42").code, Some(42));
        assert_eq!(world.run(&profile, "kill -SEGV $$").signal, Some(11));
        assert_eq!(world.run(&profile, "kill -KILL $$").signal, Some(9));
    }
}

#[test]
fn nothing_outlives_a_command_however_it_hides() {
    let world = World::new();
    for (index, profile) in profiles(&world).into_iter().enumerate() {
        let mark = format!("{}.{index}1", 40_000 + std::process::id());
        let script = format!(
            "sleep {mark} & setsid sleep {mark} & (setsid bash -c 'trap \"\" TERM HUP INT; sleep {mark}; sleep {mark}' &) ; \
             nohup sleep {mark} > /dev/null 2>&1 & disown; sleep 0.1; echo done"
        );
        let ran = world.run(&profile, &script);
        assert!(ran.output.contains("done"), "{}", ran.output);
        assert!(!is_running(&mark));
    }
}

#[test]
fn what_a_command_leaves_behind_may_finish_but_not_stay() {
    let world = World::new();
    let mut profiles = profiles(&world);
    profiles.extend(is_full().then(|| world.profile()));
    for (index, profile) in profiles.into_iter().enumerate() {
        let ran = world.run(&profile, "exec > >(sleep 0.05; tee log) 2>&1; seq 1 20000; echo FINISHED");
        assert!(ran.output.ends_with("20000\nFINISHED\n") && ran.code == Some(0), "{:?}", ran.code);
        assert!(fs::read_to_string(world.ws.join("log")).unwrap().ends_with("FINISHED\n"));
        let mark = format!("{}.{index}7", 40_000 + std::process::id());
        let ran =
            world.run(&profile, &format!("(sleep 0.02; echo late) & (trap '' TERM; sleep {mark}) & exit 3"));
        assert!(ran.output.contains("late") && ran.code == Some(3), "{ran:?}");
        assert!(!is_running(&mark));
    }
}

/// Starts a script that says when it runs; returns the supervisor's process and what holds it.
fn start(world: &World, profile: &Profile, script: &str) -> (Child, Watch) {
    let (mut command, watch) = machine().command(profile, &world.program(script)).unwrap().into_parts();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "running\n");
    (child, watch)
}

#[test]
fn what_is_ended_on_demand_is_gone_and_can_still_be_heard_of() {
    let world = World::new();
    for (index, profile) in profiles(&world).into_iter().enumerate() {
        let mark = format!("{}.{index}5", 40_000 + std::process::id());
        let script = format!("trap '' TERM; (setsid sleep {mark} &); echo running; sleep {mark}");
        let (mut child, watch) = start(&world, &profile, &script);
        watch.end();
        child.wait().unwrap();
        assert!(!is_running(&mark));
        assert!(watch.finish().unwrap().removed.is_empty());
    }
}

#[test]
fn killing_the_supervisor_or_letting_go_of_it_kills_everything() {
    let world = World::new();
    for (index, profile) in profiles(&world).into_iter().enumerate() {
        let mark = format!("{}.{index}2", 40_000 + std::process::id());
        let script = format!("sleep {mark} & (setsid sleep {mark} &); echo running; sleep {mark}");
        let (mut child, watch) = start(&world, &profile, &script);
        assert!(is_running(&mark));
        drop(watch);
        child.wait().unwrap();
        assert!(!is_running(&mark));
        if profile == Profile::full_access() {
            // Without a namespace, a supervisor that is killed itself can end nothing but its own child.
            continue;
        }
        let (mut child, _watch) = start(&world, &profile, &script);
        child.kill().unwrap();
        child.wait().unwrap();
        until("the tree is gone", || !is_running(&mark));
    }
}

#[test]
fn a_signal_to_the_supervisor_reaches_the_command() {
    let world = World::new();
    for profile in profiles(&world) {
        let (mut child, _watch) =
            start(&world, &profile, "trap 'exit 7' TERM; echo running; while :; do sleep 0.05; done");
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::TERM,
        )
        .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}

#[test]
fn killing_the_whole_program_leaves_no_process_and_no_residue() {
    if !is_full() {
        return;
    }
    for option in ["--workspace", "--full"] {
        let world = World::new();
        let mark = format!("{}.{}3", 40_000 + std::process::id(), option.len());
        let mut parent = Command::new(HELPER);
        match option {
            "--full" => parent.arg("--full"),
            _ => parent.arg("--workspace").arg(&world.ws).arg("--masks"),
        };
        let script = format!("(setsid sleep {mark} &); echo running; sleep {mark}");
        let mut parent = parent
            .args(["bash", "-c", &script])
            .current_dir(&world.ws)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(parent.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(is_running(&mark));
        // It hardened itself: its own user cannot look into it. Root can, wherever it looks.
        let is_open = fs::read(format!("/proc/{}/environ", parent.id())).is_ok();
        assert!(!is_open || rustix::process::geteuid().is_root());
        parent.kill().unwrap();
        parent.wait().unwrap();
        until("every process is gone", || !is_running(&mark));
        until("every placeholder is gone", || listing(&world.ws).is_empty());
    }
}

#[test]
fn commands_share_placeholders_and_the_last_one_takes_them_away() {
    if !is_ours() {
        return;
    }
    let world = World::new();
    let profile = world.profile().with_masks();
    let (mut first, _watch) = start(&world, &profile, "echo running; exec sleep 600");
    // The second one ends while the first still needs them.
    world.run(&profile, "true");
    assert!(world.ws.join(".haft").is_dir());
    assert_ne!(world.run(&profile, "touch .haft/x").code, Some(0));
    rustix::process::kill_process(rustix::process::Pid::from_child(&first), rustix::process::Signal::TERM)
        .unwrap();
    first.wait().unwrap();
    assert_eq!(listing(&world.ws), "");
}

#[test]
fn what_a_killed_supervisor_left_is_taken_away_by_the_next() {
    if !is_ours() {
        return;
    }
    let world = World::new();
    let profile = world.profile().with_masks();
    let (mut child, _watch) = start(&world, &profile, "echo running; exec sleep 600");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(world.ws.join(".haft").is_dir());
    world.run(&profile, "true");
    assert_eq!(listing(&world.ws), "");
}

#[test]
fn a_terminal_that_is_handed_over_is_the_commands_own() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let world = World::new();
    for profile in profiles(&world) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
        let script = "[ -t 0 ] && (: < /dev/tty) && echo has-terminal";
        let ran = |terminal| {
            let profile = Profile { terminal, ..profile.clone() };
            world
                .try_run(machine(), &profile, script, Some(theirs.try_clone().unwrap().into()))
                .unwrap()
                .output
        };
        assert!(ran(true).contains("has-terminal"), "{}", ran(true));
        // Unconfined, bash finds the terminal's own device, and takes it.
        let is_free = profile == Profile::full_access();
        assert!(is_free || !ran(false).contains("has-terminal"));
    }
}

#[test]
fn what_cannot_be_started_is_said_and_nothing_is_run() {
    let world = World::new();
    let profile = if is_full() { world.profile() } else { Profile::full_access() };
    let mut program = world.program("true");
    let run = |program: &haft_sandbox::Program| {
        let (mut command, watch) = machine().command(&profile, program)?.into_parts();
        command.status().unwrap();
        watch.finish()
    };
    program.program = "/nonexistent/program".into();
    assert!(matches!(run(&program), Err(SandboxError::Start { .. })));
    program.program = "bash".into();
    program.cwd = world.ws.join("missing");
    assert!(run(&program).unwrap_err().to_string().contains("missing"));
    program.cwd.clone_from(&world.ws);
    program.args = vec!["-c".into(), "x".repeat(1 << 20).into()];
    assert!(matches!(run(&program), Err(SandboxError::BadText { .. })));
    program.args = vec!["a\0b".into()];
    assert!(matches!(run(&program), Err(SandboxError::BadText { .. })));
    let nowhere = Profile::workspace_write(["/nonexistent"]);
    assert!(matches!(machine().command(&nowhere, &program), Err(SandboxError::NoSuchPath { .. })));
    let everything = Profile::workspace_write(["/"]);
    assert!(matches!(machine().command(&everything, &program), Err(SandboxError::RootIsEverything)));
}

#[test]
fn a_profile_that_cannot_be_held_is_refused() {
    let world = World::new();
    let none = machine().clone().at_most(Level::None);
    let error = none.command(&world.profile(), &world.program("true")).unwrap_err();
    assert!(matches!(error, SandboxError::CannotEnforce { .. }), "{error}");
    assert!(none.command(&Profile::full_access(), &world.program("true")).is_ok());

    let missing_helper = haft_sandbox::Sandbox::with_helper(Path::new("/nonexistent/helper"));
    assert_eq!(missing_helper.level(), Level::None);
    assert!(missing_helper.command(&Profile::read_only(), &world.program("true")).is_err());
}

#[test]
fn landlock_alone_holds_what_it_can_and_refuses_the_rest() {
    let weaker = machine().clone().at_most(Level::LandlockOnly);
    if weaker.level() != Level::LandlockOnly {
        eprintln!("NOT TESTED: this machine has no Landlock");
        return;
    }
    let world = World::new();
    let error = weaker.command(&world.profile(), &world.program("true")).unwrap_err();
    assert!(error.to_string().contains("protected paths"), "{error}");

    let mut profile = Profile::workspace_write([&world.ws]);
    profile.protected.clear();
    let script = "echo x > f; echo x > $OUT/new; rm -f $OUT/file; mv f $OUT/f; kill -0 $PPID; \
        python3 -c 'import socket;socket.socket(socket.AF_INET)'; grep NoNewPrivs /proc/self/status; cat f";
    let before = listing(&world.out);
    let ran = world.try_run(&weaker, &profile, script, None).unwrap();
    assert_eq!(listing(&world.out), before, "{}", ran.output);
    assert!(
        ran.output.contains("Permission denied") && ran.output.contains("Network is unreachable"),
        "{}",
        ran.output
    );
    assert!(ran.output.contains("NoNewPrivs:\t1") && world.ws.join("f").exists(), "{}", ran.output);
}

#[test]
fn an_ordinary_user_is_confined_too() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED: only root can become somebody else; the other tests ran as an ordinary user");
        return;
    }
    let world = World::new();
    let helper = world.out.join("haft-sandboxed");
    fs::copy(HELPER, &helper).unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    let up = world.ws.parent().unwrap();
    [up, &world.ws, &world.out, &helper].into_iter().for_each(open);
    let somebody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command
    };
    if !somebody().args(["test", "-w"]).arg(&world.ws).status().is_ok_and(|status| status.success()) {
        eprintln!(
            "NOT TESTED as an ordinary user: setpriv is missing, or others cannot reach {}",
            world.ws.display()
        );
        return;
    }
    let report = somebody().arg(&helper).arg("--report").output().unwrap();
    let report = String::from_utf8_lossy(&report.stderr).into_owned();
    if !report.starts_with("namespaces") {
        eprintln!("NOT TESTED as an ordinary user: {report}");
        return;
    }
    let script = "id -u; echo x > f; echo x > $OUT/new; stat -c %u f; grep CapEff /proc/self/status; mkdir -p .haft/a; echo x > .haft/a/b; chmod 555 .haft/a .haft; unshare -U true";
    let output = somebody()
        .arg(&helper)
        .arg("--workspace")
        .arg(&world.ws)
        .args(["bash", "-c", script])
        .current_dir(&world.ws)
        .env("OUT", &world.out)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("65534\n65534\n") && text.contains("CapEff:\t0000000000000000"), "{text}");
    assert!(text.contains("Read-only file system") && !world.out.join("new").exists(), "{text}");
    assert!(text.contains("put back") && !world.ws.join(".haft").exists(), "{text}");
}

#[test]
fn a_memory_hog_ends_as_an_error() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let mut profile = world.profile();
    profile.limits.memory_bytes = Some(256 << 20);
    let hog = "python3 -c 'x = bytearray(1 << 30)'; echo ended $?";
    let ran = world.run(&profile, hog);
    assert!(ran.output.contains("MemoryError") && ran.output.ends_with("ended 1\n"), "{}", ran.output);
    // What is only reserved does not count, and what is left over ends first if the machine runs out.
    let reserved = "python3 -c 'import mmap; mmap.mmap(-1, 1 << 30, prot=0)' && cat /proc/self/oom_score_adj";
    let ran = world.run(&profile, reserved);
    assert!(ran.output.ends_with("1000\n"), "{}", ran.output);
}

#[test]
fn a_root_that_became_a_link_is_not_followed() {
    if !is_ours() {
        return;
    }
    let world = World::new();
    let granted = world.home.join("granted");
    fs::create_dir(&granted).unwrap();
    let profile = world.profile().with_writable(granted.clone());
    let (mut command, watch) =
        machine().command(&profile, &world.program("echo x > $OUT/x")).unwrap().into_parts();
    // The profile was judged; only now does the helper look.
    fs::remove_dir(&granted).unwrap();
    std::os::unix::fs::symlink(&world.out, &granted).unwrap();
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(matches!(watch.finish(), Err(SandboxError::Setup(_))));
    assert!(!world.out.join("x").exists());
}

#[test]
fn links_out_of_a_granted_root_do_not_widen_it() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let granted = world.home.join("granted");
    fs::create_dir(&granted).unwrap();
    std::os::unix::fs::symlink(&world.out, granted.join("way")).unwrap();
    let profile = world.profile().with_writable(granted.clone());
    let script = "cd ~/granted; echo in > own; echo x > way/x; echo x > way/file; ln $OUT/file hard && echo x > hard; true";
    world.run(&profile, script);
    assert_eq!(fs::read_to_string(granted.join("own")).unwrap(), "in\n");
    assert_eq!(fs::read_to_string(world.out.join("file")).unwrap(), "old\n");
    assert!(!world.out.join("x").exists());
    // Hooks of a repository that is granted are protected as in a workspace.
    std::process::Command::new("git").args(["init", "-q"]).arg(&granted).status().unwrap();
    let profile = world.profile().with_writable(granted.clone());
    world.run(
        &profile,
        "echo x > ~/granted/.git/hooks/pre-commit; echo x > ~/granted/.envrc; echo x > ~/granted/file",
    );
    assert!(granted.join("file").exists());
    assert!(!granted.join(".git/hooks/pre-commit").exists() && !granted.join(".envrc").exists());
}

/// A helper that waits, with its output in a pipe.
fn waiting() -> (Child, Idle) {
    let (mut command, idle) = machine().idle().unwrap();
    (command.stdout(Stdio::piped()).spawn().unwrap(), idle)
}

fn blocks_signals(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    blocked.is_some_and(|blocked| blocked.trim().chars().any(|digit| digit != '0'))
}

#[test]
fn a_helper_that_waits_runs_what_it_is_told_later_and_heeds_no_signal_before() {
    let world = World::new();
    for profile in profiles(&world) {
        let (child, idle) = waiting();
        let pid = Pid::from_child(&child);
        until("the helper minds its signals", || blocks_signals(&child));
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            kill_process(pid, signal).unwrap();
        }
        let watch = machine().instruct(idle, &profile, &world.program("echo told; exit 3")).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"told\n"[..]));
        watch.finish().unwrap();
    }
}

#[test]
fn a_helper_that_waits_ends_when_nobody_is_left_to_tell_it() {
    let (mut child, idle) = waiting();
    drop(idle);
    assert!(child.wait().unwrap().success());
}
