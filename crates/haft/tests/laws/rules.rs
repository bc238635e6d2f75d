//! What rules say: the last that matches decides, silence asks, grants never outrank a deny, the untrusted only narrow.

use expect_test::{Expect, expect};
use haft::permission::{Allowed, Decision, Effect, Grant, Pattern, Reason, Resource, Scope, decide};
use haft::{Action, GrantId, SessionId};

use crate::support::rules;

/// What is decided about `action resource`, with these saved grants, and why.
fn decided(text: &str, grants: &[(&str, &str)], wanted: &str) -> Decision {
    let (action, resource) = wanted.split_once(' ').unwrap();
    let grant = |(action, pattern): &(&str, &str)| Grant {
        id: GrantId::mint(),
        scope: Scope::Project,
        session: SessionId::mint(),
        action: Action::new(action),
        resource: Pattern::new(pattern),
    };
    let grants: Vec<Grant> = grants.iter().map(grant).collect();
    decide(&rules(text), &grants, &Action::new(action), &Resource::new(resource))
}

fn check(text: &str, grants: &[(&str, &str)], wanted: &str, expected: &Expect) {
    let decision = decided(text, grants, wanted);
    let why = match &decision.reason {
        Reason::Rule(rule) => format!("by {rule} at {}", rule.origin),
        Reason::Possibly(rule) => format!("because of {rule} at {}", rule.origin),
        Reason::Grant { grant, instead_of } => {
            let asked = instead_of.as_ref().map_or("silence".to_owned(), |rule| rule.to_string());
            format!("by the grant {} {} instead of {asked}", grant.action, grant.resource)
        }
        Reason::Silence => "because nothing is said".to_owned(),
    };
    let overridden: Vec<String> = decision.overridden.iter().map(|rule| rule.to_string()).collect();
    let over =
        if overridden.is_empty() { String::new() } else { format!(", over {}", overridden.join(", ")) };
    expected.assert_eq(&format!("{} {why}{over}", decision.effect));
}

