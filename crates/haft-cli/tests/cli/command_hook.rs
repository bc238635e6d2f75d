//! The hook `command.execute.before`, the event that follows it, and commands that plugins bring.

use serde_json::{Value, json};

use crate::plugins_in_conversations::{says, talk};
use crate::server::Server;
use crate::support::{Place, Ran};

fn plugin(place: &Place, name: &str, hooks: &str) {
    place.file(
        &format!(".opencode/plugin/{name}.js"),
        &format!("export const P = async () => ({{ {hooks} }});\n"),
    );
}

fn before(place: &Place, name: &str, body: &str) {
    plugin(place, name, &format!(r#""command.execute.before": async (input, output) => {{ {body} }}"#));
}

/// What came of it, and what the model was sent as the person's words, if it was sent anything.
fn run(place: &Place, line: &str) -> (Ran, Option<Value>) {
    let server = Server::answering(vec![says("Done.")]);
    let ran = talk(place, &server, &[line]);
    // Whoever is done has asked.
    let sent = (ran.code == 0).then(|| {
        let body = server.next().body;
        body["messages"].as_array().unwrap().last().unwrap()["content"].clone()
    });
    assert!(!server.has_been_asked());
    (ran, sent)
}

#[test]
fn plugins_change_a_command_one_after_the_other() {
    let place = Place::new();
    place.file(".opencode/command/birds.md", "Which birds? $ARGUMENTS");
    before(
        &place,
        "a",
        r#"if (input.command !== "birds" || input.arguments !== "in \"the reeds\"" || !input.sessionID.startsWith("ses_"))
             throw new Error(JSON.stringify(input));
           output.parts[0].text += " One";"#,
    );
    before(
        &place,
        "b",
        r#"output.parts[0].text += ", two.";
           output.parts = [...output.parts, { type: "text", text: "Be brief.", synthetic: true }];"#,
    );
    let (ran, sent) = run(&place, "/birds in \"the reeds\"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sent, Some(json!("Which birds? in \"the reeds\" One, two.\nBe brief.")));
    let (_, sent) = run(&place, "which birds?");
    assert_eq!(sent, Some(json!("which birds?")), "a prompt is no command");
}

#[test]
fn a_hook_that_throws_or_leaves_nothing_ends_it_and_nothing_is_sent() {
    let place = Place::new();
    place.file(".opencode/command/birds.md", "Which birds?");
    for (body, says) in [
        (r#"throw new Error("not on mondays");"#, "not on mondays"),
        ("output.parts = [];", "nothing to say"),
        ("output.parts = 7;", "something else than a list"),
    ] {
        before(&place, "strict", body);
        let (ran, _) = run(&place, "/birds");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains(says) && ran.err.contains("command.execute.before"), "{}", ran.err);
        if body.starts_with("throw") {
            assert!(ran.err.contains("strict.js"), "{}", ran.err);
        }
    }
    let sessions = place.run(&["session", "export", "--all"]).out;
    assert!(!sessions.contains("Which birds?"), "{sessions}");
}

#[test]
fn the_event_tells_that_a_command_was_performed() {
    let place = Place::new();
    place.file(".opencode/command/birds.md", "Which birds?");
    plugin(
        &place,
        "listen",
        r#"event: async ({ event }) => {
             if (event.type === "command.executed")
               require("fs").appendFileSync("heard.jsonl", JSON.stringify(event.properties) + "\n");
           }"#,
    );
    let (ran, _) = run(&place, "/birds in reeds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let heard = place.read("heard.jsonl");
    let heard: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!((&heard[0]["name"], &heard[0]["arguments"]), (&json!("birds"), &json!("in reeds")));
    assert!(heard[0]["sessionID"].as_str().unwrap().starts_with("ses_"), "{heard:?}");
    assert!(heard[0]["messageID"].as_str().unwrap().starts_with("msg_"), "{heard:?}");
}

#[test]
fn plugins_bring_commands_by_the_hook_config() {
    let place = Place::new();
    place.file(".env", "KEY=stork\n");
    plugin(
        &place,
        "bring",
        r#"config: async (config) => {
             config.command = { ...config.command, brought: { template: "Brought $1.", description: "x" },
               sly: { template: "@.env" } };
           }"#,
    );
    let (ran, sent) = run(&place, "/brought along");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sent, Some(json!("Brought along.")));
    let (ran, _) = run(&place, "/sly");
    assert_eq!(ran.code, 6, "a plugin's template is nobody's consent: {}", ran.err);
    plugin(&place, "bring", r#"config: async (config) => { config.command = { bad: {} }; }"#);
    let (ran, _) = run(&place, "/bad");
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("bring.js") && ran.err.contains("template"), "{}", ran.err);
}

#[test]
fn the_hook_is_one_that_is_called() {
    let place = Place::new();
    before(&place, "strict", "");
    let mut check = place.command(&["tools", "check", "--json"]);
    let checked = crate::support::ran(check.env("HAFT_TRUST", "1").output().unwrap()).json();
    assert_eq!(checked["files"][0]["uncalled"], json!([]), "{checked}");
}
