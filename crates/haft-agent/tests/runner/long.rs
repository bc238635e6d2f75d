//! Long conversations: old outputs go, and what does not fit is summarised.

use std::sync::Arc;

use haft::Event;
use haft_agent::End;
use haft_agent::provider::ProviderError;
use serde_json::json;

use crate::support::{Plan, World, sketch};

#[tokio::test]
async fn old_outputs_make_room_and_new_ones_stay() {
    let long = "x".repeat(45_000);
    let mut turns: Vec<_> = (0..8)
        .map(|at| json!({ "calls": [{ "tool": "echo", "input": { "text": format!("{at}{long}") } }] }))
        .collect();
    turns.push(json!({ "text": "One." }));
    turns.push(json!({ "text": "Two." }));
    turns.push(json!({ "text": "Three." }));
    let world = Plan::new(json!({ "turns": turns })).build();
    let mut conversation = world.open().await;
    for text in ["first", "second", "third"] {
        conversation.say(vec![haft::Part::text(text)], &haft_agent::Interrupt::default()).await;
    }
    let heard = world.heard.lock().unwrap();
    let results: Vec<String> =
        sketch(heard.last().unwrap()).into_iter().filter(|line| line.starts_with("results")).collect();
    assert_eq!(results.len(), 8);
    let cleared = results.iter().take_while(|line| line.contains("content cleared")).count();
    assert!((3..=5).contains(&cleared), "{cleared} outputs were taken out");
    assert!(results[cleared..].iter().all(|line| line.len() > 45_000));
}

#[tokio::test]
async fn what_was_said_is_told_once_and_shared_by_every_later_prompt() {
    let call = json!({ "calls": [{ "tool": "echo", "input": { "text": "a" } }] });
    let world = Plan::new(json!({ "turns": [call, call, call, { "text": "Done." }] })).build();
    world.say("go").await;
    let heard = world.heard.lock().unwrap();
    let lengths: Vec<usize> = heard.iter().map(|prompt| prompt.conversation.len()).collect();
    assert_eq!(lengths, [1, 3, 5, 7]);
    for pair in heard.windows(2) {
        let both = pair[0].conversation.iter().zip(&pair[1].conversation);
        assert!(both.into_iter().all(|(earlier, later)| Arc::ptr_eq(earlier, later)));
    }
}

#[tokio::test]
async fn a_conversation_that_nearly_fills_the_context_is_summarised_and_goes_on() {
    let mut plan = Plan::new(json!({ "turns": [
        { "calls": [{ "tool": "echo", "input": { "text": "a" } }], "tokens": [9_500, 100] },
        // The summary is asked for with one answer in the conversation, and so is what follows it.
        { "text": "We did a." , "tokens": [100, 10] },
    ]}));
    plan.context = Some(10_000);
    // The script has only its first answer for a conversation that begins anew.
    plan.steps = Some(2);
    let world = plan.build();
    world.say("do a").await;
    let heard = world.heard.lock().unwrap();
    assert!(heard[1].tools.is_empty() && heard[1].system[0].contains("summarise"));
    let after = sketch(&heard[2]);
    assert!(
        after[0].starts_with("user: This is what happened") && after[0].ends_with("We did a."),
        "{after:?}"
    );
    assert!(after[1].starts_with("user: do a"), "{after:?}");
    assert_eq!((heard.len(), world.runs()), (3, 1));
}

#[tokio::test]
async fn a_conversation_that_the_model_cannot_read_is_summarised_first() {
    fn too_long() -> ProviderError {
        ProviderError::TooLong("9 tokens too many".to_owned())
    }
    let mut plan = Plan::new(json!({ "turns": [{ "text": "Short." }] }));
    plan.failures = vec![too_long];
    let world = plan.build();
    let outcome = world.say("a very long story").await;
    assert_eq!(outcome.text, "Short.");
    let heard = world.heard.lock().unwrap();
    assert_eq!(heard.len(), 3);
    assert!(heard[1].system[0].contains("summarise"));
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_asked_for_again_like_any_answer() {
    fn too_long() -> ProviderError {
        ProviderError::TooLong("9 tokens too many".to_owned())
    }
    fn unreachable() -> ProviderError {
        ProviderError::Unreachable { provider: "test".to_owned(), message: "it went away".to_owned() }
    }
    fn refused() -> ProviderError {
        ProviderError::Refused { provider: "test".to_owned(), message: "no".to_owned() }
    }
    let mut plan = Plan::new(json!({ "turns": [{ "text": "Short." }] }));
    plan.failures = vec![too_long, unreachable, unreachable];
    let world = plan.build();
    let outcome = world.say("a very long story").await;
    assert!(matches!(outcome.end, End::Done), "{:?}", outcome.end);
    assert_eq!(outcome.text, "Short.");
    let is_retry = |event: &Event| match event {
        Event::Session { body, .. } => body["type"] == "retry",
        _ => false,
    };
    let retries = |world: &World| world.told.lock().unwrap().iter().filter(|event| is_retry(event)).count();
    let summaries = |world: &World| {
        let heard = world.heard.lock().unwrap();
        heard.iter().filter(|prompt| prompt.system[0].contains("summarise")).count()
    };
    assert_eq!((summaries(&world), retries(&world)), (3, 2));

    let mut plan = Plan::new(json!({ "turns": [{ "text": "Short." }] }));
    plan.failures = vec![too_long, refused];
    let world = plan.build();
    assert!(matches!(world.say("a very long story").await.end, End::Failed(_)));
    assert_eq!((summaries(&world), retries(&world)), (1, 0));
}
