//! What is shown of a run, at 40, 80 and 120 columns.

use std::time::Duration;

use expect_test::{Expect, expect};
use haft::permission::{Question, Reply, Request, Resource, Showing as Shown};
use haft::{
    Action, AgentId, Call, CallId, Completed, Content, Ended, Event, Input, MessageId, Rejection, RequestId,
    Saying, SessionId, Settlement, ToolContext, Usage,
};
use haft_agent::{End, Outcome};
use serde_json::{Value, json};

use super::*;
use crate::terminal::Style;

/// A view and a clock, and everything that stayed.
struct Seen {
    view: View,
    now: Duration,
    stayed: Vec<Line>,
}

fn showing(manner: Manner) -> Showing {
    Showing {
        manner,
        verbose: false,
        quiet: false,
        is_answered_elsewhere: false,
        directory: "/ws".to_owned(),
    }
}

fn session(id: &str) -> SessionId {
    SessionId::parse(id).unwrap()
}

fn context(session_id: &str, call: &str) -> ToolContext {
    ToolContext {
        session: session(session_id),
        agent: AgentId::parse("build").unwrap(),
        message: MessageId::parse("msg_1").unwrap(),
        call: CallId::parse(call).unwrap(),
    }
}

impl Seen {
    fn new(showing: Showing) -> Seen {
        let mut seen =
            Seen { view: View::new(session("ses_1"), showing), now: Duration::ZERO, stayed: Vec::new() };
        seen.session("session.status", "ses_1", json!({ "type": "busy" }));
        seen
    }

    fn signs() -> Seen {
        Seen::new(showing(Manner::Signs))
    }

    fn happens(&mut self, event: &Event) {
        let lines = self.view.apply(event, self.now);
        self.stayed.extend(lines);
    }

