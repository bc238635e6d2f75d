//! Ordinary work that must go through in a workspace, offline and without asking.

mod common;

use std::fs;

use std::process::{Command, Stdio};

use common::{World, is_full, is_ours, listing, prepare};
use haft_sandbox::{Network, Profile, Temp};

/// A script, and what it must print. All of them must end with 0.
const COMMANDS: &[(&str, &str)] = &[
    ("echo hello > f && cat f", "hello"),
    ("pwd", "/ws"),
    ("mkdir -p a/b/c && touch a/b/c/d && find a -type f", "a/b/c/d"),
    ("printf 'b\\na\\nb\\n' | sort -u | tr '\\n' ,", "a,b,"),
    ("seq 100000 | sort -R -S 1M | sort -n | tail -1", "100000"),
    ("echo one two | awk '{print $2}'", "two"),
    ("echo old > f && sed -i s/old/new/ f && cat f", "new"),
    ("f=$(mktemp) && echo t > $f && cat $f && rm $f", "t"),
    ("d=$(mktemp -d) && mkdir $d/x && ls $d", "x"),
    ("mkdir d && echo x > d/f && tar cf d.tar d && rm -r d && tar xf d.tar && cat d/f", "x"),
    ("echo x > f && gzip f && gunzip f.gz && cat f", "x"),
    ("echo x > f && cp -a f g && mv g h && ln h i && ln -s i j && cat j", "x"),
    ("echo x > f && chmod 755 f && stat -c %a f", "755"),
    ("echo x > f && touch -d 2020-01-01 f && date -r f +%Y", "2020"),
    ("diff <(echo a) <(echo b) | head -1", "1c1"),
    ("cat <<< here", "here"),
    ("echo a | tee f > /dev/null && cat f", "a"),
    ("head -c 10 /dev/zero | wc -c && head -c 4 /dev/urandom | wc -c", "10"),
    ("echo to-stderr > /dev/stderr && echo to-stdout > /dev/stdout", "to-stdout"),
    ("(: < /dev/tty) 2>&1 | grep -c /dev/tty", "1"),
    ("nproc", ""),
    ("ps -e -o comm= | grep -c bash", ""),
    ("sleep 0.01 & wait $! && echo waited", "waited"),
    ("(sleep 60 &) ; echo left", "left"),
    ("set -m; sleep 0.01 & jobs | grep -c Running", "1"),
    ("timeout 5 sleep 0.01 && echo in-time", "in-time"),
    ("timeout 0.05 sleep 60; [ $? = 124 ] && echo timed-out", "timed-out"),
    ("trap 'echo caught' TERM; kill -TERM $$; true", "caught"),
    ("bash -c 'kill -SEGV $$'; [ $? = 139 ] && echo died", "died"),
    ("echo $((6*7)) | xargs -n1 echo answer", "answer 42"),
    ("find / -maxdepth 1 -name etc", "/etc"),
    ("ulimit -n && df . > /dev/null && du -s . > /dev/null && echo measured", "measured"),
    ("id -un > /dev/null; id -u && hostname > /dev/null && uname -s", "Linux"),
    (
        "git init -q r && cd r && git config user.email a@b && git config user.name n && echo x > f && git add -A && git commit -qm one && git log --oneline | wc -l",
        "1",
    ),
    (
        "rm -rf old && git init -q . && echo x > f && git add -A && git -c user.email=a@b -c user.name=n commit -qm one && git status --short | wc -l",
        "0",
    ),
    ("git -C old add -A && git -C old commit -qm two && git -C old log --oneline | wc -l", "2"),
    (
        "cd old && git checkout -q -b topic && echo z > z && git add z && git commit -qm three && git stash list && git diff HEAD~1 --stat | tail -1",
        "1 file changed",
    ),
    ("git clone -q old copy && git -C copy log --oneline | wc -l", "1"),
    (
        "printf '#include <stdio.h>\\nint main(void){puts(\"c works\");}\\n' > m.c && gcc -O2 -o m m.c && ./m",
        "c works",
    ),
    ("printf 'all: out\\nout:\\n\\techo made > out\\n' > Makefile && make -s -j2 && cat out", "made"),
    ("printf 'fn main(){println!(\"rust works\")}' > m.rs && rustc -o m m.rs && ./m", "rust works"),
    // A workspace of its own: the directory of the tests may lie inside another one.
    (
        "mkdir -p t/src && cd t && printf '[package]\\nname = \"tiny\"\\nedition = \"2024\"\\n[workspace]\\n' > Cargo.toml && printf '#[test] fn t() {}\\nfn main() {println!(\"Hello, world!\")}' > src/main.rs && cargo test -q --offline && cargo run -q --offline",
        "Hello, world!",
    ),
    ("python3 -c 'import json,sys;print(json.dumps({\"py\":1}))'", "{\"py\": 1}"),
    ("python3 -m venv --without-pip v && v/bin/python -c 'import sys;print(sys.prefix)'", "/ws/v"),
    (
        "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): self.assertTrue(1)\\n' > test_a.py && python3 -m unittest 2>&1 | tail -1",
        "OK",
    ),
    ("python3 -c 'import multiprocessing as m;p=m.Pool(2);print(p.map(abs,[-1,-2]))'", "[1, 2]"),
    (
        "python3 -c 'import socket,threading;s=socket.socket(socket.AF_UNIX);s.bind(\"s\");s.listen();c=socket.socket(socket.AF_UNIX);c.connect(\"s\");print(\"unix works\")'",
        "unix works",
    ),
    ("python3 -c 'import socket;a,b=socket.socketpair();a.send(b\"x\");print(b.recv(1))'", "b'x'"),
    ("python3 -c 'import pty;pty.spawn([\"echo\",\"pty works\"])'", "pty works"),
    (
        "python3 -c 'import sqlite3;c=sqlite3.connect(\"d.db\");c.execute(\"create table t(a)\");c.commit();print(\"sql works\")'",
        "sql works",
    ),
    (
        "python3 -c 'import mmap,os;f=open(\"/dev/shm/x\",\"wb+\");f.truncate(4096);mmap.mmap(f.fileno(),4096);print(\"shm works\")'",
        "shm works",
    ),
    (
        "node -e 'require(\"fs\").writeFileSync(\"n\",\"node works\");console.log(require(\"fs\").readFileSync(\"n\",\"utf8\"))'",
        "node works",
    ),
    (
        "printf '{\"name\":\"p\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node -e 1\"}}' > package.json && npm test --offline > /dev/null && echo npm works",
        "npm works",
    ),
    ("mkdir -p $HOME/.cache/x && echo c > $HOME/.cache/x/f && cat $HOME/.cache/x/f", "c"),
    ("echo more >> $HOME/.cargo/kept && cat $HOME/.cargo/kept", "more"),
    ("ls -A | wc -l", "1"),
];

