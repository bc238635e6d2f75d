//! What git would believe: no command makes a repository of a directory around the person, damages the one that is
//! there, or has git look into one that it made.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{World, is_full, prepare};

/// Configuration that leaves a mark where commands cannot write when git believes it.
const EVIL: &str = r#"printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch %s/ran; false"\n' $OUT > "#;
const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";

/// What the person's git would do in a directory; whether it ran what a command has told it to.
fn runs_it(world: &World, at: &Path) -> bool {
    let mut git = Command::new("git");
    let output = git.args(["status", "--short"]).current_dir(at).env("HOME", &world.home).output().unwrap();
    let is_run = world.out.join("ran").exists();
    fs::remove_file(world.out.join("ran")).ok();
    eprintln!("git status in {}: {output:?}", at.display());
    is_run
}

/// A name, what is there before, what the command does, and where the person works.
const ATTEMPTS: &[(&str, &str, &str, &str)] = &[
    (
        "a repository without a working tree where there was none",
        "true",
        "mkdir refs objects; echo 'ref: refs/heads/x' > HEAD; EVIL config",
        ".",
    ),
    (
        "the same with a HEAD that is a link, made last",
        "true",
        "mkdir refs objects; EVIL config; ln -s refs/heads/x HEAD",
        ".",
    ),
    (
        "parts that were there, around a file that was",
        "mkdir refs objects; echo notes > HEAD",
        "EVIL config; echo 'ref: refs/heads/x' > HEAD",
        ".",
    ),
    (
        "in place of a repository whose HEAD is damaged",
        "git init -q",
        "mkdir refs objects; echo 'ref: refs/heads/x' > HEAD; EVIL config; echo > .git/HEAD",
        ".",
    ),
    (
        "in place of a repository without its parts",
        "git init -q",
        "mkdir refs objects; cp .git/HEAD HEAD; EVIL config; rm -r .git/refs; mv .git/objects o; ln -s /nowhere .git/objects",
        ".",
    ),
    ("a repository without a working tree that is there", "git init -q --bare", "EVIL config", "."),
    (
        "a submodule that is not there yet",
        "git init -q && git init -q other && git -C other COMMIT && git add other && mv other/.git o && COMMIT",
        "git init -q --bare .git/modules/other; EVIL .git/modules/other/config; echo 'gitdir: ../.git/modules/other' > other/.git",
        ".",
    ),
    (
        "a repository that is added to the outer one",
        "git init -q",
        "git init -q in; git -C in COMMIT; EVIL in/.git/config; git add in",
        ".",
    ),
    (
        "the same in another form of the index, with the repository elsewhere",
        "git init -q && touch in-front && git add .",
        "git init -q --separate-git-dir elsewhere in; git -C in COMMIT; git add in; git update-index --index-version 4; git update-index --split-index; EVIL elsewhere/config",
        ".",
    ),
    (
        "one that is in the outer one's index",
        "git init -q && git init -q in && git -C in COMMIT && git add in",
        "EVIL in/.git/config; EVIL x; mv x in/.git/config",
        ".",
    ),
];

fn script(text: &str) -> String {
    text.replace("EVIL ", EVIL)
        .replace("git -C in COMMIT", &COMMIT.replace("git ", "git -C in "))
        .replace("git -C other COMMIT", &COMMIT.replace("git ", "git -C other "))
        .replace("COMMIT", COMMIT)
}

#[test]
fn no_command_has_the_next_git_status_run_something() {
    if !is_full() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, before, attempt, at) in ATTEMPTS {
        let (before, attempt) = (script(before), script(attempt));
        let world = World::new();
        prepare(&world, &before);
        // It may end with any status; what counts is what git does then.
        prepare(&world, &format!("{attempt}; true"));
        if !runs_it(&world, &world.ws.join(at)) {
            wrong.push(format!("{name}: proves nothing, it runs nothing unconfined either"));
        }
        let world = World::new();
        prepare(&world, &before);
        let ran = world.run(&world.profile(), &attempt);
        if runs_it(&world, &world.ws.join(at)) {
            wrong.push(format!("{name}: {} {:?}", ran.output, ran.removed()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_git_does_itself_stays_and_nothing_is_said() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(
        &world,
        &format!("git init -q && git config user.name a && git config user.email a@b && {COMMIT}"),
    );
    let everyday = "set -ex; git init -q --bare below/bare.git; git clone -q --bare . below/copy.git; \
        git -C below/copy.git log --oneline; git checkout -q -b topic; echo x > f; git add f; git commit -qm f; \
        echo y > f; git stash -q; git stash pop -q; git checkout -q --detach; git commit -qam g; git tag t; \
        git switch -q topic; git gc -q; git worktree add -q below/tree; git init -q below/own; \
        git -C below/own config core.fsmonitor false; git clone -q . below/clone; git add below/clone below/tree 2> /dev/null; \
        git commit -qm all; mkdir objects refs; echo x > config; echo done";
    let ran = world.run(&world.profile(), everyday);
    assert!(ran.output.ends_with("done\n"), "{}", ran.output);
    assert_eq!(ran.removed(), [] as [PathBuf; 0]);
    assert!(fs::read_to_string(world.ws.join("below/clone/.git/config")).unwrap().contains("origin"));
}

#[test]
fn a_file_named_as_a_part_of_a_repository_is_as_any_other() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "echo notes > HEAD");
    let ran = world.run(&world.profile(), "echo 'ref: refs/heads/x' > HEAD; mkdir refs; echo x > config");
    assert_eq!(ran.removed(), [] as [PathBuf; 0], "{}", ran.output);
    assert_eq!(fs::read_to_string(world.ws.join("HEAD")).unwrap(), "ref: refs/heads/x\n");
    for (attempt, part) in [("mkdir objects", "objects"), ("echo .. > commondir", "commondir")] {
        let ran = world.run(&world.profile(), attempt);
        assert_eq!(ran.removed(), [world.ws.join(part)], "{}", ran.output);
        assert!(!world.ws.join(part).exists());
    }
}

#[test]
fn a_damaged_repository_is_put_right_and_told() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q");
    let before = fs::read(world.ws.join(".git/HEAD")).unwrap();
    for damage in ["echo > .git/HEAD", "rm .git/HEAD; mkdir .git/HEAD", "ln -sf /etc/passwd .git/HEAD"] {
        let ran = world.run(&world.profile(), damage);
        assert_eq!(fs::read(world.ws.join(".git/HEAD")).unwrap(), before, "{damage}");
        assert_eq!(ran.removed(), [world.ws.join(".git/HEAD")], "{damage}: {}", ran.output);
    }
    assert!(fs::read_to_string("/etc/passwd").unwrap().contains("root:"));
}

#[test]
fn submodules_are_used_and_none_are_made() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q && git init -q --bare .git/modules/a/b");
    let ran = world.run(
        &world.profile(),
        "echo x > .git/modules/a/b/config; git init -q --bare .git/modules/a/c; mkdir .git/modules/d; \
         mkdir -p .git/modules/a/b/modules/e; python3 -c 'import os;os.rename(\".git/modules\",\"m\")'; git --git-dir .git/modules/a/b update-ref refs/x $(echo x | git --git-dir .git/modules/a/b hash-object -w --stdin); echo used",
    );
    assert!(ran.output.ends_with("used\n"), "{}", ran.output);
    let modules = world.ws.join(".git/modules");
    assert!(modules.join("a/b/refs/x").is_file(), "{}", ran.output);
    assert_eq!(ran.removed(), ["a/b/modules", "a/c", "d"].map(|name| modules.join(name)));
    assert!(!modules.join("a/c").exists() && !modules.join("d").exists());
}
