//! Questions for consent, answered at the keyboard.

use serde_json::json;

use crate::support::Place;
use crate::window::{Window, is_missing, script};

fn secret() -> (Place, String) {
    let place = Place::new();
    place.file(".env", "KEY=hidden\n");
    let read = json!({ "calls": [{ "tool": "read", "input": { "filePath": ".env" } }] });
    let model = script(&place, &json!({ "turns": [read, { "text": "That was it." }] }));
    (place, model)
}

/// How the only call of a place ended.
fn call(place: &Place) -> serde_json::Value {
    place.log().pop().unwrap()
}

fn ask(place: &Place, model: &str) -> Window {
    let window = Window::open(place, 80, &["run", "-m", model, "read the secret"]);
    window.wait("build wants  read .env").wait("› y");
    window
}

#[test]
fn yes_is_for_this_once() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    let window = ask(&place, &model);
    window.press(&["y"]).wait("allowed once").wait("That was it.");
    assert_eq!(window.code(), 0);
    assert_eq!(call(&place)["status"], "completed");
    drop(window);
    ask(&place, &model).press(&["Enter"]).wait("allowed once");
}

#[test]
fn always_is_confirmed_and_kept_for_the_project() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    let window = ask(&place, &model);
    window.press(&["p"]).wait("From now on, allow read on").wait("› p");
    window.press(&["Enter"]).wait("allowed always (project) read: *");
    assert_eq!(window.code(), 0);
    let ran = place.run(&["run", "-m", &model, "again"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "That was it.\n"), "{}", ran.err);
}

#[test]
fn no_takes_words_which_the_model_is_told() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    let window = ask(&place, &model);
    window.press(&["n"]).wait("What instead?");
    window
        .write("use the y example")
        .press(&["Enter"])
        .wait("rejected (use the y example)")
        .wait("That was it.");
    assert_eq!(window.code(), 0, "the agent took the advice");
    let shown = place.run(&["log", "show", call(&place)["call"].as_str().unwrap()]);
    assert!(shown.out.contains("use the y example"), "{}", shown.out);
}

#[test]
fn no_without_words_stops_the_agent() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    let window = ask(&place, &model);
    window.press(&["Escape"]).wait("What instead?");
    window.press(&["Enter"]).wait("stopped: you said no");
    assert_eq!(window.code(), 5);
    assert!(!window.screen().contains("That was it."));
}

#[test]
fn several_questions_wait_for_each_other() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    place.file(".env", "KEY=hidden\n");
    place.file("b/.env", "KEY=hidden\n");
    let read = |path: &str| json!({ "tool": "read", "input": { "filePath": path } });
    let model = script(
        &place,
        &json!({ "turns": [{ "calls": [read(".env"), read("b/.env")] }, { "text": "Both." }] }),
    );
    let window = Window::open(&place, 80, &["run", "-m", &model, "read them"]);
    window.wait("› y").wait("1 more waiting");
    window.press(&["y"]).wait("allowed once").wait("› y");
    window.press(&["y"]).wait("Both.");
    assert_eq!(window.code(), 0);
}

#[test]
fn ctrl_c_withdraws_the_question() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    let window = ask(&place, &model);
    window.press(&["C-c"]).wait("interrupted");
    assert_eq!(window.code(), 130);
    assert!(!window.screen().contains("allowed"));
}

#[test]
fn lines_answer_where_nothing_can_be_drawn() {
    if is_missing() {
        return;
    }
    for (term, more) in [("dumb", None), ("screen", Some("--screen-reader"))] {
        let (place, model) = secret();
        let mut args = vec!["run", "-m", &model, "read the secret"];
        args.extend(more);
        let window = Window::with(&place, 80, term, &args);
        window.wait("build wants  read .env").wait("once / always / edit / reject?");
        window.write("perhaps").press(&["Enter"]).wait("Type o, a, e or r.");
        window.write("o").press(&["Enter"]).wait("That was it.");
        assert_eq!(window.code(), 0);
    }
}

#[test]
fn a_call_can_be_changed_before_it_runs() {
    if is_missing() {
        return;
    }
    let (place, model) = secret();
    place.file("a.txt", "nothing to hide\n");
    let window = ask(&place, &model);
    window.press(&["e"]).wait("The call, as it is to be").wait("\"filePath\": \".env\"");
    // What is no call stays to be mended.
    window.press(&["BSpace", "Enter"]).wait("this is no JSON");
    window.press(&["BSpace"; 30]).write("{\"filePath\": \"a.txt\"}").press(&["Enter"]);
    window.wait("changed").wait("That was it.");
    assert_eq!(window.code(), 0);
    let shown = place.run(&["log", "show", call(&place)["call"].as_str().unwrap()]).out;
    assert!(shown.contains("The user changed the input") && shown.contains("nothing to hide"), "{shown}");
    assert!(!shown.contains("KEY=hidden"), "{shown}");
}
