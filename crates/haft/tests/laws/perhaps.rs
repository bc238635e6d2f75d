//! What acting might do without anybody knowing beforehand: it asks where something is denied, and does nothing else.

use haft::Action;
use haft::permission::{Effect, Gate, Question, Reason, Reply, Resource, Scope, decide_perhaps, strictest};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

use crate::rulesets::{ACTIONS, Line, RESOURCES, lines, matches, obvious, one_of, ruleset};
use crate::support::{Asks, Somebody, Started, World, cases, now};

/// Whether a list denies something under an action that it does not take back whole.
fn denies_something(lines: &[Line], action: &str) -> bool {
    let mut denies = false;
    for (_, pattern, effect) in lines.iter().filter(|(on, ..)| matches(on, action)) {
        denies = match effect {
            Effect::Deny => true,
            Effect::Allow | Effect::Ask => denies && *pattern != "*",
        };
    }
    denies
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn what_might_be_done_is_asked_about_where_something_is_denied_and_nowhere_else(
        trusted in lines(8),
        untrusted in lines(4),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
    ) {
        let question = Question::new(Action::new(action), Resource::new(resource));
        let decisions = decide_perhaps(&ruleset(&trusted, &untrusted), &question);
        let is_asked = denies_something(&trusted, action) || denies_something(&untrusted, action);
        let effect = if is_asked { Effect::Ask } else { Effect::Allow };
        prop_assert_eq!(strictest(&decisions), effect);
        for decision in decisions {
            let denies = matches!(decision.reason, Reason::Possibly(rule) if rule.effect == Effect::Deny);
            prop_assert!(denies, "whoever is asked is told which rule denies");
        }
    }

    #[test]
    fn what_might_be_done_never_allows_and_never_outranks_a_deny(
        trusted in lines(8),
        untrusted in lines(4),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
        might in one_of(&ACTIONS),
        to in one_of(&RESOURCES),
    ) {
        let asks = Asks::to(action, resource).perhaps(might, to);
        let world = |who| {
            let world = World::built(ruleset(&trusted, &untrusted), Gate::new);
            world.asker.is(who);
            world
        };
        let said = obvious(&trusted, &untrusted, &[], action, resource);
        let is_asked = denies_something(&trusted, might) || denies_something(&untrusted, might);

        let agreed = world(Somebody::Answers(Reply::Once));
        let outcome = now(asks.clone().of(agreed.gate(), &agreed.context()));
        prop_assert_eq!(outcome.starts_with("permitted"), said != Effect::Deny);
        let asked = agreed.asker.asked();
        let asked: Vec<&str> = asked.split("; ").filter(|asked| !asked.is_empty()).collect();
        let (own, perhaps) = (format!("{action} {resource}"), format!("{might} {to}"));
        let expected: Vec<&str> = match said {
            Effect::Deny => Vec::new(),
            Effect::Ask => [own.as_str()].into_iter().chain(is_asked.then_some(perhaps.as_str())).collect(),
            Effect::Allow => is_asked.then_some(perhaps.as_str()).into_iter().collect(),
        };
        prop_assert_eq!(asked, expected);

        let alone = world(Somebody::Nobody);
        let outcome = now(asks.of(alone.gate(), &alone.context()));
        prop_assert_eq!(outcome.starts_with("permitted"), said == Effect::Allow && !is_asked);
    }
}

#[test]
fn no_grant_answers_what_might_be_done() {
    let world = World::ruled("bash *: allow\nleave *: allow\nleave /secret: deny");
    world.asker.is(Somebody::Answers(Reply::Always(Scope::User)));
    let asks = Asks::to("bash", "cat $d").perhaps("leave", "cat $d");
    for times in 1..=2 {
        assert_eq!(now(asks.clone().of(world.gate(), &world.context())), "permitted cat $d");
        assert_eq!(world.asker.asked(), vec!["leave cat $d"; times].join("; "));
    }
}

#[test]
fn an_always_for_what_might_be_done_answers_nothing_later() {
    let world = World::ruled("bash *: allow\nleave *: ask\nleave /secret: deny");
    world.asker.is(Somebody::Answers(Reply::Always(Scope::User)));
    let asks = Asks::to("bash", "cat $d").perhaps("leave", "cat $d");
    assert_eq!(now(asks.of(world.gate(), &world.context())), "permitted cat $d");
    world.asker.is(Somebody::Nobody);
    let outcome = now(Asks::to("leave", "cat $d").of(world.gate(), &world.context()));
    assert!(outcome.contains("permission needed"), "{outcome}");
}

#[test]
fn an_always_for_something_else_leaves_what_might_be_done_waiting() {
    let world = World::ruled("bash *: allow\nleave *: allow\nleave /secret: deny\nedit *: ask");
    world.asker.is(Somebody::Elsewhere);
    let (unknown, context) = (Asks::to("bash", "cat $d").perhaps("leave", "cat $d"), world.context());
    let mut waiting = Started::new(unknown.of(world.gate(), &context));
    let other = world.context();
    let edit = Started::new(Asks::to("edit", "a").saving("*").of(world.gate(), &other));
    let request = world.gate().pending().remove(1);
    now(world.gate().reply(&request.id, Reply::Always(Scope::Session))).unwrap();
    assert_eq!(edit.finish(), "permitted a");
    assert_eq!(waiting.poll(), None);
    assert_eq!(world.gate().pending().len(), 1);
}
