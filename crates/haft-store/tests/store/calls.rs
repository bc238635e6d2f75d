//! The record of a call: what is in it, what can be told from it, and that it never changes again.

use haft::{
    Call, CallId, Completed, Content, Ended, Event, Input, Intent, Opened, Past, Recorder, Rejection,
    SessionId, Settlement,
};
use haft_store::{CallFilter, Lookup, State};
use serde_json::{Value, json};

use crate::support::{call, completed, data_of, detail, fresh, open, whole_life};

fn repeats(opened: &Opened) -> u32 {
    match opened {
        Opened::New { repeats, .. } => *repeats,
        Opened::Before(past) => panic!("{past:?}"),
    }
}

#[tokio::test]
async fn a_call_is_on_record_from_beginning_to_end_also_for_the_next_process() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let call = call(&session, "read", json!({ "filePath": "a" }));
    let path = dir.path().join("a");

    store.called(&call).await.unwrap();
    assert_eq!(detail(&store, &call.context.call).row.state, State::Pending);
    store.running(&call.context, Some(&json!({ "filePath": "b" }))).await.unwrap();
    let running = detail(&store, &call.context.call);
    assert_eq!((running.row.state, running.row.acted), (State::Running, false));
    let intent = Intent { path, before: None, after: Some("x".to_owned()), midway: None };
    store.acting(&call.context, &[intent.clone().into()]).await.unwrap();
    store.ended(&call.context, &completed("text")).await.unwrap();
    store.close().await;
    drop(store);

    let store = open(&data_of(&dir));
    let found = detail(&store, &call.context.call);
    assert_eq!(found.row.state, State::Completed);
    assert_eq!(found.row.title, "done");
    assert_eq!(found.input, Input::Json(json!({ "filePath": "a" })));
    assert_eq!(found.changed_input, Some(json!({ "filePath": "b" })));
    assert_eq!(found.intents, [intent]);
    assert!(found.row.acted);
    assert_eq!(found.ended, Some(completed("text")));
    assert!(found.row.started_ms >= Some(found.row.called_ms) && found.row.ended_ms >= found.row.started_ms);
}

#[tokio::test]
async fn media_come_back_as_they_were_and_are_kept_once() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let bytes: Vec<u8> = (0..=255).collect();
    let picture = |name: &str| Content::Media {
        mime: "image/png".to_owned(),
        data: bytes.clone().into(),
        name: Some(name.to_owned()),
    };
    let ended = Ended::Settled(Box::new(Settlement::Completed(Completed {
        content: vec![picture("a.png"), Content::Text("and".to_owned()), picture("b.png")],
        ..Completed::default()
    })));
    let call = call(&session, "read", json!({}));
    whole_life(&store, &call, &ended).await;
    assert_eq!(detail(&store, &call.context.call).ended, Some(ended));
    assert_eq!(store.usage().unwrap().media_bytes, 256);
}

#[tokio::test]
async fn equal_calls_in_a_row_are_counted() {
    let (_dir, store) = fresh();
    let (session, other) = (SessionId::mint(), SessionId::mint());
    let same = || call(&session, "read", json!({ "a": 1, "b": 2 }));
    assert_eq!(repeats(&store.called(&same()).await.unwrap()), 0);
    let reordered = call(&session, "read", json!({ "b": 2, "a": 1 }));
    assert_eq!(repeats(&store.called(&reordered).await.unwrap()), 1);
    let elsewhere = call(&other, "read", json!({ "a": 1, "b": 2 }));
    assert_eq!(repeats(&store.called(&elsewhere).await.unwrap()), 0);
    assert_eq!(repeats(&store.called(&same()).await.unwrap()), 2);
    assert_eq!(repeats(&store.called(&call(&session, "list", json!({ "a": 1, "b": 2 }))).await.unwrap()), 0);
    assert_eq!(repeats(&store.called(&same()).await.unwrap()), 0);
}

