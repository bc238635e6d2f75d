//! The journal: what files held comes back exactly, and its size is bounded.

use std::fs;
use std::io::Read;
use std::path::Path;

use haft::{Attributes, Call, CallId, Change, Image, Journal, Journaled, Recorder, SessionId};
use haft_store::{JournalBounds, Store, StoreOptions};
use serde_json::json;

use crate::support::{call, changing, completed, data_of, fresh, image, made, open, options};

async fn journaled(store: &Store, call: &Call) -> Vec<Journaled> {
    store.changes(&call.context.call).await.unwrap()
}

fn content(image: Option<&Image>) -> Option<Vec<u8>> {
    let image = image?;
    let mut bytes = Vec::new();
    image.content.as_ref()?.open().unwrap().read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

#[tokio::test]
async fn what_files_held_comes_back_exactly() {
    let (dir, store) = fresh();
    let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let attributes = Attributes {
        mode: 0o4751,
        owner: 1000,
        group: 7,
        extended: vec![(b"user.x".to_vec(), vec![0, 255, b'"'])],
    };
    let mut small = changing(Path::new("/project/small"), b"\xff\0 old", b"");
    small.before.as_mut().unwrap().attributes = Some(attributes.clone());
    small.made = 3;
    let gone = Change { after: None, ..changing(Path::new("/project/large"), &large, b"") };
    let call = made(&store, &SessionId::mint(), &[small, gone]).await;
    drop(store);

    let store = open(&data_of(&dir));
    let found = journaled(&store, &call).await;
    let [large_file, small_file] = &found[..] else { panic!("{found:?}") };
    assert_eq!(small_file.change.path, Path::new("/project/small"));
    assert_eq!(content(small_file.change.before.as_ref()).unwrap(), b"\xff\0 old");
    assert_eq!(content(small_file.change.after.as_ref()).unwrap(), b"");
    assert_eq!(small_file.change.before.as_ref().unwrap().attributes, Some(attributes));
    assert_eq!((small_file.change.made, small_file.is_certain), (3, true));
    assert!(content(large_file.change.before.as_ref()).unwrap() == large);
    assert!(large_file.change.after.is_none());
    assert!(journaled(&store, &crate::support::call(&SessionId::mint(), "x", json!({}))).await.is_empty());
}

#[tokio::test]
async fn a_change_that_goes_on_keeps_the_first_image_and_one_that_was_planned_anew_does_not() {
    let (_dir, store) = fresh();
    let path = Path::new("/project/a");
    let on = made(&store, &SessionId::mint(), &[changing(path, b"1", b"2")]).await;
    let session = SessionId::mint();
    for (second, first_before) in [(changing(path, b"2", b"3"), "1"), (changing(path, b"x", b"3"), "x")] {
        let call = call(&session, "edit", json!({ "before": first_before }));
        store.called(&call).await.unwrap();
        store.running(&call.context, None).await.unwrap();
        store.acting(&call.context, &[changing(path, b"1", b"2")]).await.unwrap();
        store.acting(&call.context, &[second]).await.unwrap();
        store.ended(&call.context, &completed("done")).await.unwrap();
        let found = journaled(&store, &call).await;
        assert_eq!(content(found[0].change.before.as_ref()).unwrap(), first_before.as_bytes());
        assert_eq!(content(found[0].change.after.as_ref()).unwrap(), b"3");
    }
    drop(on);
}

#[tokio::test]
async fn a_finish_that_was_dropped_keeps_the_first_image_too() {
    let (dir, store) = fresh();
    let path = dir.path().join("a");
    let session = SessionId::mint();
    let call = call(&session, "edit", json!({}));
    store.called(&call).await.unwrap();
    store.running(&call.context, None).await.unwrap();
    store.acting(&call.context, &[changing(&path, b"1", b"2")]).await.unwrap();
    for after in [b"3", b"4"] {
        let finish = Change { midway: Some(image(b"2").digest), ..changing(&path, b"2", after) };
        store.acting(&call.context, &[finish]).await.unwrap();
    }
    store.ended(&call.context, &completed("done")).await.unwrap();
    let change = journaled(&store, &call).await.remove(0).change;
    assert_eq!(content(change.before.as_ref()).unwrap(), b"1");
    let led_to = [b"1", b"2", b"3", b"4"].map(|text| change.leads_to(Some(&image(text).digest)));
    assert_eq!(led_to, [false, true, false, true]);
    assert!(!change.leads_to(None));
}

#[tokio::test]
async fn what_was_undone_is_known_until_that_is_undone_in_turn() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let path = Path::new("/project/a");
    let first = made(&store, &session, &[changing(path, b"1", b"2")]).await;
    let undoable = || store.undoable(Some(&session), 10).unwrap();
    let undone_by = async |call: &Call| journaled(&store, call).await[0].undone_by.clone();
    assert_eq!(undoable(), std::slice::from_ref(&first.context.call));

    let undoing = |of: &CallId| Change { undoes: vec![of.clone()], ..changing(path, b"2", b"1") };
    let undo = made(&store, &session, &[undoing(&first.context.call)]).await;
    assert_eq!(undone_by(&first).await, Some(undo.context.call.clone()));
    assert_eq!(undoable(), []);

    let redo = made(&store, &session, &[undoing(&undo.context.call)]).await;
    assert_eq!(undone_by(&undo).await, Some(redo.context.call.clone()));
    assert_eq!(undone_by(&first).await, None);
    assert_eq!(undoable(), std::slice::from_ref(&first.context.call));
    assert_eq!(store.undoable(Some(&SessionId::mint()), 10).unwrap(), []);
    assert_eq!(store.undoable(None, 10).unwrap(), [first.context.call]);
}

