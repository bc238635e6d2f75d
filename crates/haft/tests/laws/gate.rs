//! The gate decides about every effect, asks where the rules say so, and hands out proof.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft::BoxFuture;
use haft::permission::{Answer, Asker, Effect, Gate, GateParts, Reply, Request, Scope};
use serde_json::json;

use crate::support::{Asks, Door, Somebody, Started, World, looks_at, now};

fn asked(world: &World, asks: Asks) -> String {
    now(asks.of(world.gate(), &world.context()))
}

#[test]
fn what_a_rule_allows_is_permitted_without_a_question() {
    let world = World::ruled("edit *: allow");
    assert_eq!(asked(&world, Asks::to("edit", "a")), "permitted a");
    assert_eq!((world.asker.asked().as_str(), world.states().as_str()), ("", ""));
}

#[test]
fn what_a_rule_denies_is_refused_without_a_question() {
    let world = World::ruled("edit *: allow\nedit *.env: deny");
    world.asker.is(Somebody::Answers(Reply::Once));
    expect![[r#"refused: permission denied: edit .env is forbidden by the rule edit "*.env": deny (haft.json:2:1); do not try to get around it"#]]
        .assert_eq(&asked(&world, Asks::to("edit", ".env")));
    assert_eq!(world.asker.asked(), "");
}

#[test]
fn a_refusal_tells_no_secret_that_stands_in_a_rule() {
    let world = World::ruled("bash *: allow\nbash curl --token hunter2 *: deny");
    let unanswered = asked(&world, Asks::to("bash", "$c").perhaps("bash", "$c"));
    expect![[r#"refused: permission needed: bash $c requires approval by the rule bash "curl --token …": deny (haft.json:2:1), and there is nobody to ask; run it on a terminal"#]]
        .assert_eq(&unanswered);
    let denied = asked(&world, Asks::to("bash", "curl --token hunter2 x"));
    assert!(denied.contains(r#"by the rule bash "curl --token …": deny"#), "{denied}");
}

#[test]
fn a_refusal_tells_no_secret_that_stands_in_a_command() {
    let world = World::ruled("bash *: deny");
    for (command, told) in [
        ("curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: …' x"),
        ("curl --header 'X-Api-Key: hunter2' x", "curl --header 'X-Api-Key: …' x"),
        ("curl -H 'Cookie: a=hunter2' x", "curl -H 'Cookie: …' x"),
        ("mysql -phunter2 db", "mysql -p… db"),
        ("git clone https://me:hunter2@host/x", "git clone https://…@host/x"),
        ("cargo test -p haft", "cargo test -p haft"),
    ] {
        let denied = asked(&world, Asks::to("bash", command));
        assert!(denied.contains(&format!("bash {told} is forbidden")), "{denied}");
        let unanswered = asked(&World::ruled(""), Asks::to("bash", command));
        assert!(unanswered.contains(&format!("bash {told} requires approval")), "{unanswered}");
    }
}

#[test]
fn one_denied_resource_denies_the_question() {
    let world = World::ruled("edit *: ask\nedit *.env: deny");
    world.asker.is(Somebody::Answers(Reply::Once));
    assert!(asked(&world, Asks::to("edit", "a").also(".env")).starts_with("refused: permission denied"));
    assert_eq!(world.asker.asked(), "");
}

#[test]
fn one_question_is_asked_about_all_its_resources() {
    let world = World::ruled("edit *: ask\nedit b: allow");
    world.asker.is(Somebody::Answers(Reply::Once));
    assert_eq!(asked(&world, Asks::to("edit", "a").also("b")), "permitted a");
    assert_eq!(world.asker.asked(), "edit a, b");
}

#[test]
fn questions_are_asked_in_order_and_the_first_no_is_the_last() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Answers(Reply::Reject(None)));
    assert_eq!(asked(&world, Asks::to("external_directory", "/tmp").then("edit", "/tmp/a")), "declined");
    assert_eq!(world.asker.asked(), "external_directory /tmp");
}

#[test]
fn nobody_to_ask_is_refused_at_once_and_told() {
    let world = World::ruled("edit *: ask");
    expect![[r#"refused: permission needed: edit a requires approval by the rule edit "*": ask (haft.json:1:1), and there is nobody to ask; run it on a terminal"#]]
        .assert_eq(&asked(&world, Asks::to("edit", "a")));
    let silent = World::ruled("");
    expect!["refused: permission needed: edit a requires approval because no rule allows it, and there is nobody to ask; run it on a terminal"]
        .assert_eq(&asked(&silent, Asks::to("edit", "a")));
    assert!(world.gate().pending().is_empty());
}

#[test]
fn whoever_is_asked_may_answer() {
    let world = World::ruled("* *: ask");
    let answer = |reply| {
        world.asker.is(Somebody::Answers(reply));
        asked(&world, Asks::to("edit", "a").saving("a"))
    };
    assert_eq!(answer(Reply::Once), "permitted a");
    assert_eq!(answer(Reply::Reject(None)), "declined");
    assert!(answer(Reply::Reject(Some("no".to_owned()))).ends_with("feedback: no"));
    assert_eq!(answer(Reply::Always(Scope::Session)), "permitted a");
    world.asker.is(Somebody::Nobody);
    assert_eq!(asked(&world, Asks::to("edit", "a")), "permitted a");
    assert!(world.gate().pending().is_empty());
}

#[test]
fn a_request_says_what_is_wanted_by_whom_and_why() {
    let world = World::ruled("edit *: ask");
    world.asker.is(Somebody::Elsewhere);
    let context = world.context();
    let waiting = Started::new(Asks::to("edit", "a\u{202e}b").saving("a*").of(world.gate(), &context));
    let request = world.gate().pending().remove(0);
    assert_eq!(request.wanted(), r"edit a\u{202e}b");
    assert_eq!((&request.context, request.question.save.as_slice()), (&context, &["a*".to_owned()][..]));
    assert_eq!((request.decisions[0].effect, request.showing.title.as_str()), (Effect::Ask, "a change"));
    drop(waiting);
    assert!(world.gate().pending().is_empty());
}

#[test]
fn a_question_that_cannot_be_recorded_is_not_put() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Answers(Reply::Once));
    world.recorder.fail_at("event");
    assert_eq!(asked(&world, Asks::to("edit", "a")), "defect: the disk is full");
    assert_eq!((world.asker.asked().as_str(), world.gate().pending().len()), ("", 0));
}

#[test]
fn a_verdict_holds_though_its_announcement_cannot_be_recorded() {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Elsewhere);
    let context = world.context();
    let waiting = Started::new(Asks::to("edit", "a").of(world.gate(), &context));
    world.recorder.fail_at("event");
    now(world.gate().reply(&world.gate().pending()[0].id, Reply::Once)).unwrap();
    assert_eq!(waiting.finish(), "permitted a");
}

#[test]
fn looking_is_not_recorded_as_acting() {
    let world = World::new();
    assert_eq!(asked(&world, Asks::to("read", "a").looking()), "permitted a");
    assert!(!world.log.text().contains("acting"));
    assert_eq!(asked(&world, Asks::to("edit", "a")), "permitted a");
    assert!(world.log.text().contains("recorded acting"));
}

#[test]
fn a_rehearsal_permits_nothing_and_takes_down_what_it_would_decide() {
    let world = World::rehearsing("* *: allow\nedit *: ask\nedit .env: deny");
    assert_eq!(asked(&world, Asks::to("read", "a")), "refused: dry run: the decision would be allow");
    assert_eq!(asked(&world, Asks::to("edit", "a").also("b")), "refused: dry run: the decision would be ask");
    expect!["refused: dry run: the decision would be deny"]
        .assert_eq(&asked(&world, Asks::to("read", "a").then("edit", ".env")));
    let noted: Vec<String> = world
        .gate()
        .rehearsed()
        .iter()
        .map(|note| {
            let effects: Vec<&str> = note.decisions.iter().map(|decision| decision.effect.as_str()).collect();
            format!("{} {}", note.question.action, effects.join("+"))
        })
        .collect();
    assert_eq!(noted, ["read allow", "edit ask+ask", "read allow", "edit deny"]);
    assert_eq!((world.asker.asked().as_str(), world.log.text().as_str()), ("", ""));
}

#[test]
fn a_rehearsed_call_does_nothing() {
    let world = World::rehearsing("* *: allow");
    let told = world.settle_one(looks_at(&world, "edit"), json!({ "text": "a" }));
    assert_eq!(told, "rejected as dry_run: dry run: the decision would be allow");
    assert!(!world.log.text().contains("acted") && !world.recorder.calls()[0].acted);
}

/// An asker that answers when a door opens.
struct Later(Door, Mutex<Vec<String>>);

impl Asker for Later {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        self.1.lock().unwrap().push(request.wanted());
        Box::pin(async {
            self.0.wait().await;
            Answer::Reply(Reply::Once)
        })
    }
}

/// A world whose asker answers when the door opens, and its gate.
fn later(world: &World, door: &Door) -> Gate {
    Gate::new(GateParts {
        policy: Box::new(world.spec.rules.clone()),
        grants: world.book.clone(),
        asker: Arc::new(Later(door.clone(), Mutex::default())),
        recorder: world.recorder.clone(),
        events: world.services.events.clone(),
    })
}

#[test]
fn of_two_answers_the_first_holds() {
    let world = World::ruled("* *: ask");
    let door = Door::default();
    let gate = later(&world, &door);
    let context = world.context();
    let waiting = Started::new(Asks::to("edit", "a").of(&gate, &context));
    now(gate.reply(&gate.pending()[0].id, Reply::Reject(None))).unwrap();
    door.open();
    assert_eq!(waiting.finish(), "declined");
}

#[test]
fn an_answer_holds_though_a_quicker_one_was_dropped() {
    let world = World::ruled("* *: ask");
    let door = Door::default();
    let gate = later(&world, &door);
    let context = world.context();
    let mut waiting = Started::new(Asks::to("edit", "a").saving("a").of(&gate, &context));
    let id = gate.pending()[0].id.clone();
    // Somebody replies elsewhere, and while that is being saved the one who was asked answers too.
    world.book.wait();
    let quicker = Started::new(gate.reply(&id, Reply::Always(Scope::Session)));
    door.open();
    assert_eq!(waiting.poll(), None);
    drop(quicker);
    assert_eq!(waiting.finish(), "permitted a");
}
