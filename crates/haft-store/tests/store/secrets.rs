//! No secret reaches the disk, by whatever way it comes in.

use std::fs;
use std::path::Path;

use haft::permission::{Grant, GrantBook, Pattern, Question, Reply, Request, Resource, Scope, Showing};
use haft::{
    Action, Call, Completed, Ended, Event, GrantId, Input, Intent, Memory, OutputStore, Recorder, RequestId,
    SessionId, Settlement, Topic,
};
use haft_store::{NewSession, Redactor, Store, StoreOptions};
use serde_json::json;

use crate::support::{call, completed, options};

const SECRET: &str = "correct-horse-battery";
const KEY: &str = "sk-ant-api03-A1b2C3d4E5f6G7h8I9j0K1l2";
/// Where this stands, everybody can tell that it is a password.
const PASSWORD: &str = "hunter2";

fn files_below(path: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

#[tokio::test]
async fn no_secret_is_in_any_file_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let redactor = Redactor::from_env([("MY_TOKEN", SECRET), ("PATH", "/usr/bin"), ("LANG", "C.UTF-8")]);
    let (store, _) = Store::open(StoreOptions { redactor, ..options(dir.path()) }).unwrap();
    let session = SessionId::mint();
    for secret in [SECRET, KEY] {
        put_everywhere(&store, &session, secret).await;
    }
    for command in [
        "mysql -phunter2 db",
        "mysql --password=hunter2 db",
        "curl -u me:hunter2 https://host",
        "curl -H 'Authorization: Bearer hunter2' https://host",
        "psql postgres://me:hunter2@host/db",
        "sshpass -p hunter2 ssh host",
    ] {
        put_command(&store, &session, command).await;
    }
    store.close().await;
    for file in files_below(dir.path()) {
        let bytes = fs::read(&file).unwrap();
        for secret in [SECRET, KEY, PASSWORD] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", file.display());
        }
    }
    assert!(store.usage().unwrap().outputs == 2, "something was written at all");
}

/// Runs a command that somebody agrees to for always, and that is refused another time.
async fn put_command(store: &Store, session: &SessionId, command: &str) {
    let call = call(session, "bash", json!({ "command": command, "description": "asks a server" }));
    store.called(&call).await.unwrap();
    store.running(&call.context, Some(&json!({ "command": command }))).await.unwrap();
    let request = Request {
        id: RequestId::mint(),
        context: call.context.clone(),
        question: Question::new(Action::new("bash"), Resource::new(command)).saving(command),
        decisions: Vec::new(),
        showing: Showing { title: command.to_owned(), detail: command.to_owned() },
        input: None,
    };
    store.event(&Event::Asked(request.clone().into())).await.unwrap();
    store.event(&Event::Replied(request.into(), Reply::Once)).await.unwrap();
    let grant = Grant {
        id: GrantId::mint(),
        scope: Scope::Project,
        session: session.clone(),
        action: Action::new("bash"),
        resource: Pattern::new(command),
    };
    store.keep(&[grant]).await.unwrap();
    let metadata = json!({ "command": command }).as_object().unwrap().clone();
    let completed = Completed { title: command.to_owned(), metadata, ..Completed::default() };
    let settlement = Settlement::Completed(completed);
    store.ended(&call.context, &Ended::Settled(Box::new(settlement))).await.unwrap();
}

async fn put_everywhere(store: &Store, session: &SessionId, secret: &str) {
    let text = format!("a {secret} b");
    let call = call(session, &text, json!({ "command": text, secret: [text] }));
    store.called(&call).await.unwrap();
    store.running(&call.context, Some(&json!({ "changed": text }))).await.unwrap();
    let intent = Intent { path: Path::new("/tmp").join(secret), before: None, after: None, midway: None };
    store.acting(&call.context, &[intent.into()]).await.unwrap();
    store.retain(&call.context, &text).await.unwrap();
    store.ended(&call.context, &completed(&text)).await.unwrap();

    let input = Input::Malformed { text: text.clone(), problem: text.clone() };
    let other = Call { input, ..crate::support::call(session, "read", json!({})) };
    store.called(&other).await.unwrap();
    store.ended(&other.context, &Ended::Broken(text.clone())).await.unwrap();

    let body = json!({ "todos": [text] });
    let event = Event::Reported { name: "todo.updated", context: call.context.clone(), body };
    store.event(&event).await.unwrap();
    let request = Request {
        id: RequestId::mint(),
        context: call.context.clone(),
        question: Question::new(Action::new("bash"), Resource::new(&text)).saving(&text),
        decisions: Vec::new(),
        showing: Showing { title: text.clone(), detail: text.clone() },
        input: None,
    };
    let reply = Reply::Reject(Some(text.clone()));
    store.event(&Event::Replied(request.into(), reply)).await.unwrap();

    let topic = Topic::new("notes", text.clone());
    store.remember(session, &topic, &json!(text)).await.unwrap();
    assert_eq!(store.recall(session, &topic).await.unwrap(), Some(json!("a [redacted] b")));

    let resource = Pattern::new(&text);
    let grant = Grant {
        id: GrantId::mint(),
        scope: Scope::Project,
        session: session.clone(),
        action: Action::new("bash"),
        resource,
    };
    store.keep(&[grant]).await.unwrap();
    let new = NewSession {
        id: SessionId::mint(),
        parent: None,
        agent: call.context.agent.clone(),
        title: text.clone(),
    };
    store.begin_session(&new).await.unwrap();
}
