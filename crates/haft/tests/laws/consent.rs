//! What follows from an answer: once, always, reject, and a word of correction.

use expect_test::expect;
use haft::permission::{Reply, Scope};
use haft::{RequestId, SessionId, ToolContext};

use crate::support::{Asks, Somebody, Started, World, now};

fn asking() -> World {
    let world = World::ruled("* *: ask");
    world.asker.is(Somebody::Elsewhere);
    world
}

/// Starts one request for each resource, in the same session.
fn requests<'a>(world: &'a World, resources: &[&'static str]) -> Vec<Started<'a, String>> {
    let start = |resource: &&'static str| {
        let context = world.context();
        let resource = *resource;
        Started::new(
            async move { Asks::to("edit", resource).saving("*.md").of(world.gate(), &context).await },
        )
    };
    resources.iter().map(start).collect()
}

fn pending(world: &World) -> String {
    world.gate().pending().iter().map(|request| request.wanted()).collect::<Vec<_>>().join("; ")
}

fn reply(world: &World, wanted: &str, reply: Reply) {
    let request = world.gate().pending().into_iter().find(|request| request.wanted() == wanted);
    now(world.gate().reply(&request.expect("it is pending").id, reply)).unwrap();
}

#[test]
fn once_allows_this_time_and_no_other() {
    let world = asking();
    let mut waiting = requests(&world, &["a.md", "b.md"]);
    reply(&world, "edit a.md", Reply::Once);
    assert_eq!(waiting.remove(0).finish(), "permitted a.md");
    assert_eq!(pending(&world), "edit b.md");
    let _again = requests(&world, &["a.md"]);
    assert_eq!(pending(&world), "edit b.md; edit a.md");
}

#[test]
fn always_is_asked_never_again() {
    let world = asking();
    let mut waiting = requests(&world, &["a.md"]);
    reply(&world, "edit a.md", Reply::Always(Scope::Session));
    assert_eq!(waiting.remove(0).finish(), "permitted a.md");
    let context = world.context();
    assert_eq!(now(Asks::to("edit", "c.md").of(world.gate(), &context)), "permitted c.md");
    let _another_kind = requests(&world, &["c.rs"]);
    assert_eq!(pending(&world), "edit c.rs");
}

#[test]
fn an_always_answers_what_it_covers_in_the_same_session_only() {
    let world = asking();
    let stranger = ToolContext { session: SessionId::mint(), ..world.context() };
    let elsewhere = Started::new(Asks::to("edit", "z.md").of(world.gate(), &stranger));
    let mut waiting = requests(&world, &["a.md", "b.md", "c.rs"]);
    reply(&world, "edit a.md", Reply::Always(Scope::Project));
    assert_eq!(waiting.remove(0).finish(), "permitted a.md");
    assert_eq!(waiting.remove(0).finish(), "permitted b.md");
    assert_eq!(pending(&world), "edit z.md; edit c.rs");
    drop(elsewhere);
}

#[test]
fn a_grant_reaches_as_far_as_its_scope() {
    for (scope, expected) in [(Scope::Session, false), (Scope::Project, true), (Scope::User, true)] {
        let mut world = asking();
        {
            let mut waiting = requests(&world, &["a.md"]);
            reply(&world, "edit a.md", Reply::Always(scope));
            assert_eq!(waiting.remove(0).finish(), "permitted a.md");
        }
        world.session = SessionId::mint();
        world.asker.is(Somebody::Nobody);
        let told = now(Asks::to("edit", "b.md").of(world.gate(), &world.context()));
        assert_eq!(told == "permitted b.md", expected, "{scope}: {told}");
    }
}

#[test]
fn an_always_that_saves_nothing_allows_this_time() {
    let world = asking();
    let context = world.context();
    let waiting = Started::new(Asks::to("edit", "a").of(world.gate(), &context));
    reply(&world, "edit a", Reply::Always(Scope::User));
    assert_eq!(waiting.finish(), "permitted a");
    let _again = Started::new(Asks::to("edit", "a").of(world.gate(), &context));
    assert_eq!(pending(&world), "edit a");
}

#[test]
fn rejecting_one_declines_the_sessions_others() {
    let world = asking();
    let stranger = ToolContext { session: SessionId::mint(), ..world.context() };
    let elsewhere = Started::new(Asks::to("edit", "z").of(world.gate(), &stranger));
    let waiting = requests(&world, &["a", "b", "c"]);
    reply(&world, "edit b", Reply::Reject(None));
    let ends: Vec<String> = waiting.into_iter().map(Started::finish).collect();
    assert_eq!(ends, ["declined", "declined", "declined"]);
    assert_eq!(pending(&world), "edit z");
    assert_eq!(world.states().matches("replied:reject").count(), 3);
    drop(elsewhere);
}

#[test]
fn a_correction_is_told_and_declines_the_others() {
    let world = asking();
    let mut waiting = requests(&world, &["a", "b"]);
    reply(&world, "edit a", Reply::Reject(Some("write to notes.md".to_owned())));
    expect![
        "refused: the user rejected permission for edit a with the following feedback: write to notes.md"
    ]
    .assert_eq(&waiting.remove(0).finish());
    assert_eq!(waiting.remove(0).finish(), "declined");
}

#[test]
fn the_older_words_are_understood() {
    let parse =
        |word: &str, words: Option<&str>| Reply::parse(word, Scope::Session, words.map(str::to_owned));
    assert_eq!([parse("once", None), parse("allow", None)], [Some(Reply::Once), Some(Reply::Once)]);
    let always = Some(Reply::Always(Scope::Session));
    assert_eq!([parse("always", None), parse("allow_always", None)], [always.clone(), always]);
    assert_eq!(
        [parse("reject", None), parse("deny", Some("  "))],
        [Some(Reply::Reject(None)), Some(Reply::Reject(None))]
    );
    assert_eq!(parse("deny", Some("no")), Some(Reply::Reject(Some("no".to_owned()))));
    assert_eq!(parse("maybe", None), None);
}

#[test]
fn the_first_reply_wins() {
    let world = asking();
    let mut waiting = requests(&world, &["a"]);
    let id = world.gate().pending()[0].id.clone();
    now(world.gate().reply(&id, Reply::Once)).unwrap();
    assert!(now(world.gate().reply(&id, Reply::Reject(None))).is_err());
    assert_eq!(waiting.remove(0).finish(), "permitted a");
}

#[test]
fn a_reply_to_nothing_says_so() {
    let world = asking();
    let id = RequestId::parse("per_gone").unwrap();
    let error = now(world.gate().reply(&id, Reply::Once)).unwrap_err();
    expect!["there is no pending request per_gone"].assert_eq(&error.to_string());
}

#[test]
fn an_always_that_cannot_be_saved_holds_this_time_and_says_so() {
    let world = asking();
    world.book.fail();
    let mut waiting = requests(&world, &["a.md", "b.md"]);
    let id = world.gate().pending()[0].id.clone();
    let error = now(world.gate().reply(&id, Reply::Always(Scope::Project))).unwrap_err();
    expect!["the reply took effect once, but could not be saved"].assert_eq(&error.to_string());
    assert_eq!(waiting.remove(0).finish(), "permitted a.md");
    assert_eq!(pending(&world), "edit b.md");
}

#[test]
fn an_always_of_the_one_asked_that_cannot_be_saved_holds_this_time() {
    let world = World::ruled("* *: ask");
    world.book.fail();
    world.asker.is(Somebody::Answers(Reply::Always(Scope::Project)));
    let told = now(Asks::to("edit", "a.md").saving("*.md").of(world.gate(), &world.context()));
    assert_eq!(told, "permitted a.md");
}
