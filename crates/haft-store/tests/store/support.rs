//! What the tests share: a store in a directory of its own, and calls to put into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::{
    AgentId, BoxError, Call, CallId, Change, Completed, Content, Ended, Image, Input, MessageId, Recorder,
    Restorer, SessionId, Settlement, ToolContext,
};
use haft_store::{
    CallDetail, JournalBounds, Lookup, Notice, Redactor, Retention, Store, StoreOptions, digest,
};
use serde_json::Value;
use tempfile::TempDir;

/// Restores as simply as can be.
struct Plainly;

impl Restorer for Plainly {
    fn restore(&self, change: &Change) -> Result<(), BoxError> {
        let Some(before) = &change.before else { return Ok(fs::remove_file(&change.path)?) };
        let content = before.content.as_ref().ok_or("not kept")?;
        let mut file = fs::File::create(&change.path)?;
        std::io::copy(&mut content.open()?, &mut file)?;
        Ok(())
    }
}

pub(crate) fn image(content: &[u8]) -> Image {
    Image {
        digest: digest(content),
        bytes: content.len() as u64,
        attributes: None,
        content: Some(Arc::new(content.to_vec())),
    }
}

pub(crate) fn changing(path: &Path, before: &[u8], after: &[u8]) -> Change {
    let (before, after) = (Some(image(before)), Some(image(after)));
    Change { path: path.to_owned(), before, after, midway: None, made: 0, undoes: Vec::new() }
}

pub(crate) fn options(data_dir: &Path) -> StoreOptions {
    StoreOptions {
        data_dir: data_dir.to_owned(),
        project: "/project".to_owned(),
        directory: "/project/here".to_owned(),
        redactor: Redactor::default(),
        retention: Retention::default(),
        journal: JournalBounds::default(),
        restorer: Arc::new(Plainly),
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

/// A call that makes changes and completes.
pub(crate) async fn made(store: &Store, session: &SessionId, changes: &[Change]) -> Call {
    let call = call(session, "edit", serde_json::json!({}));
    store.called(&call).await.unwrap();
    store.running(&call.context, None).await.unwrap();
    store.acting(&call.context, changes).await.unwrap();
    store.ended(&call.context, &completed("done")).await.unwrap();
    call
}

/// Damages an image that is in the database, or all of them, without changing their sizes.
pub(crate) fn damage_images(data: &Path, digest: Option<&str>) {
    let connection = rusqlite::Connection::open(data.join(haft_store::FILE)).unwrap();
    let damage = "UPDATE image SET content = zeroblob(length(content)) WHERE coalesce(digest = ?1, 1)";
    assert!(connection.execute(damage, [digest]).unwrap() > 0);
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
