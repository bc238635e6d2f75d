//! Repositories that nobody asked for: what git would believe around the person is asked about or undone.

use std::path::Path;
use std::process::Command;

use crate::commands::is_confined;
use crate::support::{Place, Ran, ran};

const PARTS: &str = "mkdir refs objects; echo 'ref: refs/heads/x' > HEAD";

fn git(at: &Path, args: &[&str]) {
    let output = Command::new("git").args(args).current_dir(at).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a script from a file, so that only the kernel and what looks after it can tell what it does.
fn bash(place: &Place, at: &Path, script: &str) -> Ran {
    std::fs::write(at.join("do.sh"), script).unwrap();
    ran(place.command(&["call", "bash", "command=sh do.sh"]).current_dir(at).output().unwrap())
}

fn write(place: &Place, at: &Path, path: &str) -> Ran {
    let path = format!("filePath={path}");
    ran(place.command(&["call", "write", &path, "content=x"]).current_dir(at).output().unwrap())
}

/// Whether a person who works in a directory gets git to run what the configuration there says.
fn runs_it(at: &Path) -> bool {
    let mark = at.join("ran");
    Command::new("git").args(["status", "-s"]).current_dir(at).output().unwrap();
    let is_run = mark.exists();
    std::fs::remove_file(mark).ok();
    is_run
}

#[test]
fn no_repository_comes_to_be_between_the_root_and_the_working_directory() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    git(&place.ws(), &["init", "-q"]);
    let inner = place.ws().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let evil = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = \"touch ran; false\"\\n' > ";
    let own = "git init -q .; git config core.fsmonitor 'touch ran; false'".to_owned();
    for at in ["a/b", "a", "."] {
        let at = place.ws().join(at);
        let bare = format!("cd {}; {PARTS}; {evil} config", at.display());
        let damaged = format!("{bare}; echo > .git/HEAD");
        for script in [&bare, &damaged, &format!("cd {}; {own}", at.display())] {
            let told = bash(&place, &inner, script);
            assert!(!runs_it(&at), "{script}: {}", told.out);
            for left in ["config", "refs", "objects"] {
                let left = at.join(left);
                std::fs::remove_file(&left).or_else(|_| std::fs::remove_dir_all(&left)).ok();
            }
        }
    }
    let told = bash(
        &place,
        &inner,
        "git init -q --bare t/x.git && git clone -q t/x.git t/y; git -C t/y config a.b c && echo made",
    );
    assert!(told.out.contains("made") && !told.out.contains("protected"), "{}", told.out);
}

#[test]
fn tools_ask_before_a_repository_is_completed_damaged_or_configured() {
    let place = Place::new();
    let ws = place.ws();
    git(&ws, &["init", "-q"]);
    git(&ws, &["init", "-q", "--bare", "bare.git"]);
    place.file("notes/HEAD", "a file of that name");
    let asks = [
        "HEAD",
        "deep/er/HEAD",
        ".git/HEAD",
        ".git/refs/heads/x",
        "notes/objects/x",
        "notes/commondir",
        "bare.git/config",
        "bare.git/hooks/update",
        "bare.git/info/attributes",
        "bare.git/HEAD",
        ".git/modules/new/config",
    ];
    for path in asks {
        let told = write(&place, &ws, path);
        assert!(told.code == 6 && told.err.contains("protected_path"), "{path}: {} {}", told.code, told.err);
    }
    for path in ["config", "hooks/x", "objects/x", "refs/x", "bare.git/description", "src/head.rs"] {
        assert_eq!(write(&place, &ws, path).code, 0, "{path}");
    }
    let edit = ["call", "edit", "filePath=notes/HEAD", "oldString=a file", "newString=the file"];
    assert_eq!(ran(place.command(&edit).output().unwrap()).code, 0);
}

#[test]
fn the_names_that_tools_ask_about_are_those_that_no_command_makes() {
    let place = Place::new();
    let ws = place.ws();
    let names: Vec<String> = haft_sandbox::FILES.iter().map(|name| (*name).to_owned()).collect();
    let below = haft_sandbox::DIRECTORIES.iter().map(|name| format!("{name}/x"));
    let names: Vec<String> = names.into_iter().chain(below).collect();
    for name in names.iter().chain([&"any.code-workspace".to_owned()]) {
        let told = write(&place, &ws, name);
        assert!(told.code == 6 && told.err.contains("protected_path"), "{name}: {} {}", told.code, told.err);
    }
    if !is_confined(&place) {
        return;
    }
    let each = names.iter().map(|name| format!("mkdir -p $(dirname {name}); echo x > {name}\n"));
    let told = bash(&place, &ws, &(each.collect::<String>() + "echo done\n"));
    assert!(told.out.contains("done"), "{} {}", told.out, told.err);
    for name in &names {
        assert!(!ws.join(name).exists(), "{name}");
    }
}

#[test]
fn a_pointer_that_no_path_can_be_as_long_as_is_none() {
    let place = Place::new();
    let long = "a/".repeat(200_000);
    for file in [".git", "own/.git"] {
        place.file(file, &format!("gitdir: {long}"));
    }
    place.file("led/.git", "gitdir: ../real\n");
    place.file("real/commondir", &long);
    for at in [".", "own", "led"] {
        // It took minutes, and does not end by itself in the time that a test has.
        let told = bash(&place, &place.ws().join(at), "echo through");
        assert!(told.out.contains("through"), "{at}: {} {}", told.out, told.err);
    }
}
