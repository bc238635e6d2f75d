//! Sessions: their tree, their export, their end.

use haft::{
    AgentId, Call, Completed, Content, Ended, InputError, Memory, OutputStore, Recorder, Rejection,
    SessionId, Settlement, Topic,
};
use haft_store::{CallFilter, NewSession, Removal, Store, Whose};
use serde_json::{Value, json};

use crate::support::{call, completed, fresh, whole_life};

async fn begin(store: &Store, parent: Option<&SessionId>) -> SessionId {
    let id = SessionId::mint();
    let agent = AgentId::parse("build").unwrap();
    let title = "a session".to_owned();
    store.begin_session(&NewSession { id: id.clone(), parent: parent.cloned(), agent, title }).await.unwrap();
    id
}

fn export(store: &Store, whose: &Whose) -> Vec<Value> {
    let mut pieces = Vec::new();
    store.export(whose, &mut |piece| pieces.push(piece)).unwrap();
    pieces
}

#[tokio::test]
async fn sessions_know_their_parents_and_calls() {
    let (_dir, store) = fresh();
    let root = begin(&store, None).await;
    let child = begin(&store, Some(&root)).await;
    whole_life(&store, &call(&child, "read", json!({})), &completed("text")).await;
    let unnamed = call(&SessionId::mint(), "read", json!({}));
    whole_life(&store, &unnamed, &completed("text")).await;

    let found = store.session(&child).unwrap().unwrap();
    assert_eq!((found.parent.as_ref(), found.calls, found.title.as_str()), (Some(&root), 1, "a session"));
    assert_eq!((found.project.as_str(), found.directory.as_str()), ("/project", "/project/here"));
    assert_eq!(store.children(&root).unwrap(), [found]);
    assert_eq!(store.sessions(None).unwrap().len(), 3);
    assert_eq!(store.sessions(Some(1)).unwrap()[0].id, unnamed.context.session);
    assert_eq!(store.session(&SessionId::mint()).unwrap(), None);
    store.close_session(&child).await.unwrap();
    assert!(store.session(&child).unwrap().unwrap().closed_ms.is_some());
}

#[tokio::test]
async fn an_export_has_opencodes_shape() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let done = Call {
        provider_id: Some("toolu_1".to_owned()),
        ..call(&session, "read", json!({ "filePath": "a" }))
    };
    let metadata = json!({ "truncated": false }).as_object().cloned().unwrap();
    let picture = Content::Media { mime: "image/png".to_owned(), data: vec![1, 2, 3].into(), name: None };
    let ended = Ended::Settled(Box::new(Settlement::Completed(Completed {
        title: "a".to_owned(),
        content: vec![Content::Text("text".to_owned()), picture],
        metadata,
        ..Completed::default()
    })));
    whole_life(&store, &done, &ended).await;
    let mut second = call(&session, "bash", json!({ "command": "x" }));
    second.context.message = done.context.message.clone();
    store.called(&second).await.unwrap();
    store.running(&second.context, Some(&json!({ "command": "y" }))).await.unwrap();

    let pieces = export(&store, &Whose::Session(session.clone()));
    assert_eq!(pieces.len(), 2);
    assert_eq!(pieces[0]["type"], "session");
    assert_eq!(pieces[0]["id"], session.as_str());
    let message = &pieces[1];
    assert_eq!(message["info"]["id"], done.context.message.as_str());
    assert_eq!(message["info"]["role"], "assistant");
    let part = &message["parts"][0];
    for (key, value) in [
        ("sessionID", session.as_str()),
        ("messageID", done.context.message.as_str()),
        ("type", "tool"),
        ("callID", done.context.call.as_str()),
        ("tool", "read"),
    ] {
        assert_eq!(part[key], value, "{key}");
    }
    assert!(part["id"].as_str().unwrap().starts_with("prt_"));
    let state = &part["state"];
    assert_eq!(state["status"], "completed");
    assert_eq!(state["input"], json!({ "filePath": "a" }));
    assert_eq!((&state["output"], &state["title"]), (&json!("text"), &json!("a")));
    assert_eq!(state["metadata"], json!({ "truncated": false }));
    assert_eq!(state["attachments"][0]["url"], "data:image/png;base64,AQID");
    assert!(state["time"]["start"].is_i64() && state["time"]["end"].is_i64());
    let running = &message["parts"][1]["state"];
    assert_eq!((&running["status"], &running["input"]), (&json!("running"), &json!({ "command": "y" })));
}

