//! Conversations: kept whole, and run by one at a time.

use haft::{
    AgentId, CallId, CallPart, Finish, Input, LeaseError, Message, Model, Note, Part, Role, SessionId,
    SessionStart, Shelf, Transcript, Usage,
};
use haft_store::Whose;
use serde_json::json;

use crate::support::{call, completed, data_of, fresh, open, whole_life};

fn start(id: &SessionId) -> SessionStart {
    let agent = AgentId::parse("build").unwrap();
    SessionStart { id: id.clone(), parent: None, agent, title: "a title".to_owned() }
}

fn said(text: &str) -> Message {
    Message::new(Role::User, AgentId::parse("build").unwrap()).with(Part::text(text))
}

#[tokio::test]
async fn a_message_comes_back_as_it_was_kept() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let lease = store.lease(&start(&session)).await.unwrap();
    let asked = said("look").with(Part::Media {
        mime: "image/png".to_owned(),
        data: vec![1, 2, 3].into(),
        name: Some("a.png".to_owned()),
    });
    let answered = Message {
        model: Some(Model { provider: "p".to_owned(), id: "m".to_owned() }),
        usage: Usage { input: 1, output: 2, reasoning: 3, cache_read: 4, cache_write: 5 },
        finish: Some(Finish::Failed("why".to_owned())),
        is_summary: true,
        ..Message::new(Role::Assistant, AgentId::parse("plan").unwrap())
            .with(Part::Reasoning { text: "hm".to_owned(), opaque: Some(json!({"signature": "s"})) })
            .with(Part::synthetic("well"))
            .with(Part::Call(CallPart {
                call: CallId::mint(),
                provider_id: "c1".to_owned(),
                name: "read".to_owned(),
                input: Input::Json(json!({"filePath": "a"})),
                opaque: Some(json!([1])),
            }))
            .with(Part::Call(CallPart {
                call: CallId::mint(),
                provider_id: "c2".to_owned(),
                name: "bash".to_owned(),
                input: Input::Malformed { text: "{".to_owned(), problem: "it ends".to_owned() },
                opaque: None,
            }))
    };
    // A message that is still being written is kept in place of its beginning.
    store.save(&lease, &Message { parts: Vec::new(), finish: None, ..answered.clone() }).await.unwrap();
    store.save(&lease, &asked).await.unwrap();
    store.save(&lease, &answered).await.unwrap();
    drop(lease);
    store.close().await;

    let mut kept = open(&data_of(&dir)).history(&session).await.unwrap().messages;
    kept.sort_by_key(|message| message.role == Role::Assistant);
    assert_eq!(kept, [asked, answered]);
}

#[tokio::test]
async fn a_session_is_run_by_one_at_a_time_also_across_processes() {
    let (dir, one) = fresh();
    let other = open(&data_of(&dir));
    let session = SessionId::mint();
    let lease = one.lease(&start(&session)).await.unwrap();
    for store in [&one, &other] {
        assert!(
            matches!(store.lease(&start(&session)).await, Err(LeaseError::Held(held)) if held == session)
        );
    }
    drop(lease);
    one.close().await;
    let _next = other.lease(&start(&session)).await.unwrap();
}

