//! Calls are on record before they run, their ends before anybody is told, and none runs twice.

use expect_test::expect;
use haft::permission::{Ask, Consent, Reply};
use haft::{Call, CallId, MessageId, SessionId};
use serde_json::json;

use crate::support::{Asks, Door, Runs, Somebody, Started, World, echo, looks_at, now, says, settle, told};

#[test]
fn everything_is_recorded_before_it_is_announced() {
    let world = World::new();
    world.settle_one(looks_at(&world, "edit"), json!({ "text": "a" }));
    expect![[r#"
        recorded called
        announced pending
        recorded running
        announced running
        recorded acting
        acted
        recorded ended
        announced completed"#]]
    .assert_eq(&world.log.text());
}

#[test]
fn an_effect_is_on_record_before_its_permit_is_used() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Answers(Reply::Once));
    assert_eq!(world.settle_one(looks_at(&world, "edit"), json!({ "text": "a" })), "completed: did a");
    let log = world.log.lines();
    let at = |line: &str| log.iter().position(|known| known == line).unwrap();
    assert!(at("announced replied:once") < at("recorded acting") && at("recorded acting") < at("acted"));
    assert!(world.recorder.calls()[0].acted);
}

#[test]
fn an_effect_that_cannot_be_recorded_does_not_happen() {
    let world = World::new();
    world.recorder.fail_at("acting");
    let told = world.settle_one(looks_at(&world, "edit"), json!({ "text": "a" }));
    expect!["error: the tool is broken: the disk is full (the disk is full)"].assert_eq(&told);
    assert!(!world.log.text().contains("acted"));
}

#[test]
fn what_is_agreed_to_is_made_ready_while_it_is_recorded_and_acted_on_afterwards() {
    let readied = |rules: &str, fails: bool| {
        let world = World::ruled(rules);
        world.asker.is(Somebody::Answers(Reply::Reject(None)));
        if fails {
            world.recorder.fail_at("acting");
        }
        let (context, log) = (world.context(), world.log.clone());
        let ready = |consent: Consent<'_, Asks>| {
            log.say(format!("made ready {}", consent.target().questions()[0].resources[0].name()));
            std::future::ready(7)
        };
        let granted = now(world.gate().grant_readying(&context, Asks::to("edit", "a"), ready));
        if let Ok((permit, number)) = granted {
            drop(permit);
            log.say(format!("acted with {number}"));
        }
        let lines = world.log.lines();
        lines.into_iter().filter(|line| line.contains("ready") || line.contains("act")).collect::<Vec<_>>()
    };
    assert_eq!(readied("* *: allow", false), ["made ready a", "recorded acting", "acted with 7"]);
    assert_eq!(readied("* *: allow", true), ["made ready a"], "what is not on record is not acted on");
    assert!(readied("* *: deny", false).is_empty() && readied("* *: ask", false).is_empty());
}

#[test]
fn a_call_that_cannot_be_recorded_does_not_run() {
    for step in ["called", "running"] {
        let world = World::new();
        let runs = Runs::default();
        world.recorder.fail_at(step);
        let told = world.settle_one(runs.echo(), json!({ "text": "a" }));
        assert_eq!(told, "error: the call could not be recorded (the disk is full)", "{step}");
        assert_eq!(runs.count(), 0, "{step}");
    }
}

#[test]
fn an_end_that_cannot_be_recorded_is_told_to_nobody() {
    let world = World::new();
    world.recorder.fail_at("ended");
    let told = world.settle_one(echo(), json!({ "text": "a" }));
    assert_eq!(told, "error: the call could not be recorded (the disk is full)");
    assert_eq!(world.states(), "pending running");
}

#[test]
fn an_end_that_cannot_be_recorded_is_no_cancellation() {
    let world = World::new();
    world.recorder.fail_at("ended");
    world.settle_one(echo(), json!({ "text": "a" }));
    assert_eq!(world.recorder.endings(), "open");
}

fn from_provider(world: &World, id: &str) -> Call {
    Call { provider_id: Some(id.to_owned()), ..world.call("echo", json!({ "text": "hello" })) }
}

#[test]
fn the_same_provider_call_never_runs_twice() {
    let world = World::new();
    let runs = Runs::default();
    let _echo = world.register("echo", runs.echo());
    let turn = world.turn();
    let call = from_provider(&world, "call_1");
    let first = now(turn.settle(call.clone())).unwrap();
    // The runner asks again after a crash, under another id of its own.
    let mut again = call;
    again.context.call = CallId::mint();
    assert_eq!(now(turn.settle(again)).unwrap(), first);
    assert_eq!((runs.count(), world.states().as_str()), (1, "pending running completed"));
}

