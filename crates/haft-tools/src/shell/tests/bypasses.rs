//! What a rule denies, spelled so that it might be overlooked; and everyday commands that a deny leaves alone.

use haft::permission::Effect;

use super::{Place, decided, rules};

/// What runs `rm f` or `git push` by a spelling of its own.
const DENIED: &[(&str, &[&str])] = &[
    (
        "options before a subcommand",
        &[
            "git -C . push origin",
            "git --no-pager push origin",
            "git --git-dir=.git push",
            "git --git-dir .git push origin",
            "git -c a.b=c push",
            "git -p push",
            "git -C sub -c user.name=x --bare push origin",
            "git -C $x push",
            "git $x push",
            "timeout 5 git --no-pager push origin",
            "git -c alias.x='push origin' x",
            "git -c alias.x='!git push origin' x",
            "git -c \"$x\" status",
            "npm --prefix sub publish",
            "cargo +nightly publish",
            "docker --context x rm y",
        ],
    ),
    (
        "options of shells",
        &[
            "bash -ceuo pipefail 'rm f'",
            "bash -euo pipefail -c 'rm f'",
            "bash -cO extglob 'rm f'",
            "bash -c -- '-x1;rm f' true",
            "bash -c - 'rm f'",
            "bash --rcfile <(echo rm f) -i </dev/null",
            "zsh -oc errexit 'rm f'",
            "fish --command='rm f'",
            "fish -C 'rm f' -c true",
            "pwsh -Command 'rm f'",
        ],
    ),
    (
        "standard input by a name",
        &[
            "source /dev/stdin <<< 'rm f'",
            ". /dev/stdin <<EOF\nrm f\nEOF",
            "bash /dev/stdin <<< 'rm f'",
            "echo 'rm f' | bash /dev/stdin",
            "bash /dev/fd/0 <<< 'rm f'",
            "bash -- /dev/stdin <<< 'rm f'",
            "bash /proc/self/fd/0 <<< 'rm f'",
            "bash //dev/./stdin <<< 'rm f'",
            "cd /dev && bash stdin <<< 'rm f'",
            "python3 /dev/stdin <<< x",
            "python3 -u /dev/stdin <<< x",
            "awk -f /dev/stdin <<< x",
            "awk -f- <<< x",
            "sed -f /dev/stdin f.txt <<< '1e rm f'",
            "make -f - <<< x",
            "make -f- <<< x",
            "make --file=/dev/stdin <<< x",
            "node /dev/stdin <<< x",
        ],
    ),
    (
        "abbreviated options",
        &[
            "env --split='rm f'",
            "env --s 'rm f'",
            "env -iS 'rm f'",
            "timeout --sig KILL 5 rm f",
            "timeout --kill 3 5 rm f",
            "nice --adj 5 rm f",
            "stdbuf --out 0 rm f",
        ],
    ),
    (
        "options that take a word, and options that take none",
        &[
            "flock --wait 3 lk rm f",
            "flock lk --command 'rm f'",
            "flock --command 'rm f' lk",
            "setpriv --pdeathsig KILL rm f",
            "setpriv --ruid 0 rm f",
            "setpriv --euid 0 rm f",
            "timeout --not-known-yet x 5 rm f",
            "echo f | xargs --process-slot-var Z rm",
            "echo y | xargs --replace rm f",
            "echo f | xargs --max-lines rm -f",
            "echo rm | xargs -I X X f",
            "echo rm | xargs -IX X f",
            "script -q -c 'rm f' /dev/null",
            "script -c 'rm f' /dev/null",
            "script -qc 'rm f' /dev/null",
            "script --command='rm f' /dev/null",
            "script /dev/null <<< 'rm f'",
            "su root --command='rm f'",
            "runuser -u root -- rm f",
            "runuser root -c 'rm f'",
            "parallel -j2 <<< 'rm f'",
            "parallel ::: 'rm f'",
            "parallel 'true; rm' ::: f",
            "find . -maxdepth 0 -exec env -u + rm f ';'",
        ],
    ),
    (
        "texts that the shell evaluates",
        &[
            "PS4='$(rm f)'; set -x; true",
            "PS4='$(rm f)' bash -xc true",
            "export PS4='$(rm f)'; set -x; true",
            "export 'PS4=$(rm f)'; set -x; true",
            "declare \"PS4=$(cat f.txt)\"; set -x; true",
            "read PS4 < f.txt; set -x; true",
            "for PS4 in '$(rm f)'; do set -x; true; done",
            ": ${PS4:='$(rm f)'}; set -x; true",
            "x='a[$(rm f)]'; echo $((x))",
            "x='a[$(rm f)]'; echo $[x]",
            "x='a[$(rm f)]'; y=$((x + 1))",
            "x='a[$(rm f)]'; echo \"$((x))\"",
            "x='b[$(rm f)]'; echo ${a[x]}",
            "x='b[$(rm f)]'; echo ${a:x:1}",
            "x='b[$(rm f)]'; echo ${!x}",
            "x='$(rm f)'; echo ${x@P}",
            "printf -v 'a[$(rm f)]' x",
            "test -v 'a[$(rm f)]'",
            "read 'a[$(rm f)]' <<< x",
            "mapfile -C 'rm f #' -c 1 <<< x",
            "compgen -C 'rm f #' x",
        ],
    ),
    (
        "variables that run something",
        &[
            "GIT_EDITOR='rm f;' git commit --allow-empty",
            "env GIT_EDITOR='rm f;' git commit --allow-empty",
            "export GIT_EDITOR='rm f;'; git commit --allow-empty",
            "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='rm f;' git status",
            "FM='rm f;' git --config-env=core.fsmonitor=FM status",
            "GIT_SSH_COMMAND='rm f;' git ls-remote ssh://x/y",
            "GIT_EXTERNAL_DIFF='rm f #' git diff --no-index h f",
            "BASH_ENV=<(echo rm f) bash -c :",
            "PROMPT_COMMAND='rm f' bash -i </dev/null",
            "ENV='$(rm f)' sh -i </dev/null",
            "PAGER='rm f;' man ls",
            "LESSOPEN='|rm f' less h",
            "VIMINIT=':!rm f' true",
            "MAKEFLAGS='--eval=$(shell rm f)' make",
            "PERL5OPT='-Mx;unlink' perl x.pl",
        ],
    ),
    (
        "options that run something",
        &[
            "git grep -O'rm f;' hello",
            "git ls-remote --upload-pack='rm f;' .",
            "git fetch --upload-pack 'rm f;' .",
            "git rebase -x'rm f' --root",
            "git rebase -ix 'rm f' --root",
            "git rebase --exe 'rm f' --root",
            "git submodule foreach 'true; rm f'",
            "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm f' h",
            "tar cf /dev/null -I 'rm f #' h",
            "split --filter='rm f' h",
            "make --eval='$(shell rm f)'",
            "make CC='rm f #'",
            "make 'X=$(shell rm f)'",
            "ed -s h <<< '!rm f'",
            "vim -es -c '!rm f' -c q h",
            "gdb -batch -ex 'shell rm f'",
            "sqlite3 :memory: '.shell rm f'",
            "npm exec -c 'rm f'",
            "npx -c 'rm f'",
            "npm exec -- rm f",
            "rg --pre rm x f",
            "docker run x rm f",
            "ip netns exec x rm f",
        ],
    ),
    (
        "launchers of other kinds",
        &[
            "sg root 'rm f'",
            "sg root -c 'rm f'",
            "sg - root -c 'rm f'",
            "sg root <<< 'rm f'",
            "newgrp root -c 'rm f'",
            "capsh -- -c 'rm f'",
            "capsh --user=x -- -c 'rm f'",
            "capsh -- <<< 'rm f'",
            "logsave log rm f",
            "logsave -a log rm f",
            "dpkg-architecture -c rm f",
            "dpkg-architecture -c 'rm f'",
            "dpkg-architecture -a amd64 --command rm f",
            "make -f <(printf 'a:\n\trm f\n')",
            "make --file=<(printf 'a:\n\trm f\n')",
            "sed -f <(echo '1e rm f') f.txt",
            "awk -f <(echo x) f.txt",
            "python3 <(echo x)",
            "perl -w <(echo x)",
            "choom -n 1 -- rm f",
            "choom -n 1 rm f",
            "uclampset -m 1 rm f",
            "systemd-cat rm f",
            "systemd-cat -t x rm f",
            "runcon x rm f",
            "runcon -t x rm f",
            "heaptrack rm f",
            "memusage rm f",
            "sotruss rm f",
            "ld.so /bin/rm f",
            "/lib64/ld-linux-x86-64.so.2 /bin/rm f",
            "/lib64/ld-linux-x86-64.so.2 --library-path x /bin/rm f",
            "start-stop-daemon -S -x /bin/rm -- f",
            "gosu root rm f",
            "setuidgid root rm f",
            "faketime yesterday rm f",
            "tini -- rm f",
            "dumb-init rm f",
            "eatmydata rm f",
            "firejail --quiet rm f",
            "chronic rm f",
            "echo f | entr rm f",
            "hyperfine 'rm f'",
            "not-14 rm f",
            "msgexec rm f",
            "prove --exec 'rm f' t",
            "pg_virtualenv rm f",
            "debconf-apt-progress -- rm f",
        ],
    ),
    (
        "names",
        &[
            "python3.11 -c 'x'",
            "/usr/bin/python3.11 -c 'x'",
            "perl5.36.0 -e 'x'",
            "bash5 -c 'rm f'",
            "setarch x86_64 rm f",
            "setarch -R rm f",
            "linux64 rm f",
            "linux32 rm f",
            "pkexec rm f",
            "pkexec --user root rm f",
            "git remote-ext x 'rm f' <<< 'connect git-upload-pack'",
            "uv run rm f",
            "uv run --with x rm f",
            "poetry run rm f",
            "poetry run bash -c 'rm f'",
            "bundle exec rm f",
            "conda run -n x rm f",
            "nix develop -c rm f",
            "nix-shell --run 'rm f'",
            "rustup run stable rm f",
            "mise x -- rm f",
        ],
    ),
];

