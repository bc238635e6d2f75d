//! Which files a script is found to touch.

use haft::permission::Effect;

use super::{Place, asked, decided, rules};

#[test]
fn every_command_and_redirection_that_leaves_the_workspace_is_asked_about() {
    let place = Place::new();
    let out = place.outside().canonicalize().unwrap().join("out");
    let leaving = format!("external_directory {}/*", out.display());
    std::os::unix::fs::symlink(&out, place.outside().join("ws/link")).unwrap();
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
        "cat $x/y",
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
    for (script, path) in [
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