#[tokio::test]
async fn what_is_no_proper_call_is_exported_as_invalid() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let unknown = Rejection::Unknown { name: "raed".to_owned(), nearest: None, available: Vec::new() };
    let invalid = Rejection::InvalidInput(InputError { message: "no path".to_owned(), issues: Vec::new() });
    for (tool, rejection) in [("raed", unknown), ("read", invalid)] {
        let words = rejection.to_string();
        let call = call(&session, tool, json!({ "x": 1 }));
        whole_life(&store, &call, &Ended::Settled(Box::new(Settlement::Rejected(rejection)))).await;
        let pieces = export(&store, &Whose::All);
        let part = &pieces.last().unwrap()["parts"][0];
        assert_eq!(part["tool"], "invalid");
        assert_eq!(part["state"]["status"], "error");
        assert_eq!(part["state"]["input"], json!({ "tool": tool, "error": words }));
        assert_eq!(part["state"]["error"], words);
    }
}

#[tokio::test]
async fn a_removed_session_goes_with_everything_that_is_its_own() {
    let (_dir, store) = fresh();
    let root = begin(&store, None).await;
    let child = begin(&store, Some(&root)).await;
    let other = begin(&store, None).await;
    let mut files = Vec::new();
    for session in [&root, &child, &other] {
        let call = call(session, "read", json!({}));
        store.called(&call).await.unwrap();
        files.push(store.retain(&call.context, "text").await.unwrap().path.unwrap());
        let picture = Content::Media {
            mime: "image/png".to_owned(),
            data: session.as_str().as_bytes().into(),
            name: None,
        };
        let ended = Completed { content: vec![picture], ..Completed::default() };
        store.ended(&call.context, &Ended::Settled(Box::new(Settlement::Completed(ended)))).await.unwrap();
        store.remember(session, &Topic::new("todos", ""), &json!([])).await.unwrap();
    }
    let removed = store.remove_session(&root).await.unwrap();
    assert_eq!(removed, Removal::Removed { sessions: 2, calls: 2, outputs: 2 });
    assert_eq!(files.iter().map(|path| path.exists()).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(store.remove_session(&root).await.unwrap(), Removal::NotFound);
    assert_eq!(store.recall(&child, &Topic::new("todos", "")).await.unwrap(), None);
    assert!(store.recall(&other, &Topic::new("todos", "")).await.unwrap().is_some());
    let usage = store.usage().unwrap();
    assert_eq!((usage.sessions, usage.calls, usage.outputs), (1, 1, 1));
    assert_eq!(usage.media_bytes, other.as_str().len() as u64);
    assert!(store.events_after(0, 100).unwrap().iter().all(|event| event.session == other.as_str()));
    assert_eq!(store.calls(&CallFilter { session: Some(other), ..CallFilter::default() }).unwrap().len(), 1);
}

#[tokio::test]
async fn a_session_with_a_call_under_way_is_not_removed() {
    let (_dir, store) = fresh();
    let root = begin(&store, None).await;
    let child = begin(&store, Some(&root)).await;
    let call = call(&child, "bash", json!({}));
    store.called(&call).await.unwrap();
    assert_eq!(store.remove_session(&root).await.unwrap(), Removal::Running(call.context.call.clone()));
    store.ended(&call.context, &completed("text")).await.unwrap();
    assert!(matches!(store.remove_session(&root).await.unwrap(), Removal::Removed { sessions: 2, .. }));
}
