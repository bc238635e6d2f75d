//! The calls of an answer: each once, all of them ended before the model goes on.

use haft::permission::Effect;
use haft::{Finish, Part};
use haft_agent::{End, Interrupt};
use serde_json::json;

use crate::support::{Plan, sketch, text_of};

#[tokio::test]
async fn results_go_back_and_the_model_goes_on() {
    let world = Plan::new(json!({ "turns": [
        { "text": "I look.", "calls": [{ "tool": "echo", "input": { "text": "one" } }, { "tool": "slow", "input": { "ms": 5 } }] },
        { "calls": [{ "tool": "echo", "input": { "text": "two" } }] },
        { "text": "Done." },
    ]}))
    .build();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Done));
    assert_eq!((outcome.text.as_str(), outcome.steps, world.runs()), ("Done.", 3, 3));
    let heard = world.heard.lock().unwrap();
    assert_eq!(
        sketch(heard.last().unwrap()),
        [
            "user: go",
            "assistant: I look. | echo() | slow()",
            "results: one | waited 5",
            "assistant: echo()",
            "results: two",
        ]
    );
}

#[tokio::test]
async fn names_and_arguments_are_mended_where_it_is_safe() {
    let world = Plan::new(json!({ "turns": [
        { "calls": [
            { "tool": "Echo", "input": { "text": "case" } },
            { "tool": "echo", "input": "\"{\\\"text\\\": \\\"twice\\\"}\"" },
            { "tool": "nothing_like_it", "input": {} },
            { "tool": "echo", "input": "{\"text\": " },
            { "tool": "echo", "input": "[1]" },
        ]},
        { "text": "Oh." },
    ]}))
    .build();
    world.say("go").await;
    assert_eq!(world.runs(), 2);
    let results = world.last_results();
    let texts: Vec<String> = results.iter().map(text_of).collect();
    assert_eq!(texts[..2], ["case", "twice"]);
    assert!(texts[2].contains("Unknown tool: nothing_like_it"), "{}", texts[2]);
    assert!(texts[3].contains("Invalid tool input"), "{}", texts[3]);
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["echo", "echo", "nothing_like_it", "invalid", "invalid"]);
    assert!(results[2..].iter().all(|result| result.is_error));
}

#[tokio::test]
async fn a_call_that_the_provider_repeats_runs_once() {
    let same = json!({ "tool": "echo", "id": "c1", "input": { "text": "once" } });
    let other = json!({ "tool": "echo", "id": "c1", "input": { "text": "another" } });
    let world =
        Plan::new(json!({ "turns": [{ "calls": [same, same, other] }, { "text": "Done." }] })).build();
    world.say("go").await;
    assert_eq!(world.runs(), 2);
    let texts: Vec<String> = world.last_results().iter().map(text_of).collect();
    assert_eq!(texts, ["once", "another"]);
}

#[tokio::test]
async fn arguments_cut_off_by_the_length_limit_are_reported_as_such_and_not_run() {
    let world = Plan::new(json!({ "turns": [
        { "calls": [{ "tool": "echo", "input": "{\"text\": \"hal" }], "finish": "length" },
        { "text": "Done." },
    ]}))
    .build();
    world.say("go").await;
    assert_eq!(world.runs(), 0);
    let told = text_of(&world.last_results()[0]);
    assert!(told.contains("length limit"), "{told}");
    let conversation = sketch(world.heard.lock().unwrap().last().unwrap());
    assert!(
        conversation.last().unwrap().starts_with("results: "),
        "nothing is said besides: {conversation:?}"
    );
}

#[tokio::test]
async fn a_model_that_only_ever_runs_out_of_room_within_calls_is_stopped() {
    let cut = json!({ "calls": [{ "tool": "echo", "input": "{\"text\": \"hal" }], "finish": "length" });
    let mut plan = Plan::new(json!({ "turns": vec![cut; 20] }));
    plan.rules.push(("doom_loop", "*", Effect::Allow));
    let world = plan.build();
    assert!(matches!(world.say("go").await.end, End::Done));
    assert_eq!((world.heard.lock().unwrap().len(), world.runs()), (4, 0));
}