#[tokio::test]
async fn the_journal_is_bounded_and_forgets_what_was_used_longest_ago() {
    let dir = tempfile::tempdir().unwrap();
    let journal = JournalBounds { days: 1000, bytes: 1_000_000 };
    let (store, _) = Store::open(StoreOptions { journal, ..options(&data_of(&dir)) }).unwrap();
    let session = SessionId::mint();
    let mut calls = Vec::new();
    for at in 0..8_u8 {
        let (before, after) = (vec![at; 200_000], vec![at + 100; 200_000]);
        calls.push(made(&store, &session, &[changing(Path::new("/project/a"), &before, &after)]).await);
        // Images are ordered by milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    }
    assert!(store.usage().unwrap().journal_bytes <= 875_000);
    let mut kept = Vec::new();
    for call in &calls {
        kept.push(journaled(&store, call).await[0].change.before.as_ref().unwrap().content.is_some());
    }
    assert!(!kept[0] && !kept[1] && kept[7], "{kept:?}");

    // The files of what was forgotten are gone.
    let files = || fs::read_dir(data_of(&dir).join("journal")).unwrap().count();
    assert!(files() <= 5, "{}", files());
    assert!(
        content(journaled(&store, &calls[7]).await[0].change.before.as_ref()).unwrap() == vec![7; 200_000]
    );
}

#[tokio::test]
async fn what_a_call_under_way_may_need_is_kept_whatever_the_bounds() {
    let dir = tempfile::tempdir().unwrap();
    let journal = JournalBounds { days: 0, bytes: 0 };
    let (store, _) = Store::open(StoreOptions { journal, ..options(&data_of(&dir)) }).unwrap();
    let session = SessionId::mint();
    let call = call(&session, "edit", json!({}));
    store.called(&call).await.unwrap();
    store.running(&call.context, None).await.unwrap();
    store.acting(&call.context, &[changing(Path::new("/project/a"), b"old", b"new")]).await.unwrap();
    store.sweep(i64::MAX / 2).await.unwrap();
    assert_eq!(content(journaled(&store, &call).await[0].change.before.as_ref()).unwrap(), b"old");

    store.ended(&call.context, &completed("done")).await.unwrap();
    store.sweep(i64::MAX / 2).await.unwrap();
    let found = journaled(&store, &call).await;
    assert!(found[0].change.before.as_ref().unwrap().content.is_none());
    assert_eq!(found[0].change.intent().before, Some(image(b"old").digest));
    assert_eq!(store.usage().unwrap().journal_bytes, 0);
}

#[tokio::test]
async fn a_call_that_did_not_complete_can_be_undone_if_its_change_is_there() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let path = dir.path().join("a");
    fs::write(&path, "2").unwrap();
    let first = made(&store, &session, &[changing(&path, b"1", b"2")]).await;
    let call = call(&session, "edit", json!({ "next": true }));
    store.called(&call).await.unwrap();
    store.running(&call.context, None).await.unwrap();
    store.acting(&call.context, &[changing(&path, b"2", b"3")]).await.unwrap();
    store.ended(&call.context, &haft::Ended::Cancelled).await.unwrap();

    // It never came to the change, so it does not stand before the call that did.
    assert_eq!(store.undoable(None, 1).unwrap(), [first.context.call]);
    fs::write(&path, "3").unwrap();
    assert_eq!(store.undoable(None, 1).unwrap(), [call.context.call]);
}

#[tokio::test]
async fn a_path_with_a_secret_is_exact_and_shown_without_it() {
    const SECRET: &str = "correct-horse-battery";
    let dir = tempfile::tempdir().unwrap();
    let redactor = || haft_store::Redactor::from_env([("MY_TOKEN", SECRET)]);
    let options = || StoreOptions { redactor: redactor(), ..options(&data_of(&dir)) };
    let (store, _) = Store::open(options()).unwrap();
    let session = SessionId::mint();
    let paths = [format!("{SECRET}1"), format!("{SECRET}2"), "[REDACTED]".to_owned()];
    let paths = paths.map(|name| dir.path().join(name));
    let changes: Vec<_> = paths.iter().map(|path| changing(path, b"1", b"2")).collect();
    let call = made(&store, &session, &changes).await;
    drop(store);

    let (store, _) = Store::open(options()).unwrap();
    let mut found: Vec<_> =
        journaled(&store, &call).await.into_iter().map(|known| known.change.path).collect();
    found.sort();
    let mut expected = paths.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    let shown = crate::support::detail(&store, &call.context.call).intents;
    assert!(shown.iter().all(|intent| !intent.path.to_str().unwrap().contains(SECRET)), "{shown:?}");
    assert_eq!(shown.len(), 3);

    // It is known by its path that it was undone.
    let undoing = |path: &std::path::PathBuf| Change {
        undoes: vec![call.context.call.clone()],
        ..changing(path, b"2", b"1")
    };
    let undo = made(&store, &session, &[undoing(&paths[0])]).await;
    for known in journaled(&store, &call).await {
        let by = (known.change.path == paths[0]).then(|| undo.context.call.clone());
        assert_eq!(known.undone_by, by);
    }
}
