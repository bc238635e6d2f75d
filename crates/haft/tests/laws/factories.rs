//! Tools that are made for an agent: once, again when the configuration changes, and never behind a call's back.

use std::sync::Arc;

use expect_test::expect;
use haft::{Factory, InitContext, Offer, When};
use serde_json::json;

use crate::support::{World, agent, made_by, now, rules, says, settle, viewer};

fn noted(world: &World) -> String {
    world.log.lines().into_iter().filter(|line| line.starts_with("made")).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_factory_runs_once_per_agent_and_again_when_the_configuration_changes() {
    let mut world = World::new();
    let _made = world.register("tool", made_by(&world.log));
    drop((world.turn(), world.turn()));
    assert_eq!(noted(&world), "made for build with no model");
    world.spec.agent = agent("plan");
    drop((world.turn(), world.turn()));
    expect!["made for build with no model; made for plan with no model"].assert_eq(&noted(&world));
    world.spec.configuration = 1;
    drop((world.turn(), world.turn()));
    expect!["made for build with no model; made for plan with no model; made for plan with no model"]
        .assert_eq(&noted(&world));
}

#[test]
fn a_factory_runs_again_for_another_model_and_for_other_rules() {
    let mut world = World::new();
    let _made = world.register("tool", made_by(&world.log));
    world.spec.audience = viewer(Some("anthropic/claude"), "cli", &[]);
    drop((world.turn(), world.turn()));
    world.spec.audience = viewer(Some("openai/gpt-5"), "cli", &[]);
    drop(world.turn());
    world.spec.rules = Arc::new(rules("* *: ask"));
    drop(world.turn());
    expect!["made for build with claude; made for build with gpt-5; made for build with gpt-5"]
        .assert_eq(&noted(&world));
}

#[test]
fn a_factory_is_told_for_whom_it_makes_the_tool() {
    let mut world = World::ruled("edit *: deny");
    world.spec.audience = viewer(Some("anthropic/claude"), "cli", &[]);
    let expected = world.spec.rules.clone();
    let factory: Factory = Arc::new(move |context: InitContext| {
        assert_eq!(context.rules, expected);
        let model = context.model.expect("there is a model");
        Box::pin(std::future::ready(Ok(says(format!("{} {}/{}", context.agent, model.provider, model.id)))))
    });
    let _made = world.register("tool", factory);
    assert_eq!(
        settle(&world.turn(), world.call("tool", json!({ "text": "" }))),
        "completed: build anthropic/claude"
    );
}

#[test]
fn a_reinitialised_tool_makes_old_calls_stale() {
    let mut world = World::new();
    let _made = world.register("tool", made_by(&world.log));
    let before = world.turn();
    let text = json!({ "text": "" });
    assert!(settle(&before, world.call("tool", text.clone())).starts_with("completed"));
    world.spec.configuration = 1;
    let after = world.turn();
    assert!(settle(&before, world.call("tool", text.clone())).starts_with("rejected as stale"));
    assert!(settle(&after, world.call("tool", text)).starts_with("completed"));
}

#[test]
fn making_a_tool_for_one_agent_leaves_another_agents_calls_alone() {
    let mut world = World::new();
    let _made = world.register("tool", made_by(&world.log));
    let builder = world.turn();
    world.spec.agent = agent("plan");
    let _planner = world.turn();
    assert_eq!(
        settle(&builder, world.call("tool", json!({ "text": "" }))),
        "completed: made for build with no model"
    );
}

#[test]
fn a_factory_that_fails_fails_the_turn_and_is_tried_again() {
    let world = World::new();
    let log = world.log.clone();
    let factory: Factory = Arc::new(move |_| {
        log.say("made");
        Box::pin(std::future::ready(Err("the server is down".into())))
    });
    let _made = world.register("tool", factory);
    let error = now(world.location.turn(&world.spec, world.services.clone())).err().unwrap();
    expect!["the tool tool could not be initialised"].assert_eq(&error.to_string());
    expect!["the server is down"].assert_eq(&std::error::Error::source(&error).unwrap().to_string());
    assert!(world.advertised().starts_with("no turn"));
    assert_eq!(noted(&world), "made; made");
}

#[test]
fn what_is_not_shown_is_not_made() {
    let mut world = World::new();
    let _made = world.register("tool", Offer::new(made_by(&world.log)).when(When::Never));
    world.spec.audience = viewer(None, "cli", &[]);
    assert_eq!((world.advertised(), noted(&world)), (String::new(), String::new()));
}

#[test]
fn a_tool_that_another_turn_made_meanwhile_is_the_one_both_advertise() {
    let world = World::new();
    let factory: Factory = {
        let log = world.log.clone();
        Arc::new(move |_| {
            log.say("made");
            let made = says(format!("made {}", log.lines().len()));
            let mut polled = false;
            Box::pin(async move {
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    match std::mem::replace(&mut polled, true) {
                        true => std::task::Poll::Ready(()),
                        false => std::task::Poll::Pending,
                    }
                })
                .await;
                Ok(made)
            })
        })
    };
    let _made = world.register("tool", factory);
    let turn = || world.location.turn(&world.spec, world.services.clone());
    let (one, two) = (crate::support::Started::new(turn()), crate::support::Started::new(turn()));
    let (one, two) = (one.finish().unwrap(), two.finish().unwrap());
    let text = json!({ "text": "" });
    let said = settle(&one, world.call("tool", text.clone()));
    assert_eq!(said, settle(&two, world.call("tool", text)));
    assert_eq!((said.as_str(), noted(&world).as_str()), ("completed: made 1", "made; made"));
}