    fn after(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn session(&mut self, name: &'static str, id: &str, body: Value) {
        self.happens(&Event::Session { name, session: session(id), body });
    }

    fn says(&mut self, message: &str, delta: Saying) {
        let message = MessageId::parse(message).unwrap();
        self.happens(&Event::Said { session: session("ses_1"), message, delta });
    }

    fn calls(&mut self, session: &str, call: &str, name: &str, input: Value) {
        let context = context(session, call);
        self.happens(&Event::Called(Call {
            context: context.clone(),
            provider_id: None,
            name: name.to_owned(),
            input: Input::Json(input),
        }));
        self.happens(&Event::Running(context));
    }

    fn ends(&mut self, session: &str, call: &str, ended: Ended) {
        self.happens(&Event::Ended(context(session, call), ended));
    }

    fn completes(&mut self, session: &str, call: &str, title: &str, text: &str, metadata: &Value) {
        let completed = Completed {
            title: title.to_owned(),
            content: vec![Content::Text(text.to_owned())],
            metadata: metadata.as_object().cloned().unwrap_or_default(),
            ..Completed::default()
        };
        self.ends(session, call, Ended::Settled(Box::new(Settlement::Completed(completed))));
    }

    fn ended(&mut self, end: End, usage: Usage) {
        let outcome = Outcome { end, text: String::new(), usage, steps: 2, refused: Vec::new() };
        let lines = self.view.ended(&outcome, self.now);
        self.stayed.extend(lines);
    }

    /// What stayed, then what changes, set apart by a line.
    fn check(&self, columns: usize, expect: &Expect) {
        let painted = |row: &Row| row.painted(Style::none());
        let mut text = Vec::new();
        for line in &self.stayed {
            text.push(match line {
                Line::Said(said) => format!("\"{said}\""),
                Line::Told(row) => painted(row),
            });
        }
        text.push("-".repeat(columns.min(8)));
        let live = self.view.live(self.now, columns);
        assert!(live.iter().all(|row| row.width() <= columns), "no row is wider than the terminal");
        text.extend(live.iter().map(painted));
        expect.assert_eq(&text.join("\n"));
    }
}

fn working() -> Seen {
    let mut seen = Seen::signs();
    seen.says("msg_1", Saying::Text("I look first.\nThis sentence is not over, and is longer ".to_owned()));
    seen.says("msg_1", Saying::Text("than forty columns".to_owned()));
    seen.says("msg_1", Saying::Calling("bash".to_owned()));
    seen.calls("ses_1", "cal_1", "bash", json!({ "command": "cargo test --workspace --all-features" }));
    seen.after(1500);
    seen.calls("ses_1", "cal_2", "read", json!({ "filePath": "/ws/src/main.rs" }));
    let delta = "Compiling haft\nCompiling haft-cli\r\u{1b}[2Kdownloaded 世界 \n".to_owned();
    seen.happens(&Event::Output { context: context("ses_1", "cal_1"), delta });
    seen.after(700);
    seen
}

#[test]
fn calls_that_run_have_a_line_each() {
    let seen = working();
    seen.check(
        40,
        &expect![[r#"
            "I look first."
            "This sentence is not over, and is longer than forty columns"
            --------
            ⠹ bash cargo test --workspace --a…  2.2s
            ⠹ read src/main.rs  0.7s"#]],
    );
    seen.check(
        80,
        &expect![[r#"
            "I look first."
            "This sentence is not over, and is longer than forty columns"
            --------
            ⠹ bash cargo test --workspace --all-features  2.2s  downloaded 世界
            ⠹ read src/main.rs  0.7s"#]],
    );
    seen.check(
        120,
        &expect![[r#"
            "I look first."
            "This sentence is not over, and is longer than forty columns"
            --------
            ⠹ bash cargo test --workspace --all-features  2.2s  downloaded 世界
            ⠹ read src/main.rs  0.7s"#]],
    );
}

#[test]
fn what_is_being_said_is_broken_at_spaces() {
    let mut seen = Seen::signs();
    seen.says("msg_1", Saying::Text("A paragraph that is longer than forty columns is broken".to_owned()));
    seen.check(
        40,
        &expect![[r#"
        --------
        A paragraph that is longer than forty 
        columns is broken"#]],
    );
}

#[test]
fn calls_that_ended_leave_one_line_with_their_size_or_reason() {
    let mut seen = working();
    seen.completes("ses_1", "cal_2", "src/main.rs", "a\nb\n", &json!({}));
    seen.completes("ses_1", "cal_1", "runs the tests", "failed\n", &json!({ "exit": 101 }));
    for (call, ended) in [
        (
            "cal_3",
            Ended::Settled(Box::new(Settlement::Rejected(Rejection::Failed("no such file\nmore".into())))),
        ),
        ("cal_4", Ended::Declined),
        ("cal_5", Ended::Cancelled),
        ("cal_6", Ended::Broken("the disk is full".to_owned())),
    ] {
        seen.calls("ses_1", call, "grep", json!({ "pattern": "x" }));
        seen.ends("ses_1", call, ended);
    }
    seen.says("msg_2", Saying::Text("Done.".to_owned()));
    seen.after(1000);
    seen.ended(End::Done, Usage { input: 1200, output: 34, cache_read: 5000, ..Usage::default() });
    seen.check(
        80,
        &expect![[r#"
        "I look first."
        "This sentence is not over, and is longer than forty columns"

        ✓ read src/main.rs  2 lines  0.7s
        ! bash runs the tests  exit 101  2.2s
        ✗ grep x  no such file  0.0s
        ✗ grep x  rejected  0.0s
        ! grep x  cancelled  0.0s
        ✗ grep x  broke: the disk is full  0.0s

        "Done."

        1,200 tokens in (and 5,000 cached) · 34 out · 2 steps · 3.2s · ses_1
        --------"#]],
    );
    assert_eq!(seen.view.refused(), ["declined"]);
}

#[test]
fn a_change_shows_its_diff_and_counts_what_is_left_out() {
    let diff: String = std::iter::once("@@ -1,1 +1,60 @@\n-old\n".to_owned())
        .chain((0..60).map(|line| format!("+\tnew {line}\n")))
        .collect();
    let mut seen = Seen::signs();
    seen.calls("ses_1", "cal_1", "edit", json!({ "filePath": "a.rs" }));
    seen.completes("ses_1", "cal_1", "a.rs", "ok", &json!({ "diff": diff }));
    assert_eq!(seen.stayed.len(), 42);
    seen.stayed.drain(4..41);
    seen.check(
        80,
        &expect![[r#"
        ✓ edit a.rs  1 line  0.0s
          @@ -1,1 +1,60 @@
          -old
          +    new 0
          … 22 more lines (-v shows them)
        --------
        ⠋ waiting for the model  0.0s"#]],
    );
    let mut all = Seen::new(Showing { verbose: true, ..showing(Manner::Signs) });
    all.calls("ses_1", "cal_1", "edit", json!({ "filePath": "a.rs" }));
    all.completes("ses_1", "cal_1", "a.rs", "ok", &json!({ "diff": diff }));
    assert_eq!(all.stayed.len(), 63, "everything, if asked for");
}

#[test]
fn agents_that_work_for_the_agent_are_a_tree() {
    let mut seen = Seen::signs();
    seen.calls("ses_1", "cal_1", "task", json!({ "description": "look around", "prompt": "…" }));
    seen.calls("ses_1", "cal_2", "task", json!({ "description": "write tests", "prompt": "…" }));
    let created = |agent: &str, title: &str| json!({ "parentID": "ses_1", "agent": agent, "title": title });
    seen.session("session.created", "ses_2", created("general", "write tests (@general subagent)"));
    seen.session("session.created", "ses_3", created("explore", "look around (@explore subagent)"));
    seen.calls("ses_2", "cal_3", "write", json!({ "filePath": "/ws/tests/a.rs" }));
    seen.calls("ses_3", "cal_4", "glob", json!({ "pattern": "**/*.rs" }));
    seen.calls("ses_3", "cal_5", "read", json!({ "filePath": "/ws/a.rs" }));
    seen.completes("ses_3", "cal_5", "a.rs", "one\n", &json!({}));
    seen.check(
        80,
        &expect![[r#"
          explore › ✓ read a.rs  1 line  0.0s
        --------
        ⠋ task look around  0.0s
          ⠋ glob **/*.rs  0.0s
        ⠋ task write tests  0.0s
          ⠋ write tests/a.rs  0.0s"#]],
    );
}

#[test]
fn todos_notices_and_pauses() {
    let mut seen = Seen::signs();
    let todo = |content: &str, status: &str| json!({ "content": content, "status": status });
    let todos = json!({ "todos": [todo("read", "completed"), todo("write", "in_progress"), todo("test", "pending")] });
    let event = Event::Reported { name: "todo.updated", context: context("ses_1", "cal_1"), body: todos };
    seen.happens(&event);
    seen.session("session.compacted", "ses_1", json!({}));
    seen.session(
        "session.status",
        "ses_1",
        json!({ "type": "retry", "attempt": 1, "message": "the provider is busy", "waitMs": 4000 }),
    );
    seen.after(1000);
    seen.check(
        80,
        &expect![[r#"
          [x] read
          [>] write
          [ ] test
        the conversation was summarised to make room
        the provider is busy; asking again in 4.0s
        --------
        ⠋ asking again in 4 s: the provider is busy  1.0s"#]],
    );
    let mut words = Seen::new(showing(Manner::Words));
    words.happens(&event);
    words.check(
        80,
        &expect![[r#"
          done: read
          under way: write
          to do: test
        --------
        ⠋ waiting for the model  0.0s"#]],
    );
}

#[test]
fn consent_is_on_record_on_screen() {
    let mut seen = Seen::signs();
    seen.calls("ses_1", "cal_1", "bash", json!({ "command": "cargo test" }));
    let question = Question::new(Action::new("bash"), Resource::new("cargo test")).saving("cargo *");
    let request = std::sync::Arc::new(Request {
        id: RequestId::mint(),
        context: context("ses_1", "cal_1"),
        question,
        decisions: Vec::new(),
        showing: Shown::default(),
        input: None,
    });
    seen.happens(&Event::Asked(request.clone()));
    seen.check(
        80,
        &expect![[r#"
        --------
        ? bash cargo test  waits for you"#]],
    );
    for reply in [
        Reply::Once,
        Reply::Always(haft::permission::Scope::Project),
        Reply::Reject(None),
        Reply::Reject(Some("use make".to_owned())),
    ] {
        seen.happens(&Event::Replied(request.clone(), reply));
    }
    seen.check(
        80,
        &expect![[r#"
        ✔ allowed once  bash cargo test
        ✔ allowed always (project) bash: cargo *  bash cargo test
        ✘ rejected  bash cargo test
        ✘ rejected (use make)  bash cargo test
        --------
        ⠋ bash cargo test  0.0s"#]],
    );
}

#[test]
fn in_words_nothing_is_drawn_and_what_takes_long_is_mentioned_once() {
    let mut seen = Seen::new(showing(Manner::Words));
    seen.calls("ses_1", "cal_1", "bash", json!({ "command": "make" }));
    seen.after(2900);
    assert_eq!(seen.view.mentioned(seen.now), []);
    seen.after(200);
    let mentioned = seen.view.mentioned(seen.now);
    seen.stayed.extend(mentioned);
    assert_eq!(seen.view.mentioned(seen.now), []);
    seen.completes("ses_1", "cal_1", "make", "ok\n", &json!({}));
    seen.ended(End::Interrupted, Usage::default());
    seen.check(
        80,
        &expect![[r#"
        bash make: still running
        bash make: 1 line, 3.1s
        interrupted
        2 steps, 3.1s, ses_1
        --------"#]],
    );
}

#[test]
fn thoughts_and_calls_being_written_are_shown_while_they_last() {
    let mut seen = Seen::signs();
    seen.says("msg_1", Saying::Thought("first I have to\nthink about this rather carefully".to_owned()));
    seen.check(
        40,
        &expect![[r#"
        --------
        ⠋ thinking  his rather carefully  0.0s"#]],
    );
    seen.says("msg_1", Saying::Calling("write".to_owned()));
    seen.check(
        40,
        &expect![[r#"
        --------
        ⠋ writing a call of write  0.0s"#]],
    );
    assert_eq!(seen.stayed, [], "neither stays");
}

#[test]
fn no_terminal_is_too_narrow() {
    let mut seen = working();
    seen.says("msg_2", Saying::Text("some words 世界 that go on".to_owned()));
    for columns in 0..50 {
        let rows = seen.view.live(seen.now, columns);
        assert!(rows.iter().all(|row| row.width() <= columns.max(2)), "{columns} columns: {rows:?}");
    }
}

#[test]
fn whoever_wants_to_hear_less_hears_of_what_went_wrong() {
    let mut seen = Seen::new(Showing { quiet: true, ..showing(Manner::Words) });
    seen.calls("ses_1", "cal_1", "bash", json!({ "command": "make\nmake test" }));
    seen.completes("ses_1", "cal_1", "make\nmake test", "ok\n", &json!({}));
    seen.calls("ses_1", "cal_2", "bash", json!({ "command": "make\nmake test" }));
    seen.completes("ses_1", "cal_2", "make\nmake test", "no\n", &json!({ "exit": 2 }));
    seen.ended(End::Done, Usage::default());
    seen.check(
        80,
        &expect![[r#"
        bash make …: exit 2, 0.0s
        --------"#]],
    );
}
