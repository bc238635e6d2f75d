//! Scripts that try to do more than a rule for a few commands allows, or what a rule denies.

use haft::permission::Effect;

use super::{Place, decided, rules};

/// None of these may be allowed by rules for the commands they begin with.
const MORE_THAN_ALLOWED: &[&str] = &[
    "git status -s; touch P",
    "ls . && touch P",
    "ls . || touch P",
    "echo x | tee P",
    "git status -s & touch P",
    "git status -s\ntouch P",
    "git status -s\r\ntouch P",
    "ls $(touch P)",
    "ls `touch P`",
    "cat <(touch P)",
    "echo x > >(touch P)",
    "echo \"$(touch P)\"",
    "echo \"`touch P`\"",
    "cat <<EOF\n$(touch P)\nEOF",
    "cat <<EOF | sh\ntouch P\nEOF",
    "cat <<-EOF\n\t`touch P`\n\tEOF",
    "echo x > P",
    "echo x >> P",
    "echo x >| P",
    "echo x &> P",
    "echo x &>> P",
    "echo x 3> P",
    "ls . 2> P",
    "ls <> P",
    "cat < /etc/passwd",
    "> P",
    ": > P",
    "echo $((a[$(touch P)]))",
    "x='a[$(touch P)]'; echo $((x))",
    "x='a[$(touch P)]'; [[ $x -eq 0 ]]",
    "((a[$(touch P)]))",
    "for ((i=0; i<a[$(touch P)]; i++)); do ls; done",
    "ls(){ touch P; }; ls .",
    "function ls { touch P; }; ls .",
    "alias ls='touch P'; ls .",
    "{ ls .; touch P; }",
    "(ls .; touch P)",
    "if ls .; then touch P; fi",
    "if touch P; then ls .; fi",
    "for f in $(touch P); do ls; done",
    "while touch P; do break; done",
    "until touch P; do ls; done",
    "case $(touch P) in *) ls;; esac",
    "case x in x) touch P;; esac",
    "! touch P",
    "time touch P",
    "coproc touch P",
    "coproc x { touch P; }",
    "x=$(touch P)",
    "a=($(touch P)); ls .",
    "export X=$(touch P)",
    "echo ${zz:-$(touch P)}",
    "echo ${x@P}",
    "ls .;touch${IFS}P",
    "ls . ;to\\\nuch P",
    "ls \\\n; touch P",
    "ls .; ls .; ls .; touch P",
    "PS4='$(touch P)'; set -x; ls .",
    "ls --\ntouch P",
    "ls . ; touch P #'",
    "test -v 'a[$(touch P)]'; ls .",
    "[ -v 'a[$(touch P)]' ]",
    "[[ -v a[$(touch P)] ]]",
    "let 'a[$(touch P)]=1'; ls .",
    "printf -v 'a[$(touch P)]' x",
    "echo ok; eval \"tou\"\"ch P\"",
    "ls .\u{b}touch; touch P",
    "ls \u{202e}; touch P",
    "ls\u{a0}touch P",
    "trap 'touch P' EXIT; ls",
    "PATH=.:$PATH ls",
    "LD_PRELOAD=./x.so ls",
    "GIT_EXTERNAL_DIFF='touch P' git diff",
    "git() { touch P; }; git status",
    "exec touch P",
    "command touch P",
    "builtin eval touch P",
    "{touch,P}",
    "/???/touch P",
    "$'touch' P",
    "\"touch\" P",
    "$x P",
    "ls; . ./x.sh",
    "source <(echo touch P)",
    "unset 'a[$(touch P)]'",
    "declare 'a[$(touch P)]=1'",
    "a[$(touch P)]=1",
    "git log $x",
    "git diff --output=P",
    "git diff --outp P",
    "git log --ext-diff",
    "git -c core.fsmonitor='touch P' status",
    "git --exec-path=. status",
    "git config alias.x '!touch P'",
    "git log *",
    "git grep -Oless x",
    "git archive -o P HEAD",
    "git bisect run touch P",
    "git submodule foreach touch P",
    "git rebase --exec 'touch P' HEAD~1",
    "git rebase -x 'touch P' HEAD~1",
    "git clone -u 'touch P' x y",
    "git fetch --upload-pack='touch P'",
    "git -p log $(touch P)",
    "./git status",
    "/tmp/ls .",
    "sub/ls .",
];

