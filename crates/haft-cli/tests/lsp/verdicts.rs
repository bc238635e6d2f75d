//! What is told after a change: what is new, of the version that was written, and never at the price of the change.

use std::time::Duration;

use haft::permission::Effect;
use haft_tools::{LspLimits, ProfileName};
use serde_json::json;

use crate::bench::{Bench, With, fake, is_missing, until};

fn faking(modes: &[&str]) -> Option<Bench> {
    (!is_missing("node")).then(|| Bench::faking(modes))
}

fn block(bench: &Bench, file: &str, lines: &str) -> String {
    let path = bench.path(file);
    format!(
        "Edit applied successfully.\n\nLSP errors detected in {file}, please fix:\n<diagnostics file=\"{}\">\n{lines}\n</diagnostics>",
        path.display()
    )
}

#[test]
fn only_what_is_new_is_told_whatever_the_server_does() {
    // With versions, with old ones before, without versions in two steps, only when asked, and slowly; with old ones
    // while it is asked by a command, and without an answer to that. Without versions in one step, soon or at once, and
    // without a word that it has read a text. When asked, but nothing before it has read the project;
    // and by itself, although it says that it can be asked.
    let all: [&[&str]; 14] = [
        &[],
        &["stale"],
        &["no-versions"],
        &["pull"],
        &["slow"],
        &["tsserver"],
        &["no-tsserver", "no-versions"],
        &["once"],
        &["at-once"],
        &["once", "no-fence"],
        &["at-once", "no-fence"],
        &["pull", "reading"],
        &["pull", "reads-when-asked"],
        &["no-pull", "once"],
    ];
    for modes in all {
        let Some(bench) = faking(modes) else { return };
        bench.file("a.fake", "bad old\nfine\npoor\n");
        let told = bench.edit("a.fake", "fine", "better\nbad new");
        assert_eq!(told, block(&bench, "a.fake", "ERROR [3:1] this line is bad: bad new"), "{modes:?}");
        // It was told; it is not new any more.
        assert_eq!(bench.edit("a.fake", "better", "best"), "Edit applied successfully.", "{modes:?}");
        assert_eq!(bench.edit("a.fake", "bad new", "good"), "Edit applied successfully.", "{modes:?}");
        assert_eq!(bench.edit("a.fake", "bad old", "good old"), "Edit applied successfully.", "{modes:?}");
        // Now that nothing is wrong any more, one more change that changes nothing about it.
        assert_eq!(bench.edit("a.fake", "good old", "gold"), "Edit applied successfully.", "{modes:?}");
    }
}

/// One whose server says more about a text once the file `go` is there.
fn speaking_again() -> Option<Bench> {
    if is_missing("node") {
        return None;
    }
    let limits = LspLimits { settling: Duration::from_secs(3), ..With::default().limits };
    let (entries, profile) = (vec![fake("fake", &["again"])], ProfileName::FullAccess);
    let bench = Bench::with(With { entries, profile, limits, ..With::default() });
    bench.file("a.fake", "fine\n");
    Some(bench)
}

#[test]
fn a_server_that_was_seen_to_speak_again_is_heard_out_from_then_on() {
    let Some(bench) = speaking_again() else { return };
    // It says the rest when it is told to, so the edit has ended without that.
    let told = bench.edit("a.fake", "fine", "bad deep\nbad one\nfine");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [2:1] this line is bad: bad one"));
    bench.file("go", "");
    until("it speaks again", || bench.heard().contains(&"spoke again".to_owned()));
    // What was found too late is still new, and the other is not.
    let told = bench.edit("a.fake", "fine", "finer");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [1:1] this line is bad: bad deep"));
}

#[test]
fn a_server_that_found_nothing_twice_is_heard_out_at_the_first_bad_edit() {
    let Some(bench) = speaking_again() else { return };
    bench.file("go", "");
    bench.completed("lsp", bench.question("hover", "a.fake", "fine"));
    until("it speaks again", || bench.heard().contains(&"spoke again".to_owned()));
    let told = bench.edit("a.fake", "fine", "bad deep");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [1:1] this line is bad: bad deep"));
}

#[test]
fn a_server_whose_habits_are_not_known_is_heard_out() {
    if is_missing("node") {
        return;
    }
    let limits = LspLimits { settling: Duration::from_secs(3), ..With::default().limits };
    let (entries, profile) = (vec![fake("fake", &["again"])], ProfileName::FullAccess);
    let bench = Bench::with(With { entries, profile, limits, ..With::default() });
    bench.file("go", "");
    // The first that it ever says is that nothing is wrong, long before it has found everything.
    let written = bench.completed("write", json!({ "filePath": "n.fake", "content": "bad deep\n" }));
    assert!(written.text().contains("ERROR [1:1] this line is bad: bad deep"), "{}", written.text());
}