fn denying() -> haft::permission::Ruleset {
    rules(&[
        "*: allow",
        "rm *: deny",
        "git push *: deny",
        "npm publish *: deny",
        "cargo publish *: deny",
        "docker rm *: deny",
    ])
}

#[test]
fn no_spelling_hides_what_is_denied() {
    let place = Place::new();
    let rules = denying();
    let mut allowed = Vec::new();
    for (about, scripts) in DENIED {
        let passed = scripts.iter().filter(|one| decided(&place.workspace, &rules, one) == Effect::Allow);
        allowed.extend(passed.map(|script| format!("{about}: {script}")));
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_subcommand_behind_options_is_denied_and_not_only_asked_about() {
    let place = Place::new();
    for (script, rule) in [
        ("git -C . push origin", "git push *"),
        ("git --no-pager rm -q h", "git rm *"),
        ("git -c a.b=c --git-dir x push", "git push *"),
        ("cargo +nightly publish", "cargo publish *"),
        ("bash -ceuo pipefail 'rm f'", "rm *"),
        ("env --split='rm f'", "rm *"),
        ("flock lk --command 'rm f'", "rm *"),
        ("script -q -c 'rm f' /dev/null", "rm *"),
        ("setarch x86_64 rm f", "rm *"),
        ("poetry run rm f", "rm *"),
        ("GIT_EDITOR='rm f;' git commit", "rm *"),
    ] {
        let rules = rules(&["*: allow", &format!("{rule}: deny")]);
        assert_eq!(decided(&place.workspace, &rules, script), Effect::Deny, "{script}");
    }
    // An allow is not made wider by it.
    let rules = rules(&["git status *: allow"]);
    assert_eq!(decided(&place.workspace, &rules, "git -C /elsewhere status"), Effect::Ask);
}

/// Everyday commands.
const EVERYDAY: &[&str] = &[
    "git status",
    "git -C sub status",
    "git --no-pager log --oneline -n5",
    "git -c user.name='A (B)' -c color.ui=never commit -m 'push it; rm f'",
    "git commit -m 'rm f'",
    "git rebase main",
    "git clean -fdx",
    "git cherry-pick -x HEAD",
    "GIT_PAGER=cat git diff",
    "GIT_TERMINAL_PROMPT=0 git fetch",
    "GIT_AUTHOR_NAME='A (B)' git commit -m x",
    "cargo test --all -p haft 2>&1 | tail -n 5",
    "cargo +nightly build",
    "CARGO_TARGET_DIR=t RUST_BACKTRACE=1 cargo build --manifest-path x/Cargo.toml",
    "timeout 5 cargo test",
    "timeout --foreground -k 3 5 cargo test",
    "nice -n 5 make -j4 test",
    "make -f build.mk V=1 CFLAGS='-O2 -g'",
    "npm test",
    "npm run build -- --fast",
    "python3 -m pytest -q",
    "python3.11 x.py --verbose",
    "uv run pytest -q",
    "poetry run pytest",
    "find . -name '*.rs' -type f -exec grep -n x {} +",
    "find . -name '*.rs' | xargs grep -l x",
    "find . -print0 | xargs -0 -r -n 10 grep -l x",
    "xargs -I{} cp {} sub < f.txt",
    "sed -i s/a/b/ f.txt",
    "awk '{print $1}' f.txt",
    "tar -xzf a.tar.gz",
    "curl -sS -d x=1 http://e.test",
    "env FOO=1 BAR=2 cargo run",
    "PATH=./bin:$PATH cargo run",
    "cmake --build build",
    "go test ./...",
    "[ -f x ] && cat x",
    "for f in *.txt; do wc -l \"$f\"; done",
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
    "while read -r line; do echo \"$line\"; done < f.txt",
    "printf '%s\\n' a b",
    "printf -v x '%s' a",
    "read -r -p 'name: ' name",
    "bash run.sh -c x",
    "bash -euo pipefail run.sh",
    "sh -c 'ls; cat f.txt'",
    "ls ${x:-y} ${#x}",
    "ls ${x%.*}",
    "ls ${a[0]}",
    "ls ${a[@]}",
    "ls ${!a[@]}",
    "ls ${x:1:2}",
    "ls ${x/a/b} ${x//[a-z]/} ${x##*/}",
    "i=0; ls ${a[$i]}; ls $((i+1))",
    "setsid -f ls",
    "apt-get install -y x",
    "sudo -n systemctl status x",
    "wget http://e.test/x",
    "awk '{print $1}' <(sort f.txt)",
    "diff <(sort f.txt) <(sort g.txt)",
    "python3 x.py <(sort f.txt)",
    "capsh --print",
    "dpkg-architecture -qDEB_HOST_ARCH",
    "prove -l t",
];

#[test]
fn everyday_commands_run_though_something_is_denied() {
    let place = Place::new();
    for rules in [denying(), rules(&["*: allow"])] {
        let stopped = |script: &&&str| decided(&place.workspace, &rules, script) != Effect::Allow;
        let stopped: Vec<&&str> = EVERYDAY.iter().filter(stopped).collect();
        assert!(stopped.is_empty(), "{stopped:#?}");
    }
}

#[test]
fn a_rule_for_what_launches_others_covers_no_wrapper() {
    let place = Place::new();
    for (rule, script) in [
        ("git *", "echo connect git-upload-pack | git remote-ext x 'touch P'"),
        ("setarch *", "setarch x86_64 touch P"),
        ("pkexec *", "pkexec touch P"),
        ("python3.11 *", "python3.11 -c x"),
    ] {
        let rules = rules(&["echo *: allow", &format!("{rule}: allow")]);
        assert_ne!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
    // What a rule says in so many words holds.
    let rules = rules(&["poetry run *: allow", "uv run *: allow"]);
    for script in ["poetry run pytest -q", "uv run pytest -q"] {
        assert_eq!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
}
