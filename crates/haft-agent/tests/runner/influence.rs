//! Those who have a say in a conversation: what they change counts, what they leave alone stays, and what they break is
//! not gone on with.

use std::sync::{Arc, Mutex};

use haft::{Content, Event, Message, Part, Role, Saying};
use haft_agent::provider::{Headers, Options};
use haft_agent::{
    Compacted, End, Influence, Influenced, Interrupt, Moment, Recalled, RunError, Summarising, TextPlace,
};
use serde_json::{Value, json};

use crate::support::{Plan, World, sketch};

fn world(script: Value, influence: impl Influence + 'static) -> World {
    let mut plan = Plan::new(script);
    plan.influence = Arc::new(influence);
    plan.build()
}

fn ready<'a, T: Send + 'a>(value: T) -> Influenced<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

/// Changes everything a little.
#[derive(Default)]
struct Busybody {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Influence for Busybody {
    fn said<'a>(&'a self, at: Moment<'a>, mut message: Message) -> Influenced<'a, Message> {
        self.asked.lock().unwrap().push(format!("{} {}", at.agent, at.served.name()));
        message.parts.push(Part::text("and be kind"));
        // Who speaks is no matter of opinion.
        message.role = Role::Assistant;
        ready(message)
    }

    fn options<'a>(&'a self, _: Moment<'a>, options: Options) -> Influenced<'a, Options> {
        ready(Options { temperature: Some(0.25), ..options })
    }

    fn headers<'a>(&'a self, at: Moment<'a>) -> Influenced<'a, Headers> {
        assert_eq!(at.asked.map(|asked| asked.parts.len()), Some(2));
        ready(Headers(vec![("x-who".to_owned(), "me".to_owned())]))
    }

    fn system<'a>(&'a self, _: Moment<'a>, mut system: Vec<String>) -> Influenced<'a, Vec<String>> {
        system.push("Rhyme.".to_owned());
        ready(system)
    }
}

#[tokio::test]
async fn what_is_changed_is_what_is_told_and_kept() {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let busybody = Busybody { asked: asked.clone() };
    let call = json!({ "calls": [{ "tool": "echo", "input": { "text": "a" } }] });
    let world = world(json!({ "turns": [call, { "text": "Done." }] }), busybody);
    let mut conversation = world.open().await;
    conversation.say(vec![Part::text("go")], &Interrupt::default()).await;
    let heard = world.heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    for prompt in heard.iter() {
        assert_eq!(sketch(prompt)[0], "user: go | and be kind");
        assert_eq!(prompt.system, ["You are build.", "Rhyme."]);
        assert_eq!(prompt.options.temperature, Some(0.25));
        assert_eq!(prompt.headers, Headers(vec![("x-who".to_owned(), "me".to_owned())]));
        assert!(!format!("{prompt:?}").contains("\"me\""), "what is sent in headers is shown");
    }
    assert_eq!(*asked.lock().unwrap(), ["build test/m"]);
    let kept = &conversation.messages()[0];
    assert_eq!((kept.role, kept.parts.len()), (Role::User, 2));
}

/// Tells of each call only how long its output was, and leaves the first thing that was said out.
struct Forgetful;

impl Influence for Forgetful {
    fn sees_conversation(&self) -> bool {
        true
    }

    fn conversation<'a>(
        &'a self,
        _: Moment<'a>,
        mut messages: Vec<Recalled>,
    ) -> Influenced<'a, Vec<Recalled>> {
        messages.remove(0);
        for result in messages.iter_mut().flat_map(|recalled| &mut recalled.results) {
            let length = result.content.iter().filter_map(Content::as_text).map(str::len).sum::<usize>();
            result.content = Arc::new([Content::Text(format!("{length} bytes"))]);
        }
        ready(messages)
    }
}

#[tokio::test]
async fn the_conversation_can_be_told_otherwise_and_stays_on_record_as_it_was() {
    let call = json!({ "calls": [{ "tool": "echo", "input": { "text": "abcd" } }] });
    let world = world(json!({ "turns": [call, { "text": "Done." }] }), Forgetful);
    let mut conversation = world.open().await;
    conversation.say(vec![Part::text("go")], &Interrupt::default()).await;
    let heard = world.heard.lock().unwrap();
    assert_eq!(sketch(&heard[1]), ["assistant: echo()", "results: 4 bytes"]);
    assert_eq!(conversation.messages().len(), 3);
}

/// Writes in capitals.
struct Loud;

impl Influence for Loud {
    fn edits_text(&self) -> bool {
        true
    }

    fn text<'a>(&'a self, _: Moment<'a>, place: TextPlace<'a>, text: String) -> Influenced<'a, String> {
        if text.contains("forbidden") {
            return Box::pin(std::future::ready(Err("no such words".into())));
        }
        ready(format!("{} #{}", text.to_uppercase(), place.part))
    }
}

