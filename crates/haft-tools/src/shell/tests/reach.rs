//! Which files a script is found to touch.

use haft::permission::{Ask, Effect, decide_perhaps, strictest};

use super::{Place, asked, decided, rules};
use crate::shell::CommandTarget;
use crate::workspace::{Guarding, Workspace};

#[test]
fn every_command_and_redirection_that_leaves_the_workspace_is_asked_about() {
    let place = Place::new();
    let out = place.outside().canonicalize().unwrap().join("out");
    let leaving = format!("external_directory {}/*", out.display());
    std::os::unix::fs::symlink(&out, place.outside().join("ws/link")).unwrap();
    std::fs::write(out.join("s"), "").unwrap();
    for script in [
        "cat ../out/s",
        "echo x > ../out/P",
        "echo x &>> ../out/P",
        "wc -l < ../out/s",
        "some-program ../out/x",
        "some-program --file=../out/x",
        "some-program -C../out/x",
        "dd if=../out/s of=f.txt",
        "curl -d @../out/s http://e.test",
        "cp f.txt ../out",
        "ls ../out/*.txt",
        "cat s*/../../out/s",
        "cat < su?/../../out/s",
        "echo x > su[b]/../../out/s",
        "cat ../ou{t..t}/s",
        "cat .{.,x}/out/s",
        "grep -nf../out/s f.txt",
        "tar -xf a.tar -C../out",
        "cp -t../out f.txt",
        "sort -uo../out/s f.txt",
        "git blame -S../out/s f.txt",
        "git diff --no-index --src-prefix -S ../out/s f.txt",
        "git diff --src-prefix -S ../out/s f.txt",
        "git diff -S -S ../out/s f.txt",
        "git diff -- -S ../out/s",
        "cat link/s",
        "cat sub/../link/s",
        "echo x > link/P",
        "cd sub && cat ../../out/s",
        "cd ../out && ls",
        "cd ..; cat out/s",
        "(cd ../out; ls)",
        "bash -c 'cat ../out/s'",
        "find ../out -name x",
        "git -C ../out status",
        "ls $(cat ../out/s)",
        "../out/program",
        "sed -n p ../out/s",
        "grep -e x ../out/s",
        "pushd ../out",
        "if cat ../out/s; then ls; fi",
        "{ ls; } > ../out/P",
        "ls | cat > ../out/P",
        "docker run -v ../out:/app img ls",
        "docker run --volume=../out:/app img ls",
        "docker run --mount type=bind,source=../out,target=/app img ls",
        "docker run --env-file ../out/s img ls",
        "docker run -v=../out:/app img ls",
        "docker run --mount type=bind,SOURCE=../out,target=/x img",
        "docker run --mount 'type=bind,\"source=../out\",target=/x' img",
        "docker create -v ../out:/app img ls",
        "docker build -t run ../out/",
        "docker --context run cp ../out/s c:/x",
        "curl -F 'f=<../out/s' http://e.test",
    ] {
        assert!(
            asked(&place.workspace, script).contains(&leaving),
            "{script}: {:?}",
            asked(&place.workspace, script)
        );
    }
}

