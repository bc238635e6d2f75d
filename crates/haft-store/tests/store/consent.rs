//! Grants that are kept, and requests that another process answers.

use std::time::Duration;

use haft::permission::{
    Answer, Asker, Grant, GrantBook, Pattern, Question, Reply, Request, Resource, Scope, Showing,
};
use haft::{Action, GrantId, RequestId, SessionId};
use haft_store::{Answered, Queue, Store, StoreOptions};
use serde_json::json;

use crate::support::{context, data_of, fresh, open, options};

fn grant(scope: Scope, session: &SessionId) -> Grant {
    let (action, resource) = (Action::new("bash"), Pattern::new("git *"));
    Grant { id: GrantId::mint(), scope, session: session.clone(), action, resource }
}

fn request(session: &SessionId) -> Request {
    Request {
        id: RequestId::mint(),
        context: context(session),
        question: Question::new(Action::new("bash"), Resource::new("rm -rf x").or("rm")).saving("rm *"),
        decisions: Vec::new(),
        showing: Showing { title: "removes x".to_owned(), detail: "all of it".to_owned() },
        input: None,
    }
}

#[tokio::test]
async fn a_grant_reaches_as_far_as_its_scope() {
    let (dir, store) = fresh();
    let (mine, other) = (SessionId::mint(), SessionId::mint());
    let [session, project, user] =
        [Scope::Session, Scope::Project, Scope::User].map(|scope| grant(scope, &mine));
    store.keep(&[session.clone(), project.clone(), user.clone()]).await.unwrap();
    drop(store);

    let store = open(&data_of(&dir));
    let reach = async |store: &Store, id: &SessionId| GrantBook::grants(store, id).await.unwrap();
    assert_eq!(reach(&store, &mine).await, [session.clone(), project.clone(), user.clone()]);
    assert_eq!(reach(&store, &other).await, [project.clone(), user.clone()]);
    let elsewhere = StoreOptions { project: "/elsewhere".to_owned(), ..options(&data_of(&dir)) };
    let (elsewhere, _) = Store::open(elsewhere).unwrap();
    assert_eq!(reach(&elsewhere, &other).await, std::slice::from_ref(&user));
    assert_eq!(elsewhere.grants_of_project().unwrap().len(), 1);

    let all = store.saved_grants().unwrap();
    assert_eq!(
        all.iter().map(|saved| saved.grant.clone()).collect::<Vec<_>>(),
        [session, project.clone(), user]
    );
    assert!(all.iter().all(|saved| saved.project == "/project"));
    assert!(store.forget(&project.id).await.unwrap());
    assert!(!store.forget(&project.id).await.unwrap());
    assert_eq!(reach(&store, &other).await.len(), 1);
}

#[tokio::test]
async fn a_request_is_answered_by_another_process() {
    let (dir, store) = fresh();
    let (queue, other) = (Queue::new(&store, Duration::from_secs(60)), open(&data_of(&dir)));
    for reply in [
        Reply::Once,
        Reply::Always(Scope::User),
        Reply::Reject(Some("use git".to_owned())),
        Reply::Reject(None),
    ] {
        let request = request(&SessionId::mint());
        let asking = queue.ask(&request);
        let answering = async {
            let pending = loop {
                match other.pending_requests().unwrap().pop() {
                    Some(pending) => break pending,
                    None => tokio::task::yield_now().await,
                }
            };
            assert_eq!(pending.id, request.id);
            assert_eq!(pending.project, "/project");
            assert_eq!(pending.body["permission"], "bash");
            assert_eq!(pending.body["patterns"], json!(["rm -rf x"]));
            assert_eq!(pending.body["always"], json!(["rm *"]));
            assert_eq!(pending.body["metadata"]["detail"], "all of it");
            assert_eq!(other.answer_request(&request.id, &reply).await.unwrap(), Answered::Answered);
            assert_eq!(other.answer_request(&request.id, &Reply::Once).await.unwrap(), Answered::NotFound);
        };
        let (answer, ()) = tokio::join!(asking, answering);
        assert_eq!(answer, Answer::Reply(reply));
        assert_eq!(other.pending_requests().unwrap(), []);
    }
}

#[tokio::test]
async fn a_request_that_nobody_answers_is_given_up() {
    let (_dir, store) = fresh();
    let request = request(&SessionId::mint());
    let answer = Queue::new(&store, Duration::from_millis(150)).ask(&request).await;
    assert!(matches!(&answer, Answer::Nobody(hint) if hint.contains("nobody answered")), "{answer:?}");
    assert_eq!(store.pending_requests().unwrap(), []);
    assert_eq!(store.answer_request(&request.id, &Reply::Once).await.unwrap(), Answered::NotFound);
}

#[tokio::test]
async fn a_request_goes_away_with_whoever_asked() {
    let (dir, store) = fresh();
    let queue = Queue::new(&store, Duration::from_secs(60));
    let request = request(&SessionId::mint());
    let asked = tokio::time::timeout(Duration::from_millis(50), queue.ask(&request)).await;
    assert!(asked.is_err());
    everything_written(&store).await;
    assert_eq!(store.pending_requests().unwrap(), []);

    // One whose process died is not listed, cannot be answered, and is removed.
    let file = data_of(&dir).join(haft_store::FILE);
    let connection = rusqlite::Connection::open(&file).unwrap();
    let insert =
        "INSERT INTO request VALUES ('per_1', 's', 'c', 'p', '{}', 1, NULL, NULL, NULL, NULL, 'prc_dead')";
    connection.execute(insert, []).unwrap();
    assert_eq!(store.pending_requests().unwrap(), []);
    let id = RequestId::parse("per_1").unwrap();
    assert_eq!(store.answer_request(&id, &Reply::Once).await.unwrap(), Answered::NotFound);
    connection.execute(insert, []).unwrap();
    open(&data_of(&dir));
    assert_eq!(
        connection.query_row("SELECT count(*) FROM request", [], |row| row.get::<_, i64>(0)).unwrap(),
        0
    );
}

/// Waits until the writer has done what was queued before.
async fn everything_written(store: &Store) {
    store.forget(&GrantId::mint()).await.unwrap();
}
