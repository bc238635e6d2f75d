//! What the tests share: a store in a directory of its own, and calls to put into it.

use std::path::{Path, PathBuf};

use haft::{
    AgentId, Call, CallId, Completed, Content, Ended, Input, MessageId, Recorder, SessionId, Settlement,
    ToolContext,
};
use haft_store::{CallDetail, Lookup, Notice, Redactor, Retention, Store, StoreOptions};
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn options(data_dir: &Path) -> StoreOptions {
    StoreOptions {
        data_dir: data_dir.to_owned(),
        project: "/project".to_owned(),
        directory: "/project/here".to_owned(),
        redactor: Redactor::default(),
        retention: Retention::default(),
    }
}

pub(crate) fn open(data_dir: &Path) -> Store {
    let (store, notices) = Store::open(options(data_dir)).unwrap();
    assert_eq!(notices, []);
    store
}

pub(crate) fn open_noticing(data_dir: &Path) -> (Store, Vec<Notice>) {
    Store::open(options(data_dir)).unwrap()
}

/// A store in a directory that goes with it.
pub(crate) fn fresh() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("data"));
    (dir, store)
}

pub(crate) fn data_of(dir: &TempDir) -> PathBuf {
    dir.path().join("data")
}

pub(crate) fn context(session: &SessionId) -> ToolContext {
    ToolContext {
        session: session.clone(),
        agent: AgentId::parse("build").unwrap(),
        message: MessageId::mint(),
        call: CallId::mint(),
    }
}

pub(crate) fn call(session: &SessionId, tool: &str, input: Value) -> Call {
    Call { context: context(session), provider_id: None, name: tool.to_owned(), input: Input::Json(input) }
}

pub(crate) fn completed(text: &str) -> Ended {
    Ended::Settled(Box::new(Settlement::Completed(Completed {
        title: "done".to_owned(),
        content: vec![Content::Text(text.to_owned())],
        structured: Value::from(text),
        ..Completed::default()
    })))
}

/// Takes a call from beginning to end.
pub(crate) async fn whole_life(store: &Store, call: &Call, ended: &Ended) {
    store.called(call).await.unwrap();
    store.running(&call.context, None).await.unwrap();
    store.ended(&call.context, ended).await.unwrap();
}

pub(crate) fn detail(store: &Store, id: &CallId) -> CallDetail {
    match store.call(id.as_str()).unwrap() {
        Lookup::One(detail) => *detail,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn now_ms() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64
}
