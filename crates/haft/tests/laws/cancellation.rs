//! Cancellation is drop: at whatever point it comes, the record says what is true and nothing is left behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use haft::permission::{Reply, Scope};
use haft::{Limits, ToolContext};
use serde_json::json;

use crate::support::{Asks, Door, Say, Somebody, Started, World, echo, looks_at, says, tool};

#[test]
fn cancellation_leaves_a_truthful_record() {
    let world = World::new();
    let _slow = world.register("slow", Door::default().then_says("never"));
    let turn = world.turn();
    drop(Started::new(turn.settle(world.call("slow", json!({ "text": "" })))));
    assert_eq!(world.recorder.endings(), "cancelled");
    assert!(world.recorder.calls()[0].ran);
}

#[test]
fn a_call_that_is_never_polled_leaves_no_record() {
    let world = World::new();
    let _echo = world.register("echo", echo());
    let turn = world.turn();
    drop(turn.settle(world.call("echo", json!({ "text": "" }))));
    assert_eq!(world.log.text(), "");
}

#[test]
fn cancellation_while_something_is_recorded_is_a_cancellation() {
    for (step, ran) in [("running", false), ("acting", true), ("ended", true)] {
        let world = World::new();
        let _acts = world.register("acts", looks_at(&world, "edit"));
        world.recorder.wait_at(step);
        let turn = world.turn();
        drop(Started::new(turn.settle(world.call("acts", json!({ "text": "a" })))));
        assert_eq!(
            (world.recorder.endings().as_str(), world.recorder.calls()[0].ran),
            ("cancelled", ran),
            "{step}"
        );
        assert!(!world.states().contains("completed"), "{step}");
    }
}

#[test]
fn cancellation_while_retaining_is_a_cancellation() {
    let mut world = World::new();
    world.services.limits =
        Limits { text: haft::preview::Budget { lines: 2, bytes: 1000 }, ..Limits::default() };
    let _long = world.register("long", says("a\nb\nc\n"));
    world.outputs.wait();
    let turn = world.turn();
    drop(Started::new(turn.settle(world.call("long", json!({ "text": "" })))));
    assert_eq!(world.recorder.endings(), "cancelled");
}

#[test]
fn cancellation_while_asking_takes_the_request_away() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Elsewhere);
    let _acts = world.register("acts", looks_at(&world, "edit"));
    let turn = world.turn();
    let waiting = Started::new(turn.settle(world.call("acts", json!({ "text": "a" }))));
    assert_eq!(world.gate().pending().len(), 1);
    drop(waiting);
    assert_eq!(world.gate().pending().len(), 0);
    assert_eq!(world.recorder.endings(), "cancelled");
    assert!(!world.log.text().contains("acted"));
}

#[test]
fn cancellation_drops_what_the_tool_holds() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let world = World::new();
    let stopped = Arc::new(AtomicBool::new(false));
    let held = stopped.clone();
    let works = tool(move |_: Say, _: ToolContext| {
        let guard = Guard(held.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok(String::new())
        }
    });
    let _works = world.register("works", works);
    let turn = world.turn();
    let running = Started::new(turn.settle(world.call("works", json!({ "text": "" }))));
    assert!(!stopped.load(Ordering::SeqCst));
    drop(running);
    assert!(stopped.load(Ordering::SeqCst));
}

#[test]
fn a_cancelled_call_is_announced_as_cancelled() {
    let world = World::new();
    let _slow = world.register("slow", Door::default().then_says("never"));
    let turn = world.turn();
    drop(Started::new(turn.settle(world.call("slow", json!({ "text": "" })))));
    assert_eq!(world.states(), "pending running cancelled");
}

#[test]
fn dropping_a_second_attempt_leaves_the_first_alone() {
    let world = World::new();
    let door = Door::default();
    let _slow = world.register("slow", door.then_says("done"));
    let turn = world.turn();
    let call = world.call("slow", json!({ "text": "" }));
    let mut first = Started::new(turn.settle(call.clone()));
    world.recorder.wait_at("called");
    drop(Started::new(turn.settle(call)));
    door.open();
    assert_eq!(crate::support::told(first.poll().unwrap()), "completed: done");
    assert_eq!(world.recorder.endings(), "completed");
}

#[test]
fn a_reply_that_is_dropped_gives_the_request_back() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Elsewhere);
    let context = world.context();
    let waiting = Started::new(Asks::to("edit", "a").saving("a").of(world.gate(), &context));
    let id = world.gate().pending()[0].id.clone();
    world.book.wait();
    drop(Started::new(world.gate().reply(&id, Reply::Always(Scope::Session))));
    crate::support::now(world.gate().reply(&id, Reply::Once)).unwrap();
    assert_eq!(waiting.finish(), "permitted a");
}
