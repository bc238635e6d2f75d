//! Hooks stand before and after a call; they change what passes, and never get around codec, gate or boundary.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft::{BoxError, BoxFuture, Described, Hook, Limits, Presented, ToolContext, ToolName};
use serde_json::{Value, json};

use crate::support::{Hooked, Runs, Somebody, World, echo, looks_at, now, says, settle, tool, viewer};

#[test]
fn hooks_run_in_the_order_they_were_installed() {
    let world = World::new();
    let log = world.log.clone();
    let world = world.hooked([Hooked::noting(&log, "first"), Hooked::noting(&log, "second")]);
    let noted = log.clone();
    let works = tool(move |_, _| {
        noted.say("tool");
        std::future::ready(Ok(String::new()))
    });
    world.settle_one(works, json!({ "text": "" }));
    expect![[r#"
        recorded called
        announced pending
        first before
        second before
        recorded running
        announced running
        tool
        first after
        second after
        recorded ended
        announced completed"#]]
    .assert_eq(&log.text());
}

#[test]
fn each_hook_sees_what_the_one_before_made() {
    let add = |word: &'static str| {
        Hooked::before(move |mut input| {
            input["text"] = format!("{} {word}", input["text"].as_str().unwrap()).into();
            Ok(input)
        })
    };
    let world = World::new().hooked([add("one"), add("two")]);
    assert_eq!(world.settle_one(echo(), json!({ "text": "zero" })), "completed: zero one two");
    assert!(world.log.text().contains(r#"changed input {"text":"zero one two"}"#), "{}", world.log.text());
}

#[test]
fn an_input_that_no_hook_changed_is_not_recorded_again() {
    let world = World::new().hooked([Hooked::before(Ok)]);
    world.settle_one(echo(), json!({ "text": "a" }));
    assert!(!world.log.text().contains("changed input"));
}

#[test]
fn a_changed_input_is_decoded_and_validated_again() {
    let runs = Runs::default();
    let world = World::new().hooked([Hooked::before(|_| Ok(json!({ "text": 7 })))]);
    let told = world.settle_one(runs.echo(), json!({ "text": "fine" }));
    assert!(told.contains("text: expected a string, got 7"), "{told}");
    assert_eq!(runs.count(), 0);
    let mended = World::new().hooked([Hooked::before(|_| Ok(json!({ "text": "mended" })))]);
    assert_eq!(mended.settle_one(echo(), json!({ "nonsense": true })), "completed: mended");
}

#[test]
fn a_changed_input_is_permitted_like_any_other() {
    let world = World::ruled("edit *: allow\nedit secret: deny");
    let world = world.hooked([Hooked::before(|_| Ok(json!({ "text": "secret" })))]);
    let told = world.settle_one(looks_at(&world, "edit"), json!({ "text": "harmless" }));
    assert!(told.starts_with("rejected as denied"), "{told}");
    assert_eq!(world.asker.asked(), "");
    world.asker.is(Somebody::Nobody);
}

#[test]
fn an_error_before_the_call_means_that_nothing_ran() {
    let runs = Runs::default();
    let world = World::new().hooked([Hooked::before(|_| Err("not on Fridays".into()))]);
    let told = world.settle_one(runs.echo(), json!({ "text": "a" }));
    expect!["rejected as failed: a hook stopped the call: not on Fridays"].assert_eq(&told);
    assert_eq!((runs.count(), world.states().as_str()), (0, "pending error:failed"));
}

#[test]
fn an_error_after_the_call_rejects_its_result() {
    let runs = Runs::default();
    let world = World::new().hooked([Hooked::after(|_| Err("it leaks a key".into()))]);
    let told = world.settle_one(runs.echo(), json!({ "text": "a" }));
    expect!["rejected as failed: the tool ran, but a hook rejected its result: it leaks a key"]
        .assert_eq(&told);
    assert_eq!((runs.count(), world.states().as_str()), (1, "pending running error:failed"));
}

#[test]
fn hooks_do_not_see_calls_of_no_tool() {
    let world = World::new();
    let log = world.log.clone();
    let world = world.hooked([Hooked::noting(&log, "hook")]);
    settle(&world.turn(), world.call("nothing", json!({})));
    assert!(!log.text().contains("hook"), "{}", log.text());
}

fn short(mut world: World) -> World {
    world.services.limits =
        Limits { text: haft::preview::Budget { lines: 20, bytes: 1000 }, ..Limits::default() };
    world
}

#[test]
fn hooks_see_the_bounded_output() {
    let world = World::new();
    let log = world.log.clone();
    let world = short(world.hooked([Hooked::after(move |shown| {
        log.say(format!("hook saw {} bytes", shown.content[0].as_text().unwrap().len()));
        Ok(shown)
    })]));
    world.settle_one(says("x\n".repeat(10_000)), json!({ "text": "" }));
    let saw = world.log.lines().into_iter().find(|line| line.starts_with("hook saw")).unwrap();
    let bytes: usize = saw.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(bytes <= 1000, "{saw}");
}

#[test]
fn what_a_hook_enlarges_is_bounded_again() {
    for times in [2, 3, 5, 100] {
        let world = short(World::new().hooked([Hooked::after(move |shown: Presented| {
            Ok(Presented { content: Presented::text("y".repeat(times * 1000)).content, ..shown })
        })]));
        let told = world.settle_one(says("small"), json!({ "text": "" }));
        let shown = told.strip_prefix("completed: ").unwrap();
        assert!(shown.len() <= 1000, "{times}: {} bytes", shown.len());
        assert_eq!(world.outputs.wholes(), ["y".repeat(times * 1000)]);
    }
}

#[test]
fn a_hook_that_changes_nothing_leaves_what_was_retained() {
    for line in [80, 1_000_000_000] {
        let whole: String = (0..2_000_000).map(|at| if at % line == line - 1 { '\n' } else { 'x' }).collect();
        let world = short(World::new().hooked([Hooked::after(Ok)]));
        let _long = world.register("long", says(whole.clone()));
        let settled = now(world.turn().settle(world.call("long", json!({ "text": "" })))).unwrap();
        let haft::Settlement::Completed(completed) = settled else { panic!("it was rejected") };
        assert_eq!(world.outputs.wholes().len(), 1, "lines of {line}");
        assert_eq!(completed.retained.unwrap().bytes, whole.len() as u64);
    }
}

/// Says something else of every tool, and wants to know with what input calls ran.
#[derive(Clone, Default)]
struct Retells {
    inputs: Arc<Mutex<Vec<Value>>>,
    fails: bool,
}

impl Hook for Retells {
    fn definition<'a>(
        &'a self,
        tool: &'a ToolName,
        told: Described,
    ) -> BoxFuture<'a, Result<Described, BoxError>> {
        let input = Arc::new(json!({ "type": "object", "properties": { "word": { "type": "string" } } }));
        let description = format!("{tool}, told anew: {}", told.description);
        let retold =
            if self.fails { Err("out of words".into()) } else { Ok(Described { description, input }) };
        Box::pin(std::future::ready(retold))
    }

    fn after<'a>(
        &'a self,
        _tool: &'a ToolName,
        _context: &'a ToolContext,
        input: &'a Value,
        shown: Presented,
    ) -> BoxFuture<'a, Result<Presented, BoxError>> {
        self.inputs.lock().unwrap().push(input.clone());
        Box::pin(std::future::ready(Ok(shown)))
    }
}

