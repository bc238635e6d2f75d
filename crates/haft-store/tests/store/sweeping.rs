//! What a sweep takes and what it leaves.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use haft::{AgentId, OutputId, OutputStore, Recorder, SessionId};
use haft_store::{NewSession, Retention, Store, StoreOptions, Swept};
use serde_json::json;

use crate::support::{call, context, data_of, fresh, now_ms, open, options};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn open_keeping(data: &Path, retention: Retention) -> Store {
    Store::open(StoreOptions { retention, ..options(data) }).unwrap().0
}

fn keeping(days: u32, total_bytes: u64) -> Retention {
    Retention { days, total_bytes }
}

/// Makes outputs of sessions that nobody uses any more.
async fn outputs_of_the_past(data: &Path, sizes: &[usize]) -> Vec<OutputId> {
    let store = open_keeping(data, keeping(1000, u64::MAX));
    let mut ids = Vec::new();
    for size in sizes {
        ids.push(store.retain(&context(&SessionId::mint()), &"x".repeat(*size)).await.unwrap().id);
    }
    store.close().await;
    ids
}

#[tokio::test]
async fn outputs_older_than_the_retention_go() {
    let dir = tempfile::tempdir().unwrap();
    let ids = outputs_of_the_past(dir.path(), &[10, 20]).await;
    let store = open_keeping(dir.path(), keeping(7, u64::MAX));
    assert_eq!(store.sweep(now_ms() + 6 * DAY).await.unwrap(), Swept::default());
    let swept = store.sweep(now_ms() + 8 * DAY).await.unwrap();
    assert_eq!(swept, Swept { outputs: ids.clone(), bytes: 30, ..Swept::default() });
    for id in &ids {
        assert!(OutputStore::open(&store, &SessionId::mint(), id).await.unwrap().is_none());
    }
    assert_eq!(store.usage().unwrap().outputs, 0);
}

#[tokio::test]
async fn beyond_the_total_the_oldest_go() {
    let dir = tempfile::tempdir().unwrap();
    let ids = outputs_of_the_past(dir.path(), &[100, 100, 100]).await;
    let store = open_keeping(dir.path(), keeping(1000, 150));
    assert_eq!(store.usage().unwrap().sweepable, 2);
    let swept = store.sweep(now_ms() + 2 * HOUR).await.unwrap();
    assert_eq!(swept.outputs, ids[..2]);
    assert_eq!(store.usage().unwrap().outputs_bytes, 100);
}

async fn begin(store: &Store, id: &SessionId, parent: Option<&SessionId>) {
    let agent = AgentId::parse("build").unwrap();
    let new = NewSession { id: id.clone(), parent: parent.cloned(), agent, title: String::new() };
    store.begin_session(&new).await.unwrap();
}

#[tokio::test]
async fn outputs_of_an_open_session_stay() {
    let (dir, store) = fresh();
    store.close().await;
    let strict = keeping(0, 0);
    let later = now_ms() + 30 * DAY;

    // Held by a living process.
    let store = open_keeping(&data_of(&dir), strict);
    let held = SessionId::mint();
    begin(&store, &held, None).await;
    store.retain(&context(&held), "held").await.unwrap();
    // A child of it, closed.
    let child = SessionId::mint();
    begin(&store, &child, Some(&held)).await;
    store.retain(&context(&child), "child").await.unwrap();
    store.close_session(&child).await.unwrap();
    // With a call under way, closed.
    let busy = call(&SessionId::mint(), "bash", json!({}));
    store.called(&busy).await.unwrap();
    store.close_session(&busy.context.session).await.unwrap();
    store.retain(&busy.context, "busy").await.unwrap();
    assert_eq!(store.sweep(later).await.unwrap(), Swept::default());

    // Closed, and nothing under way: it stays for an hour.
    store.cancelled(&busy.context);
    assert_eq!(store.sweep(now_ms() + HOUR / 2).await.unwrap(), Swept::default());
    assert_eq!(store.sweep(now_ms() + 2 * HOUR).await.unwrap().bytes, 4);

    // Its process is gone.
    store.close().await;
    drop(store);
    let store = open_keeping(&data_of(&dir), strict);
    assert_eq!(store.sweep(now_ms() + HOUR / 2).await.unwrap(), Swept::default());
    assert_eq!(store.sweep(later).await.unwrap().outputs.len(), 2);
}