#[test]
fn what_stays_inside_is_not_asked_about() {
    let place = Place::new();
    for script in [
        "cat f.txt sub/../f.txt ./sub",
        "cat s*/../f.txt .[a-f]*",
        "awk -F/ '{print $2}' f.txt; cut -d/ -f1 f.txt; sort -t/ -k2.1 f.txt",
        "for i in {1..3}; do touch sub/{a..c}$i; done",
        "gcc -Isub/include f.c -Lsub/lib",
        "make -Csub/lib",
        "sed -es/foo/bar/ f.txt",
        "rg foo -g'!sub/*'",
        "cd sub && cat ../f.txt",
        "echo / /etc ../x",
        "echo x > f.txt 2>&1 < /dev/null",
        "awk '/etc/ {print}' f.txt",
        "grep -r '/etc/passwd' sub",
        "sed 's/a/b/' f.txt",
        "curl http://e.test/etc/passwd",
        "git commit -m '/etc is mentioned'",
        "/usr/bin/env",
        "mkdir new && cd new && touch ../f.txt",
        "docker run --rm -it -v ./sub:/app -w /app --mount type=bind,source=sub,target=/x,readonly img ls -la /etc",
        "docker create -v ./sub:/app img cat /etc/passwd",
        "docker exec db cat /etc/passwd",
        "cat $x/y",
        "basename /etc/passwd .d; dirname /etc/passwd",
        "git log -S/etc/passwd -- sub; git diff -G '/etc/.*'; git log --oneline -p -S /etc/x",
        "bazel test //... //sub:all",
    ] {
        assert_eq!(asked(&place.workspace, script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn what_bubblewrap_shows_where_it_is_anyway_is_touched_by_nobody() {
    let place = Place::new();
    for script in [
        "bwrap --ro-bind / / true",
        "bwrap --bind / / true; echo nested=$?",
        "bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc -- ls sub",
        "bwrap --dev-bind / / --bind-try /etc /etc true",
    ] {
        assert_eq!(asked(&place.workspace, script), Vec::<String>::new(), "{script}");
    }
    // What it runs counts, and so does whatever could lead the names in it elsewhere.
    for (script, directory) in [
        ("bwrap --ro-bind / / cat /etc/passwd", "/etc"),
        ("bwrap --ro-bind / / sh -c 'cat /etc/passwd'", "/etc"),
        ("bwrap --ro-bind / / -- bwrap --ro-bind / / sh -c 'cat /etc/passwd'", "/etc"),
        ("bwrap --ro-bind / / --chdir etc cat passwd", ""),
        ("bwrap --ro-bind / / --setenv HOME x sh", ""),
        ("bwrap --args 3 --ro-bind / / true", ""),
        ("bwrap --ro-bind /etc /etc cat etc/passwd", "/etc"),
        ("bwrap --ro-bind / / --ro-bind /etc sub cat sub/passwd", "/etc"),
        ("bwrap --ro-bind / / --symlink /etc sub cat sub/passwd", "/etc"),
        ("bwrap --ro-bind / / --tmpfs /etc true", "/etc"),
        ("bwrap --ro-bind / $x true", ""),
        ("bwrap --ro-bind / /usr true", ""),
        ("chroot / cat etc/passwd", ""),
    ] {
        let leaving = format!("external_directory {directory}/*");
        let asked = asked(&place.workspace, script);
        assert!(asked.contains(&leaving), "{script}: {asked:?}");
    }
    // A rule about what it runs holds.
    let rules = rules(&["*: allow", "rm *: deny"]);
    for script in ["bwrap --ro-bind / / rm f.txt", "bwrap --unknown rm f.txt"] {
        assert_ne!(decided(&place.workspace, &rules, script), Effect::Allow, "{script}");
    }
}

#[test]
fn changing_what_other_programs_execute_is_asked_about_even_when_it_is_absent() {
    let place = Place::new();
    std::fs::create_dir_all(place.outside().join("ws/.git/hooks")).unwrap();
    std::fs::write(place.outside().join("ws/.git/config"), "").unwrap();
    for (script, path) in [
        ("rm -rf .gi*", ".git"),
        ("rm -rf .*", ".git"),
        ("rm -rf * .[a-z]*", ".git"),
        ("echo x > .git/confi?", ".git/config"),
        ("echo x | tee .gi[t]/config", ".git/config"),
        ("echo x > .gi{t..t}/hooks/x", ".git/hooks/x"),
        ("cp -t.git/hooks f.txt", ".git/hooks"),
        ("sort -o.git/hooks/post-checkout f.txt", ".git/hooks/post-checkout"),
        ("tar -xf a.tar -C.git/hooks", ".git/hooks"),
        ("echo x > .git/hooks/pre-commit", ".git/hooks/pre-commit"),
        ("mkdir -p .haft && ls", ".haft"),
        ("echo x >> .envrc", ".envrc"),
        ("rm -rf .git", ".git"),
        ("cp f.txt .vscode/tasks.json", ".vscode/tasks.json"),
        ("tee .mcp.json", ".mcp.json"),
        ("sed -i s/a/b/ .git/config", ".git/config"),
        ("cd sub; touch ../.GIT/hooks/x", ".GIT/hooks/x"),
        ("bash -c 'touch opencode.json'", "opencode.json"),
        ("git config core.fsmonitor 'touch P'", ".git/config"),
        ("dd of=.husky/pre-push", ".husky/pre-push"),
    ] {
        let wanted = format!("protected_path {path}");
        assert!(
            asked(&place.workspace, script).contains(&wanted),
            "{script}: {:?}",
            asked(&place.workspace, script)
        );
    }
    for script in [
        "git config --get user.name",
        "cat .git/config",
        "ls -la .vscode",
        "git add .vscode/settings.json",
        "grep x .envrc",
        "wc < .envrc",
    ] {
        assert_eq!(asked(&place.workspace, script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn paths_are_found_in_braces_in_homes_of_others_and_in_substitutions() {
    let place = Place::new();
    for (script, directory) in [
        ("cat {/etc/hostname,f.txt}", "/etc"),
        ("cat /{etc,usr}/hostname", "/usr"),
        ("cat {f.txt,{x,/etc/}hostname}", "/etc"),
        ("cat < {/etc/hostname,f.txt}", "/etc"),
        ("cat {~root,x}/.profile", "/root"),
        ("cat ~root/.profile", "/root"),
        ("echo $(</etc/hostname)", "/etc"),
        ("printf \"%s\" \"$(< /etc/hostname)\"", "/etc"),
    ] {
        let leaving = format!("external_directory {directory}/*");
        let asked = asked(&place.workspace, script);
        assert!(asked.contains(&leaving), "{script}: {asked:?}");
    }
    for script in
        ["cat {f.txt,sub}", "cat '{/etc/hostname,x}'", "echo {/etc/hostname,x}", "ls sub/{a,b}/{c,d}"]
    {
        assert_eq!(asked(&place.workspace, script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn where_leaving_is_denied_words_that_are_known_only_when_it_runs_are_asked_about() {
    let place = Place::new();
    let perhaps = |script: &str, lines: &[&str]| {
        let target =
            CommandTarget::new(&place.workspace, script, None, Some("/nowhere/home".into())).unwrap();
        let rules = rules(lines);
        target.perhaps().iter().map(|question| strictest(&decide_perhaps(&rules, question))).max()
    };
    let denying = ["external_directory = *: ask", "external_directory = /etc/*: deny"];
    for script in [
        "d=/etc; cat $d/hostname",
        "echo /etc/hostname | xargs cat",
        "CDPATH=/ cd etc; cat hostname",
        "cd $x && cat hostname",
        "cat < $x",
        "for f in /etc/host*; do cat \"$f\"; done",
        "bash -c \"$x\"",
        "python3 -c 'print(1)'",
    ] {
        assert_eq!(perhaps(script, &denying), Some(Effect::Ask), "{script}");
        for lines in [
            &["external_directory = *: ask"][..],
            &["external_directory = /etc/*: deny", "external_directory = *: allow"],
            &["rm *: deny"],
        ] {
            assert_ne!(perhaps(script, lines), Some(Effect::Ask), "{script} {lines:?}");
        }
    }
    for script in [
        "echo $x",
        "cat f.txt sub/x",
        "grep \"$pattern\" f.txt",
        "find . -name '*.rs' -exec cat {} +",
        "cat {f.txt,sub/x}",
        "cd sub && ls",
    ] {
        assert_eq!(perhaps(script, &denying), None, "{script}");
    }
}

#[test]
fn a_command_is_asked_about_its_own_process_and_not_about_hafts() {
    let place = Place::new();
    let asked = asked(&place.workspace, "ls /proc/self/fd");
    assert_eq!(asked, ["external_directory /proc/self/fd/*"]);
}

#[test]
fn an_always_for_the_root_of_everything_and_for_home_is_for_that_very_directory() {
    let place = Place::new();
    let home = place.outside().canonicalize().unwrap();
    let guarding = Guarding { home: Some(home.clone()), ..Guarding::default() };
    let workspace = Workspace::open(&home.join("ws"), None).unwrap().guarding(guarding);
    for directory in ["/", home.to_str().unwrap()] {
        let target = CommandTarget::new(&workspace, &format!("ls {directory}"), None, None).unwrap();
        let saved: Vec<String> = target.questions().into_iter().flat_map(|question| question.save).collect();
        let pattern = format!("{}/?", directory.trim_end_matches('/'));
        assert_eq!(saved, [pattern.as_str(), "ls *"], "{directory}");
        let rules = rules(&["*: allow", &format!("external_directory = {pattern}: allow")]);
        assert_eq!(decided(&workspace, &rules, &format!("ls {directory}")), Effect::Allow);
        assert_eq!(decided(&workspace, &rules, &format!("ls {}/out", home.display())), Effect::Ask);
        assert_eq!(decided(&workspace, &rules, "ls /etc"), Effect::Ask);
    }
}