#[test]
fn a_rule_for_one_simple_command_covers_nothing_else() {
    let place = Place::new();
    let allow = rules(&[
        "*: deny",
        "git *: allow",
        "ls *: allow",
        "cat *: allow",
        "echo *: allow",
        "printf *: allow",
        "test *: allow",
    ]);
    let allowed: Vec<&&str> = MORE_THAN_ALLOWED
        .iter()
        .filter(|script| decided(&place.workspace, &allow, script) == Effect::Allow)
        .collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_rule_for_one_simple_command_covers_it() {
    let place = Place::new();
    let allow =
        rules(&["*: deny", "git *: allow", "ls *: allow", "cat *: allow", "echo *: allow", "cargo *: allow"]);
    let scripts = [
        "git status",
        "git status -s; ls -la sub && cat f.txt",
        "git log --oneline -n5 | cat",
        "ls *.txt",
        "ls 2>/dev/null",
        "cargo test --all 2>&1 | cat",
        "(ls; ls sub) | cat",
        "if ls f.txt; then cat f.txt; fi",
        "for f in a b; do ls; done",
        "while ls x; do cat x; done",
        "echo 'a; b' \"c && d\" e\\ f # touch",
        "echo a\\\n b",
        "! ls x",
        "cd sub && ls",
        "[ -f x ] && cat x",
        "git commit -m 'fix; rm temp'",
        "\"git\" status",
        "{ ls; cat f.txt; }",
        "echo ~ ~/x $HOME/y",
        "git commit -m \"line one\nline two\"",
        "ls &\ncat f.txt",
        "",
        "# nothing",
    ];
    let refused: Vec<&&str> =
        scripts.iter().filter(|script| decided(&place.workspace, &allow, script) != Effect::Allow).collect();
    // Two of them leave the workspace by naming the home directory only as text.
    assert!(refused.is_empty(), "{refused:#?}");
}

/// What runs `touch` in another way than by its name.
const DENIED: &[&str] = &[
    "touch P",
    "touch\tP",
    "/usr/bin/touch P",
    "\\touch P",
    "'touch' P",
    "to''uch P",
    "$'to\\x75ch' P",
    "command touch P",
    "command -p touch P",
    "builtin command touch P",
    "env touch P",
    "env -i X=1 touch P",
    "env -u A -C /tmp touch P",
    "env -S 'touch P'",
    "X=1 touch P",
    "bash -c 'touch P'",
    "sh -ec 'touch P'",
    "bash -c \"bash -c 'touch P'\"",
    "bash --norc -c 'ls; touch P'",
    "$(echo touch) P",
    "echo P | xargs touch",
    "xargs -n 1 -I{} touch {} < f.txt",
    "find . -maxdepth 0 -exec touch P ';'",
    "find . -execdir touch {} +",
    "echo dG91Y2ggUFdORUQ= | base64 -d | sh",
    "bash < f.txt",
    "bash <<< 'touch P'",
    "bash <<EOF\ntouch P\nEOF",
    "eval to''uch P",
    "eval \"$x\"",
    "to\\\nuch P",
    "c=TOUCH; ${c,,} P",
    "sudo touch P",
    "sudo -u root -n touch P",
    "doas -u root touch P",
    "timeout 5 touch P",
    "timeout -k 3 5s touch P",
    "nice -n 5 touch P",
    "nice touch P",
    "nohup touch P &",
    "setsid -f touch P",
    "stdbuf -oL touch P",
    "time -p touch P",
    "watch -n1 touch P",
    "busybox touch P",
    "exec touch P",
    "exec -a x touch P",
    "chroot / touch P",
    "flock x touch P",
    "flock x -c 'touch P'",
    "parallel touch ::: P",
    "trap 'touch P' EXIT",
    "f() { touch P; }; f",
    "alias t='touch P'",
    "python3 -c 'import os; os.system(\"touch P\")'",
    "perl -e 'system(\"touch P\")'",
    "awk 'BEGIN{system(\"touch P\")}'",
    "node -e 'x'",
    "ssh host touch P",
    "git -c alias.z='!touch P' z",
    "git rebase --exec 'touch P' HEAD~1",
    "git bisect run touch P",
    "{touch,P}",
    "/usr/bin/tou?h P",
    "tou* P",
    "true; true; true; touch P",
    "x=touch; $x P",
    "if false; then touch P; fi",
    "echo $(touch P)",
    "echo \"${x:-$(touch P)}\"",
    "cat <<EOF\n`touch P`\nEOF",
    "source <(echo touch P)",
    "su -c 'touch P'",
    "ls \"w\"\n\\touch P",
    "time A=1 touch P",
    "ls `A=\"x\"\\y touch P`",
    "export A=1\n\\touch P",
    "cd \"sub\"\n\\touch P",
    "[ a ]\n\\touch P",
    "A=\"x\"\n\\touch P",
    "ls ${z-`touch P`}",
    "ls ${z:=$(touch P)}",
    "A=${z-`touch P`} ls",
    "ionice -c 3 touch P",
    "env bash -c 'timeout 3 nice touch P'",
];

#[test]
fn a_denied_command_is_found_however_it_is_run() {
    let place = Place::new();
    let deny = rules(&["*: allow", "touch: deny", "touch *: deny"]);
    let allowed: Vec<&&str> =
        DENIED.iter().filter(|script| decided(&place.workspace, &deny, script) == Effect::Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
    let others = [
        "ls -la",
        "echo touch P",
        "git status",
        "echo $x",
        "for f in *; do cat \"$f\"; done",
        "make test",
        "./run.sh",
    ];
    for script in others {
        assert_eq!(decided(&place.workspace, &deny, script), Effect::Allow, "{script}");
    }
}

/// Commands that are allowed by name, each with what its options make it do.
const GADGETS: &[&str] = &[
    "find . -maxdepth 1 -name f.txt -exec touch P ';'",
    "find . -delete",
    "find . -maxdepth 0 -fprintf P x",
    "find . -fls P",
    "rg --pre ./x.sh data f.txt",
    "rg --pre=./x.sh data f.txt",
    "rg data *",
    "sort -o P f.txt",
    "sort -oP f.txt",
    "sort -no P f.txt",
    "sort --outp=P f.txt",
    "sort --compress-program=./x f.txt",
    "sed 'w P' f.txt",
    "sed '1e touch P' f.txt",
    "sed 's/a/b/e' f.txt",
    "sed 's/a/b/w P' f.txt",
    "sed -n --in-place=.P p f.txt",
    "sed -i s/a/b/ f.txt",
    "sed -ni p f.txt",
    "sed -e p -e 'w P' f.txt",
    "sed -ne 'w P' f.txt",
    "sed -f x f.txt",
    "sed '/a/,/b/w P' f.txt",
    "sed 's/[/]/x/w P' f.txt",
    "sed -- 'w P' f.txt -e p",
    "sed --exp='w P' f.txt",
    "sed --expr 'w P' f.txt",
    "sed 's/[]/a/;/]/p;/w P' f.txt",
    "sed 's/[^]/]/x/;w P' f.txt",
    "sed 's/[[:digit:]/]/x/w P' f.txt",
    "awk -nv a=1 'BEGIN{system(\"x\")}'",
    "awk --assig a=1 'BEGIN{system(\"x\")}'",
    "awk -bF : 'BEGIN{system(\"x\")}'",
    "sed 'r /etc/passwd' f.txt",
    "awk 'BEGIN{system(\"touch P\")}'",
    "awk 'BEGIN{print \"x\" > \"P\"}'",
    "awk 'BEGIN{\"touch P\" | getline}'",
    "awk -f x.awk f.txt",
    "awk -v x=1 '{print | \"sh\"}'",
    "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch P' f.txt",
    "tar cf P f.txt",
    "tar -xf a.tar --to-command=./x.sh",
    "tar -tIf ./x a.tar",
    "tar tIf ./x a.tar",
    "uniq f.txt P",
    "shuf -o P f.txt",
    "python3 -m json.tool /dev/null P",
    "python3 -c 'x'",
    "python3 -ic 'x'",
    "echo x | python3",
    "python3 -",
    "make -n SHELL=./x",
    "make --eval='$(shell touch P)'",
    "make -f evil.mk",
    "rustc -gClinker=./x x.rs",
    "rustc -gC linker=./x x.rs",
    "rustdoc -gClinker=./x x.rs",
    "clippy-driver -OClinker=./x x.rs",
    "awk 'BEGIN{print \"x\",\n\n\"y\" > \"P\"}'",
    "awk 'BEGIN{print \"x\", # a\n# b\n\"y\" > \"P\"}'",
    "split --filter=./x f.txt",
    "curl -o P http://e.test",
    "curl -sSLo P http://e.test",
    "curl -K conf http://e.test",
    "wget -O P http://e.test",
    "dd if=f.txt of=P",
    "rsync -e ./x a b",
    "ssh -o ProxyCommand='touch P' h",
    "man -P ./x ls",
    "less +!touch f.txt",
    "vim -c '!touch P' f.txt",
    "perl -ne 'x' f.txt",
    "perl -pi -e 's/a/b/' f.txt",
    "node --eval x",
    "npm exec x",
    "xargs rm",
    "env FOO=1 ls",
    "env -S 'touch P'",
    "tee P",
    "cargo --config x build",
    "go test -exec ./x",
    "git ls-remote --upload-pack=./x .",
];

#[test]
fn a_trailing_star_does_not_cover_what_executes_or_writes() {
    let place = Place::new();
    let allowed: Vec<&&str> = GADGETS
        .iter()
        .filter(|script| {
            let name = script.split(' ').find(|word| !word.contains('=')).unwrap();
            let rule = format!("{name} *: allow");
            let rules = rules(&["*: deny", &rule, "python3 *: allow", "echo *: allow"]);
            decided(&place.workspace, &rules, script) == Effect::Allow
        })
        .collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_trailing_star_covers_the_rest() {
    let place = Place::new();
    let scripts = [
        "find . -name '*.rs' -type f",
        "rg -n data f.txt",
        "rg --pretty data sub",
        "sort -k2,2 -n f.txt",
        "sed -n 1,20p f.txt",
        "sed 's/a/b/g; s/c/d/' f.txt",
        "sed -e 's/a/b/' -e '/x/d' f.txt",
        "awk '{print $1}' f.txt",
        "awk -F: '/x/ {print $2}' f.txt",
        "awk '/[[:space:]]+|[a-z]/ {print $2}' f.txt",
        "rustc -gO --edition 2024 x.rs",
        "tar -tf a.tar",
        "uniq -c",
        "git log --oneline",
        "git diff HEAD~1 -- f.txt",
        "git commit -am fix",
        "python3 x.py --verbose",
        "make test",
        "npm run build",
        "cargo test -p haft",
        "curl -sS http://e.test",
        "wc -l *.txt",
        "go test ./...",
        "node x.js",
    ];
    for script in scripts {
        let name = script.split(' ').next().unwrap();
        let rules = rules(&["*: deny", &format!("{name} *: allow")]);
        assert_eq!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
}