#[test]
fn the_same_provider_id_in_another_message_is_another_call() {
    let world = World::new();
    let runs = Runs::default();
    let _echo = world.register("echo", runs.echo());
    let turn = world.turn();
    let call = from_provider(&world, "call_1");
    let mut other_message = from_provider(&world, "call_1");
    other_message.context.message = MessageId::mint();
    let mut other_session = from_provider(&world, "call_1");
    other_session.context.session = SessionId::mint();
    for call in [call, other_message, other_session] {
        assert_eq!(settle(&turn, call), "completed: hello");
    }
    assert_eq!(runs.count(), 3);
}

#[test]
fn the_same_call_id_never_runs_twice() {
    let world = World::new();
    let runs = Runs::default();
    let _echo = world.register("echo", runs.echo());
    let turn = world.turn();
    let call = world.call("echo", json!({ "text": "hello" }));
    for _ in 0..2 {
        assert_eq!(settle(&turn, call.clone()), "completed: hello");
    }
    assert_eq!(runs.count(), 1);
    let one = from_provider(&world, "call_1");
    let same = Call { provider_id: Some("call_2".to_owned()), ..one.clone() };
    assert_eq!([settle(&turn, one), settle(&turn, same)], ["completed: hello", "completed: hello"]);
    assert_eq!(runs.count(), 2);
}

#[test]
fn a_call_under_way_is_not_run_again() {
    let world = World::new();
    let door = Door::default();
    let _slow = world.register("echo", door.then_says("done"));
    let turn = world.turn();
    let call = from_provider(&world, "call_1");
    let mut first = Started::new(turn.settle(call.clone()));
    expect!["error: the call was made before and is not run again"].assert_eq(&told(now(turn.settle(call))));
    door.open();
    assert_eq!(told(first.poll().unwrap()), "completed: done");
    assert_eq!(world.states(), "pending running completed");
}

#[test]
fn a_cancelled_call_is_not_run_again() {
    let world = World::new();
    let _slow = world.register("echo", Door::default().then_says("done"));
    let turn = world.turn();
    let call = from_provider(&world, "call_1");
    drop(Started::new(turn.settle(call.clone())));
    assert!(told(now(turn.settle(call))).starts_with("error: the call was made before"));
    assert_eq!(world.recorder.endings(), "cancelled");
}

#[test]
fn what_ended_never_changes_again() {
    let world = World::new();
    let _echo = world.register("echo", says("done"));
    let turn = world.turn();
    let call = world.call("echo", json!({ "text": "" }));
    settle(&turn, call.clone());
    let recorder: &dyn haft::Recorder = &*world.recorder;
    recorder.cancelled(&call.context);
    now(recorder.ended(&call.context, &haft::Ended::Declined)).unwrap();
    assert_eq!(world.recorder.endings(), "completed");
}

#[test]
fn the_third_identical_call_asks() {
    let world = World::ruled("* *: allow\ndoom_loop *: ask");
    let runs = Runs::default();
    let _echo = world.register("echo", runs.echo());
    let turn = world.turn();
    let same = || settle(&turn, world.call("echo", json!({ "text": "a" })));
    assert_eq!([same(), same()], ["completed: a", "completed: a"]);
    expect![[r#"rejected as approval_needed: permission needed: doom_loop echo requires approval by the rule doom_loop "*": ask (haft.json:2:1), and there is nobody to ask; run it on a terminal"#]]
        .assert_eq(&same());
    assert_eq!((runs.count(), world.asker.asked().as_str()), (2, "doom_loop echo"));

    world.asker.is(Somebody::Answers(Reply::Once));
    assert_eq!(same(), "completed: a");
    world.asker.is(Somebody::Nobody);
    assert!(same().starts_with("rejected as approval_needed"));
}

#[test]
fn another_call_in_between_ends_the_repetition() {
    let world = World::ruled("* *: allow\ndoom_loop *: deny");
    let _tools = world.location.register([("echo", echo()), ("other", echo())]).unwrap();
    let turn = world.turn();
    let settle = |name: &str, text: &str| settle(&turn, world.call(name, json!({ "text": text })));
    for (name, text) in
        [("echo", "a"), ("echo", "a"), ("echo", "b"), ("echo", "a"), ("echo", "a"), ("other", "a")]
    {
        assert_eq!(settle(name, text), format!("completed: {text}"));
    }
    assert!(settle("echo", "a").starts_with("completed"));
}

#[test]
fn another_sessions_calls_are_no_repetition() {
    let mut world = World::ruled("* *: allow\ndoom_loop *: deny");
    let _echo = world.register("echo", echo());
    let turn = world.turn();
    for _ in 0..5 {
        world.session = SessionId::mint();
        assert_eq!(settle(&turn, world.call("echo", json!({ "text": "a" }))), "completed: a");
    }
}
