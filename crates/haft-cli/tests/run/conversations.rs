//! Conversations: follow-ups, what is queued, what is stopped, what is gone on with.

use serde_json::json;

use crate::support::Place;
use crate::window::{Window, is_missing, script};

#[test]
fn what_is_typed_while_the_agent_works_is_said_when_it_can_be() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let wait = json!([{ "tool": "bash", "input": { "command": "until [ -e go ]; do sleep 0.05; done" } }]);
    let model =
        script(&place, &json!({ "turns": [{ "calls": wait }, { "text": "One." }, { "text": "Two." }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model, "--auto"]);
    window.wait(">").write("first thing").press(&["Enter"]).wait("› first thing");
    window.write("and another").press(&["Enter"]).wait("queued  and another");
    place.file("go", "");
    window.wait("› and another").wait("One.");
    window.wait_until("idle", |screen| screen.contains("steps") && !screen.contains("queued"));
    window.write("third thing").press(&["Enter"]).wait("Two.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
}

#[test]
fn ctrl_c_stops_the_agent_and_gives_back_what_was_not_said() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "Late.", "wait_ms": 600_000 }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model]);
    window.wait(">").write("go").press(&["Enter"]).wait("waiting for the model");
    window.write("unsaid").press(&["Enter"]).wait("queued  unsaid");
    window.press(&["C-c"]).wait("interrupted").wait("> unsaid");
    window.press(&["Enter"]).wait("› unsaid").wait("waiting for the model");
    window
        .press(&["C-c"])
        .wait_until("interrupted again", |screen| screen.matches("interrupted").count() == 2);
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
}

#[test]
fn ctrl_c_ends_a_run_of_one_prompt() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "Late.", "wait_ms": 600_000 }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model, "go"]);
    window.wait("waiting for the model").press(&["C-c"]);
    assert_eq!(window.code(), 130);
}

#[test]
fn the_last_session_is_gone_on_with() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "The first." }, { "text": "The second." }] }));
    let ran = place.run(&["run", "-m", &model, "begin"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "The first.\n"), "{}", ran.err);
    let window = Window::open(&place, 80, &["run", "-c"]);
    window.wait("The first.").wait(">");
    window.write("go on").press(&["Enter"]).wait("The second.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    let sessions = place.run(&["session", "list", "--json"]).out;
    assert_eq!(sessions.matches("ses_").count(), 1, "{sessions}");
}

#[test]
fn pastes_of_several_lines_are_one_message() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "Seen." }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model]);
    window.wait(">").write("\u{1b}[200~one\rtwo\u{1b}[201~").wait("  two");
    window.press(&["Enter"]).wait("› one").wait("Seen.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
}

#[test]
fn a_conversation_in_plain_lines() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "One." }, { "text": "Two." }] }));
    let window = Window::with(&place, 80, "dumb", &["run", "-m", &model]);
    window.wait(">").write("first").press(&["Enter"]).wait("One.");
    window.wait("1 step").write("second").press(&["Enter"]).wait("Two.");
    window.wait_until("asked again", |screen| screen.ends_with('>')).press(&["C-d"]);
    assert_eq!(window.code(), 0);
}

#[test]
fn a_question_of_the_model_is_answered_by_number_or_in_words() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let option = |label: &str| json!({ "label": label, "description": "d" });
    let question = json!({ "question": "Which database?", "header": "db", "options": [option("SQLite"), option("Postgres")] });
    let ask = json!([{ "tool": "question", "input": { "questions": [question] } }]);
    let model = script(&place, &json!({ "turns": [{ "calls": ask }, { "text": "Good choice." }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model, "set it up"]);
    window.wait("? Which database?").wait("› 1 SQLite").press(&["2"]).wait("✔ Postgres").wait("Good choice.");
    assert_eq!(window.code(), 0);
    drop(window);
    let window = Window::with(&place, 80, "dumb", &["run", "-m", &model, "set it up"]);
    window.wait("2 Postgres").wait("your own words?").write("neither").press(&["Enter"]).wait("Good choice.");
    assert_eq!(window.code(), 0);
    let calls = place.log();
    let shown = place.run(&["log", "show", calls.last().unwrap()["call"].as_str().unwrap()]);
    assert!(shown.out.contains("neither"), "{}", shown.out);
    let nobody = place.run(&["run", "-m", &model, "set it up"]);
    assert!(nobody.code == 0 && nobody.err.contains("nobody is there"), "{}: {}", nobody.code, nobody.err);
}

#[test]
fn agents_that_work_for_the_agent_are_shown_below_it() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    place.file("a.txt", "x\n");
    let task = json!([{ "tool": "task", "input": { "description": "look around", "prompt": "look", "subagent_type": "general" } }]);
    let read = json!([{ "tool": "read", "input": { "filePath": "a.txt" } }]);
    let model = script(
        &place,
        &json!({
            "turns": [{ "calls": task }, { "text": "It is all there." }],
            "agents": { "general": [{ "calls": read }, { "text": "I saw it.", "wait_ms": 1000 }] },
        }),
    );
    let window = Window::open(&place, 80, &["run", "-m", &model, "have somebody look"]);
    window.wait("  general › ✓ read a.txt").wait("task look around");
    window.wait("✓ task look around").wait("It is all there.");
    assert_eq!(window.code(), 0);
    assert!(!window.screen().contains("I saw it."), "what it says is for the agent:\n{}", window.screen());
}

#[test]
fn a_run_that_is_terminated_leaves_the_terminal_as_it_was() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "Late.", "wait_ms": 600_000 }] }));
    let window = Window::open(&place, 80, &["run", "-m", &model, "go"]);
    window.wait("waiting for the model");
    let killed = std::process::Command::new("kill").arg(window.process()).status().unwrap();
    assert!(killed.success());
    assert_eq!(window.code(), 143);
    assert!(!window.screen().contains("waiting for"), "nothing that changes is left:\n{}", window.screen());
}
