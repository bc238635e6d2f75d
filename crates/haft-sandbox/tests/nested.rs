//! What git would believe further down: a repository in the index leads to those in its own, an index may be a link,
//! of another working tree, or written by somebody else than git.
#![allow(clippy::unwrap_used, reason = "these are tests, though not all in test functions")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{World, is_full, prepare};

/// What the scripts below are written in.
const WORDS: &str = r#"
commit() { git -C "$1" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; }
made() { git init -q "$1" && commit "$1"; }
linked() { git -C "${2-.}" update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,"$1"; }
submodule() { git -C "$1" -c protocol.file.allow=always submodule --quiet add "$OUT/src" "$2" && commit "$1"; }
evil() { printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = "touch %s/ran; false"\n' "$OUT" > "$1"; }
planted() { made "$1" && evil "$1/.git/config"; }
sharing() { written 'import os
def varint(value):
    bytes = [value & 127]
    while value := value >> 7:
        value -= 1
        bytes.insert(0, 128 | value & 127)
    return __builtins__.bytes(bytes)
def entry(name, dropped, added, mode, flags):
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + b"\1" * 20
    return head + struct.pack(">H", min(len(name), 0xfff) | flags) + varint(dropped) + added + b"\0"
long = b"a" * 5000
data = b"DIRC" + struct.pack(">II", 4, 12) + entry(long, 0, long, FILE, VALID)
for at in range(10):
    data += entry(long + b"0", at > 0, b"%d" % at, LINK, 0)
data += entry(b"z", 5001, b"z", LINK, 0)
os.makedirs(os.environ["AT"] + "/.git", exist_ok=True)
open(os.environ["AT"] + "/.git/index", "wb").write(data + hashlib.sha1(data).digest())'; }
written() { python3 -c '
import struct, hashlib, sys
LINK, FILE, VALID = 0o160000, 0o100644, 0x8000
def entry(name, mode, flags=None):
    flags = len(name) | (0 if mode == LINK else VALID) if flags is None else flags
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + b"\1" * 20 + struct.pack(">H", flags)
    head += b"\0\0" if flags & 0x4000 else b""
    size = len(name) if flags & 0xfff == 0xfff else flags & 0xfff
    return (head + name).ljust((len(head) + size + 8) // 8 * 8, b"\0")
def extension(name, content):
    return name + struct.pack(">I", len(content)) + content
def index(entries, more=lambda entries: b""):
    entries = b"DIRC" + struct.pack(">II", 2, len(entries)) + b"".join(entries)
    data = entries + more(entries)
    open(".git/index", "wb").write(data + hashlib.sha1(data).digest())
'"$1"; }
folded() {
    TREE=$(printf '160000 commit 1234567890123456789012345678901234567890\tsub\n' | git mktree --missing)
    export TREE FILE=$(git rev-parse HEAD:in/a)
    written '
import os
def sparse(name, mode, hash, flags):
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, mode, 0, 0, 0) + bytes.fromhex(os.environ[hash])
    head += struct.pack(">HH", 0x4000 | len(name), flags)
    return (head + name).ljust((len(head) + len(name) + 8) // 8 * 8, b"\0")
data = b"DIRC" + struct.pack(">II", 3, 2)
data += sparse(b"in/a", FILE, "FILE", 0) + sparse(b"out/", 0o040000, "TREE", 0x4000) + extension(b"sdir", b"")
open(".git/index", "wb").write(data + hashlib.sha1(data).digest())'
}
"#;

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
        "a repository in one that is added",
        "git init -q",
        "made n1; planted n1/n2; linked n2 n1; linked n1",
        ".",
    ),
    (
        "one far below, that is added last",
        "git init -q",
        "for at in a a/b a/b/c a/b/c/d; do made $at; done; planted a/b/c/d/e; for at in a/b/c/d:e a/b/c:d a/b:c a:b .:a; do linked ${at#*:} ${at%:*}; done",
        ".",
    ),
    ("in a submodule", "git init -q; made $OUT/src; submodule . lib", "planted lib/in; linked in lib", "."),
    (
        "in a repository that is in the index",
        "git init -q; made lib; linked lib",
        "planted lib/in; git -C lib add in",
        ".",
    ),
    (
        "one that a submodule has and that is not there yet",
        "git init -q; made lib; mkdir lib/inner; linked inner lib; commit lib; linked lib",
        "planted lib/inner",
        ".",
    ),
    (
        "the configuration of one further down",
        "git init -q; made lib; made lib/inner; linked inner lib; linked lib",
        "evil lib/inner/.git/config; evil x; mv x lib/inner/.git/config",
        ".",
    ),
    (
        "the index of one further down",
        "git init -q; made lib; made lib/inner; linked inner lib; linked lib",
        "planted lib/inner/in; linked in lib/inner",
        ".",
    ),
    (
        "an index that is a link",
        "git init -q",
        "planted in; GIT_INDEX_FILE=$WS/list linked in; ln -sf ../list .git/index",
        ".",
    ),
    (
        "one that is a link, of a repository that is added",
        "git init -q",
        "made n1; planted n1/n2; linked n2 n1; mv n1/.git/index list; ln -s list twice; ln -s ../../twice n1/.git/index; linked n1",
        ".",
    ),
    (
        "the index of another working tree",
        "git init -q; commit .; git worktree add -q other",
        "planted other/in; linked in other",
        "other",
    ),
    (
        "what leads another working tree to its repository",
        "git init -q; commit .; git worktree add -q other",
        "git init -q --bare else; evil else/config; echo 'gitdir: ../else' > other/.git; echo 'gitdir: ../else' > x; mv x other/.git",
        "other",
    ),
    (
        "a submodule of a working tree elsewhere",
        "git init -q; commit .; made $OUT/src; git worktree add -q $OUT/other; submodule $OUT/other lib",
        "evil .git/worktrees/other/modules/lib/config",
        "../out/other",
    ),
    (
        "the index of a working tree that it adds",
        "git init -q; commit .",
        "git worktree add -q new; planted new/in; linked in new",
        "new",
    ),
    (
        "a name with a space at its end",
        "git init -q",
        "git init -q --separate-git-dir 'else ' in; linked in; evil 'else /config'",
        ".",
    ),
    (
        "a name that is no text",
        "git init -q",
        "at=$(printf 'else\\377'); git init -q --separate-git-dir \"$at\" in; linked in; evil \"$at/config\"",
        ".",
    ),
    (
        "where a file leads that led nowhere",
        "git init -q; made lib; linked lib; rm -r lib/.git; echo 'gitdir: ../away' > lib/.git",
        "git init -q --bare away; evil away/config",
        ".",
    ),
    (
        "another working tree for the index of the outer one",
        "git init -q; made lib; linked lib; commit .",
        "mkdir x; echo \"gitdir: $WS/.git\" > x/.git; planted x/lib; linked x",
        ".",
    ),
    (
        "in place of a file, in a changed part of the index",
        "git init -q; for at in $(seq 100) in; do echo x > $at; done; git add .; git update-index --split-index",
        "rm in; planted in; linked in; touch 7; git add 7",
        ".",
    ),
    (
        "a path that git would not write",
        "git init -q",
        "planted in; written 'index([entry(b\"./in\", LINK)])'",
        ".",
    ),
    (
        "a path that leads around",
        "git init -q",
        "planted in; written 'index([entry(b\"../ws/in\", LINK)])'",
        ".",
    ),
    (
        "an entry of no kind",
        "git init -q",
        "planted in; written 'index([entry(b\"a\", 0o10000), entry(b\"in\", LINK)])'",
        ".",
    ),
    (
        "a length that is wrong",
        "git init -q",
        "planted in; written 'index([entry(b\"a\\0\" + b\"a\" * 20, FILE), entry(b\"in\", LINK)])'",
        ".",
    ),
    (
        "a flag that the version does not have",
        "git init -q",
        "planted in; written 'index([entry(b\"a\", FILE, VALID | 0x4001), entry(b\"in\", LINK)])'",
        ".",
    ),
    (
        "entries that only several threads find",
        "git init -q; git config index.threads 4",
        r#"planted in; written '
hidden = entry(b"in", LINK)
def more(entries):
    start = len(entries)
    table = extension(b"IEOT", struct.pack(">III", 1, start + 8, 1))
    ahead = extension(b"XXXX", hidden)
    names = b"".join(part[:8] for part in [table])
    end = struct.pack(">I", start + len(ahead)) + hashlib.sha1(names).digest()
    return ahead + table + extension(b"EOIE", end)
index([entry(b"in", FILE)], more)'"#,
        ".",
    ),
    (
        "behind more than can be looked at",
        "git init -q",
        r#"made s; planted z; written '
import os
trees = [b"t%04d" % at for at in range(70)]
for tree in trees:
    os.mkdir(tree)
    open(tree + b"/.git", "w").write("gitdir: ../s/.git")
index([entry(b"x%05d" % at, LINK) for at in range(1000)])
os.rename(".git/index", "s/.git/index")
index([entry(tree, LINK) for tree in trees + [b"z"]])'"#,
        ".",
    ),
    ("behind names that share a long beginning", "git init -q", "planted z; AT=. sharing", "."),
    (
        "behind such names in a repository that is added",
        "git init -q",
        "made n; planted n/z; AT=n sharing; linked n",
        ".",
    ),
    (
        "behind indexes that are more than can be read",
        "git init -q",
        r#"for at in a b c d; do made $at; done; planted d/z; written '
import os
def large(entries):
    return b"XXXX" + struct.pack(">I", 200 << 20)
for tree in b"abcd":
    name = bytes([tree]).decode()
    index([entry(b"z", LINK)], large)
    os.truncate(".git/index", os.path.getsize(".git/index") + (200 << 20))
    os.rename(".git/index", name + "/.git/index")
index([entry(tree, LINK) for tree in [b"a", b"b", b"c", b"d"]])'"#,
        ".",
    ),
    (
        "where only the path of its configuration is too long",
        "git init -q",
        r#"planted in; wrapped() { mkdir up; mv in up/$1; mv up in; }
for _ in $(seq 20); do wrapped $(printf 'd%.0s' $(seq 200)); done; wrapped $(printf 'e%.0s' $(seq $((61 - ${#WS}))))
written 'import os
index([entry(b"in/" + b"e" * (61 - len(os.environ["WS"])) + (b"/" + b"d" * 200) * 20, LINK)])'"#,
        ".",
    ),
    (
        "in a directory that is one entry of the index",
        "git init -q; mkdir in out; touch in/a out/b; git add .; commit .; git sparse-checkout set --cone in",
        "planted out/sub; folded",
        ".",
    ),
    (
        "in such a directory, that was one entry before",
        "git init -q; mkdir in; touch in/a; git add .; commit .; git sparse-checkout set --cone in; folded; sleep 2.1",
        "planted out/sub",
        ".",
    ),
];

#[test]
fn no_command_has_the_next_git_status_look_into_what_it_made() {
    if !is_full() {
        return;
    }
    let mut wrong = Vec::new();
    for (name, before, attempt, at) in ATTEMPTS {
        eprintln!("{name}");
        let (before, attempt) = (format!("{WORDS}{before}"), format!("{WORDS}{attempt}"));
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

/// What git itself may write, each in a repository of its own.
const FORMS: &[&str] = &[
    "true",
    "git update-index --index-version 4",
    "git config index.threads 4; git update-index --index-version 4 --force-write-index",
    "git config index.threads 4; git update-index --force-write-index",
    "git update-index --split-index",
    "git update-index --untracked-cache --fsmonitor",
    "git update-index --skip-worktree f; touch later; git add -N later",
    "git config index.skipHash true; git update-index --force-write-index",
    "git sparse-checkout init --cone --sparse-index",
    "git update-index --add --cacheinfo 100644,$(git hash-object -w f),$(printf 'a%.0s/' $(seq 2500))f",
    "git config init.defaultObjectFormat sha256; git config haft.objectFormat sha256",
    "printf '# [extensions]\\n; objectformat = sha256\\n' >> .git/config",
];

#[test]
fn an_index_as_git_writes_it_stays() {
    if !is_full() {
        return;
    }
    for form in FORMS {
        for format in ["sha1", "sha256"] {
            let world = World::new();
            prepare(&world, &format!("git init -q --object-format={format}; touch f g; mkdir d; touch d/e"));
            prepare(&world, "git add .; git -c user.name=a -c user.email=a@b commit -qm x");
            prepare(&world, form);
            let again =
                "git ls-files -s > before; touch h; git add h; git ls-files -s > after; cat after; echo done";
            let ran = world.run(&world.profile(), again);
            assert!(ran.output.ends_with("done\n"), "{form}: {}", ran.output);
            assert_eq!(ran.removed(), [] as [PathBuf; 0], "{form}, {format}: {}", ran.output);
            assert!(world.ws.join(".git/index").is_file(), "{form}");
        }
    }
}

#[test]
fn what_is_the_persons_own_further_down_stays() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let before = "git init -q; made $OUT/src; submodule . lib; made own; made own/inner; linked inner own; linked own; \
        git -C own/inner config core.fsmonitor false; git -C own config alias.x y; commit .; git worktree add -q other";
    prepare(&world, &format!("{WORDS}{before}"));
    prepare(&world, "git update-index --split-index");
    let configs = [".git/modules/lib/config", "own/.git/config", "own/inner/.git/config"];
    let read = || configs.map(|path| fs::read_to_string(world.ws.join(path)).unwrap());
    let texts = read();
    let everyday = "set -e; made own/more; linked more own; made new; linked new; touch own/inner/f; git -C own/inner add f; \
        commit own/inner; commit own; commit .; touch other/f; git -C other add f; commit other; \
        mkdir x; echo \"gitdir: $WS/own/.git\" > x/.git; linked x; echo done";
    let ran = world.run(&world.profile(), &format!("{WORDS}{everyday}"));
    assert!(ran.output.ends_with("done\n"), "{}", ran.output);
    assert_eq!(ran.removed(), [] as [PathBuf; 0], "{}", ran.output);
    assert_eq!(read(), texts);
}

#[test]
fn neither_circles_nor_what_blocks_are_waited_for() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q");
    let circles = "made a; linked b a; linked a; ln -s . a/b; made c; linked a c; linked c; ln -s ../a c/a; \
        planted c/d; linked d c; rm -f a/.git/index; mkfifo a/.git/index; made e; linked e; rm e/.git/HEAD; mkfifo e/.git/HEAD; \
        made f; linked f; rm f/.git/config; mkfifo f/.git/config; mkdir g; mkfifo g/.git; linked g; echo done";
    let ran = world.run(&world.profile(), &format!("{WORDS}{circles}"));
    assert!(ran.output.ends_with("done\n"), "{}", ran.output);
    let expected = ["c/d/.git/config", "f/.git/config"].map(|path| world.ws.join(path));
    assert_eq!(ran.removed(), expected, "{}", ran.output);
}

/// Nobody but the person has touched it, and it was what it is before.
#[test]
fn an_index_that_is_too_large_stays_unless_a_command_changes_it() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q; touch f; git add f; truncate -s 300M .git/index");
    let ran = world.run(&world.profile(), "ls");
    assert_eq!(ran.removed(), [] as [PathBuf; 0]);
    assert!(world.ws.join(".git/index").is_file());
    let ran = world.run(&world.profile(), "truncate -s 301M .git/index");
    assert_eq!(ran.removed(), [world.ws.join(".git/index")]);
    assert!(!world.ws.join(".git/index").exists());
    let names = fs::read_dir(world.ws.join(".git")).unwrap().map(|entry| entry.unwrap().file_name());
    let kept = names.filter(|name| name.to_string_lossy().starts_with("index.haft-removed-"));
    assert_eq!(kept.count(), 1, "what was the person's is not lost");
}

#[test]
fn what_is_told_of_is_little_however_much_was_undone() {
    if !is_full() {
        return;
    }
    let world = World::new();
    prepare(&world, "git init -q");
    let many = r#"planted x; written '
import os, shutil
names = [b"%04d" % at + b"n" * 200 for at in range(1200)]
for name in names:
    os.makedirs(name + b"/.git/objects")
    os.mkdir(name + b"/.git/refs")
    for part in [b"HEAD", b"config"]:
        shutil.copy(b"x/.git/" + part, name + b"/.git/" + part)
index([entry(name, LINK) for name in names])'"#;
    let ran = world.run(&world.profile(), &format!("{WORDS}{many}"));
    assert_eq!(ran.finished.removed.len(), 100, "{}", ran.output);
    assert_eq!(ran.finished.removed_besides, 1100);
}
