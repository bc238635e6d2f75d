//! Tests of `apply_patch`: several files change together or not at all, and nobody sees what they may not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};

use crate::testing::Bench;

fn patch(body: &str) -> Value {
    json!({ "patchText": format!("*** Begin Patch\n{body}\n*** End Patch") })
}

const ALL: &str = "\
*** Update File: a.txt
@@
-one
+eins
*** Add File: new/b.txt
+b
*** Delete File: gone.txt
*** Update File: run.sh
*** Move to: bin/run.sh
@@
-echo
+echo moved";

fn scene() -> Bench {
    let bench = Bench::new();
    bench.file("a.txt", "one\r\ntwo\r\n");
    bench.file("gone.txt", "gone\n");
    let script = bench.file("run.sh", "echo\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    bench
}

fn mode(bench: &Bench, name: &str) -> u32 {
    fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_change_together_and_undo_takes_all_of_it_back() {
    let bench = scene();
    bench.check(
        "apply_patch",
        patch(ALL),
        expect![[r#"
            title: Success. Updated the following files:
            M a.txt
            A new/b.txt
            D gone.txt
            M bin/run.sh
            Success. Updated the following files:
            M a.txt
            A new/b.txt
            D gone.txt
            M bin/run.sh"#]],
    );
    assert_eq!(bench.text("a.txt"), "eins\r\ntwo\r\n");
    assert_eq!((bench.text("bin/run.sh").as_str(), mode(&bench, "bin/run.sh")), ("echo moved\n", 0o755));
    assert!(!bench.path("run.sh").exists() && !bench.path("gone.txt").exists());
    bench.check_no_residue();

    let bench = scene();
    let call = bench.made("apply_patch", patch(ALL));
    bench.made("undo", json!({ "calls": [call.as_str()] }));
    assert_eq!(bench.text("a.txt"), "one\r\ntwo\r\n");
    assert_eq!(bench.text("gone.txt"), "gone\n");
    assert_eq!((bench.text("run.sh").as_str(), mode(&bench, "run.sh")), ("echo\n", 0o755));
    assert!(!bench.path("new").exists() && !bench.path("bin").exists());
    bench.check_no_residue();
}

#[test]
fn one_question_shows_everything_before_anything_happens() {
    let bench = scene();
    bench.file("a.txt", "one\ntwo\n");
    bench.check_questions(
        "apply_patch",
        patch(ALL),
        expect![[r#"
            edit on a.txt = $ws/a.txt, bin/run.sh = $ws/bin/run.sh, gone.txt = $ws/gone.txt, new/b.txt = $ws/new/b.txt, run.sh = $ws/run.sh (always: *)
            change 5 files together
            replace a.txt
            --- $ws/a.txt
            +++ $ws/a.txt
            @@ -1,2 +1,2 @@
            -one
            +eins
             two
            create bin/run.sh
            --- $ws/bin/run.sh
            +++ $ws/bin/run.sh
            @@ -0,0 +1,1 @@
            +echo moved
            remove gone.txt
            --- $ws/gone.txt
            +++ $ws/gone.txt
            @@ -1,1 +0,0 @@
            -gone
            create new/b.txt
            --- $ws/new/b.txt
            +++ $ws/new/b.txt
            @@ -0,0 +1,1 @@
            +b
            remove run.sh
            --- $ws/run.sh
            +++ $ws/run.sh
            @@ -1,1 +0,0 @@
            -echo
        "#]],
    );
    assert_eq!(bench.text("a.txt"), "one\ntwo\n");
}

#[test]
fn whatever_does_not_fit_leaves_everything_as_it_was() {
    let bench = scene();
    bench.link("link.txt", "a.txt");
    let good = "*** Update File: a.txt\n@@\n-one\n+eins\n";
    for (bad, why) in [
        ("*** Update File: missing.txt\n@@\n-x\n+y", "Failed to read file to update: missing.txt"),
        ("*** Update File: gone.txt\n@@\n-other\n+y", "gone.txt"),
        ("*** Delete File: missing.txt", "missing.txt does not exist"),
        ("*** Delete File: link.txt", "symbolic link"),
        ("*** Update File: link.txt\n*** Move to: other.txt\n@@\n-eins\n+1", "symbolic link"),
        ("*** Update File: .\n@@\n-x\n+y", "directory"),
        ("*** Add File: a.txt/below.txt\n+x", "Not a directory"),
    ] {
        let told = bench.rejected("apply_patch", patch(&format!("{good}{bad}")));
        assert!(told.contains(why), "{told}");
        assert_eq!(bench.text("a.txt"), "one\r\ntwo\r\n", "{bad}");
    }
    let same = "*** Update File: a.txt\n@@\n-one\n+one";
    assert!(bench.rejected("apply_patch", patch(same)).contains("already are"));
    bench.check_no_residue();
}

#[test]
fn sections_of_one_file_follow_each_other() {
    let bench = scene();
    let body = "*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: a.txt\n@@\n-1\n+uno\n*** Add File: x.txt\n+x\n*** Delete File: x.txt";
    bench.completed("apply_patch", patch(body));
    assert_eq!(bench.text("a.txt"), "uno\r\ntwo\r\n");
    assert!(!bench.path("x.txt").exists());
}

#[test]
fn a_move_replaces_what_stands_there_and_undo_gives_that_its_mode_back() {
    let bench = scene();
    let call =
        bench.made("apply_patch", patch("*** Update File: run.sh\n*** Move to: gone.txt\n@@\n-echo\n+new"));
    assert_eq!((bench.text("gone.txt").as_str(), mode(&bench, "gone.txt")), ("new\n", 0o755));
    bench.made("undo", json!({ "calls": [call.as_str()] }));
    assert_eq!((bench.text("gone.txt").as_str(), mode(&bench, "gone.txt")), ("gone\n", 0o644));
    assert_eq!((bench.text("run.sh").as_str(), mode(&bench, "run.sh")), ("echo\n", 0o755));
}

#[test]
fn one_denied_file_denies_the_patch_and_a_miss_shows_nothing_unread() {
    let bench = scene();
    let denied = bench.ruled(&[("edit", "gone.txt", "deny")]);
    assert!(denied.rejected("apply_patch", patch(ALL)).contains("gone.txt"));
    assert_eq!(bench.text("a.txt"), "one\r\ntwo\r\n");

    bench.file("a.txt", "let one = first(secret);\nlet two = second(secret);\n");
    let miss = "*** Update File: a.txt\n@@\n let one = first();\n-let two = second();\n+2";
    assert!(bench.rejected("apply_patch", patch(miss)).contains("secret"));
    let unread = bench.ruled(&[("read", "a.txt", "deny")]);
    let told = unread.rejected("apply_patch", patch(miss));
    assert!(told.contains("second") && !told.contains("secret"), "{told}");
    let closed = bench.ruled(&[("edit", "a.txt", "deny")]);
    assert!(closed.rejected("apply_patch", patch(miss)).contains("edit"), "what is in the way is not told");
}

#[test]
fn a_patch_that_is_dropped_half_way_is_over_when_it_is_dropped() {
    const FILES: usize = 24;
    let bench = Bench::new();
    let name = |at: usize| format!("{at}.txt");
    let (mut old, mut new) = (0, 0);
    // From before the first file is looked at until after the last is in its place.
    for round in 0..60 {
        (0..FILES).for_each(|at| drop(bench.file(&name(at), "old\n")));
        let update = |at: usize| format!("*** Update File: {}\n@@\n-old\n+new", name(at));
        let body = (0..FILES).map(update).collect::<Vec<_>>().join("\n");
        bench.abandon("apply_patch", patch(&body), Duration::from_micros(700 * round));
        bench.check_no_residue();
        let changed = (0..FILES).filter(|at| bench.text(&name(*at)) == "new\n").count();
        assert!(changed == 0 || changed == FILES, "round {round}: {changed} of {FILES} are changed");
        if changed == 0 { old += 1 } else { new += 1 }
    }
    assert!(old > 0, "{old} old, {new} new");
}