#[test]
fn ordinary_commands_work_and_leave_the_home_directory_alone() {
    if !is_full() {
        return;
    }
    let mut wrong = Vec::new();
    let of_caches = |script: &str| script.contains("$HOME/.ca");
    for (script, expected) in COMMANDS.iter().filter(|(script, _)| is_ours() || !of_caches(script)) {
        // What is not installed cannot be tried; the list is of what must work where it is.
        let missing =
            ["git", "gcc", "make", "rustc", "cargo", "python3", "node", "npm", "ps"].iter().find(|tool| {
                let uses = script.split([' ', '(', ';', '|']).any(|word| word == **tool);
                uses && Command::new(tool)
                    .arg("--version")
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status()
                    .is_err()
            });
        if let Some(tool) = missing {
            eprintln!("NOT TESTED: {tool} is not installed: {script}");
            continue;
        }
        let world = World::new();
        prepare(
            &world,
            "mkdir $HOME/.cargo && echo kept > $HOME/.cargo/kept && git init -q old && cd old && \
             git config user.email a@b && git config user.name n && echo x > f && git add f && git commit -qm one && echo y > y",
        );
        let home = listing(&world.home);
        let ran = world.run(&world.profile(), script);
        if ran.code != Some(0) || !ran.output.contains(expected) {
            wrong.push(format!("{script}\n  {:?} {}", ran.code, ran.output));
        }
        if listing(&world.home) != home {
            wrong.push(format!("{script}\n  changed the home directory"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_workspace_that_lies_in_a_cache_is_the_real_one() {
    if !is_ours() {
        return;
    }
    let world = World::new();
    let inside = world.home.join(".cache/src/x");
    fs::create_dir_all(inside.join(".git")).unwrap();
    fs::write(inside.join(".git/config"), "").unwrap();
    let mut profile = Profile::workspace_write([&inside]).with_home(&world.home);
    for is_granted in [false, true] {
        if is_granted {
            profile.writable.push(world.home.clone());
        }
        let script = "cd ~/.cache/src/x && echo kept > f && echo x > ../../gone; echo y > .git/config; cat f";
        let ran = world.run(&profile, script);
        assert!(ran.output.contains("kept"), "{}", ran.output);
        assert_eq!(fs::read_to_string(inside.join("f")).unwrap_or_default(), "kept\n", "{}", ran.output);
        assert_eq!(fs::read_to_string(inside.join(".git/config")).unwrap(), "", "{}", ran.output);
        assert!(!world.home.join(".cache/gone").exists());
        fs::remove_file(inside.join("f")).unwrap();
    }
}

#[test]
fn a_server_can_be_tried_on_a_private_loopback() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let profile = Profile { network: Network::Loopback, ..world.profile() };
    let script = "python3 -m http.server -b 127.0.0.1 8765 > log 2>&1 & \
        for i in $(seq 200); do (echo > /dev/tcp/127.0.0.1/8765) 2>/dev/null && break; sleep 0.05; done; \
        python3 -c 'import urllib.request as u;print(u.urlopen(\"http://127.0.0.1:8765/\").status)'";
    let ran = world.run(&profile, script);
    assert!(ran.output.contains("200"), "{}", ran.output);
}

#[test]
fn commands_that_share_a_temporary_directory_see_each_others_files() {
    if !is_full() {
        return;
    }
    let world = World::new();
    let temp = tempfile::tempdir().unwrap();
    let profile = Profile { temp: Temp::Directory(temp.path().to_path_buf()), ..world.profile() };
    world.run(&profile, "echo shared > /tmp/f");
    assert!(world.run(&profile, "cat /tmp/f").output.contains("shared"));
    assert_ne!(world.run(&world.profile(), "cat /tmp/f").code, Some(0));
}

#[test]
fn a_fork_bomb_a_huge_file_and_too_many_files_end_as_errors() {
    if !is_ours() {
        return;
    }
    let world = World::new();
    let mut profile = world.profile();
    profile.limits.processes = Some(64);
    profile.limits.file_bytes = Some(1 << 20);
    profile.limits.open_files = Some(64);
    let ran = world
        .run(&profile, "for i in $(seq 600); do sleep 60 & done 2>&1 | grep -m1 -i 'resource temporarily'");
    assert!(ran.output.contains("Resource temporarily unavailable"), "{}", ran.output);
    let ran = world.run(&profile, "head -c 2000000 /dev/zero > big; stat -c %s big");
    assert!(ran.output.contains("1048576"), "{}", ran.output);
    profile.limits.memory_bytes = Some(1 << 30);
    let ran = world.run(&profile, "python3 -c 'bytearray(2 << 30)'");
    assert!(ran.output.contains("MemoryError"), "{}", ran.output);
    let ran = world.run(&profile, "python3 -c 'f=[open(\"/dev/null\") for _ in range(100)]'");
    assert!(ran.output.contains("Too many open files"), "{}", ran.output);
}
