//! Rulesets against an obvious model: walk all rules, remember the last that matches.

use haft::Action;
use haft::permission::{
    Allowed, Effect, Grant, Layer, Origin, Pattern, Reason, Resource, Rule, Ruleset, Scope, decide,
};
use haft::{GrantId, SessionId};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};

use crate::support::cases;

pub(crate) type Line = (&'static str, &'static str, Effect);

pub(crate) const ACTIONS: [&str; 3] = ["edit", "bash", "edits"];
pub(crate) const RESOURCES: [&str; 6] = ["a", "ab", "a b", "b", "", "a/b"];
const PATTERNS: [&str; 9] = ["*", "a*", "a *", "?", "a", "*b", "b", "a?b", ""];

/// The language by its definition: try every length for every star.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    fn obviously(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| obviously(rest, &text[skip..])),
            Some((b'?', rest)) => !text.is_empty() && obviously(rest, &text[1..]),
            Some((want, rest)) => text.first() == Some(want) && obviously(rest, &text[1..]),
        }
    }
    let without_ending = pattern.strip_suffix(" *");
    obviously(pattern.as_bytes(), text.as_bytes())
        || without_ending.is_some_and(|pattern| obviously(pattern.as_bytes(), text.as_bytes()))
}

/// What a list says last, if it says anything.
fn last(lines: &[Line], action: &str, resource: &str) -> Option<Effect> {
    let mut said = None;
    for (on, pattern, effect) in lines {
        if matches(on, action) && matches(pattern, resource) {
            said = Some(*effect);
        }
    }
    said
}

/// What is decided: the rules' last word or ask, the stricter word of the untrusted, and a grant only for a question.
pub(crate) fn obvious(
    trusted: &[Line],
    untrusted: &[Line],
    grants: &[(&str, &str)],
    action: &str,
    resource: &str,
) -> Effect {
    let said = last(trusted, action, resource).unwrap_or(Effect::Ask);
    let said = match last(untrusted, action, resource) {
        Some(Effect::Deny) => Effect::Deny,
        Some(Effect::Ask) if said == Effect::Allow => Effect::Ask,
        Some(Effect::Ask | Effect::Allow) | None => said,
    };
    let granted = grants.iter().any(|(on, pattern)| *on == action && matches(pattern, resource));
    if said == Effect::Ask && granted { Effect::Allow } else { said }
}

fn rule(at: usize, (action, pattern, effect): &Line) -> Rule {
    let position = Some((at as u32, 1));
    Rule::new(action, pattern, *effect, Origin { layer: Layer::Project, source: "model".into(), position })
}

pub(crate) fn ruleset(trusted: &[Line], untrusted: &[Line]) -> Ruleset {
    let mut set = Ruleset::new(trusted.iter().enumerate().map(|(at, line)| rule(at, line)));
    set.narrow(untrusted.iter().enumerate().map(|(at, line)| rule(at, line)));
    set
}

pub(crate) fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    (0..words.len()).prop_map(move |at| words[at])
}

