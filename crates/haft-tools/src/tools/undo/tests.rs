//! Tests of `undo`: files come back exactly, and what was changed since is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use expect_test::expect;
use haft::CallId;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::testing::Bench;

fn calls(ids: &[&CallId]) -> Value {
    json!({ "calls": ids.iter().map(|id| id.as_str()).collect::<Vec<_>>() })
}

fn edit(name: &str, old: &str, new: &str) -> Value {
    json!({ "filePath": name, "oldString": old, "newString": new })
}

fn write(name: &str, content: &str) -> Value {
    json!({ "filePath": name, "content": content })
}

#[test]
fn what_a_call_changed_is_taken_back_and_that_can_be_taken_back() {
    let bench = Bench::new();
    bench.file("a.txt", "one\r\ntwo\r\n");
    fs::set_permissions(bench.path("a.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let call = bench.made("edit", edit("a.txt", "two", "2"));
    assert_eq!(bench.text("a.txt"), "one\r\n2\r\n");

    let undo = bench.made("undo", calls(&[&call]));
    assert_eq!(bench.text("a.txt"), "one\r\ntwo\r\n");
    assert_eq!(fs::metadata(bench.path("a.txt")).unwrap().permissions().mode() & 0o7777, 0o640);
    assert!(bench.rejected("undo", calls(&[&call])).contains("was undone already, by cal_"));

    bench.made("undo", calls(&[&undo]));
    assert_eq!(bench.text("a.txt"), "one\r\n2\r\n");
    // The call stands again, so it can be undone again.
    bench.made("undo", calls(&[&call]));
    assert_eq!(bench.text("a.txt"), "one\r\ntwo\r\n");
    bench.check_no_residue();
}

#[test]
fn a_file_that_was_created_goes_with_the_directories_made_for_it() {
    let bench = Bench::new();
    bench.file("kept/x.txt", "x");
    let call = bench.made("write", write("kept/new/deep/a.txt", "new"));
    bench.check(
        "undo",
        calls(&[&call]),
        expect![[r#"
            title: kept/new/deep/a.txt
            Undone:
            removed kept/new/deep/a.txt"#]],
    );
    assert!(!bench.path("kept/new").exists());
    assert!(bench.path("kept/x.txt").exists());

    let call = bench.made("write", write("new/a.txt", "new"));
    bench.file("new/mine.txt", "mine");
    bench.made("undo", calls(&[&call]));
    assert_eq!(bench.text("new/mine.txt"), "mine");
}

#[test]
fn what_was_changed_since_is_left_alone_and_shown() {
    let bench = Bench::new();
    bench.file("a.txt", "one\n");
    bench.file("b.txt", "one\n");
    let a = bench.made("edit", edit("a.txt", "one", "two"));
    let b = bench.made("edit", edit("b.txt", "one", "two"));
    bench.file("a.txt", "two and more\n");
    let told = bench.rejected("undo", calls(&[&a])).replace(a.as_str(), "cal_a");
    expect![[r#"
        nothing was undone:
        a.txt: it has been changed since cal_a
        --- $ws/a.txt
        +++ $ws/a.txt
        @@ -1,1 +1,1 @@
        -two
        +two and more"#]]
    .assert_eq(&told);
    assert_eq!(bench.text("a.txt"), "two and more\n");
    // The others are taken back all the same.
    let shown = bench.completed("undo", calls(&[&a, &b]));
    assert!(
        shown.text().starts_with("Undone:\nrestored b.txt\n\nLeft as they are:\na.txt: it has been changed")
    );
    assert_eq!(shown.metadata["refused"], json!(["a.txt"]));
    assert_eq!((bench.text("a.txt").as_str(), bench.text("b.txt").as_str()), ("two and more\n", "one\n"));
    assert!(bench.path("a.txt").exists());
}

#[test]
fn several_changes_of_a_file_are_taken_back_together() {
    let bench = Bench::new();
    bench.file("a.txt", "0\n");
    let first = bench.made("edit", edit("a.txt", "0", "1"));
    let second = bench.made("edit", edit("a.txt", "1", "2"));
    let third = bench.made("edit", edit("a.txt", "2", "3"));
    assert!(bench.rejected("undo", calls(&[&first])).contains("has been changed since"));
    bench.made("undo", calls(&[&first, &third, &second]));
    assert_eq!(bench.text("a.txt"), "0\n");
}

#[test]
fn changes_are_followed_by_what_they_left_not_by_the_order_of_their_calls() {
    let bench = Bench::new();
    bench.file("a.txt", "0\n");
    // The older call comes second to the file, as when both run side by side.
    let (older, newer) = (bench.context(), bench.context());
    bench.made_as(newer.clone(), "edit", edit("a.txt", "0", "1"));
    bench.made_as(older.clone(), "edit", edit("a.txt", "1", "2"));
    bench.made("undo", calls(&[&older.call, &newer.call]));
    assert_eq!(bench.text("a.txt"), "0\n");
}

#[test]
fn what_somebody_else_changed_in_between_is_shown() {
    let bench = Bench::new();
    bench.file("a.txt", "0\n");
    let first = bench.made("edit", edit("a.txt", "0", "1"));
    bench.file("a.txt", "1\nmine\n");
    let other = bench.again(&[]);
    bench.completed("read", json!({ "filePath": "a.txt" }));
    let second = bench.made("edit", edit("a.txt", "1", "2"));
    let told = other.rejected("undo", calls(&[&first, &second])).replace(first.as_str(), "cal_first");
    assert!(
        told.contains("a.txt: it has been changed since cal_first\n") && told.contains("+mine"),
        "{told}"
    );
    assert_eq!(bench.text("a.txt"), "2\nmine\n");
}

#[test]
fn nobody_undoes_or_sees_what_they_may_not_change_or_read() {
    let bench = Bench::new();
    bench.file("a.txt", "secret\n");
    let call = bench.made("edit", edit("a.txt", "secret", "secret 2"));
    let denied = bench.again(&[("edit", "*", "deny")]);
    assert!(denied.rejected("undo", calls(&[&call])).contains("edit"));
    assert_eq!(bench.text("a.txt"), "secret 2\n");

    bench.file("a.txt", "secret 3\n");
    let unread = bench.again(&[("read", "*", "deny")]);
    let told = unread.rejected("undo", calls(&[&call]));
    assert!(told.contains("changed since") && !told.contains("secret"), "{told}");
}

#[test]
fn what_changed_nothing_cannot_be_undone() {
    let bench = Bench::new();
    bench.file("a.txt", "x");
    let read = bench.made("read", json!({ "filePath": "a.txt" }));
    assert!(bench.rejected("undo", calls(&[&read])).contains("changed no files"));
    assert!(bench.rejected("undo", json!({ "calls": ["nonsense"] })).contains("nonsense"));
    assert!(bench.rejected("undo", json!({ "calls": [] })).contains("nothing to undo"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is done to some files, undoing it all leaves every byte and every mode as it was.
    #[test]
    fn undoing_everything_restores_everything(
        standing in prop::collection::vec(prop::option::of((prop::collection::vec(any::<u8>(), 0..40), 0o600_u32..0o1000)), 3),
        deeds in prop::collection::vec((0..3_usize, "[a-c\r\n\u{e9}]{0,12}"), 1..12),
    ) {
        let bench = Bench::new();
        let name = |at: usize| format!("d{at}/f.txt");
        let modes: Vec<_> = standing.iter().enumerate().map(|(at, file)| {
            let (content, mode) = file.clone()?;
            let path = bench.file(&name(at), content);
            // Whoever owns a file may write it.
            fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o600)).unwrap();
            Some(mode | 0o600)
        }).collect();
        let made: Vec<CallId> =
            deeds.iter().map(|(at, text)| bench.made("write", write(&name(*at), text))).collect();
        // Rejected if all of it came to nothing; what is there afterwards is what counts.
        let _undone = bench.settle("undo", calls(&made.iter().collect::<Vec<_>>()));
        for (at, file) in standing.iter().enumerate() {
            let path = bench.path(&name(at));
            match file {
                Some((content, _)) => {
                    prop_assert_eq!(&fs::read(&path).unwrap(), content);
                    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                    prop_assert_eq!(Some(mode), modes[at]);
                }
                None => prop_assert!(!path.parent().unwrap().exists()),
            }
        }
    }
}
