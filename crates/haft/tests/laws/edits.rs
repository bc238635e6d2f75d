//! A person who is asked may change the call: it begins anew, and nothing is agreed to by that.

use haft::permission::{Reply, ReplyError};
use haft::{Tool, ToolError};
use serde_json::{Value, json};

use crate::support::{Asks, Say, Somebody, Started, World, looks_at, now, told, tool};

fn asking(rules: &str) -> World {
    let world = World::ruled(rules);
    world.asker.is(Somebody::Elsewhere);
    world
}

/// Settles a call of a tool that acts on what it is given, with these replies to its questions, one after the other.
fn settled(world: &World, tool: Tool, input: Value, replies: &[(&str, Reply)]) -> String {
    let _registration = world.register("tool", tool);
    let (turn, call) = (world.turn(), world.call("tool", input));
    let mut settling = Started::new(async move { told(turn.settle(call).await) });
    for (wanted, reply) in replies {
        let pending = world.gate().pending();
        let request = pending.iter().find(|request| request.wanted() == *wanted).expect("it is asked");
        now(world.gate().reply(&request.id, reply.clone())).unwrap();
        if let Some(told) = settling.poll() {
            return told;
        }
    }
    settling.finish()
}

fn edit(text: &str) -> Reply {
    Reply::Edit(json!({ "text": text }))
}

#[test]
fn a_changed_call_is_asked_about_again_and_the_model_is_told() {
    let world = asking("* *: ask");
    let replies = [("edit a", edit("b")), ("edit b", edit("c")), ("edit c", Reply::Once)];
    let told = settled(&world, looks_at(&world, "edit"), json!({ "text": "a" }), &replies);
    assert!(told.contains(r#"It ran with: {"text":"c"}"#) && told.ends_with("did c"), "{told}");
    assert_eq!(world.log.lines().iter().filter(|line| *line == "acted").count(), 1);
}

#[test]
fn a_changed_call_is_decoded_like_any_other() {
    let world = asking("* *: ask");
    let replies = [("edit a", Reply::Edit(json!({ "nonsense": 1 })))];
    let told = settled(&world, looks_at(&world, "edit"), json!({ "text": "a" }), &replies);
    assert!(told.contains("The user changed the input") && told.contains("nonsense"), "{told}");
    assert!(told.contains("nothing was run") && !told.contains("It ran with"), "{told}");
    assert!(!world.log.text().contains("acted"));
}

#[test]
fn a_rule_that_denies_holds_for_a_changed_call() {
    let world = asking("* *: ask\nedit secret: deny");
    let replies = [("edit a", edit("secret"))];
    let told = settled(&world, looks_at(&world, "edit"), json!({ "text": "a" }), &replies);
    assert!(told.starts_with("rejected as denied"), "{told}");
    assert!(!world.log.text().contains("acted"));
}

#[test]
fn a_call_that_has_begun_to_act_is_not_changed() {
    let world = asking("* *: ask");
    let gate = world.gate().clone();
    let twice = tool(move |input: Say, context| {
        let gate = gate.clone();
        async move {
            drop(gate.grant(&context, Asks::to("edit", &input.text)).await?);
            drop(gate.grant(&context, Asks::to("edit", "more")).await?);
            Ok::<_, ToolError>(input.text)
        }
    });
    let _registration = world.register("tool", twice);
    let (turn, call) = (world.turn(), world.call("tool", json!({ "text": "a" })));
    let mut settling = Started::new(async move { told(turn.settle(call).await) });
    let asked = world.gate().pending().remove(0);
    assert_eq!(asked.input, Some(json!({ "text": "a" })));
    now(world.gate().reply(&asked.id, Reply::Once)).unwrap();
    assert!(settling.poll().is_none());
    let asked = world.gate().pending().remove(0);
    assert_eq!((asked.wanted().as_str(), &asked.input), ("edit more", &None));
    let late = now(world.gate().reply(&asked.id, edit("b")));
    assert!(matches!(late, Err(ReplyError::TooLate(_))), "{late:?}");
    now(world.gate().reply(&asked.id, Reply::Once)).unwrap();
    assert_eq!(settling.finish(), "completed: a");
}