pub(crate) fn lines(at_most: usize) -> impl Strategy<Value = Vec<Line>> {
    let action = prop_oneof![Just("*"), Just("edit"), Just("edit*"), Just("bash")];
    let effect = prop_oneof![Just(Effect::Allow), Just(Effect::Ask), Just(Effect::Deny)];
    vec((action, one_of(&PATTERNS), effect), 0..at_most)
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn a_ruleset_decides_as_the_obvious_model_does(
        trusted in lines(8),
        untrusted in lines(4),
        grants in vec((one_of(&ACTIONS), one_of(&PATTERNS)), 0..3),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
    ) {
        let set = ruleset(&trusted, &untrusted);
        let saved: Vec<Grant> = grants.iter().map(|(action, pattern)| Grant {
            id: GrantId::mint(),
            scope: Scope::Project,
            session: SessionId::mint(),
            action: Action::new(action),
            resource: Pattern::new(pattern),
        }).collect();
        let (on, to) = (Action::new(action), Resource::new(resource));
        let decision = decide(&set, &saved, &on, &to);
        prop_assert_eq!(decision.effect, obvious(&trusted, &untrusted, &grants, action, resource));
        prop_assert_eq!(set.effect(&on, &to), obvious(&trusted, &untrusted, &[], action, resource));

        // The explanation names every rule that matches, once.
        let matching = set.rules().filter(|rule| rule.covers(&on, &to)).count();
        let named = match &decision.reason {
            Reason::Rule(_) | Reason::Possibly(_) | Reason::Grant { instead_of: Some(_), .. } => 1,
            Reason::Grant { instead_of: None, .. } | Reason::Silence => 0,
        };
        prop_assert_eq!(named + decision.overridden.len(), matching);
    }

    #[test]
    fn untrusted_rules_and_grants_never_widen_what_is_denied(
        trusted in lines(6),
        untrusted in lines(6),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
    ) {
        let (on, to) = (Action::new(action), Resource::new(resource));
        let alone = ruleset(&trusted, &[]).effect(&on, &to);
        let narrowed = ruleset(&trusted, &untrusted).effect(&on, &to);
        prop_assert!(narrowed >= alone);
    }

    #[test]
    fn what_is_harder_to_allow_is_never_decided_more_leniently(
        trusted in lines(6),
        untrusted in lines(4),
        pattern in one_of(&PATTERNS),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
        known in 0..4_usize,
    ) {
        let (set, on) = (ruleset(&trusted, &untrusted), Action::new(action));
        let saved = Grant {
            id: GrantId::mint(),
            scope: Scope::Project,
            session: SessionId::mint(),
            action: on.clone(),
            resource: Pattern::new(pattern),
        };
        let effect = |to: Resource| decide(&set, std::slice::from_ref(&saved), &on, &to).effect;
        let (plain, beginning) = (Resource::new(resource), &resource[..known.min(resource.len())]);
        let wider = plain.clone().allowed(Allowed::ByEverythingOnly);
        let unknown = plain.clone().allowed(Allowed::ByNothing);
        let begun = wider.clone().beginning(beginning);
        prop_assert!(effect(unknown.clone()) != Effect::Allow);
        // Allows that do not count reveal what stands before them, which may be stricter or be nothing, which asks.
        let (plain, wider, unknown, begun) = (effect(plain), effect(wider), effect(unknown), effect(begun));
        prop_assert!(plain <= wider && wider <= unknown && wider <= begun);
    }

    #[test]
    fn whoever_works_for_somebody_may_do_no_more_than_they_may(
        chain in vec((lines(5), lines(3)), 2..5),
        granted in one_of(&PATTERNS),
        action in one_of(&ACTIONS),
        resource in one_of(&RESOURCES),
        known in 0..4_usize,
    ) {
        let on = Action::new(action);
        let plain = Resource::new(resource);
        let begun = plain.clone().allowed(Allowed::ByEverythingOnly).beginning(&resource[..known.min(resource.len())]);
        let grant = Grant {
            id: GrantId::mint(),
            scope: Scope::Project,
            session: SessionId::mint(),
            action: on.clone(),
            resource: Pattern::new(granted),
        };
        let alone: Vec<Ruleset> = chain.iter().map(|(trusted, untrusted)| ruleset(trusted, untrusted)).collect();
        let mut working = alone[0].clone();
        for own in &alone[1..] {
            let child = own.clone().within(&working);
            for to in [&plain, &begun] {
                for grants in [&[][..], std::slice::from_ref(&grant)] {
                    let effect = |set: &Ruleset| decide(set, grants, &on, to).effect;
                    prop_assert!(effect(&child) >= effect(&working), "more than the parent");
                    prop_assert!(effect(&child) >= effect(own), "more than its own rules");
                }
            }
            let (of_parent, of_own) = (working.effect(&on, &plain), own.effect(&on, &plain));
            prop_assert_eq!(child.effect(&on, &plain), of_parent.max(of_own), "and no less than both allow");
            prop_assert!(child.disables(&on) || !(working.disables(&on) || own.disables(&on)), "shown what was hidden");
            working = child;
        }
    }

    #[test]
    fn what_is_disabled_can_never_be_allowed(trusted in lines(6), untrusted in lines(4), action in one_of(&ACTIONS)) {
        let set = ruleset(&trusted, &untrusted);
        let on = Action::new(action);
        let anything = RESOURCES.iter().any(|resource| set.effect(&on, &Resource::new(*resource)) != Effect::Deny);
        prop_assert!(!(set.disables(&on) && anything));
    }
}
