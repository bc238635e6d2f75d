//! How work ends: by itself, at a limit, by a no, by an interruption, by a provider that fails.

use std::time::Duration;

use haft::permission::Effect;
use haft::{Event, Finish, Part};
use haft_agent::provider::ProviderError;
use haft_agent::{End, Interrupt};
use serde_json::json;

use crate::support::{Plan, sketch, text_of};

fn busy() -> ProviderError {
    let message = "slow down".to_owned();
    ProviderError::Busy { provider: "test".to_owned(), message, retry_after: Some(Duration::from_millis(1)) }
}

fn refused() -> ProviderError {
    ProviderError::Refused { provider: "test".to_owned(), message: "no such model".to_owned() }
}

#[tokio::test]
async fn the_last_step_has_no_tools() {
    let call = json!({ "calls": [{ "tool": "echo", "input": { "text": "x" } }] });
    let last = json!({ "text": "That is all.", "calls": [{ "tool": "echo", "input": { "text": "y" } }] });
    let mut plan = Plan::new(json!({ "turns": [call, last] }));
    plan.steps = Some(2);
    let world = plan.build();
    let outcome = world.say("go").await;
    // A call that comes all the same is not run.
    assert_eq!((outcome.text.as_str(), world.runs()), ("That is all.", 1));
    let heard = world.heard.lock().unwrap();
    assert_eq!(heard.iter().map(|prompt| prompt.tools.len()).collect::<Vec<_>>(), [3, 0]);
    assert!(heard[1].system.iter().any(|line| line.contains("maximum agent steps")));
}

#[tokio::test]
async fn what_is_refused_is_told_and_counted() {
    let mut plan = Plan::new(json!({ "turns": [
        { "calls": [{ "tool": "echo", "input": { "text": "asked" } }, { "tool": "echo", "input": { "text": "denied" } }] },
        { "text": "Then not." },
    ]}));
    plan.rules.extend([("echo", "asked", Effect::Ask), ("echo", "denied", Effect::Deny)]);
    let world = plan.build();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Done));
    assert_eq!((outcome.refused, world.runs()), (vec!["approval_needed", "denied"], 0));
}

#[tokio::test]
async fn an_interruption_stops_the_calls_and_leaves_a_truthful_record() {
    let world = Plan::new(json!({ "turns": [
        { "text": "I wait.", "calls": [{ "tool": "slow", "input": { "ms": 600_000 } }, { "tool": "echo", "input": { "text": "quick" } }] },
        { "text": "So be it." },
    ]}))
    .build();
    let interrupt = Interrupt::default();
    let mut conversation = world.open().await;
    let stopping = async {
        while world.runs() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        interrupt.fire();
    };
    let (outcome, ()) = tokio::join!(conversation.say(vec![Part::text("go")], &interrupt), stopping);
    assert!(matches!(outcome.end, End::Interrupted));
    assert_eq!(conversation.messages().last().unwrap().finish, Some(Finish::Interrupted));
    assert!(world.ends()["slow Some(\"call_0_0\")"].contains("Cancelled"));
    assert!(world.ends()["echo Some(\"call_0_1\")"].contains("Completed"));

    interrupt.clear();
    let outcome = conversation.say(vec![Part::text("never mind")], &interrupt).await;
    assert_eq!(outcome.text, "So be it.");
    let results = world.last_results();
    assert_eq!(text_of(&results[0]), "[Tool execution was interrupted]");
    assert_eq!(text_of(&results[1]), "quick");
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_and_people_see_why_they_wait() {
    let mut plan = Plan::new(json!({ "turns": [{ "text": "At last." }] }));
    plan.failures = vec![busy, busy];
    let world = plan.build();
    let outcome = world.say("go").await;
    assert_eq!(outcome.text, "At last.");
    let told = world.told.lock().unwrap();
    let retries = told.iter().filter(|event| {
        matches!(event, Event::Session { name: "session.status", body, .. } if body["type"] == "retry")
    });
    assert_eq!(retries.count(), 2);
}

#[tokio::test]
async fn an_answer_that_breaks_off_before_any_call_is_asked_for_again() {
    // The script gives the same answer again, so only the first attempt can be cut by a failure of the connection.
    fn cut() -> ProviderError {
        ProviderError::Broken { provider: "test".to_owned(), message: "gone".to_owned() }
    }
    let mut plan = Plan::new(
        json!({ "turns": [{ "calls": [{ "tool": "echo", "input": { "text": "x" } }] }, { "text": "Done." }] }),
    );
    plan.failures = vec![cut];
    let world = plan.build();
    tokio::time::pause();
    let outcome = world.say("go").await;
    assert_eq!((outcome.text.as_str(), world.runs()), ("Done.", 1));
}

#[tokio::test]
async fn what_asking_again_does_not_mend_ends_the_work_and_the_session_survives() {
    let mut plan = Plan::new(json!({ "turns": [{ "text": "Now it works." }] }));
    plan.failures = vec![refused];
    let world = plan.build();
    let outcome = world.say("go").await;
    let End::Failed(error) = outcome.end else { panic!("it did not fail") };
    assert!(error.to_string().contains("no such model"), "{error}");

    let outcome = world.say("again").await;
    assert_eq!(outcome.text, "Now it works.");
    let heard = world.heard.lock().unwrap();
    assert_eq!(sketch(heard.last().unwrap()), ["user: go", "user: again"]);
}

#[tokio::test]
async fn nobody_runs_a_session_that_is_being_run() {
    let world = Plan::new(json!({ "turns": [] })).build();
    let _held = world.open().await;
    let start = haft_agent::Start {
        session: world.session.clone(),
        agent: crate::support::agent("build"),
        model: None,
        title: String::new(),
        parent: None,
        waits_for_tasks: true,
    };
    assert!(matches!(world.agency.open(start).await, Err(haft_agent::OpenError::Lease(_))));
}

#[tokio::test]
async fn an_answer_that_runs_out_of_room_is_gone_on_with_and_not_for_ever() {
    let cut = json!({ "text": "and so", "finish": "length" });
    let world = Plan::new(json!({ "turns": [cut, { "text": "That was all." }] })).build();
    let outcome = world.say("tell me").await;
    assert_eq!(outcome.text, "That was all.");
    let heard = sketch(world.heard.lock().unwrap().last().unwrap());
    assert!(heard.last().unwrap().contains("cut off at its length limit"), "{heard:?}");

    let world = Plan::new(json!({ "turns": vec![cut.clone(); 9] })).build();
    let outcome = world.say("tell me").await;
    assert!(matches!(outcome.end, End::Done));
    assert_eq!(world.heard.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn answers_that_keep_breaking_off_after_their_calls_are_given_up() {
    let cut = json!({ "calls": [{ "tool": "echo", "input": { "text": "x" } }], "cut": true });
    let mut plan = Plan::new(json!({ "turns": vec![cut; 20] }));
    plan.rules.push(("doom_loop", "*", Effect::Allow));
    let world = plan.build();
    tokio::time::pause();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Failed(_)), "{:?}", outcome.end);
    assert_eq!(world.heard.lock().unwrap().len(), 6);
}