#[tokio::test]
async fn whoever_lost_a_session_can_no_longer_write_to_it() {
    let (dir, one) = fresh();
    let session = SessionId::mint();
    let lost = one.lease(&start(&session)).await.unwrap();
    one.save(&lost, &said("mine")).await.unwrap();
    // Its process counts as dead from here on, though it still holds its lease.
    one.close().await;

    let other = open(&data_of(&dir));
    let lease = other.lease(&start(&session)).await.unwrap();
    assert!(lease.fence() > lost.fence());
    let error = other.save(&lost, &said("too late")).await.unwrap_err();
    assert!(haft::causes(&error).contains("somebody else runs the session"), "{error}");
    assert_eq!(other.history(&session).await.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn an_exported_message_holds_what_was_said_with_its_calls_where_they_were_made() {
    let (_dir, store) = fresh();
    let session = SessionId::mint();
    let lease = store.lease(&start(&session)).await.unwrap();
    let asked = said("look");
    let mut answered = Message {
        model: Some(Model { provider: "p".to_owned(), id: "m".to_owned() }),
        usage: Usage { input: 1, output: 2, ..Usage::default() },
        finish: Some(Finish::Calls),
        ..Message::new(Role::Assistant, AgentId::parse("plan").unwrap()).with(Part::text("well"))
    };
    let mut made = call(&session, "read", json!({ "filePath": "a" }));
    made.context.message = answered.id.clone();
    let mut beside = call(&session, "glob", json!({}));
    beside.context.message = answered.id.clone();
    for (id, name) in [(&made.context.call, "read"), (&CallId::mint(), "bash")] {
        answered.parts.push(Part::Call(CallPart {
            call: id.clone(),
            provider_id: "c1".to_owned(),
            name: name.to_owned(),
            input: Input::Json(json!({})),
            opaque: None,
        }));
    }
    store.save(&lease, &asked).await.unwrap();
    whole_life(&store, &made, &completed("text")).await;
    whole_life(&store, &beside, &completed("text")).await;
    store.save(&lease, &answered).await.unwrap();

    let mut pieces = Vec::new();
    store.export(&Whose::Session(session), &mut |piece| pieces.push(piece)).unwrap();
    let user = pieces.iter().find(|piece| piece["info"]["role"] == "user").unwrap();
    assert_eq!((&user["parts"][0]["type"], &user["parts"][0]["text"]), (&json!("text"), &json!("look")));
    let model = pieces.iter().find(|piece| piece["info"]["role"] == "assistant").unwrap();
    let info = &model["info"];
    assert_eq!(
        (&info["agent"], &info["modelID"], &info["finish"]),
        (&json!("plan"), &json!("m"), &json!("tool-calls"))
    );
    assert_eq!(info["tokens"]["output"], 2);
    let shown: Vec<String> = model["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| format!("{} {} {}", part["type"], part["tool"], part["state"]["status"]).replace('"', ""))
        .collect();
    assert_eq!(shown, ["text null null", "tool read completed", "tool bash pending", "tool glob completed"]);
}

#[tokio::test]
async fn messages_stay_in_the_order_in_which_they_were_said_whatever_the_clock_says() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let lease = store.lease(&start(&session)).await.unwrap();
    let messages = ["one", "two", "three"].map(said);
    for message in &messages {
        store.save(&lease, message).await.unwrap();
    }
    // The clock was put back by a day between each of them.
    let database = rusqlite::Connection::open(data_of(&dir).join(haft_store::FILE)).unwrap();
    for (days, message) in messages.iter().enumerate() {
        let changed = database.execute(
            "UPDATE message SET created_ms = created_ms - ?1 WHERE id = ?2",
            rusqlite::params![days as i64 * 86_400_000, message.id.as_str()],
        );
        assert_eq!(changed.unwrap(), 1);
    }
    store.save(&lease, &messages[0]).await.unwrap();
    let kept = store.history(&session).await.unwrap().messages;
    assert_eq!(kept, messages);
}

#[tokio::test]
async fn what_waits_to_be_said_outlives_its_process_until_it_is_said_or_taken_back() {
    let (dir, store) = fresh();
    let session = SessionId::mint();
    let lease = store.lease(&start(&session)).await.unwrap();
    let picture = Part::Media {
        mime: "image/png".to_owned(),
        data: vec![1, 2, 3].into(),
        name: Some("a.png".to_owned()),
    };
    let first = Note::new(vec![Part::text("also this"), picture]);
    let second = Note::new(vec![Part::synthetic("go on")]).to(AgentId::parse("plan").unwrap());
    let third = Note::new(vec![Part::text("never mind")]);
    for note in [&first, &second, &third] {
        store.put(&session, note);
    }
    let second = Note { parts: vec![Part::synthetic("go on now")], ..second };
    store.put(&session, &second);
    Shelf::remove(&store, &session, &third.id);
    drop(lease);
    store.close().await;

    let store = open(&data_of(&dir));
    let mut waiting = store.waiting(&session).await.unwrap();
    waiting.sort_by_key(|note| note.agent.is_some());
    assert_eq!(waiting, [first.clone(), second.clone()]);
    assert!(store.history(&session).await.unwrap().messages.is_empty(), "nothing of it was said");
    let mut pieces = Vec::new();
    store.export(&Whose::Session(session.clone()), &mut |piece| pieces.push(piece.to_string())).unwrap();
    assert!(!pieces.concat().contains("also this"), "{pieces:?}");

    let lease = store.lease(&start(&session)).await.unwrap();
    let message = Message { id: first.id.clone(), ..said("also this") };
    store.save(&lease, &message).await.unwrap();
    // Whoever puts it there again comes too late.
    store.put(&session, &first);
    store.save(&lease, &message).await.unwrap();
    assert_eq!(store.waiting(&session).await.unwrap(), [second]);
    assert_eq!(store.history(&session).await.unwrap().messages, [message]);
}
