//! The hook `config`: what plugins add to a conversation's configuration counts, and what widens does not.

use serde_json::{Value, json};

use crate::plugins_in_conversations::{calls, says, talk};
use crate::server::Server;
use crate::support::Place;

/// A plugin that does this to the configuration.
fn configuring(place: &Place, name: &str, body: &str) {
    let code = format!("export default async () => ({{ config: async (config) => {{ {body} }} }});\n");
    place.file(&format!(".opencode/plugin/{name}.js"), &code);
}

#[test]
fn plugins_add_agents_and_each_sees_what_came_before() {
    let place = Place::new();
    // haft would read it itself, outside of every sandbox, and show it to the same plugin.
    place.file("birds.md", "Herons first.\n");
    configuring(
        &place,
        "a",
        r#"config.agent ??= {}; config.agent.birder = { mode: "primary", prompt: "You watch birds.", temperature: 0.5 };
           config.agent.helper = { mode: "subagent", description: "counts feathers" };
           config.instructions = [...(config.instructions ?? []), "birds.md"];"#,
    );
    configuring(&place, "b", r#"if (config.agent.birder) config.default_agent = "birder";"#);
    let server = Server::answering(vec![says("A heron.")]);
    let ran = talk(&place, &server, &["what is there?"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "A heron."), "{}", ran.err);
    let body = server.next().body;
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You watch birds.") && !system.contains("Herons first."), "{system}");
    assert_eq!(body["temperature"], 0.5);
    let tools = body["tools"].as_array().unwrap();
    let task = tools.iter().find(|tool| tool["function"]["name"] == "task").unwrap();
    assert!(task.to_string().contains("counts feathers"), "{task}");
}

#[test]
fn rules_of_plugins_narrow_and_never_widen() {
    let place = Place::new();
    place.file("a.txt", "heron\n");
    place.global_config(r#"{ "permission": { "bash": "deny", "read": "allow" } }"#);
    configuring(
        &place,
        "rules",
        r#"config.permission = { "*": "allow", bash: "allow", read: "deny" };
           config.agent = { build: { permission: { bash: "allow" } } };"#,
    );
    let touch = json!({ "command": "touch made", "description": "Makes a file" });
    let server = Server::answering(vec![
        calls(&[("bash", touch), ("read", json!({ "filePath": "a.txt" }))]),
        says("Neither."),
    ]);
    talk(&place, &server, &["go"]);
    server.next();
    let told = server.next().body;
    let results: Vec<&Value> =
        told["messages"].as_array().unwrap().iter().filter(|said| said["role"] == "tool").collect();
    assert_eq!(results.len(), 2);
    assert!(
        results.iter().all(|result| !result["content"].as_str().unwrap().contains("heron")),
        "{results:?}"
    );
    assert!(!place.ws().join("made").exists(), "a plugin widened what was denied: {results:?}");
}

#[test]
fn the_environment_has_the_last_word() {
    let place = Place::new();
    configuring(&place, "hot", r#"config.agent = { build: { temperature: 0.75, top_p: 0.25 } };"#);
    let server = Server::answering(vec![says("Yes.")]);
    let mut haft = place.command(&["run", "-m", "openai/m", "hello"]);
    haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
    haft.env("OPENCODE_CONFIG_CONTENT", r#"{ "agent": { "build": { "temperature": 0 } } }"#);
    assert!(haft.output().unwrap().status.success());
    let body = server.next().body;
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.0), &json!(0.25)));
}

#[test]
fn what_a_plugin_says_wrongly_or_too_late_is_told_with_its_file() {
    let place = Place::new();
    configuring(
        &place,
        "late",
        r#"config.shell = "/bin/dash"; config.provider = { x: { options: { apiKey: "k" } } };"#,
    );
    let server = Server::answering(vec![says("Yes.")]);
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in ["late.js", "`shell`", "`provider`"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    configuring(&place, "wrong", r#"config.agent = { build: { temperature: "hot" } };"#);
    let server = Server::answering(vec![says("Never.")]);
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("wrong.js") && ran.err.contains("hot"), "{}", ran.err);
    configuring(&place, "wrong", r#"throw new Error("no config today");"#);
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("wrong.js") && ran.err.contains("no config today"), "{}", ran.err);
}

#[test]
fn plugins_are_shown_references_and_not_what_was_put_in() {
    let place = Place::new();
    place.file("word.txt", "a-very-secret-heron");
    place.file("opencode.json", r#"{ "command": { "say": { "template": "Say {file:word.txt}." } } }"#);
    configuring(
        &place,
        "look",
        r#"if (config.command.say.template !== "Say {file:word.txt}.") throw new Error("it is shown");
           config.command.say.description = "says"; config.command.more = { template: "More." };"#,
    );
    for (line, expected) in [("/say", "Say a-very-secret-heron."), ("/more", "More.")] {
        let server = Server::answering(vec![says("Done.")]);
        let ran = talk(&place, &server, &[line]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let body = server.next().body;
        assert_eq!(body["messages"].as_array().unwrap().last().unwrap()["content"], expected);
    }
}
