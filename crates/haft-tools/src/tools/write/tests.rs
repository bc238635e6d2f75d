//! What writing does, and what it refuses.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use expect_test::expect;
use serde_json::{Value, json};

use crate::testing::Bench;

fn input(path: &str, content: &str) -> Value {
    json!({"filePath": path, "content": content})
}

#[test]
fn creates_and_replaces() {
    let bench = Bench::new();
    let new = bench.completed("write", input("src/ui/n.txt", "Hello!\nLine 2"));
    assert_eq!((new.text().as_str(), new.title.as_str()), ("Wrote file successfully.", "src/ui/n.txt"));
    assert_eq!(new.metadata["exists"], false);
    assert_eq!(new.metadata["filepath"], bench.path("src/ui/n.txt").to_str().unwrap());
    assert_eq!(bench.text("src/ui/n.txt"), "Hello!\nLine 2");

    let old = bench.completed("write", json!({"path": "x/../src/ui/n.txt", "contents": "A\r\nB"}));
    assert_eq!(old.metadata["exists"], true);
    assert!(old.metadata["diff"].as_str().unwrap().contains("-Hello!\n"));
    assert_eq!(bench.text("src/ui/n.txt"), "A\r\nB");
    assert!(!bench.path("x").exists());
    bench.check_no_residue();
}

