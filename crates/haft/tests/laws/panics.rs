//! A panic is a defect, wherever in foreign code it happens: never a word to the model, never the end of the process.

use std::sync::Arc;

use haft::{
    BoxError, BoxFuture, Dynamic, Encoded, Executor, Factory, Hook, Presented, Tool, ToolContext, ToolError,
    ToolName,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::support::{Hooked, Say, World, echo, tool};

/// How a call ends, if it ends at all, and what the record says.
fn ends(world: &World, tool: Tool) -> String {
    let settle = || world.settle_one(tool, json!({ "text": "hello" }));
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(settle));
    format!(
        "{}, recorded as {}",
        told.unwrap_or_else(|_| "the panic went on".to_owned()),
        world.recorder.endings()
    )
}

const DEFECT: &str =
    "error: the tool is broken: panicked: out of cheese (panicked: out of cheese), recorded as error:broken";

#[test]
fn a_panic_is_a_defect() {
    let panics = tool(async |_: Say, _| panic!("out of cheese"));
    assert_eq!(ends(&World::new(), panics), DEFECT);
}

#[test]
fn a_panic_before_the_work_begins_is_a_defect() {
    let panics =
        tool(|_: Say, _| -> std::future::Ready<Result<String, ToolError>> { panic!("out of {}", "cheese") });
    assert_eq!(ends(&World::new(), panics), DEFECT);
}

#[test]
fn a_panic_of_a_dynamic_tool_is_a_defect() {
    let panics = Tool::dynamic(Dynamic {
        description: String::new(),
        input: json!({ "type": "object" }),
        output: json!(true),
        execute: Arc::new(|_, _| panic!("out of cheese")),
        present: |_, _| Presented::default(),
    });
    assert_eq!(ends(&World::new(), panics), DEFECT);
}

struct Shy;

impl Executor for Shy {
    type Input = Say;
    type Output = String;

    async fn execute(&self, input: &Say, _: &ToolContext) -> Result<String, ToolError> {
        Ok(input.text.clone())
    }

    fn present(_: &Say, _: &Encoded<String>) -> Presented {
        panic!("out of cheese")
    }
}

#[test]
fn a_panic_while_presenting_is_a_defect() {
    assert_eq!(ends(&World::new(), Tool::new(Shy)), DEFECT);
}

#[derive(JsonSchema)]
struct Trap {
    #[expect(dead_code, reason = "only its decoding matters")]
    text: String,
}

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Trap, D::Error> {
        panic!("out of cheese")
    }
}

struct Trapped;

impl Executor for Trapped {
    type Input = Trap;
    type Output = String;

    async fn execute(&self, _: &Trap, _: &ToolContext) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

#[test]
fn a_panic_while_decoding_is_a_defect() {
    assert_eq!(ends(&World::new(), Tool::new(Trapped)), DEFECT);
}

#[test]
fn a_panic_of_a_hook_is_a_defect() {
    let before = World::new().hooked([Hooked::before(|_| panic!("out of cheese"))]);
    assert_eq!(ends(&before, echo()), DEFECT);
    let after = World::new().hooked([Hooked::after(|_| panic!("out of cheese"))]);
    assert_eq!(ends(&after, echo()), DEFECT);
}

/// A hook that does its work before it returns its future, as one does that only changes a value.
struct Eager;

impl Hook for Eager {
    fn before<'a>(
        &'a self,
        _: &'a ToolName,
        _: &'a ToolContext,
        _: Value,
    ) -> BoxFuture<'a, Result<Value, BoxError>> {
        panic!("out of cheese")
    }
}

#[test]
fn a_panic_of_an_eager_hook_is_a_defect() {
    let mut world = World::new();
    world.services.hooks = Arc::new([Arc::new(Eager) as Arc<dyn Hook>]);
    assert_eq!(ends(&world, echo()), DEFECT);
}

#[test]
fn a_panic_of_a_factory_fails_the_turn() {
    let world = World::new();
    let factory: Factory = Arc::new(|_| Box::pin(async { panic!("out of cheese") }));
    let _made = world.register("made", factory);
    let turn = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.advertised()));
    let told = turn.unwrap_or_else(|_| "the panic went on".to_owned());
    assert_eq!(told, "no turn: the tool made could not be initialised");
}

#[test]
fn a_panic_leaves_the_next_call_alone() {
    let world = World::new();
    let _panics = world.register("panics", tool(async |_: Say, _| panic!("out of cheese")));
    let _echo = world.register("echo", echo());
    let turn = world.turn();
    let text = json!({ "text": "hello" });
    assert!(crate::support::settle(&turn, world.call("panics", text.clone())).starts_with("error"));
    assert_eq!(crate::support::settle(&turn, world.call("echo", text)), "completed: hello");
}

#[test]
fn a_listener_that_panics_hurts_nobody() {
    let world = World::new();
    let _listening = world.services.events.subscribe(|_, _| panic!("out of cheese"));
    assert_eq!(ends(&world, echo()), "completed: hello, recorded as completed");
}
