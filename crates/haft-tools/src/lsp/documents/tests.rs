//! What is sent of files, what is taken for findings in them, and what is learned from that.

use super::*;

/// Longer than any test takes, so that none is about time that really passes.
const SETTLING: Duration = Duration::from_secs(600);

#[test]
fn texts_have_versions_and_what_is_unchanged_is_not_sent_again() {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    let (version, sent) = documents.put(path, "one");
    assert_eq!((version, sent[0].0), (1, "textDocument/didOpen"));
    assert_eq!(sent[0].1["textDocument"]["languageId"], "rust");
    assert!(documents.put(path, "one").1.is_empty());
    let (version, sent) = documents.put(path, "two");
    assert_eq!((version, sent[0].0), (2, "textDocument/didChange"));
    assert_eq!(sent[0].1["contentChanges"], json!([{ "text": "two" }]));
}

#[test]
fn what_is_about_an_older_version_is_not_taken() {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    documents.put(path, "one");
    documents.put(path, "two");
    documents.find(path, 1, &json!([]), Units::Utf16);
    assert!(documents.get(path).unwrap().found.is_none());
    documents.find(path, 2, &json!([]), Units::Utf16);
    assert!(documents.get(path).unwrap().found.as_ref().is_some_and(Found::is_certain));
    // Whatever says nothing of a version may be older.
    says(&mut documents, path, &json!([{ "message": "old" }]));
    assert!(documents.get(path).unwrap().found.as_ref().is_some_and(|found| found.problems.is_empty()));
    documents.find(Path::new("/p/other.rs"), 2, &json!([]), Units::Utf16);
    assert!(documents.get(Path::new("/p/other.rs")).is_none());
}

fn says(documents: &mut Documents, path: &Path, diagnostics: &Value) {
    let said = Said { version: None, diagnostics, units: Units::Utf16 };
    documents.publish(path, said, false, SETTLING);
}

#[test]
fn who_says_twice_that_nothing_is_wrong_speaks_in_steps() {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    documents.put(path, "one");
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.habits.steps, 1);
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.habits.steps, 2);
    documents.put(path, "two");
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.get(path).unwrap().found.as_ref().unwrap().step(), 1, "more is to come");
}

#[test]
fn what_is_said_of_a_file_that_was_open_before_teaches_nothing() {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    documents.put(path, "one");
    documents.fence(path, 1, Fence::Passed);
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.habits.speaks_at_once, Some(false));
    documents.put(path, "two");
    assert!(documents.close(path).is_some());
    let (version, sent) = documents.put(path, "bad");
    assert_eq!((version, sent[0].0), (3, "textDocument/didOpen"));
    assert_eq!(sent[0].1["textDocument"]["version"], 3);
    // What it says about the closed file comes behind the opening.
    documents.fence(path, version, Fence::Ahead);
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.habits.speaks_at_once, Some(false));
    assert!(documents.get(path).unwrap().found.is_none());
    documents.fence(path, version, Fence::Passed);
    says(&mut documents, path, &json!([{ "message": "bad", "severity": 1 }]));
    let document = documents.get(path).unwrap();
    assert_eq!(document.found.as_ref().map(|found| (found.version, found.problems.len())), Some((3, 1)));
    assert!(document.is_behind, "more of the closed file may come");
}

#[test]
fn no_more_than_so_many_are_open() {
    let mut documents = Documents::default();
    let path = |number: usize| PathBuf::from(format!("/p/{number}.rs"));
    (0..OPEN_MAX).for_each(|number| drop(documents.put(&path(number), "")));
    documents.put(&path(0), "");
    let (_, sent) = documents.put(&path(OPEN_MAX), "");
    assert_eq!(sent[0].1["textDocument"]["uri"], "file:///p/1.rs");
    assert_eq!(documents.open.len(), OPEN_MAX);
}

/// A file that has changed since something was found in it.
fn changed() -> (Documents, &'static Path) {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    documents.put(path, "one");
    says(&mut documents, path, &json!([]));
    documents.put(path, "two");
    (documents, path)
}

#[test]
fn what_comes_once_nobody_waits_or_because_of_something_else_says_nothing_of_how_slow_it_is() {
    let (mut documents, path) = changed();
    // Its silence was believed.
    documents.hear_out(path, 2, false);
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.slowest, Duration::ZERO);
    // Nobody waited, or not long enough.
    let (mut documents, path) = changed();
    documents.put(Path::new("/p/b.rs"), "other");
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.slowest, Duration::ZERO);
    // An answer does.
    documents.put(path, "three");
    says(&mut documents, path, &json!([]));
    assert_ne!(documents.slowest, Duration::ZERO);
}

#[test]
fn what_is_said_again_because_of_something_else_is_no_step() {
    let mut documents = Documents::default();
    let (path, other) = (Path::new("/p/a.rs"), Path::new("/p/b.rs"));
    documents.put(path, "one");
    says(&mut documents, path, &json!([]));
    for text in ["one", "two", "three"] {
        documents.put(other, text);
        says(&mut documents, other, &json!([]));
        says(&mut documents, path, &json!([{ "message": text, "severity": 1 }]));
    }
    assert_eq!(documents.habits.steps, 1);
    // A file that the server does not have open may have changed.
    documents.put(path, "two");
    says(&mut documents, path, &json!([]));
    documents.tell();
    says(&mut documents, path, &json!([]));
    assert_eq!(documents.habits.steps, 1);
}

#[test]
fn what_is_said_again_long_after_is_no_step() {
    let mut documents = Documents::default();
    let path = Path::new("/p/a.rs");
    documents.put(path, "one");
    for text in ["one", "two", "three"] {
        says(&mut documents, path, &json!([{ "message": text, "severity": 1 }]));
        documents.get_mut(path).unwrap().found.as_mut().unwrap().at -= 2 * SETTLING;
    }
    assert_eq!(documents.habits.steps, 1);
}

#[test]
fn files_that_were_closed_are_forgotten_in_time() {
    let mut documents = Documents::default();
    let path = |number: usize| PathBuf::from(format!("/p/{number}.rs"));
    (0..1000).for_each(|number| drop(documents.put(&path(number), "")));
    assert_eq!(documents.closed.len(), CLOSED_MAX);
    // The last one that was closed is known, and the first is not.
    assert_eq!(documents.put(&path(1000 - OPEN_MAX - 1), "").0, 2);
    assert_eq!(documents.put(&path(0), "").0, 1);
}
