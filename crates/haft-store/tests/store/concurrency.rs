//! Many at once: callers of one store, stores of one directory, stores that are made at the same time.

use std::sync::Arc;

use haft::{Memory, Opened, Recorder, SessionId, Topic};
use haft_store::{CallFilter, State};
use serde_json::json;

use crate::support::{call, completed, data_of, fresh, open, whole_life};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

#[test]
fn two_stores_write_at_once_without_errors() {
    let dir = tempfile::tempdir().unwrap();
    let stores = [open(dir.path()), open(dir.path())];
    let threads: Vec<_> = (0..50)
        .map(|number| {
            let store = stores[number % 2].clone();
            std::thread::spawn(move || {
                block_on(async {
                    let session = SessionId::mint();
                    for round in 0..40 {
                        let call = call(&session, "read", json!({ "round": round }));
                        whole_life(&store, &call, &completed("text")).await;
                    }
                });
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());

    let rows = stores[0].calls(&CallFilter::default()).unwrap();
    assert_eq!(rows.len(), 50 * 40);
    assert!(rows.iter().all(|row| row.state == State::Completed));
    assert_eq!(stores[1].check().unwrap(), Vec::<String>::new());
    let events = stores[1].events_after(0, u32::MAX).unwrap();
    assert_eq!(events.len(), 50 + 3 * 50 * 40);
}

#[test]
fn the_log_stays_short() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    block_on(async {
        let session = SessionId::mint();
        for round in 0..400 {
            let call = call(&session, "read", json!({ "round": round, "text": "x".repeat(20_000) }));
            whole_life(&store, &call, &completed(&"y".repeat(20_000))).await;
        }
        store.close().await;
    });
    let log = store.usage().unwrap().log_bytes;
    assert!(log <= 17 << 20, "{log}");
    assert!(store.usage().unwrap().database_bytes > 1 << 20);
}

#[test]
fn a_job_that_fails_spoils_nothing_for_those_committed_with_it() {
    let (_dir, store) = fresh();
    block_on(async {
        let session = SessionId::mint();
        let good: Vec<_> = (0..20).map(|n| call(&session, "read", json!({ "n": n }))).collect();
        let bad = call(&session, "read", json!({}));
        // Queued together, before the writer has seen the first.
        let mut opened = Vec::new();
        let mut failed = Vec::new();
        for call in &good {
            opened.push(store.called(call));
            failed.push(store.running(&bad.context, None));
        }
        for (opened, failed) in opened.into_iter().zip(failed) {
            assert!(matches!(opened.await, Ok(Opened::New { .. })));
            assert!(failed.await.is_err());
        }
    });
    assert_eq!(store.calls(&CallFilter::default()).unwrap().len(), 20);
}

#[test]
fn stores_made_at_the_same_time_in_one_directory_are_one() {
    let dir = Arc::new(tempfile::tempdir().unwrap());
    let threads: Vec<_> = (0..12)
        .map(|_| {
            let dir = dir.clone();
            std::thread::spawn(move || {
                let store = open(&data_of(&dir));
                block_on(async {
                    whole_life(&store, &call(&SessionId::mint(), "read", json!({})), &completed("text"))
                        .await;
                });
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(open(&data_of(&dir)).calls(&CallFilter::default()).unwrap().len(), 12);
}

#[test]
fn of_many_that_remember_at_once_only_one_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let stores = [open(dir.path()), open(dir.path())];
    let session = SessionId::mint();
    let threads: Vec<_> = (0..16)
        .map(|number| {
            let (store, session) = (stores[number % 2].clone(), session.clone());
            std::thread::spawn(move || {
                let topic = Topic::new("seen", "AGENTS.md");
                block_on(store.remember(&session, &topic, &json!(number))).unwrap().is_none()
            })
        })
        .collect();
    let first =
        threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap()).filter(|new| *new).count();
    assert_eq!(first, 1);
    let recalled = block_on(stores[0].recall(&session, &Topic::new("seen", "AGENTS.md"))).unwrap();
    assert!(recalled.is_some());
    assert_eq!(block_on(stores[0].recall(&session, &Topic::new("seen", "other"))).unwrap(), None);
}
