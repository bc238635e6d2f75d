//! How calls end: completed, rejected, settle error and cancellation never turn into one another.

use std::sync::Arc;

use expect_test::expect;
use haft::{Content, Refusal, Rejection, Settlement, Tool, ToolContext, ToolError};
use serde_json::json;

use crate::support::{Log, Runs, Say, Somebody, World, echo, looks_at, now, says, settle, tool};

fn ending(error: impl Fn() -> ToolError + Send + Sync + 'static) -> Tool {
    tool(move |_, _| std::future::ready(Err(error())))
}

#[test]
fn outcomes_stay_distinct() {
    let world = World::new();
    let text = json!({ "text": "hello" });
    let end = |tool| world.settle_one(tool, text.clone());
    assert_eq!(end(echo()), "completed: hello");
    assert_eq!(end(ending(|| ToolError::failure("no such file"))), "rejected as failed: no such file");
    let corrected = Refusal::Corrected { wanted: "edit a".to_owned(), words: "use b".to_owned() };
    expect![
        "rejected as rejected: the user rejected permission for edit a with the following feedback: use b"
    ]
    .assert_eq(&end(ending(move || corrected.clone().into())));
    assert_eq!(end(ending(|| ToolError::Declined)), "error: the person declined the call");
    expect!["error: the tool is broken: out of cheese (out of cheese)"]
        .assert_eq(&end(ending(|| ToolError::defect("out of cheese"))));
    expect!["completed error:failed error:rejected error:declined error:broken"]
        .assert_eq(&world.recorder.endings());
}

#[test]
fn states_follow_one_another_and_end_once() {
    let world = World::new();
    world.settle_one(echo(), json!({ "text": "hello" }));
    assert_eq!(world.states(), "pending running completed");
    let world = World::new();
    world.settle_one(ending(|| ToolError::failure("no")), json!({ "text": "hello" }));
    assert_eq!(world.states(), "pending running error:failed");
    let world = World::new();
    world.settle_one(echo(), json!({}));
    assert_eq!(world.states(), "pending error:invalid_input");
}

#[test]
fn an_unknown_tool_runs_nothing_and_names_the_nearest() {
    let world = World::new();
    let runs = Runs::default();
    let _tools = world.location.register([("read", runs.echo()), ("todowrite", runs.echo())]).unwrap();
    let turn = world.turn();
    let text = json!({ "text": "" });
    expect!["rejected as unknown_tool: Unknown tool: raed. Did you mean read?"]
        .assert_eq(&settle(&turn, world.call("raed", text.clone())));
    expect!["rejected as unknown_tool: Unknown tool: TodoWrite. Did you mean todowrite?"]
        .assert_eq(&settle(&turn, world.call("TodoWrite", text.clone())));
    expect!["rejected as unknown_tool: Unknown tool: launch. Available tools: read, todowrite"]
        .assert_eq(&settle(&turn, world.call("launch", text.clone())));
    let told = settle(&turn, world.call(&"x".repeat(1_000_000), text));
    assert!(told.len() < 200, "{} bytes", told.len());
    assert_eq!(runs.count(), 0);
    assert_eq!(world.states(), ["pending error:unknown_tool"; 4].join(" "));
}

#[test]
fn a_stale_call_runs_nothing() {
    let world = World::new();
    let runs = Runs::default();
    let old = world.register("echo", runs.echo());
    let turn = world.turn();
    let _new = world.register("echo", runs.echo());
    drop(old);
    assert!(settle(&turn, world.call("echo", json!({ "text": "" }))).starts_with("rejected as stale"));
    assert_eq!((runs.count(), world.states().as_str()), (0, "pending error:stale"));
}

