//! Outputs: whole, found again by those they belong to, and by nobody's path.

use std::io::{Read, Seek, SeekFrom};

use haft::{AgentId, Completed, Ended, Output, OutputId, OutputStore, SessionId, Settlement};
use haft_store::{NewSession, Store};
use serde_json::json;

use crate::support::{call, context, data_of, detail, fresh, open, whole_life};

async fn begin(store: &Store, id: &SessionId, parent: Option<&SessionId>) {
    let new = NewSession {
        id: id.clone(),
        parent: parent.cloned(),
        agent: AgentId::parse("build").unwrap(),
        title: "a session".to_owned(),
    };
    store.begin_session(&new).await.unwrap();
}

#[tokio::test]
async fn an_output_is_kept_whole_and_read_from_any_place() {
    let (dir, store) = fresh();
    let context = context(&SessionId::mint());
    let whole: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
    let output = store.retain(&context, &whole).await.unwrap();
    assert_eq!((output.bytes, output.lines), (whole.len() as u64, 100_000));
    assert!(output.path.as_ref().unwrap().starts_with(data_of(&dir).join("outputs")));
    assert_eq!(store.output_of(&context.call).unwrap(), Some(output.clone()));
    drop(store);

    let store = open(&data_of(&dir));
    let mut opened = OutputStore::open(&store, &context.session, &output.id).await.unwrap().unwrap();
    assert_eq!((&opened.output, &opened.owner, opened.is_own), (&output, &context.session, true));
    opened.reader.seek(SeekFrom::Start(7)).unwrap();
    let mut rest = String::new();
    opened.reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, whole[7..]);
}

#[tokio::test]
async fn of_several_outputs_the_one_that_was_told_is_the_call_s() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let told = |retained: Option<&Output>| {
        let retained = retained.cloned();
        Ended::Settled(Box::new(Settlement::Completed(Completed { retained, ..Completed::default() })))
    };
    for at in 0..3 {
        let call = call(&session, "bash", json!({}));
        let first = store.retain(&call.context, "first").await.unwrap();
        let second = store.retain(&call.context, "second").await.unwrap();
        let (ended, output) = match at {
            0 => (told(Some(&first)), Some(first)),
            // It told all that its second command printed, and that is on record.
            1 => (told(None), None),
            _ => (Ended::Cancelled, Some(second)),
        };
        whole_life(&store, &call, &ended).await;
        assert_eq!(detail(&store, &call.context.call).output, output);
    }
}

#[tokio::test]
async fn an_output_belongs_to_the_whole_tree_of_sessions_that_made_it() {
    let (_dir, store) = fresh();
    let [root, child, grandchild, sibling, stranger] = std::array::from_fn(|_| SessionId::mint());
    begin(&store, &root, None).await;
    begin(&store, &child, Some(&root)).await;
    begin(&store, &grandchild, Some(&child)).await;
    begin(&store, &sibling, Some(&root)).await;
    begin(&store, &stranger, None).await;
    let output = store.retain(&context(&grandchild), "text").await.unwrap();
    let unheard_of = SessionId::mint();
    for (reader, is_own) in [
        (&root, true),
        (&child, true),
        (&grandchild, true),
        (&sibling, true),
        (&stranger, false),
        (&unheard_of, false),
    ] {
        let opened = OutputStore::open(&store, reader, &output.id).await.unwrap().unwrap();
        assert_eq!(opened.is_own, is_own);
        assert_eq!(opened.owner, grandchild);
    }
}

#[tokio::test]
async fn sessions_that_are_their_own_ancestors_do_not_hang_anything() {
    let (_dir, store) = fresh();
    let (one, two) = (SessionId::mint(), SessionId::mint());
    begin(&store, &one, Some(&two)).await;
    begin(&store, &two, Some(&one)).await;
    let output = store.retain(&context(&one), "text").await.unwrap();
    assert!(OutputStore::open(&store, &one, &output.id).await.unwrap().is_some());
    store.sweep(i64::MAX / 2).await.unwrap();
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    std::fs::write(data_of(&dir).join("outputs/secret"), "secret").unwrap();
    for id in ["out_unknown", "../haft.db", "out_/../secret", "secret"] {
        let id = OutputId::parse(id).unwrap();
        assert!(OutputStore::open(&store, &session, &id).await.unwrap().is_none(), "{id}");
    }
    let output = store.retain(&context(&session), "text").await.unwrap();
    std::fs::remove_file(output.path.as_ref().unwrap()).unwrap();
    assert!(OutputStore::open(&store, &session, &output.id).await.unwrap().is_none());
    assert_eq!(store.check().unwrap(), [format!("the file of the output {} is missing", output.id)]);
}
