//! Registration is scoped, lookup is captured, and a call never runs anything but what was advertised.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use expect_test::{Expect, expect};
use haft::{Executor, Registry, Tool, ToolContext, ToolError};
use serde_json::json;

use crate::support::{Door, Say, Started, World, echo, names, says, settle, told, tool};

/// What calling a tool gives in a turn that was prepared just now.
fn fresh(world: &World, name: &str) -> String {
    settle(&world.turn(), world.call(name, json!({ "text": "hello" })))
}

fn check(world: &World, expected: &Expect) {
    expected.assert_eq(&format!("{} | {}", world.advertised(), fresh(world, "echo")));
}

#[test]
fn the_latest_registration_wins() {
    let world = World::new();
    let _first = world.register("echo", says("first"));
    let _second = world.register("echo", says("second"));
    check(&world, &expect!["echo | completed: second"]);
}

#[test]
fn closing_a_registration_removes_exactly_its_tools() {
    let world = World::new();
    let first = world.location.register([("echo", says("first")), ("other", says("other"))]).unwrap();
    let second = world.location.register([("echo", says("second")), ("third", says("third"))]).unwrap();
    drop(first);
    check(&world, &expect!["echo third | completed: second"]);
    drop(second);
    check(&world, &expect![" | rejected as unknown_tool: Unknown tool: echo. No tools are available"]);
}

#[test]
fn closing_the_winner_reveals_the_one_before() {
    let world = World::new();
    let _first = world.register("echo", says("first"));
    let second = world.register("echo", says("second"));
    let third = world.register("echo", says("third"));
    drop(second);
    check(&world, &expect!["echo | completed: third"]);
    drop(third);
    check(&world, &expect!["echo | completed: first"]);
}

#[test]
fn a_location_wins_over_the_process_whatever_came_first() {
    let world = World::new();
    let location = world.register("echo", says("location"));
    let _process = world.process.register([("echo", says("process")), ("own", says("own"))]).unwrap();
    check(&world, &expect!["own echo | completed: location"]);
    drop(location);
    check(&world, &expect!["echo own | completed: process"]);
}

#[test]
fn locations_do_not_see_each_other() {
    let world = World::new();
    let elsewhere = world.process.child();
    let _there = elsewhere.register([("echo", says("elsewhere"))]).unwrap();
    let _process = world.process.register([("shared", says("shared"))]).unwrap();
    assert_eq!(world.advertised(), "shared");
    assert!(
        elsewhere.get("shared").is_some()
            && elsewhere.get("echo").is_some()
            && world.process.get("echo").is_none()
    );
}

#[test]
fn what_was_advertised_is_what_runs() {
    let world = World::new();
    let _registration = world.register("echo", echo());
    let turn = world.turn();
    let _unrelated = world.register("other", says("other"));
    assert_eq!(settle(&turn, world.call("echo", json!({ "text": "hello" }))), "completed: hello");
}

#[test]
fn a_removed_tool_is_stale() {
    let world = World::new();
    let registration = world.register("echo", echo());
    let turn = world.turn();
    drop(registration);
    expect![
        "rejected as stale: Stale tool call: echo. The tool changed after this turn began; call it again"
    ]
    .assert_eq(&settle(&turn, world.call("echo", json!({ "text": "hello" }))));
}

#[test]
fn a_removed_tool_is_unknown_to_a_later_turn() {
    let world = World::new();
    let registration = world.register("echo", echo());
    let _earlier = world.turn();
    drop(registration);
    assert!(fresh(&world, "echo").starts_with("rejected as unknown_tool"));
}

#[test]
fn only_the_replaced_name_is_stale() {
    let world = World::new();
    let _both = world.location.register([("echo", says("old")), ("other", says("other"))]).unwrap();
    let turn = world.turn();
    let _new = world.register("echo", says("new"));
    let text = json!({ "text": "" });
    assert!(settle(&turn, world.call("echo", text.clone())).starts_with("rejected as stale"));
    assert_eq!(settle(&turn, world.call("other", text)), "completed: other");
}

#[test]
fn a_revealed_overlay_is_stale() {
    let world = World::new();
    let _under = world.register("echo", says("under"));
    let over = world.register("echo", says("over"));
    let turn = world.turn();
    drop(over);
    assert!(settle(&turn, world.call("echo", json!({ "text": "" }))).starts_with("rejected as stale"));
}

#[test]
fn the_same_tool_registered_again_is_stale() {
    let world = World::new();
    let tool = echo();
    let before = world.register("echo", tool.clone());
    let turn = world.turn();
    drop(before);
    let _again = world.register("echo", tool);
    assert!(settle(&turn, world.call("echo", json!({ "text": "" }))).starts_with("rejected as stale"));
}

#[test]
fn a_call_to_the_process_is_stale_after_a_location_override() {
    let world = World::new();
    let _process = world.process.register([("echo", says("process"))]).unwrap();
    let turn = world.turn();
    let location = world.register("echo", says("location"));
    let text = json!({ "text": "" });
    assert!(settle(&turn, world.call("echo", text.clone())).starts_with("rejected as stale"));
    drop(location);
    assert_eq!(settle(&turn, world.call("echo", text)), "completed: process");
}