#[test]
fn a_call_that_is_none_appears_as_invalid_in_the_transcript() {
    let world = World::new();
    let _echo = world.register("echo", echo());
    let turn = world.turn();
    let invalid = |name: &str, input| match now(turn.settle(world.call(name, input))).unwrap() {
        Settlement::Rejected(rejection) => rejection.as_invalid(name).map(|body| body.to_string()),
        Settlement::Completed(_) => None,
    };
    expect![[r#"{"tool":"ecko","error":"Unknown tool: ecko. Did you mean echo?"}"#]]
        .assert_eq(&invalid("ecko", json!({})).unwrap());
    assert!(
        invalid("echo", json!({})).unwrap().starts_with(r#"{"tool":"echo","error":"Invalid tool input: "#)
    );
    assert_eq!(Rejection::Failed("no".to_owned()).as_invalid("echo"), None);
}

#[test]
fn a_tool_is_given_exactly_the_identity_the_runner_supplied() {
    let world = World::new();
    let given = Arc::new(std::sync::Mutex::new(None));
    let seen = given.clone();
    let _tool = world.register(
        "tool",
        tool(move |_, context: ToolContext| {
            *seen.lock().unwrap() = Some(context);
            std::future::ready(Ok(String::new()))
        }),
    );
    let call = world.call("tool", json!({ "text": "" }));
    settle(&world.turn(), call.clone());
    assert_eq!(*given.lock().unwrap(), Some(call.context.clone()));
    assert_eq!(world.recorder.calls()[0].call, call);
}

#[test]
fn a_tool_runs_only_its_own_executor() {
    let log = Log::default();
    let speaking = |name: &'static str| {
        let log = log.clone();
        tool(move |_: Say, _| {
            log.say(name);
            std::future::ready(Ok(name.to_owned()))
        })
    };
    let world = World::new();
    let _both = world.location.register([("one", speaking("one")), ("two", speaking("two"))]).unwrap();
    let turn = world.turn();
    assert_eq!(settle(&turn, world.call("two", json!({ "text": "" }))), "completed: two");
    assert_eq!(log.text(), "two");
    assert_eq!(format!("{:?}", speaking("one")), "Tool");
}

#[test]
fn a_denial_is_told_and_a_refusal_without_words_is_not() {
    let denied = World::ruled("edit secret: deny");
    let told = denied.settle_one(looks_at(&denied, "edit"), json!({ "text": "secret" }));
    expect![[r#"rejected as denied: permission denied: edit secret is forbidden by the rule edit "secret": deny (haft.json:1:1); do not try to get around it"#]]
        .assert_eq(&told);

    let declined = World::ruled("* *: ask");
    declined.asker.is(Somebody::Answers(haft::permission::Reply::Reject(None)));
    let told = declined.settle_one(looks_at(&declined, "edit"), json!({ "text": "a" }));
    assert_eq!(told, "error: the person declined the call");
    assert_eq!(declined.states(), "pending running asked replied:reject error:declined");
    assert!(!declined.log.text().contains("acted"));
}

#[test]
fn one_text_and_media_reach_the_model_in_their_order() {
    use haft::{Dynamic, Presented};
    let world = World::new();
    let tool = Tool::dynamic(Dynamic {
        description: String::new(),
        input: json!({ "type": "object" }),
        output: json!(true),
        execute: Arc::new(|_, _| Box::pin(std::future::ready(Ok(json!(null))))),
        present: |_, _| {
            Presented::text("hello").attach("image/png", *b"png", Some("a.png".to_owned())).titled("a.png")
        },
    });
    let _tool = world.register("tool", tool);
    let settled = now(world.turn().settle(world.call("tool", json!({})))).unwrap();
    let Settlement::Completed(completed) = settled else { panic!("it was rejected") };
    let media = Content::Media {
        mime: "image/png".to_owned(),
        data: Arc::from(&b"png"[..]),
        name: Some("a.png".to_owned()),
    };
    assert_eq!(completed.content, [Content::Text("hello".to_owned()), media]);
    assert_eq!((completed.text().as_str(), completed.title.as_str()), ("hello", "a.png"));
}

#[test]
fn calls_of_one_turn_do_not_disturb_each_other() {
    let world = World::new();
    let _tools = world
        .location
        .register([("good", says("good")), ("bad", ending(|| ToolError::defect("broken")))])
        .unwrap();
    let turn = world.turn();
    let text = json!({ "text": "" });
    assert!(settle(&turn, world.call("bad", text.clone())).starts_with("error"));
    assert_eq!(settle(&turn, world.call("good", text)), "completed: good");
}