#[tokio::test]
async fn the_same_key_returns_the_earlier_end_and_records_nothing() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let first = Call { provider_id: Some("toolu_1".to_owned()), ..call(&session, "read", json!({})) };
    let mut again = Call { provider_id: Some("toolu_1".to_owned()), ..call(&session, "read", json!({})) };
    again.context.message = first.context.message.clone();

    store.called(&first).await.unwrap();
    let running = Opened::Before(Box::new(Past::Running(first.context.call.clone())));
    assert_eq!(store.called(&again).await.unwrap(), running);
    store.ended(&first.context, &completed("text")).await.unwrap();
    drop(store);

    let store = open(&data_of(&dir));
    let ended = Past::Ended(first.context.call.clone(), completed("text"));
    assert_eq!(store.called(&again).await.unwrap(), Opened::Before(Box::new(ended)));
    assert_eq!(store.calls(&CallFilter::default()).unwrap().len(), 1);

    // The provider's id is unique only within its message.
    let elsewhere = Call { provider_id: Some("toolu_1".to_owned()), ..call(&session, "read", json!({})) };
    assert!(matches!(store.called(&elsewhere).await.unwrap(), Opened::New { .. }));
}

#[tokio::test]
async fn without_a_providers_id_the_call_id_is_the_key() {
    let (_dir, store) = fresh();
    let call = call(&SessionId::mint(), "read", json!({}));
    whole_life(&store, &call, &completed("text")).await;
    let past = Past::Ended(call.context.call.clone(), completed("text"));
    assert_eq!(store.called(&call).await.unwrap(), Opened::Before(Box::new(past)));
}

#[tokio::test]
async fn a_call_that_ended_never_changes_again() {
    let (dir, store) = fresh();
    let call = call(&SessionId::mint(), "read", json!({}));
    whole_life(&store, &call, &completed("first")).await;
    let before = detail(&store, &call.context.call);

    assert!(store.ended(&call.context, &completed("second")).await.is_err());
    assert!(store.running(&call.context, None).await.is_err());
    assert!(store.acting(&call.context, &[]).await.is_err());
    store.cancelled(&call.context);
    store.close().await;
    drop(store);

    let store = open(&data_of(&dir));
    assert_eq!(detail(&store, &call.context.call), before);

    let connection = rusqlite::Connection::open(data_of(&dir).join(haft_store::FILE)).unwrap();
    let meddled = connection.execute("UPDATE call SET title = 'other'", []);
    assert!(meddled.unwrap_err().to_string().contains("never changes again"));
}

#[tokio::test]
async fn a_step_of_a_call_that_was_never_recorded_is_an_error() {
    let (_dir, store) = fresh();
    let call = call(&SessionId::mint(), "read", json!({}));
    let error = store.acting(&call.context, &[]).await.unwrap_err();
    assert!(error.to_string().contains("not under way"), "{error}");
}

#[tokio::test]
async fn a_cancellation_is_not_lost_when_the_store_is_dropped_at_once() {
    let (dir, store) = fresh();
    let call = call(&SessionId::mint(), "bash", json!({}));
    store.called(&call).await.unwrap();
    store.cancelled(&call.context);
    drop(store);
    let store = open(&data_of(&dir));
    let found = detail(&store, &call.context.call);
    assert_eq!(found.row.state, State::Error { reason: "cancelled".to_owned() });
    assert_eq!(found.ended, Some(Ended::Cancelled));
}

#[tokio::test]
async fn a_call_that_was_opened_for_nobody_is_cancelled() {
    let (dir, store) = fresh();
    let call = call(&SessionId::mint(), "bash", json!({}));
    drop(store.called(&call));
    drop(store);
    let found = detail(&open(&data_of(&dir)), &call.context.call);
    assert_eq!(found.ended, Some(Ended::Cancelled));
}

#[tokio::test]
async fn a_second_attempt_that_is_dropped_leaves_the_first_alone() {
    let (_dir, store) = fresh();
    let call = call(&SessionId::mint(), "bash", json!({}));
    store.called(&call).await.unwrap();
    drop(store.called(&call));
    store.running(&call.context, None).await.unwrap();
    assert_eq!(detail(&store, &call.context.call).row.state, State::Running);
}

#[tokio::test]
async fn each_end_has_its_state_and_reason() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let rejected = |rejection| Ended::Settled(Box::new(Settlement::Rejected(rejection)));
    let cases = [
        (rejected(Rejection::Stale { name: "read".to_owned() }), "stale"),
        (rejected(Rejection::Failed("no".to_owned())), "failed"),
        (Ended::Declined, "declined"),
        (Ended::Broken("oh".to_owned()), "defect"),
        (Ended::Cancelled, "cancelled"),
    ];
    for (ended, reason) in cases {
        let call = call(&session, "read", json!({}));
        whole_life(&store, &call, &ended).await;
        let found = detail(&store, &call.context.call);
        assert_eq!(found.row.state, State::Error { reason: reason.to_owned() });
        assert_eq!(found.ended, Some(ended));
    }
}

