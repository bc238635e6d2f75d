//! A message that another agent and another model answer than the rest of the conversation.

use haft::permission::Effect;
use haft::{Message, Note, Part};
use haft_agent::{Conversation, Interrupt, OpenError};
use serde_json::{Value, json};

use crate::support::{Plan, agent, sketch};

fn echo() -> Value {
    json!({ "calls": [{ "tool": "echo", "input": { "text": "a" } }], "reasoning": "hm" })
}

async fn say(conversation: &mut Conversation, text: &str) {
    conversation.say(vec![Part::text(text)], &Interrupt::default()).await;
}

fn who(message: &Message) -> String {
    format!("{} {}", message.agent, message.model.as_ref().map_or("", |model| &model.id))
}

#[tokio::test]
async fn it_is_turned_to_somebody_and_back_with_their_rules() {
    let mut plan = Plan::new(json!({ "turns": [echo(), { "text": "One." }, echo(), { "text": "Two." }] }));
    plan.rules = vec![("*", "*", Effect::Allow), ("echo", "*", Effect::Deny)];
    let world = plan.build();
    let mut conversation = world.open().await;
    let bearing = conversation.turn_to(Some(&agent("plan")), Some("test/other")).unwrap();
    say(&mut conversation, "first").await;
    assert_eq!(world.runs(), 1, "the rules are those of whom it was turned to");
    conversation.turn_back(bearing);
    assert_eq!((conversation.agent(), conversation.model().id.as_str()), (&agent("build"), "m"));
    say(&mut conversation, "second").await;
    assert_eq!(world.runs(), 1, "and then its own again");
    let spoken: Vec<String> = conversation.messages().iter().map(who).collect();
    assert_eq!(spoken, ["plan other", "plan other", "plan other", "build m", "build m", "build m"]);
    let heard = world.heard.lock().unwrap();
    assert_eq!(sketch(heard.last().unwrap())[..2], ["user: first", "assistant: echo()"], "all of it is told");
}

#[tokio::test]
async fn whoever_does_not_exist_changes_nothing() {
    let world = Plan::new(json!({ "turns": [{ "text": "One." }] })).build();
    let mut conversation = world.open().await;
    let turned = conversation.turn_to(Some(&agent("nobody")), Some("test/other"));
    assert!(matches!(turned, Err(OpenError::Agent(_))));
    assert_eq!((conversation.agent(), conversation.model().id.as_str()), (&agent("build"), "m"));
}

#[tokio::test]
async fn a_conversation_that_was_handed_on_stays_there() {
    let world = Plan::new(json!({ "turns": [{ "text": "One." }, { "text": "Two." }] })).build();
    let mut conversation = world.open().await;
    let bearing = conversation.turn_to(Some(&agent("plan")), None).unwrap();
    let note = Note::new(vec![Part::text("go on")]).to(agent("helper"));
    world.inbox.deliver(&world.session, note);
    say(&mut conversation, "first").await;
    conversation.turn_back(bearing);
    assert_eq!(conversation.agent(), &agent("helper"));
}