#[test]
fn a_hook_changes_what_is_said_of_a_tool_and_not_what_it_takes() {
    let mut world = World::new().hooked([Retells::default()]);
    world.spec.audience = viewer(None, "cli", &[]);
    let _registration = world.register("tool", echo());
    let turn = world.turn();
    let told = &turn.definitions()[0];
    assert!(told.description.starts_with("tool, told anew: "), "{}", told.description);
    assert!(told.input.json()["properties"].get("word").is_some(), "{}", told.input.json());
    assert_eq!(settle(&turn, world.call("tool", json!({ "text": "as ever" }))), "completed: as ever");
    assert!(settle(&turn, world.call("tool", json!({ "word": "new" }))).contains("invalid"));
}

#[test]
fn a_hook_that_cannot_say_what_a_tool_is_keeps_the_turn_from_being_prepared() {
    let mut world = World::new().hooked([Retells { fails: true, ..Retells::default() }]);
    world.spec.audience = viewer(None, "cli", &[]);
    let _registration = world.register("tool", echo());
    expect!["no turn: a hook failed over what models are told of the tool tool"]
        .assert_eq(&world.advertised());
}

#[test]
fn hooks_after_a_call_see_the_input_that_ran() {
    let sees = Retells::default();
    World::new().hooked([sees.clone()]).settle_one(echo(), json!({ "text": "sent" }));
    assert_eq!(*sees.inputs.lock().unwrap(), [json!({ "text": "sent" })]);
}
