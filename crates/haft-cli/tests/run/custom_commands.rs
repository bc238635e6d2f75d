//! Custom commands in a conversation: what is asked, queued, stopped and given back.

use serde_json::{Value, json};

use crate::support::Place;
use crate::window::{Window, is_missing, script};

/// A place whose commands are the person's own, since nobody is to be asked for trust here.
fn place(commands: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (name, text) in commands {
        let path = place.home().join(format!("haft/config/commands/{name}.md"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

/// The person's messages in the only session: to which agent, and what.
fn said(place: &Place) -> Vec<(String, String)> {
    let exported = place.run(&["session", "export", "--all"]).out;
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |said: &Value| {
        let parts = said["parts"].as_array().unwrap().iter();
        parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("|")
    };
    let messages = lines.filter(|line| line["info"]["role"] == "user");
    messages.map(|said| (said["info"]["agent"].as_str().unwrap().to_owned(), text(&said))).collect()
}

#[test]
fn an_agent_is_spoken_to_for_one_message() {
    if is_missing() {
        return;
    }
    let place = place(&[("look", "---\nagent: plan\n---\nLook at $1.")]);
    let turns = json!({ "turns": [{ "text": "One." }, { "text": "Two." }] });
    let window = Window::open(&place, 80, &["run", "-m", &script(&place, &turns)]);
    window.wait(">").write("/look birds").press(&["Enter"]).wait("› /look birds").wait("One.");
    window.wait("1 step").write("and now?").press(&["Enter"]).wait("Two.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    let expected = [("plan", "Look at birds."), ("build", "and now?")];
    assert_eq!(said(&place), expected.map(|(agent, text)| (agent.to_owned(), text.to_owned())));
}

#[test]
fn a_word_that_is_no_command_comes_back_and_is_not_sent() {
    if is_missing() {
        return;
    }
    let place = place(&[("look", "Look.")]);
    let window =
        Window::open(&place, 80, &["run", "-m", &script(&place, &json!({ "turns": [{ "text": "One." }] }))]);
    window.wait(">").write("/lok up").press(&["Enter"]);
    window.wait("did you mean \"look\"?").wait("> /lok up");
    window.press(&["C-u"]).write("/look").press(&["Enter"]).wait("One.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    assert_eq!(said(&place).len(), 1);
}

#[test]
fn the_person_is_asked_about_shell_parts() {
    if is_missing() {
        return;
    }
    let place = place(&[("count", "Of these: !`printf 'x%s' yz`")]);
    place.global_config(r#"{ "permission": { "bash": "ask" } }"#);
    let window =
        Window::open(&place, 80, &["run", "-m", &script(&place, &json!({ "turns": [{ "text": "One." }] }))]);
    window.wait(">").write("/count").press(&["Enter"]).wait("? build wants").wait("› y");
    window.press(&["n"]).wait("What instead?").press(&["Enter"]);
    window.wait("nothing was sent").wait("> /count");
    window.press(&["Enter"]).wait("› y").press(&["y"]).wait("One.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    assert_eq!(said(&place), [("build".to_owned(), "Of these: xyz".to_owned())]);
}

#[test]
fn nobody_is_asked_whether_a_command_is_only_repeated() {
    if is_missing() {
        return;
    }
    let place = place(&[("count", "!`printf x`")]);
    let turns: Vec<Value> = ["One.", "Two.", "Three.", "Four."].map(|text| json!({ "text": text })).into();
    let model = script(&place, &json!({ "turns": turns }));
    let window = Window::open(&place, 80, &["run", "-m", &model, "--allow", "bash"]);
    for text in ["One.", "Two.", "Three.", "Four."] {
        window.wait(">").write("/count").press(&["Enter"]).wait(text);
    }
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    assert_eq!(place.log().len(), 4);
}

#[test]
fn a_command_waits_for_the_agent_and_ctrl_c_stops_its_shell_parts() {
    if is_missing() {
        return;
    }
    let place = place(&[("look", "Look."), ("slow", "!`touch begun; sleep 600`")]);
    let wait = json!([{ "tool": "bash", "input": { "command": "until [ -e go ]; do sleep 0.05; done" } }]);
    let turns = json!({ "turns": [{ "calls": wait }, { "text": "One." }, { "text": "Two." }] });
    let window = Window::open(&place, 80, &["run", "-m", &script(&place, &turns), "--auto"]);
    window.wait(">").write("begin").press(&["Enter"]).wait("› begin");
    window.write("/look").press(&["Enter"]).wait("queued  /look");
    place.file("go", "");
    window.wait("One.").wait("› /look").wait("Two.");
    window.wait_until("idle", |screen| screen.matches("step").count() == 2);
    window.write("/slow").press(&["Enter"]).wait("touch begun");
    window.wait_until("begun", |_| place.ws().join("begun").exists());
    window.press(&["C-c"]).wait("interrupted before anything was sent").wait("> /slow");
    window.press(&["C-u", "C-d"]);
    assert_eq!(window.code(), 0);
    assert_eq!(said(&place).len(), 2);
    assert_eq!(place.log().last().unwrap()["status"], "error");
}

#[test]
fn commands_in_plain_lines() {
    if is_missing() {
        return;
    }
    let place = place(&[("look", "Look at $1."), ("gone", "@gone.txt")]);
    let turns = json!({ "turns": [{ "text": "One." }] });
    let window = Window::with(&place, 80, "dumb", &["run", "-m", &script(&place, &turns)]);
    window.wait(">").write("/lok").press(&["Enter"]).wait("did you mean");
    window.write("/gone").press(&["Enter"]).wait("there is no file");
    window.write("/look birds").press(&["Enter"]).wait("One.");
    window.wait_until("asked again", |screen| screen.ends_with('>')).press(&["C-d"]);
    assert_eq!(window.code(), 0);
    assert_eq!(said(&place), [("build".to_owned(), "Look at birds.".to_owned())]);
}

#[test]
fn what_is_typed_while_a_command_is_prepared_is_said_after_it() {
    if is_missing() {
        return;
    }
    let place = place(&[("slow", "!`touch begun; until [ -e go ]; do sleep 0.05; done` Look.")]);
    let turns = json!({ "turns": [{ "text": "One." }, { "text": "Two." }] });
    let window = Window::open(&place, 80, &["run", "-m", &script(&place, &turns), "--auto"]);
    window.wait(">").write("/slow").press(&["Enter"]);
    window.wait_until("begun", |_| place.ws().join("begun").exists());
    window.write("and then?").press(&["Enter"]).wait("queued  and then?");
    place.file("go", "");
    window.wait("One.").wait("› and then?").wait("Two.");
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
    let texts: Vec<String> = said(&place).into_iter().map(|(_, text)| text).collect();
    assert!(texts.len() == 2 && texts[0].ends_with("Look.") && texts[1] == "and then?", "{texts:?}");
}

#[test]
fn a_run_of_one_command_that_fails_leaves_nothing_behind() {
    if is_missing() {
        return;
    }
    let place = place(&[("bad", "!`touch begun; until [ -e go ]; do sleep 0.05; done` @.env")]);
    place.file(".env", "KEY=stork");
    let model = script(&place, &json!({ "turns": [{ "text": "One." }] }));
    let args = ["run", "-m", &model, "--allow", "bash", "--deny", "read", "/bad"];
    let window = Window::open(&place, 80, &args);
    window.wait_until("begun", |_| place.ws().join("begun").exists()).wait("\n>");
    place.file("go", "");
    assert_eq!(window.code(), 5);
    let screen = window.wait("error:").screen();
    assert!(!screen.contains("\n>") && screen.contains("touch begun"), "{screen}");
}

#[test]
fn in_plain_lines_what_is_not_said_is_told() {
    if is_missing() {
        return;
    }
    let place = place(&[("look", "Look."), ("bad", "!`until [ -e go ]; do sleep 0.05; done` @.env")]);
    place.file(".env", "KEY=stork");
    let wait = json!([{ "tool": "bash", "input": { "command": "touch begun; sleep 600" } }]);
    let model = script(&place, &json!({ "turns": [{ "calls": wait }] }));
    let args = ["run", "-m", &model, "--allow", "bash", "--deny", "read"];
    let window = Window::with(&place, 80, "dumb", &args);
    window.wait(">").write("begin").press(&["Enter"]);
    window.wait_until("begun", |_| place.ws().join("begun").exists());
    window.write("/look").press(&["Enter"]).wait("queued");
    window.press(&["C-c"]).wait("not said  /look");
    // Once nobody types any more, how it ends is told all the same.
    window.wait_until("asked again", |screen| screen.ends_with('>')).write("/bad").press(&["Enter"]);
    window.press(&["C-d"]);
    place.file("go", "");
    window.wait("error:");
    assert_eq!(window.code(), 5);
}
