//! Steps after a change, with steps that need no program.

use std::sync::Arc;
use std::sync::Mutex;

use expect_test::expect;
use haft::BoxFuture;
use serde_json::json;

use super::{AfterChange, Aftermath};
use crate::testing::Bench;
use crate::workspace::LeftFile;

/// What a file is to hold instead, or what is wrong with it.
type Verdict = Result<Option<String>, String>;

/// Makes of a text what a function says.
struct Step {
    name: &'static str,
    make: Box<dyn Fn(&LeftFile) -> Verdict + Send + Sync>,
}

impl AfterChange for Step {
    fn name(&self) -> &'static str {
        self.name
    }

    fn follow<'a>(&'a self, files: &'a [LeftFile]) -> BoxFuture<'a, Vec<Aftermath>> {
        let aftermath = |(file, left): (usize, &LeftFile)| {
            let (text, error) = match (self.make)(left) {
                Ok(text) => (text, None),
                Err(error) => (None, Some(error)),
            };
            Aftermath { file, by: "it".to_owned(), text, error, verdict: None }
        };
        Box::pin(std::future::ready(files.iter().enumerate().map(aftermath).collect()))
    }
}

fn step(
    name: &'static str,
    make: impl Fn(&LeftFile) -> Verdict + Send + Sync + 'static,
) -> Arc<dyn AfterChange> {
    Arc::new(Step { name, make: Box::new(make) })
}

fn upper() -> Arc<dyn AfterChange> {
    step("formatter", |file| Ok(file.text().map(str::to_uppercase)))
}

fn edit(old: &str, new: &str) -> serde_json::Value {
    json!({ "filePath": "a.txt", "oldString": old, "newString": new })
}

#[test]
fn each_step_sees_what_the_one_before_left_and_one_undo_takes_all_back() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let look = step("diagnostics", move |file| {
        noted.lock().unwrap().push(file.text().unwrap_or_default().to_owned());
        Ok(None)
    });
    let bench = Bench::new().following([upper(), look]);
    bench.file("a.txt", "one\n");
    let call = bench.made("edit", edit("one", "two"));
    assert_eq!(
        (bench.text("a.txt").as_str(), seen.lock().unwrap().as_slice()),
        ("TWO\n", &["TWO\n".to_owned()][..])
    );
    // The session has seen it, and its next change fits.
    bench.check(
        "edit",
        edit("TWO", "three"),
        expect![[r#"
            title: a.txt
            Edit applied successfully.

            The formatter it then changed a.txt:
            --- $ws/a.txt
            +++ $ws/a.txt
            @@ -1,1 +1,1 @@
            -three
            +THREE"#]],
    );
    let again = bench.made("edit", edit("THREE", "four"));
    let undone = bench.rejected("undo", json!({ "calls": [call.to_string()] }));
    assert!(undone.contains("changed since"), "{undone}");
    assert_eq!(bench.text("a.txt"), "FOUR\n");
    bench.made("undo", json!({ "calls": [again.to_string()] }));
    assert_eq!(bench.text("a.txt"), "THREE\n");
    bench.check_no_residue();
}

#[test]
fn what_was_dropped_leaves_a_call_that_can_be_undone() {
    let top = Bench::new();
    let path = top.file("a.txt", "one\n");
    let meddled = path.clone();
    let bench = top.ruled(&[]).following([step("formatter", move |file| {
        std::fs::write(&meddled, "theirs\n").unwrap();
        Ok(file.text().map(str::to_uppercase))
    })]);
    let call = bench.made("edit", edit("one", "two"));
    assert_eq!(bench.text("a.txt"), "theirs\n");
    // Whoever puts back what the call left can undo it.
    std::fs::write(&path, "two\n").unwrap();
    bench.made("undo", json!({ "calls": [call.to_string()] }));
    assert_eq!(bench.text("a.txt"), "one\n");
}

#[test]
fn nobody_is_shown_what_they_may_not_read() {
    let bench = Bench::new().denying(&[("read", "*")]).following([upper()]);
    bench.file("a.txt", "one\nsecret\n");
    bench.check(
        "edit",
        edit("one", "two"),
        expect![[r#"
            title: a.txt
            Edit applied successfully.

            The formatter it then changed a.txt; read it before you edit it again."#]],
    );
    let failing = bench
        .denying(&[("read", "*")])
        .following([step("formatter", |file| Err(format!("bad: {}", file.text().unwrap_or_default())))]);
    failing.check(
        "edit",
        edit("TWO", "two"),
        expect![[r#"
            title: a.txt
            Edit applied successfully.

            The formatter it left a.txt as it is: it failed"#]],
    );
}

#[test]
fn a_finish_is_part_of_what_was_agreed_to_and_of_nothing_else() {
    let bench = Bench::new();
    bench.file("a.txt", "one\n");
    let denied = bench.denying(&[("edit", "*")]).following([upper()]);
    let refused = denied.rejected("edit", edit("one", "two"));
    assert!(refused.contains("denied") || refused.contains("prevents"), "{refused}");
    assert_eq!(bench.text("a.txt"), "one\n");
}