#[test]
fn what_is_about_the_text_before_is_no_answer() {
    let Some(bench) = faking(&["behind"]) else { return };
    bench.file("a.fake", "bad old\nfine\n");
    let told = bench.edit("a.fake", "fine", "bad new\nfine");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [2:1] this line is bad: bad new"));
    let told = bench.edit("a.fake", "fine", "bad newer");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [3:1] this line is bad: bad newer"));
    assert_eq!(bench.edit("a.fake", "bad newer", "good"), "Edit applied successfully.");
}

#[test]
fn all_the_time_in_the_world_is_no_trouble() {
    if is_missing("node") {
        return;
    }
    let entries = vec![fake("fake", &[])];
    let profile = ProfileName::FullAccess;
    let bench = Bench::with(With { entries, profile, diagnosing: Duration::MAX, ..With::default() });
    bench.file("a.fake", "fine\n");
    let told = bench.edit("a.fake", "fine", "bad");
    assert_eq!(told, block(&bench, "a.fake", "ERROR [1:1] this line is bad: bad"));
}

#[test]
fn a_new_file_and_one_that_somebody_else_changed() {
    let Some(bench) = faking(&[]) else { return };
    let written = bench.completed("write", json!({ "filePath": "n.fake", "content": "bad\n" }));
    assert!(written.text().contains("ERROR [1:1] this line is bad: bad"), "{}", written.text());
    let found = &written.metadata["diagnostics"][bench.path("n.fake").to_str().unwrap()];
    assert_eq!(
        found[0]["range"],
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 3 } })
    );
    // What somebody else broke is not what the next call broke.
    bench.completed("read", json!({ "filePath": "n.fake" }));
    bench.file("n.fake", "bad theirs\nfine\n");
    bench.completed("read", json!({ "filePath": "n.fake" }));
    assert_eq!(bench.edit("n.fake", "fine", "finer"), "Edit applied successfully.");
}

#[test]
fn no_more_than_twenty_are_told_and_the_rest_is_counted() {
    let Some(bench) = faking(&[]) else { return };
    bench.file("a.fake", "fine\n");
    let told = bench.edit("a.fake", "fine", &"bad\n".repeat(25));
    assert_eq!(told.matches("ERROR [").count(), 20, "{told}");
    assert!(told.contains("\n... and 5 more\n</diagnostics>"), "{told}");
}

#[test]
fn every_file_of_a_patch_is_judged() {
    let Some(bench) = faking(&[]) else { return };
    bench.file("a.fake", "one\n");
    bench.file("b.other", "one\n");
    let patch = "*** Begin Patch\n*** Update File: a.fake\n@@\n-one\n+bad two\n*** Add File: n.fake\n+bad three\n\
                 *** Update File: b.other\n@@\n-one\n+bad\n*** End Patch";
    let patched = bench.completed("apply_patch", json!({ "patchText": patch }));
    let text = patched.text();
    assert!(
        text.contains("LSP errors detected in a.fake") && text.contains("LSP errors detected in n.fake"),
        "{text}"
    );
    assert_eq!(patched.metadata["diagnostics"].as_object().unwrap().len(), 2, "{text}");
}

#[test]
fn a_server_that_finds_nothing_or_ends_does_not_fail_the_edit() {
    let Some(bench) = faking(&["dies-at-changes"]) else { return };
    bench.file("a.fake", "one\n");
    let told = bench.edit("a.fake", "one", "two");
    assert!(told.contains("is not known, because fake was of no help: it ended: exit status: 9"), "{told}");
    let with = With {
        entries: vec![fake("fake", &["finds-nothing"])],
        diagnosing: std::time::Duration::from_secs(2),
        profile: ProfileName::FullAccess,
        ..With::default()
    };
    let bench = Bench::with(with);
    bench.file("a.fake", "one\n");
    let told = bench.edit("a.fake", "one", "two");
    assert!(told.contains("is not known, because fake was of no help: it gave no answer within"), "{told}");
    assert_eq!(std::fs::read_to_string(bench.path("a.fake")).unwrap(), "two\n");
}

#[test]
fn nobody_is_told_of_what_they_may_not_read() {
    if is_missing("node") {
        return;
    }
    let with = With {
        entries: vec![fake("fake", &[])],
        rules: vec![("read", "*secret*", Effect::Deny)],
        profile: ProfileName::FullAccess,
        ..With::default()
    };
    let bench = Bench::with(with);
    bench.file("open.fake", "x\n");
    bench.file("secret.fake", "word\n");
    let found = bench.ask("findReferences", "open.fake", "x");
    assert_eq!(crate::bench::places(&found), [("open.fake".to_owned(), 1)]);
    let said = bench.rejected("lsp", bench.question("hover", "secret.fake", "word"));
    assert!(said.contains("read") && !said.contains("word"), "{said}");
    assert_eq!(bench.edit("secret.fake", "word", "bad word"), "Edit applied successfully.");
}
