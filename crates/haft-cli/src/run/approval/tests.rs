//! Every way to answer, and how it looks on narrow and wide terminals.

use std::time::Duration;

use expect_test::{Expect, expect};
use haft::permission::Showing;
use haft::permission::{
    Decision, Effect, Layer, Origin, Question, Reason, Reply, Request, Resource, Rule, Scope,
};
use haft::{Action, AgentId, CallId, MessageId, RequestId, SessionId, ToolContext};

use super::*;
use crate::terminal::Style;

const SEEN: Duration = Duration::from_secs(1);

fn request(save: &[&str]) -> Request {
    let resource = Resource::new("cargo test --workspace");
    let mut question = Question::new(Action::new("bash"), resource.clone());
    question.save = save.iter().map(|pattern| (*pattern).to_owned()).collect();
    let origin = Origin { layer: Layer::Project, source: "opencode.json".into(), position: Some((11, 7)) };
    Request {
        id: RequestId::mint(),
        context: ToolContext {
            session: SessionId::parse("ses_1").unwrap(),
            agent: AgentId::parse("build").unwrap(),
            message: MessageId::parse("msg_1").unwrap(),
            call: CallId::parse("cal_1").unwrap(),
        },
        question,
        decisions: vec![Decision {
            resource,
            effect: Effect::Ask,
            reason: Reason::Rule(Rule::new("bash", "cargo *", Effect::Ask, origin)),
            overridden: Vec::new(),
        }],
        showing: Showing { title: "Runs the tests".to_owned(), detail: "-old\n+new\u{1b}[2J".to_owned() },
        input: None,
    }
}

fn approval() -> Approval {
    Approval::new(request(&["cargo test *"]), Duration::ZERO)
}

/// Presses keys that all come when the question has been seen.
fn pressed(keys: &[Key]) -> Pressed<Reply> {
    let mut approval = approval();
    let mut last = Pressed::Taken;
    for key in keys {
        last = approval.press(key, SEEN);
    }
    last
}

fn text(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

#[test]
fn every_key_of_the_first_step() {
    let answered = |reply| Pressed::Answered(reply);
    assert_eq!(pressed(&[Key::Char('y')]), answered(Reply::Once));
    assert_eq!(pressed(&[Key::Char('1')]), answered(Reply::Once));
    assert_eq!(pressed(&[Key::Enter]), answered(Reply::Once), "the first choice is this once");
    assert_eq!(pressed(&[Key::Down, Key::Down, Key::Up, Key::Up, Key::Enter]), answered(Reply::Once));
    assert_eq!(pressed(&[Key::Char('v')]), Pressed::ShowAll);
    for nothing in [Key::Char('x'), Key::Char('9'), Key::Tab, Key::Paste("y".to_owned()), Key::Char(' ')] {
        assert_eq!(pressed(&[nothing]), Pressed::Taken, "only a key that says so is consent");
    }
}

#[test]
fn always_is_confirmed_with_its_reach() {
    let always = |scope| Pressed::Answered(Reply::Always(scope));
    assert_eq!(pressed(&[Key::Char('s')]), Pressed::Taken, "nothing is saved by one key");
    assert_eq!(pressed(&[Key::Char('s'), Key::Enter]), always(Scope::Session));
    assert_eq!(pressed(&[Key::Char('p'), Key::Enter]), always(Scope::Project));
    assert_eq!(pressed(&[Key::Char('u'), Key::Enter]), always(Scope::User));
    assert_eq!(pressed(&[Key::Char('2'), Key::Down, Key::Enter]), always(Scope::Project));
    assert_eq!(pressed(&[Key::Char('p'), Key::Char('y')]), Pressed::Taken);
    assert_eq!(pressed(&[Key::Char('p'), Key::Escape, Key::Up, Key::Enter]), Pressed::Answered(Reply::Once));
    let mut unsaved = Approval::new(request(&[]), Duration::ZERO);
    for key in [Key::Char('s'), Key::Char('3'), Key::Down, Key::Down] {
        assert_eq!(unsaved.press(&key, SEEN), Pressed::Taken, "what cannot be saved is not offered");
    }
    assert_eq!(unsaved.press(&Key::Char('y'), SEEN), Pressed::Answered(Reply::Once));
}

#[test]
fn a_rejection_takes_words() {
    let no = |words: Option<&str>| Pressed::Answered(Reply::Reject(words.map(str::to_owned)));
    let keys = |first: Key, words: &str, last: Key| [vec![first], text(words), vec![last]].concat();
    assert_eq!(pressed(&keys(Key::Char('n'), "use yarn", Key::Enter)), no(Some("use yarn")));
    assert_eq!(pressed(&keys(Key::Escape, "", Key::Enter)), no(None));
    assert_eq!(pressed(&keys(Key::Char('3'), "  ", Key::Enter)), no(None));
    assert_eq!(pressed(&keys(Key::Char('n'), "y", Key::Escape)), Pressed::Taken, "a y among words is no yes");
}

#[test]
fn what_was_typed_ahead_answers_nothing() {
    let mut approval = approval();
    for (key, ms) in [(Key::Char('y'), 0), (Key::Enter, 299), (Key::Char('y'), 500), (Key::Enter, 799)] {
        assert_eq!(approval.press(&key, Duration::from_millis(ms)), Pressed::TooEarly);
    }
    assert_eq!(approval.press(&Key::Enter, Duration::from_millis(1100)), Pressed::Answered(Reply::Once));
}

fn check(approval: &Approval, columns: usize, now: Duration, expect: &Expect) {
    let (rows, cursor) = approval.rows(now, columns);
    let rows = approval.head(false).into_iter().chain(rows);
    let rows: Vec<String> = rows.map(|row| row.clipped(columns).painted(Style::none())).collect();
    expect.assert_eq(&format!("{}\n{cursor:?}", rows.join("\n")));
}

#[test]
fn how_it_looks() {
    let mut approval = approval();
    check(
        &approval,
        80,
        SEEN,
        &expect![[r#"
        ? build wants  bash cargo test --workspace
          Runs the tests
          -old
          +new\u{1b}[2J
          because bash "cargo *": ask  opencode.json:11:7
          › y     Yes, once
            s p u Yes, and stop asking for bash cargo test *
            n     No, and say what to do instead
        None"#]],
    );
    check(
        &approval,
        40,
        Duration::ZERO,
        &expect![[r#"
        ? build wants  bash cargo test --worksp…
          Runs the tests
          -old
          +new\u{1b}[2J
          because bash "cargo *": ask  opencode…
            y     Yes, once
            s p u Yes, and stop asking for bash…
            n     No, and say what to do instead
        None"#]],
    );
    approval.press(&Key::Char('p'), SEEN);
    check(
        &approval,
        40,
        SEEN,
        &expect![[r#"
        ? build wants  bash cargo test --worksp…
          Runs the tests
          -old
          +new\u{1b}[2J
          because bash "cargo *": ask  opencode…
          From now on, allow bash on
            cargo test *
            s     in this session
          › p     in this project
            u     in everything I do
          Enter agrees · Esc goes back
        None"#]],
    );
    approval.press(&Key::Escape, SEEN);
    approval.press(&Key::Char('n'), SEEN);
    text("no").iter().for_each(|key| drop(approval.press(key, SEEN)));
    check(
        &approval,
        120,
        SEEN,
        &expect![[r#"
        ? build wants  bash cargo test --workspace
          Runs the tests
          -old
          +new\u{1b}[2J
          because bash "cargo *": ask  opencode.json:11:7
          What instead?  Enter sends · empty just stops · Esc goes back
          > no
        Some((1, 6))"#]],
    );
}