#[test]
fn the_last_matching_rule_decides() {
    let text = "bash *: ask\nbash git *: allow\nbash git push *: deny";
    check(text, &[], "bash rm x", &expect![[r#"ask by bash "*": ask at haft.json:1:1"#]]);
    check(
        text,
        &[],
        "bash git status",
        &expect![[r#"allow by bash "git *": allow at haft.json:2:1, over bash "*": ask"#]],
    );
    check(
        text,
        &[],
        "bash git push origin",
        &expect![[
            r#"deny by bash "git push *": deny at haft.json:3:1, over bash "git *": allow, bash "*": ask"#
        ]],
    );
    check(
        "bash rm *: deny\n* *: allow",
        &[],
        "bash rm x",
        &expect![[r#"allow by * "*": allow at haft.json:2:1, over bash "rm *": deny"#]],
    );
}

#[test]
fn silence_asks() {
    check("", &[], "edit a", &expect!["ask because nothing is said"]);
    check("read *: allow", &[], "edit a", &expect!["ask because nothing is said"]);
}

#[test]
fn actions_are_matched_like_resources() {
    check(
        "mcp_*_get *: allow",
        &[],
        "mcp_github_get x",
        &expect![[r#"allow by mcp_*_get "*": allow at haft.json:1:1"#]],
    );
    assert_eq!(decided("mcp_* *: deny", &[], "mcp x").effect, Effect::Ask);
}

#[test]
fn a_rule_that_matches_one_spelling_speaks_of_the_resource() {
    let resource = Resource::new("src/a.rs").or("/project/src/a.rs");
    let effect = |text: &str| rules(text).effect(&Action::new("edit"), &resource);
    assert_eq!(effect("edit *: allow\nedit /project/*: deny"), Effect::Deny);
    assert_eq!(effect("edit *: allow\nedit src/*: deny"), Effect::Deny);
    assert_eq!(effect("edit *: allow\nedit /home/*: deny"), Effect::Allow);
}

#[test]
fn a_saved_grant_answers_what_would_be_asked() {
    check(
        "edit *: ask",
        &[("edit", "*.md")],
        "edit a.md",
        &expect![[r#"allow by the grant edit *.md instead of edit "*": ask"#]],
    );
    check("", &[("edit", "*.md")], "edit a.md", &expect!["allow by the grant edit *.md instead of silence"]);
    assert_eq!(decided("edit *: ask", &[("edit", "*.md")], "edit a.rs").effect, Effect::Ask);
    assert_eq!(decided("edit *: ask", &[("bash", "*")], "edit a.rs").effect, Effect::Ask);
}

#[test]
fn a_saved_grant_never_outranks_a_configured_deny() {
    check(
        "edit *: ask\nedit secret: deny",
        &[("edit", "*"), ("edit", "secret")],
        "edit secret",
        &expect![[r#"deny by edit "secret": deny at haft.json:2:1, over edit "*": ask"#]],
    );
    assert_eq!(
        decided("* *: allow\nuntrusted edit *: deny", &[("edit", "*")], "edit a").effect,
        Effect::Deny
    );
}

#[test]
fn a_grant_is_for_its_own_action_and_no_pattern_of_actions() {
    assert_eq!(decided("", &[("*", "*")], "edit a").effect, Effect::Ask);
}

#[test]
fn an_untrusted_rule_only_narrows() {
    let effect = |text: &str| decided(text, &[], "edit a").effect;
    assert_eq!(effect("edit *: allow\nuntrusted edit *: ask"), Effect::Ask);
    assert_eq!(effect("edit *: allow\nuntrusted edit *: deny"), Effect::Deny);
    assert_eq!(effect("edit *: ask\nuntrusted edit *: allow"), Effect::Ask);
    assert_eq!(effect("edit *: deny\nuntrusted edit *: allow"), Effect::Deny);
    assert_eq!(effect("untrusted edit *: allow"), Effect::Ask);
    assert_eq!(effect("untrusted edit *: deny"), Effect::Deny);
    assert_eq!(effect("edit *: allow\nuntrusted edit *: deny\nuntrusted edit a: allow"), Effect::Allow);
}

#[test]
fn of_several_that_narrow_the_strictest_counts() {
    let mut set = rules("* *: allow\nuntrusted edit *: deny");
    set.narrow(rules("* *: ask\nedit a: allow").rules().cloned().collect::<Vec<_>>());
    let effect = |action: &str, resource: &str| set.effect(&Action::new(action), &Resource::new(resource));
    assert_eq!(effect("edit", "a"), Effect::Deny, "one that allows does not lift what another denies");
    assert_eq!(effect("read", "a"), Effect::Ask);
}

#[test]
fn an_untrusted_rule_is_explained_as_what_it_is() {
    let set = rules("edit *: allow\nuntrusted edit *: deny");
    let deciding = set.deciding(&Action::new("edit"), &Resource::new("a")).unwrap();
    assert!(set.only_narrows(deciding));
    check(
        "edit *: allow\nuntrusted edit *: deny",
        &[],
        "edit a",
        &expect![[r#"deny by edit "*": deny at haft.json:2:1, over edit "*": allow"#]],
    );
}

#[test]
fn nothing_but_star_and_question_mark_is_special() {
    let covers = |pattern: &str, text: &str| Pattern::new(pattern).matches(text);
    assert!(covers("git *", "git") && covers("git *", "git log") && !covers("git *", "github"));
    assert!(covers("*.env.*", "a/.env.local") && !covers("*.env", "a/.env.local"));
    assert!(covers("a?c", "abc") && covers("a?c", "a/c") && !covers("a?c", "ac"));
    assert!(covers("[a-z]+(x|y).$", "[a-z]+(x|y).$") && !covers("[a-z]", "b") && !covers("a.c", "abc"));
    assert!(covers("src\\*", "src/a") && covers("src/*", "src\\a"));
    assert!(covers("*", "") && covers("**", "a") && covers("a*", "a\nb") && !covers("A", "a"));
}

#[test]
fn what_does_more_than_it_says_is_allowed_by_everything_alone() {
    let (plain, wide) = (Resource::new("find . -delete"), Allowed::ByEverythingOnly);
    let effect = |resource: &Resource, text: &str| rules(text).effect(&Action::new("bash"), resource);
    let more = plain.clone().allowed(wide);
    assert_eq!(effect(&plain, "bash *: deny\nbash find *: allow"), Effect::Allow);
    assert_eq!(effect(&more, "bash *: deny\nbash find *: allow"), Effect::Deny);
    assert_eq!(effect(&more, "bash find *: allow"), Effect::Ask);
    assert_eq!(effect(&more, "bash find *: ask\nbash find . *: allow"), Effect::Ask);
    assert_eq!(effect(&more, "* *: allow"), Effect::Allow);
    assert_eq!(effect(&more, "* *: allow\nbash find *: deny"), Effect::Deny);
    let unknown = plain.allowed(Allowed::ByNothing);
    assert_eq!(effect(&unknown, "* *: allow"), Effect::Ask);
    assert_eq!(effect(&unknown, "* *: deny"), Effect::Deny);
}

#[test]
fn a_spelling_to_forbid_by_never_allows() {
    let resource = Resource::new("/tmp/ls x").or_forbidden_as("ls x");
    let effect = |text: &str| rules(text).effect(&Action::new("bash"), &resource);
    assert_eq!(effect("bash ls *: allow"), Effect::Ask);
    assert_eq!(effect("bash *: allow\nbash ls *: deny"), Effect::Deny);
    assert_eq!(effect("bash ls *: deny\nbash /tmp/*: allow"), Effect::Allow);
}

#[test]
fn what_it_may_stand_for_is_asked_about_and_decides_nothing_else() {
    let resource = Resource::new("launch rm x").or_guessed("rm x");
    for (text, effect) in [
        ("bash *: allow\nbash rm *: deny", Effect::Ask),
        ("bash *: allow\nbash rm *: ask", Effect::Ask),
        ("bash *: allow\nbash *--force*: deny", Effect::Allow),
        ("bash *: allow\nbash rmdir *: deny", Effect::Allow),
        ("bash rm *: deny\nbash launch *: allow", Effect::Allow),
        ("bash rm *: allow", Effect::Ask),
        ("bash *: allow\nbash rm *: deny\nbash launch *: deny", Effect::Deny),
    ] {
        assert_eq!(rules(text).effect(&Action::new("bash"), &resource), effect, "{text}");
    }
}

#[test]
fn what_is_denied_below_a_directory_is_asked_about_if_a_rule_names_it() {
    let below = Resource::new("a/*").or("/ws/a/*").below("a/").below("/ws/a/");
    for (text, effect) in [
        ("read *: allow\nread a/*: deny", Effect::Deny),
        ("read *: allow\nread a*: deny", Effect::Deny),
        ("read *: allow\nread a/b/*: deny", Effect::Ask),
        ("read *: allow\nread a/*.key: deny", Effect::Ask),
        ("read *: allow\nread /ws/a/b: deny", Effect::Ask),
        ("read *: allow\nuntrusted read a/b: deny", Effect::Ask),
        ("read a/b: deny\nread *: allow", Effect::Allow),
        ("read *: allow\nread a/b: deny\nread a/*: allow", Effect::Allow),
        // What could match anywhere, or elsewhere, says nothing about it.
        ("read *: allow\nread *.key: deny", Effect::Allow),
        ("read *: allow\nread b/*: deny", Effect::Allow),
        ("read *: allow\nread ab/*: deny", Effect::Allow),
    ] {
        assert_eq!(decide(&rules(text), &[], &Action::new("read"), &below).effect, effect, "{text}");
    }
}

#[test]
fn what_might_be_denied_is_asked_about_and_no_grant_answers() {
    let resource = Resource::new("rm $X").allowed(Allowed::ByEverythingOnly).beginning("rm ");
    let everything = Grant {
        id: GrantId::mint(),
        scope: Scope::User,
        session: SessionId::mint(),
        action: Action::new("bash"),
        resource: Pattern::new("*"),
    };
    let decide =
        |text: &str| decide(&rules(text), std::slice::from_ref(&everything), &Action::new("bash"), &resource);
    let possible = decide("bash *: allow\nbash rm -rf *: deny");
    assert_eq!(possible.effect, Effect::Ask);
    assert!(matches!(possible.reason, Reason::Possibly(rule) if rule.effect == Effect::Deny));
    assert_eq!(decide("bash *: allow\nbash touch *: deny").effect, Effect::Allow);
    assert_eq!(decide("bash rm -rf *: deny\nbash *: allow").effect, Effect::Allow);
    assert_eq!(decide("bash *: allow\nuntrusted bash *-rf*: deny").effect, Effect::Ask);
    // Nor where it would be asked about anyway.
    for text in [
        "bash *: ask\nbash rm -rf *: deny",
        "bash rm -rf *: deny",
        "bash *: ask\nuntrusted bash rm -rf *: deny",
        "bash *: allow\nbash rm -rf *: deny\nuntrusted bash *: ask",
    ] {
        assert_eq!(decide(text).effect, Effect::Ask, "{text}");
    }
    assert_eq!(
        decide("bash *: ask\nuntrusted bash rm -rf *: deny\nuntrusted bash *: allow").effect,
        Effect::Allow
    );
}