#[tokio::test]
async fn a_name_as_long_as_a_file_is_not_told_again() {
    let name = "read_".repeat(10_000);
    let world = Plan::new(json!({ "turns": [{ "calls": [{ "tool": name }] }, { "text": "Done." }] })).build();
    world.say("go").await;
    let heard = format!("{:?}", world.heard.lock().unwrap().last().unwrap().conversation);
    assert!(heard.len() < 5_000, "{} bytes", heard.len());
}

#[tokio::test]
async fn an_answer_cut_after_a_call_shows_what_came_of_it_and_is_not_asked_for_again() {
    let world = Plan::new(json!({ "turns": [
        { "text": "Well", "calls": [{ "tool": "echo", "input": { "text": "done" } }], "cut": true },
        { "text": "I go on." },
    ]}))
    .build();
    let outcome = world.say("go").await;
    assert_eq!((outcome.text.as_str(), world.runs()), ("I go on.", 1));
    let mut conversation = world.open().await;
    assert_eq!(conversation.messages()[1].finish, Some(Finish::Interrupted));
    // Nothing is left to be said.
    let again = conversation.say(Vec::new(), &Interrupt::default()).await;
    assert!(matches!(again.end, End::Done) && world.heard.lock().unwrap().len() == 2);
}

#[tokio::test]
async fn two_hundred_calls_in_one_answer_are_all_settled() {
    let calls: Vec<_> =
        (0..200).map(|at| json!({ "tool": "echo", "input": { "text": format!("{at}") } })).collect();
    let world = Plan::new(json!({ "turns": [{ "calls": calls }, { "text": "Done." }] })).build();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Done));
    assert_eq!((world.runs(), world.last_results().len()), (200, 200));
}

#[tokio::test]
async fn what_arrives_meanwhile_is_said_after_the_calls() {
    let world = Plan::new(json!({ "turns": [
        { "calls": [{ "tool": "slow", "input": { "ms": 20 } }] },
        { "text": "First." },
        { "text": "Second." },
    ]}))
    .build();
    let mut conversation = world.open().await;
    let note = |text: &str, agent| haft::Note { agent, ..haft::Note::new(vec![Part::text(text)]) };
    let interrupt = Interrupt::default();
    let meanwhile = async {
        while world.heard.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        world.inbox.deliver(&world.session, note("also this", None));
    };
    let (outcome, ()) = tokio::join!(conversation.say(vec![Part::text("go")], &interrupt), meanwhile);
    assert_eq!(outcome.text, "First.");
    // A note may hand the conversation to another agent. What waited was meant to be said first.
    world.inbox.deliver(&world.session, note("and now you", Some(crate::support::agent("plan"))));
    conversation.say(vec![Part::text("wait")], &interrupt).await;
    let heard = world.heard.lock().unwrap();
    let asked: Vec<&str> = heard.iter().map(|prompt| prompt.agent.as_str()).collect();
    assert_eq!(asked, ["build", "build", "plan"]);
    assert_eq!(sketch(&heard[1])[3], "user: also this");
    assert_eq!(sketch(&heard[2])[5..], ["user: and now you", "user: wait"]);
}

#[tokio::test]
async fn a_model_that_asks_only_for_what_does_not_exist_is_stopped() {
    let nonsense = |number: usize| json!({ "calls": [{ "tool": format!("nothing_{number}"), "input": {} }] });
    let echo = |text: &str| json!({ "calls": [{ "tool": "echo", "input": { "text": text } }] });
    let mut turns: Vec<_> = (0..11).map(nonsense).collect();
    turns.push(echo("something at last"));
    turns.extend((11..40).map(nonsense));
    let world = Plan::new(json!({ "turns": turns })).build();
    let outcome = world.say("go").await;
    assert!(matches!(outcome.end, End::Stuck), "{:?}", outcome.end);
    // What comes of one call counts for all before it.
    assert_eq!((outcome.steps, world.runs()), (24, 1));
}