fn shown(world: &World) -> String {
    let told = world.told.lock().unwrap();
    let text = |event: &Event| match event {
        Event::Said { delta: Saying::Text(text), .. } => Some(text.clone()),
        _ => None,
    };
    told.iter().filter_map(text).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn a_text_is_edited_when_it_is_complete_and_shown_as_it_is_kept() {
    let call = json!({ "text": "I look at it.", "calls": [{ "tool": "echo", "input": { "text": "a" } }] });
    let world = world(json!({ "turns": [call, { "reasoning": "hm", "text": "All is well." }] }), Loud);
    let outcome = world.say("go").await;
    assert_eq!(outcome.text, "ALL IS WELL. #1");
    assert_eq!(shown(&world), "I LOOK AT IT. #0/ALL IS WELL. #1");
    let heard = world.heard.lock().unwrap();
    assert_eq!(sketch(&heard[1])[1], "assistant: I LOOK AT IT. #0 | echo()");
}

#[tokio::test]
async fn a_text_that_cannot_be_edited_is_kept_and_ends_the_work() {
    let calls = json!([{ "tool": "echo", "input": { "text": "a" } }]);
    let world = world(json!({ "turns": [{ "text": "forbidden words", "calls": calls }] }), Loud);
    let mut conversation = world.open().await;
    let outcome = conversation.say(vec![Part::text("go")], &Interrupt::default()).await;
    assert!(
        matches!(&outcome.end, End::Failed(RunError::Influence(error)) if error.to_string() == "no such words")
    );
    assert_eq!(conversation.messages().last().unwrap().last_text(), Some("forbidden words"));
    assert_eq!(world.runs(), 0);
}

/// Lets nobody speak.
struct Censor;

impl Influence for Censor {
    fn said<'a>(&'a self, _: Moment<'a>, _: Message) -> Influenced<'a, Message> {
        Box::pin(std::future::ready(Err("nobody speaks here".into())))
    }
}

#[tokio::test]
async fn what_cannot_be_said_is_not_kept() {
    let world = world(json!({ "turns": [{ "text": "Yes?" }] }), Censor);
    let mut conversation = world.open().await;
    let outcome = conversation.say(vec![Part::text("go")], &Interrupt::default()).await;
    assert!(matches!(outcome.end, End::Failed(RunError::Influence(_))), "{outcome:?}");
    assert!(conversation.messages().is_empty() && world.heard.lock().unwrap().is_empty());
}

/// Has summaries written its own way.
struct Archivist {
    asks: Summarising,
    goes_on: bool,
}

impl Influence for Archivist {
    fn summary<'a>(&'a self, _: Moment<'a>) -> Influenced<'a, Summarising> {
        ready(self.asks.clone())
    }

    fn goes_on<'a>(&'a self, _: Moment<'a>, why: Compacted) -> Influenced<'a, bool> {
        assert_eq!(why, Compacted::Long);
        ready(self.goes_on)
    }
}

fn long(archivist: Archivist) -> World {
    let mut plan = Plan::new(json!({ "turns": [
        { "calls": [{ "tool": "echo", "input": { "text": "a" } }], "tokens": [9_500, 100] },
        { "text": "We did a." , "tokens": [100, 10] },
    ]}));
    plan.context = Some(10_000);
    plan.steps = Some(2);
    plan.influence = Arc::new(archivist);
    plan.build()
}

#[tokio::test]
async fn a_summary_is_asked_for_in_the_words_of_whoever_has_a_say_in_it() {
    let (request, context) = (Some("List the birds.".to_owned()), vec!["It is spring.".to_owned()]);
    let instead = Archivist { asks: Summarising { request, context: context.clone() }, goes_on: true };
    let world = long(instead);
    world.say("do a").await;
    assert_eq!(sketch(&world.heard.lock().unwrap()[1]).last().unwrap(), "user: List the birds.");
    let world = long(Archivist { asks: Summarising { request: None, context }, goes_on: true });
    world.say("do a").await;
    let heard = world.heard.lock().unwrap();
    let asked = sketch(&heard[1]).pop().unwrap();
    assert!(asked.starts_with("user: Summarise") && asked.ends_with("\n\nIt is spring."), "{asked}");
    assert_eq!(heard.len(), 3);
}

#[tokio::test]
async fn an_agent_that_is_not_to_go_on_stops_after_the_summary() {
    let world = long(Archivist { asks: Summarising::default(), goes_on: false });
    let mut conversation = world.open().await;
    let outcome = conversation.say(vec![Part::text("do a")], &Interrupt::default()).await;
    assert!(matches!(outcome.end, End::Done), "{outcome:?}");
    assert!(conversation.messages().last().unwrap().is_summary);
    assert_eq!(world.heard.lock().unwrap().len(), 2);
}