#[test]
fn the_diff_is_shown_before_it_happens() {
    let bench = Bench::new();
    bench.file("a.txt", "one\ntwo\n");
    bench.check_questions(
        "write",
        input("a.txt", "one\n2\n"),
        expect![[r#"
        edit on a.txt = $ws/a.txt (always: *)
        replace a.txt
        --- $ws/a.txt
        +++ $ws/a.txt
        @@ -1,2 +1,2 @@
         one
        -two
        +2
    "#]],
    );
    assert_eq!(bench.text("a.txt"), "one\ntwo\n");
}

#[test]
fn a_byte_order_mark_is_kept_exactly_once() {
    let cases = [
        (Some("\u{feff}old"), "new", "\u{feff}new"),
        (Some("\u{feff}old"), "\u{feff}new", "\u{feff}new"),
        (Some("old"), "new", "new"),
        (None, "\u{feff}new", "\u{feff}new"),
        (Some(""), "", ""),
    ];
    for (before, content, after) in cases {
        let bench = Bench::new();
        if let Some(before) = before {
            bench.file("a.cs", before);
        }
        bench.completed("write", input("a.cs", content));
        assert_eq!(bench.text("a.cs"), after);
    }
}

#[test]
fn what_would_be_damaged_is_refused() {
    let bench = Bench::new();
    fs::create_dir(bench.path("d")).unwrap();
    let path = bench.file("ro.txt", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::hard_link(bench.file("one", "x"), bench.path("two")).unwrap();
    bench.file("file", "x");
    bench.check("write", input("d", "x"), expect!["rejected: d is a directory, not a file"]);
    bench.check(
        "write",
        input("ro.txt", "x"),
        expect!["rejected: ro.txt is read-only; change its mode first if it is meant to be written"],
    );
    bench.check(
        "write",
        input("two", "y"),
        expect!["rejected: two has 2 hard links; replacing it would change only one of them"],
    );
    bench.check(
        "write",
        input("file/below", "y"),
        expect!["rejected: could not write file/below: Not a directory (os error 20)"],
    );
    bench.check("write", input("new/", "y"), expect!["rejected: new/ is a directory, not a file"]);
    bench.check("write", input(".", "y"), expect!["rejected: . is a directory, not a file"]);
    bench.check("write", input("", "y"), expect!["rejected: the path is empty; name a file or a directory"]);
    bench.check("write", input(&"a".repeat(300), "y"), expect!["rejected: could not resolve $ws/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: File name too long (os error 36)"]);
    bench.check("write", input("/proc/self/oom_score_adj", "y"), expect!["rejected: /proc/self/oom_score_adj belongs to the kernel's interfaces (/proc, /sys, /dev), which file tools do not touch"]);
    bench.check("write", input("/proc/haft", "y"), expect!["rejected: /proc/haft belongs to the kernel's interfaces (/proc, /sys, /dev), which file tools do not touch"]);
    assert_eq!((bench.text("ro.txt").as_str(), bench.text("one").as_str()), ("old", "x"));
    bench.check_no_residue();
}

#[test]
fn mode_owner_and_link_are_kept() {
    let bench = Bench::new();
    let path = bench.file("run.sh", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    bench.link("link", "run.sh");
    let before = fs::metadata(&path).unwrap();
    bench.completed("write", input("link", "new"));
    let after = fs::metadata(&path).unwrap();
    assert_eq!(after.mode() & 0o7777, 0o751);
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!(bench.text("run.sh"), "new");
    assert!(fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
}

#[test]
fn a_dangling_link_is_filled_in() {
    let bench = Bench::new();
    bench.link("link", "deep/target.txt");
    bench.completed("write", input("link", "x"));
    assert_eq!(bench.text("deep/target.txt"), "x");
}

#[test]
fn what_changed_since_it_was_read_is_not_overwritten() {
    let bench = Bench::new();
    bench.file("a.txt", "one");
    bench.completed("write", input("a.txt", "two"));
    bench.completed("write", input("a.txt", "three"));
    bench.file("a.txt", "somebody else's");
    bench.check(
        "write",
        input("a.txt", "four"),
        expect!["rejected: a.txt has been modified since it was last read; read it again before writing"],
    );
    bench.completed("read", json!({"filePath": "a.txt"}));
    bench.completed("write", input("a.txt", "four"));
    fs::remove_file(bench.path("a.txt")).unwrap();
    bench.completed("write", input("a.txt", "five"));
    assert_eq!(bench.text("a.txt"), "five");
}

#[test]
fn rules_hold_for_every_name_of_a_file() {
    let bench = Bench::new();
    bench.file("gen/a.txt", "old");
    bench.link("link", "gen/a.txt");
    for (action, pattern) in [("edit", "gen/*"), ("edit", "*/gen/*"), ("edit", "link"), ("edit", "*")] {
        let denied = bench.denying(&[(action, pattern)]);
        assert!(denied.rejected("write", input("link", "new")).contains("permission denied"), "{pattern}");
    }
    let allowed = bench.denying(&[("edit", "other/*"), ("external_directory", "*")]);
    allowed.completed("write", input("link", "new"));
    assert_eq!(bench.text("gen/a.txt"), "new");
}

#[test]
fn nothing_leaves_the_workspace_without_consent() {
    let bench = Bench::new();
    fs::write(bench.outside("victim"), "orig").unwrap();
    bench.link("d", bench.outside(""));
    bench.link("l", "../out/victim");
    bench.link("dangling", "../out/new");
    let denied = bench.denying(&[("external_directory", "*")]);
    let absolute = bench.outside("new");
    for path in ["../out/new", "d/deep/er/new", "l", "dangling", absolute.to_str().unwrap(), "../ws-evil/new"]
    {
        let why = denied.rejected("write", input(path, "EVIL"));
        assert!(why.contains("external_directory"), "{path}: {why}");
    }
    assert_eq!(fs::read_to_string(bench.outside("victim")).unwrap(), "orig");
    assert_eq!(fs::read_dir(bench.outside("")).unwrap().count(), 1);

    bench.check_questions(
        "write",
        input("d/deep/new", "x"),
        expect![[r#"
        external_directory on $out/deep/* (always: $out/deep/*)
        edit on $out/deep/new, d/deep/new = $ws/d/deep/new (always: *)
        create d/deep/new
        --- $ws/d/deep/new
        +++ $ws/d/deep/new
        @@ -0,0 +1,1 @@
        +x
        \ No newline at end of file
    "#]],
    );
    bench.completed("write", input("d/deep/new", "x"));
    assert_eq!(fs::read_to_string(bench.outside("deep/new")).unwrap(), "x");
}

#[test]
fn protected_paths_need_their_own_consent() {
    let bench = Bench::new();
    bench.file(".git/config", "[core]\n\thooksPath = tools/hooks\n");
    bench.file("tools/hooks/x", "");
    bench.link("harmless", ".git/hooks");
    let denied = bench.denying(&[("protected_path", "*")]);
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        ".g\u{200c}it/config",
        "git~1/config",
        "sub/.git",
        ".git/modules/a/config",
        ".git/info/attributes",
        ".gitmodules",
        ".haft/haft.json",
        ".opencode/agent/a.md",
        ".opencode/plans/deep/x",
        "opencode.json",
        "a/OpenCode.jsonc",
        "haft.jsonc",
        ".mcp.json",
        ".vscode/tasks.json",
        ".idea/x",
        ".zed/x",
        ".cursor/x",
        ".claude/x",
        ".codex/x",
        ".gemini/x",
        ".agents/x",
        ".envrc",
        ".husky/x",
        ".bashrc",
        "home/.zshrc",
        ".npmrc",
        "tools/hooks/pre-push",
        "harmless/pre-commit",
        ".vscode",
    ] {
        let why = denied.rejected("write", input(path, "x"));
        assert!(why.contains("permission denied: protected_path"), "{path}: {why}");
    }
    for path in
        [".opencode/plans/a.md", ".github/x", ".gitignore", ".gitattributes", ".git/description", "vscode/x"]
    {
        denied.completed("write", input(path, "x"));
    }
    bench.check_questions("write", input("harmless/pre-commit", "x"), expect![[r#"
        protected_path on .git/hooks/pre-commit = $ws/.git/hooks/pre-commit, harmless/pre-commit = $ws/harmless/pre-commit (always: .git/hooks/pre-commit, harmless/pre-commit)
        edit on .git/hooks/pre-commit = $ws/.git/hooks/pre-commit, harmless/pre-commit = $ws/harmless/pre-commit (always: *)
        create harmless/pre-commit
        --- $ws/harmless/pre-commit
        +++ $ws/harmless/pre-commit
        @@ -0,0 +1,1 @@
        +x
        \ No newline at end of file
    "#]]);
}

#[test]
fn a_star_in_a_name_is_no_wildcard() {
    let bench = Bench::new();
    fs::create_dir(bench.outside("*")).unwrap();
    bench.check_questions(
        "write",
        input("../out/*/.vscode/*", ""),
        expect![[r#"
        external_directory on $out/*/.vscode/* (always: $out/?/.vscode/*)
        protected_path on $out/*/.vscode/* (always: $out/?/.vscode/?)
        edit on $out/*/.vscode/* (always: *)
        create $out/*/.vscode/*
    "#]],
    );
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let bench = Bench::new();
    let name = format!("made/{}", "a".repeat(300));
    bench.rejected("write", input(&name, "x"));
    assert!(!bench.path("made").exists());
    bench.check_no_residue();
}
