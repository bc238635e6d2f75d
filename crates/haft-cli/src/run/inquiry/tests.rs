//! Questions of the model's own, answered by keys.

use std::time::Duration;

use expect_test::{Expect, expect};
use haft::permission::{Choice, Inquired, Inquiry, Told};
use haft::{AgentId, CallId, InquiryId, MessageId, SessionId, ToolContext};

use super::*;
use crate::terminal::Style;

const SEEN: Duration = Duration::from_secs(1);

fn inquired(question: &str, options: &[&str], is_multiple: bool) -> Inquired {
    let choice = |label: &&str| Choice { label: (*label).to_owned(), description: format!("takes {label}") };
    Inquired {
        question: question.to_owned(),
        header: "header".to_owned(),
        options: options.iter().map(choice).collect(),
        is_multiple,
        takes_words: true,
    }
}

fn asking(questions: Vec<Inquired>) -> Asking {
    let context = ToolContext {
        session: SessionId::parse("ses_1").unwrap(),
        agent: AgentId::parse("build").unwrap(),
        message: MessageId::parse("msg_1").unwrap(),
        call: CallId::parse("cal_1").unwrap(),
    };
    Asking::new(Inquiry { id: InquiryId::mint(), context, questions }, Duration::ZERO)
}

fn two() -> Vec<Inquired> {
    vec![
        inquired("Which database?", &["SQLite", "Postgres"], false),
        inquired("Which targets?", &["Linux", "macOS", "Windows"], true),
    ]
}

fn answers(questions: Vec<Inquired>, keys: &[Key]) -> Option<Told> {
    let mut asking = asking(questions);
    let mut told = None;
    for key in keys {
        if let Pressed::Answered(answer) = asking.press(key, SEEN) {
            told = Some(answer);
        }
    }
    told
}

fn told(answers: &[&[&str]]) -> Option<Told> {
    let owned = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Some(Told::Answers(answers.iter().map(owned).collect()))
}

#[test]
fn numbers_choose_and_several_where_asked_for() {
    let keys = [Key::Char('2'), Key::Char('1'), Key::Char('3'), Key::Enter];
    assert_eq!(answers(two(), &keys), told(&[&["Postgres"], &["Linux", "Windows"]]));
    let keys = [Key::Down, Key::Enter, Key::Char('1'), Key::Char('1'), Key::Enter];
    assert_eq!(answers(two(), &keys), told(&[&["Postgres"], &[]]), "a choice can be taken back");
}

#[test]
fn own_words_are_an_answer() {
    let one = || vec![inquired("Which?", &["a"], false)];
    let keys = [Key::Char('2'), Key::Char('o'), Key::Char('1'), Key::Enter];
    assert_eq!(answers(one(), &keys), told(&[&["o1"]]));
    assert_eq!(answers(vec![inquired("Why?", &[], false)], &[Key::Char('x'), Key::Enter]), told(&[&["x"]]));
    assert_eq!(answers(one(), &[Key::Char('2'), Key::Escape, Key::Escape]), Some(Told::Dismissed));
}

#[test]
fn what_was_typed_ahead_chooses_nothing() {
    let mut asking = asking(two());
    assert_eq!(asking.press(&Key::Char('1'), Duration::from_millis(100)), Pressed::TooEarly);
    assert_eq!(asking.answers.len(), 0);
}

fn check(asking: &Asking, columns: usize, expect: &Expect) {
    let (rows, cursor) = asking.rows(SEEN, columns);
    let rows: Vec<String> = rows.iter().map(|row| row.clipped(columns).painted(Style::none())).collect();
    expect.assert_eq(&format!("{}\n{cursor:?}", rows.join("\n")));
}

#[test]
fn how_it_looks() {
    let mut asking = asking(two());
    check(
        &asking,
        80,
        &expect![[r#"
        ? (1/2) Which database?
          › 1 SQLite  takes SQLite
            2 Postgres  takes Postgres
            3 something else, in your own words
          a number or Enter answers · Esc leaves it open and stops
        None"#]],
    );
    asking.press(&Key::Char('1'), SEEN);
    asking.press(&Key::Char('2'), SEEN);
    check(
        &asking,
        40,
        &expect![[r#"
        ? (2/2) Which targets?
            1 [ ] Linux  takes Linux
          › 2 [x] macOS  takes macOS
            3 [ ] Windows  takes Windows
            4 something else, in your own words
          numbers choose · Enter answers · Esc …
        None"#]],
    );
    asking.press(&Key::Char('4'), SEEN);
    check(
        &asking,
        40,
        &expect![[r#"
        ? (2/2) Which targets?
            1 [ ] Linux  takes Linux
            2 [x] macOS  takes macOS
            3 [ ] Windows  takes Windows
          > 
          Enter answers · Esc goes back
        Some((4, 4))"#]],
    );
}