#[test]
fn a_call_to_a_location_is_stale_after_its_removal_reveals_the_process() {
    let world = World::new();
    let _process = world.process.register([("echo", says("process"))]).unwrap();
    let location = world.register("echo", says("location"));
    let turn = world.turn();
    drop(location);
    assert!(settle(&turn, world.call("echo", json!({ "text": "" }))).starts_with("rejected as stale"));
}

#[test]
fn a_running_call_outlives_its_registration() {
    let world = World::new();
    let door = Door::default();
    let registration = world.register("slow", door.then_says("captured"));
    let turn = world.turn();
    let mut running = Started::new(turn.settle(world.call("slow", json!({ "text": "" }))));
    drop(registration);
    let _replaced = world.register("slow", says("another"));
    door.open();
    assert_eq!(told(running.poll().unwrap()), "completed: captured");
}

#[test]
fn a_registration_with_an_invalid_name_changes_nothing() {
    let world = World::new();
    let _before = world.register("echo", says("before"));
    let refused = world.location.register([("echo", says("after")), ("not a name", says("never"))]);
    expect![[
        r#"invalid tool name "not a name": use a letter followed by up to 63 letters, digits, `_` or `-`"#
    ]]
    .assert_eq(&refused.unwrap_err().to_string());
    check(&world, &expect!["echo | completed: before"]);
}

#[test]
fn a_registration_with_a_name_twice_changes_nothing() {
    let world = World::new();
    let refused = world.location.register([("new", echo()), ("echo", says("a")), ("echo", says("b"))]);
    expect!["the tool name echo stands twice in one registration"]
        .assert_eq(&refused.unwrap_err().to_string());
    assert_eq!(world.advertised(), "");
}

#[test]
fn a_registration_of_nothing_changes_nothing() {
    let world = World::new();
    let _echo = world.register("echo", echo());
    let nothing = world.location.register(Vec::<(&str, Tool)>::new()).unwrap();
    assert_eq!(world.advertised(), "echo");
    drop(nothing);
    assert_eq!(world.advertised(), "echo");
}

#[test]
fn a_registrar_registers_as_its_registry_does() {
    let world = World::new();
    let plugin = world.location.registrar();
    let registration = plugin.register([("echo", says("plugin"))]).unwrap();
    check(&world, &expect!["echo | completed: plugin"]);
    assert!(world.process.get("echo").is_none());
    drop(registration);
    assert_eq!(world.advertised(), "");
}

#[test]
fn a_tool_has_the_names_it_is_registered_under_and_no_other() {
    let world = World::new();
    let tool = echo();
    let _one = world.register("one", tool.clone());
    let _two = world.register("two", tool);
    let turn = world.turn();
    assert_eq!(names(&turn), "one two");
    assert_eq!(settle(&turn, world.call("two", json!({ "text": "hello" }))), "completed: hello");
}

#[test]
fn definitions_come_in_the_order_of_registration() {
    let registered = |order: &[&'static str]| {
        let world = World::new();
        let all: Vec<_> = order.iter().map(|name| world.register(name, echo())).collect();
        let advertised = world.advertised();
        drop(all);
        advertised
    };
    assert_eq!(registered(&["write", "read", "bash", "edit"]), "write read bash edit");
    assert_eq!(registered(&["bash", "edit", "read", "bash"]), "edit read bash");
}

#[test]
fn definitions_are_shared_between_turns() {
    let world = World::new();
    let _registration = world.register("echo", echo());
    let (one, two) = (world.turn(), world.turn());
    assert_eq!(one.definitions(), two.definitions());
    assert!(Arc::ptr_eq(&one.definitions()[0].input, &two.definitions()[0].input));
}

#[test]
fn definitions_stay_as_they_were_told() {
    let world = World::new();
    let registration = world.register("echo", echo());
    let turn = world.turn();
    drop(registration);
    let _other = world.register("other", echo());
    assert_eq!(names(&turn), "echo");
}

/// A tool that looks at the registry when it goes, as one does that has registered others beside itself.
struct Owner(Registry, mpsc::Sender<usize>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.1.send(self.0.ids().len()).unwrap();
    }
}

impl Executor for Owner {
    type Input = Say;
    type Output = String;

    async fn execute(&self, input: &Say, _: &ToolContext) -> Result<String, ToolError> {
        Ok(input.text.clone())
    }
}

#[test]
fn a_tool_may_use_the_registry_while_it_is_dropped() {
    let (sender, gone) = mpsc::channel();
    let registry = Registry::root();
    let owner = Tool::new(Owner(registry.clone(), sender));
    let registration = registry.register([("owner", owner)]).unwrap();
    // On a thread of its own, because a lock that is held meanwhile would stop it for ever.
    std::thread::spawn(move || drop(registration));
    assert_eq!(gone.recv_timeout(Duration::from_secs(10)), Ok(0));
}

#[test]
fn a_tool_that_finds_itself_changed_is_stale() {
    let changed = tool(|_, _| std::future::ready(Err(ToolError::Stale)));
    let told = World::new().settle_one(changed, json!({ "text": "" }));
    assert!(told.starts_with("rejected as stale: Stale tool call: tool."), "{told}");
}