#[tokio::test]
async fn what_is_not_json_is_recorded_as_it_was_sent() {
    let (_dir, store) = fresh();
    let input = Input::Malformed { text: "{\"a\":".to_owned(), problem: "EOF".to_owned() };
    let call = Call { input: input.clone(), ..call(&SessionId::mint(), "read", json!({})) };
    store.called(&call).await.unwrap();
    assert_eq!(detail(&store, &call.context.call).input, input);
}

#[tokio::test]
async fn events_are_in_order_and_can_be_resumed() {
    let (dir, store) = fresh();
    let call = call(&SessionId::mint(), "todowrite", json!({}));
    whole_life(&store, &call, &completed("text")).await;
    let body = json!({ "sessionID": call.context.session.as_str(), "todos": [] });
    let event = Event::Reported { name: "todo.updated", context: call.context.clone(), body: body.clone() };
    let seq = store.event(&event).await.unwrap();
    drop(store);

    let store = open(&data_of(&dir));
    let all = store.events_after(0, 100).unwrap();
    let names: Vec<&str> = all.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["session.created", "call.pending", "call.running", "call.completed", "todo.updated"]);
    assert!(all.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let last = all.last().unwrap();
    assert_eq!((last.seq, &last.body), (seq.0, &body));
    assert_eq!(all[3].body["callID"], Value::from(call.context.call.as_str()));
    assert_eq!(store.events_after(all[2].seq, 1).unwrap(), all[3..4]);
    assert_eq!(store.events_after(last.seq, 100).unwrap(), []);
}

#[tokio::test]
async fn calls_are_found_by_session_tool_status_and_time() {
    let (_dir, store) = fresh();
    let (a, b) = (SessionId::mint(), SessionId::mint());
    let mut ids: Vec<CallId> = Vec::new();
    for (session, tool, ended) in [
        (&a, "read", completed("x")),
        (&a, "bash", Ended::Cancelled),
        (&b, "read", Ended::Declined),
        (&b, "read", completed("y")),
    ] {
        let call = call(session, tool, json!({}));
        whole_life(&store, &call, &ended).await;
        ids.push(call.context.call);
    }
    let found = |filter: CallFilter| -> Vec<CallId> {
        store.calls(&filter).unwrap().into_iter().map(|row| row.id).collect()
    };
    let all = CallFilter::default;
    assert_eq!(found(all()), ids);
    assert_eq!(found(CallFilter { session: Some(a), ..all() }), ids[..2]);
    assert_eq!(found(CallFilter { tool: Some("bash".to_owned()), ..all() }), ids[1..2]);
    assert_eq!(found(CallFilter { status: Some("error".to_owned()), ..all() }), ids[1..3]);
    assert_eq!(found(CallFilter { status: Some("declined".to_owned()), ..all() }), ids[2..3]);
    assert_eq!(found(CallFilter { limit: Some(2), ..all() }), ids[2..]);
    let second = store.calls(&all()).unwrap()[1].seq;
    assert_eq!(found(CallFilter { after: Some(second), limit: Some(1), ..all() }), ids[2..3]);
    assert_eq!(found(CallFilter { since_ms: Some(i64::MAX), ..all() }), []);
}

#[tokio::test]
async fn a_call_is_found_by_the_beginning_of_its_id() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let mut first = call(&session, "read", json!({}));
    let mut second = call(&session, "read", json!({}));
    first.context.call = CallId::parse("cal_abc1").unwrap();
    second.context.call = CallId::parse("cal_abc12").unwrap();
    store.called(&first).await.unwrap();
    store.called(&second).await.unwrap();
    assert!(
        matches!(store.call("cal_abc12").unwrap(), Lookup::One(detail) if detail.row.id == second.context.call)
    );
    assert!(
        matches!(store.call("cal_abc1").unwrap(), Lookup::One(detail) if detail.row.id == first.context.call)
    );
    assert!(matches!(store.call("cal_a").unwrap(), Lookup::Several(ids) if ids.len() == 2));
    for nothing in ["cal_b", "", "%", "*"] {
        assert_eq!(store.call(nothing).unwrap(), Lookup::Nothing, "{nothing}");
    }
}