#[tokio::test]
async fn leftovers_of_the_dead_go_and_foreign_files_stay() {
    let (dir, store) = fresh();
    let outputs = data_of(&dir).join("outputs");
    let output = store.retain(&context(&SessionId::mint()), "text").await.unwrap();
    let unfinished = outputs.join(".unfinished-out_1");
    // A file at its proper place whose row was never written: the place of an output that was swept.
    let orphan = output.path.unwrap();
    let foreign = [outputs.join("notes.txt"), orphan.parent().unwrap().join("notes.txt")];
    std::fs::write(&unfinished, "").unwrap();
    foreign.iter().for_each(|path| std::fs::write(path, "").unwrap());
    rusqlite::Connection::open(data_of(&dir).join(haft_store::FILE))
        .unwrap()
        .execute("DELETE FROM output", [])
        .unwrap();

    assert_eq!(store.sweep(now_ms()).await.unwrap().leftovers, 0);
    assert_eq!(store.sweep(now_ms() + 2 * HOUR).await.unwrap().leftovers, 2);
    assert!(!unfinished.exists() && !orphan.exists());
    assert!(foreign.iter().all(|path| path.exists()));
}

#[tokio::test]
async fn an_unfinished_output_goes_with_its_process_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let (writing, other) = (open(dir.path()), open(dir.path()));
    let mut spool = writing.spool(&context(&SessionId::mint())).unwrap();
    spool.write(&vec![b'x'; 1 << 20]).unwrap();

    // However long nothing was heard of it.
    let later = now_ms() + 48 * HOUR;
    assert_eq!(other.usage().unwrap().leftovers, 0);
    assert_eq!(other.sweep(later).await.unwrap().leftovers, 0);

    // As when the process is killed: it takes nothing away, and lets go of its lock.
    std::mem::forget(spool);
    writing.close().await;
    let usage = other.usage().unwrap();
    assert!(usage.leftovers == 1 && usage.leftovers_bytes > 1 << 19, "{usage:?}");
    let swept = other.sweep(now_ms()).await.unwrap();
    assert_eq!((swept.leftovers, swept.leftovers_bytes), (1, usage.leftovers_bytes));
    assert_eq!(other.usage().unwrap().leftovers, 0);
}

#[tokio::test]
async fn an_output_that_was_just_kept_is_not_old_however_long_nothing_was_heard() {
    let (dir, store) = fresh();
    let spool = store.spool(&context(&SessionId::mint())).unwrap();
    let files = std::fs::read_dir(data_of(&dir).join("outputs")).unwrap();
    let is_unfinished = |path: &PathBuf| path.to_string_lossy().contains(".unfinished-");
    let unfinished = files.map(|entry| entry.unwrap().path()).find(is_unfinished).unwrap();
    let file = std::fs::File::options().write(true).open(&unfinished).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(2 * 3600)).unwrap();

    let kept = spool.keep().await.unwrap().path.unwrap();
    // As a sweep sees it that read the rows before this one was there.
    rusqlite::Connection::open(data_of(&dir).join(haft_store::FILE))
        .unwrap()
        .execute("DELETE FROM output", [])
        .unwrap();
    assert_eq!(store.sweep(now_ms()).await.unwrap().leftovers, 0);
    assert!(kept.exists());
}

#[tokio::test]
async fn a_store_sweeps_by_itself_once_an_hour() {
    let dir = tempfile::tempdir().unwrap();
    outputs_of_the_past(dir.path(), &[10]).await;
    // As if a month had passed.
    let connection = rusqlite::Connection::open(dir.path().join(haft_store::FILE)).unwrap();
    let aged = connection.execute("UPDATE output SET created_ms = created_ms - ?1", [30 * DAY]).unwrap();
    assert_eq!(aged, 1);

    // The store that made them swept an hour ago at most.
    let store = open_keeping(dir.path(), keeping(7, u64::MAX));
    store.close().await;
    assert_eq!(store.usage().unwrap().outputs, 1);

    connection.execute("UPDATE meta SET value = '0' WHERE key = 'swept_ms'", []).unwrap();
    let store = open_keeping(dir.path(), keeping(7, u64::MAX));
    store.close().await;
    assert_eq!(store.usage().unwrap().outputs, 0);
}
