//! What tools and plugins learn of the conversation they work in, and of the project around it.

use serde_json::{Value, json};

use crate::model::{Model, calls, says};
use crate::project::{converse, output, trusted};
use crate::support::Place;

/// A tool that writes down what it is told was said.
const RECALL: &str = r#"
import { writeFileSync } from "node:fs"

export default {
  description: "Recalls",
  args: { into: { type: "string" } },
  async execute(args, context) {
    writeFileSync(args.into, JSON.stringify(context.messages))
    return {
      title: "Recalled",
      metadata: { n: context.messages.length },
      output: `${context.messages.length} messages, the same again: ${context.messages === context.messages}`,
      attachments: [{ type: "file", mime: "text/x-note", url: "data:text/x-note;base64,aGk=" }],
    }
  },
}
"#;

fn recalled(place: &Place, file: &str) -> Vec<Value> {
    serde_json::from_str(&place.read(file)).unwrap()
}

/// What a plugin's tool makes of the client: the body of a function of `client` and `context`.
fn asks(body: &str) -> String {
    format!(
        "export const P = async ({{ client, directory }}) => ({{ tool: {{ asks: {{ description: 'a', args: {{}}, \
         execute: async (args, context) => {{ {body} }} }} }} }})"
    )
}

#[test]
fn a_tool_sees_what_was_said_before_it() {
    for engine in ["embedded", "node"] {
        let place = trusted(&[
            (".opencode/tool/recall.ts", RECALL),
            ("haft.jsonc", &format!(r#"{{ "plugins": {{ "engine": {{ "recall.ts": "{engine}" }} }} }}"#)),
        ]);
        let call = |into: &str| json!([{ "tool": "recall", "input": { "into": into } }]);
        let ran = converse(
            &place,
            &json!([{ "text": "First.", "calls": call("one.json") }, { "calls": call("two.json") }, { "text": "Done." }]),
        );
        assert_eq!(ran.code, 0, "{}", ran.err);
        let one = recalled(&place, "one.json");
        assert_eq!(one.len(), 2, "{one:#?}");
        assert_eq!((&one[0]["info"]["role"], &one[0]["parts"][0]["text"]), (&json!("user"), &json!("go")));
        let parts = &one[1]["parts"];
        assert_eq!((&parts[0]["text"], &parts[1]["tool"]), (&json!("First."), &json!("recall")));
        assert_eq!(parts[1]["state"]["status"], "running", "it is the call itself");
        let two = recalled(&place, "two.json");
        assert_eq!(two.len(), 3);
        assert_eq!(
            (&one[1]["info"]["finish"], &two[1]["info"]["finish"]),
            (&Value::Null, &json!("tool-calls"))
        );
        let state = &two[1]["parts"][1]["state"];
        assert_eq!(state["output"], "2 messages, the same again: true", "{state:#}");
        assert_eq!((&state["title"], &state["metadata"]["n"]), (&json!("Recalled"), &json!(2)), "{state:#}");
        let [start, end] = ["start", "end"].map(|name| state["time"][name].as_i64().unwrap());
        assert!(start > 0 && end >= start, "{state:#}");
        let attached = &state["attachments"][0];
        assert_eq!(
            (&attached["mime"], &attached["url"]),
            (&json!("text/x-note"), &json!("data:text/x-note;base64,aGk="))
        );
    }
}

#[test]
fn a_tool_of_another_agents_task_sees_that_conversation() {
    let place = trusted(&[(".opencode/tool/recall.ts", RECALL)]);
    let task = json!({ "description": "look", "prompt": "count the pots", "subagent_type": "general" });
    let script = json!({
        "turns": [{ "calls": [{ "tool": "task", "input": task }] }, { "text": "Done." }],
        "agents": { "general": [
            { "calls": [{ "tool": "recall", "input": { "into": "sub.json" } }] },
            { "text": "Three." },
        ] },
    });
    let path = place.root().join("script.json");
    std::fs::write(&path, script.to_string()).unwrap();
    let ran = place.run(&["run", "-m", &format!("scripted/{}", path.display()), "go", "--auto"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = recalled(&place, "sub.json");
    assert_eq!(told[0]["parts"][0]["text"], "count the pots", "{told:#?}");
    assert_eq!(told.len(), 2);
}

#[test]
fn a_single_call_has_a_conversation_in_which_nothing_was_said() {
    let place = trusted(&[(".opencode/tool/recall.ts", RECALL)]);
    assert_eq!(output(&place, "recall", &json!({ "into": "a.json" })), "0 messages, the same again: true");
    assert_eq!(place.read("a.json"), "[]");
}

#[test]
fn a_plugin_looks_at_its_session_and_its_project() {
    let body = r#"
      const id = context.sessionID
      const of = async (promise) => (await promise).data
      const session = await of(client.session.get({ path: { id } }))
      const messages = await of(client.session.messages({ path: { id }, query: { limit: 1 } }))
      const message = await of(client.session.message({ path: { id, messageID: messages[0].info.id } }))
      const todos = await of(client.session.todo({ path: { id } }))
      const told = {
        session, messages, todos, isSame: message.info.id === messages[0].info.id,
        listed: (await of(client.session.list())).map((one) => one.id === id),
        children: await of(client.session.children({ path: { id } })),
        agents: (await of(client.app.agents())).map((agent) => `${agent.name} ${agent.mode} ${agent.permission.edit}`),
        commands: await of(client.command.list()),
        config: await of(client.config.get()),
        providers: await of(client.config.providers()),
        paths: await of(client.path.get()),
        project: await of(client.project.current()),
        projects: (await of(client.project.list())).length,
        tools: await of(client.tool.ids()),
        said: [await of(client.tui.showToast({ body: { message: "look here", variant: "info" } })), await of(client.app.log({ body: { service: "s", level: "warn", message: "and here" } }))],
      }
      await Bun.write("told.json", JSON.stringify(told))
      return "asked""#;
    let config = r#"{ "username": "potter", "command": { "glaze": { "template": "Glaze $1.", "agent": "build" } }, "provider": { "clay": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "http://127.0.0.1:9/v1", "apiKey": "clay-secret-key-123" }, "models": { "red": { "name": "Red", "limit": { "context": 7000, "output": 70 } } } } } }"#;
    let place = trusted(&[(".opencode/plugin/p.js", &asks(body)), ("opencode.json", config)]);
    let todos = json!({ "todos": [{ "content": "glaze", "status": "pending", "priority": "high" }] });
    let turns = json!([
        { "calls": [{ "tool": "todowrite", "input": todos }] },
        { "text": "Now.", "calls": [{ "tool": "asks" }] },
        { "text": "Done." },
    ]);
    let ran = converse(&place, &turns);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("look here") && ran.err.contains("and here"), "{}", ran.err);
    let told: Value = serde_json::from_str(&place.read("told.json")).unwrap();
    assert_eq!(
        (&told["session"]["title"], &told["session"]["directory"]),
        (&json!("go"), &json!(place.ws()))
    );
    assert!(told["session"]["time"]["created"].as_i64().unwrap() > 0 && told["isSame"] == true, "{told:#}");
    assert_eq!(told["session"]["projectID"], told["project"]["id"]);
    assert_eq!(told["messages"][0]["parts"][0]["text"], "Now.");
    assert_eq!((&told["todos"][0]["content"], &told["todos"][0]["id"]), (&json!("glaze"), &json!("1")));
    assert_eq!((&told["listed"], &told["children"]), (&json!([true]), &json!([])));
    assert_eq!(told["commands"], json!([{ "name": "glaze", "template": "Glaze $1.", "agent": "build" }]));
    assert!(told["agents"].as_array().unwrap().contains(&json!("build primary allow")), "{told:#}");
    assert_eq!((&told["config"]["username"], &told["projects"]), (&json!("potter"), &json!(1)));
    assert_eq!(told["paths"]["directory"], json!(place.ws()));
    let tools = told["tools"].as_array().unwrap();
    assert!(tools.contains(&json!("read")) && tools.contains(&json!("asks")), "{told:#}");
    assert_eq!(told["said"], json!([true, true]));
    let clay = &told["providers"]["providers"][0];
    assert_eq!((&clay["id"], &clay["models"]["red"]["limit"]["context"]), (&json!("clay"), &json!(7000)));
    assert!(!told.to_string().contains("clay-secret"), "keys are nobody's business: {told:#}");
}

#[test]
fn sessions_of_other_projects_are_not_there() {
    let script = |place: &Place, turns: &Value| {
        let path = place.root().join("script.json");
        std::fs::write(&path, json!({ "turns": turns }).to_string()).unwrap();
        format!("scripted/{}", path.display())
    };
    let body = r#"
      const { id } = JSON.parse(await Bun.file("other.json").text())
      const { data, error } = await client.session.messages({ path: { id } })
      let thrown
      try { await client.session.get({ path: { id }, throwOnError: true }) } catch (problem) { thrown = [problem instanceof Error, problem.name, problem.message] }
      const nonsense = (await client.session.get({ path: { id: "../etc" } })).error.name
      const nothing = (await client.session.get()).error.name
      return JSON.stringify({ data: data ?? null, error, thrown, nonsense, nothing, listed: (await client.session.list()).data.length })"#;
    let place = trusted(&[(".opencode/plugin/p.js", &asks(body))]);
    let model = script(&place, &json!([{ "text": "Elsewhere." }]));
    let outside = place.outside();
    let ran = place.run(&["-C", outside.to_str().unwrap(), "--json", "run", "-m", &model, "a secret plan"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let other = place.run(&["-C", outside.to_str().unwrap(), "--json", "session", "list"]).json();
    let id = other["sessions"][0]["id"].as_str().unwrap_or_else(|| panic!("{other:#}"));
    place.file("other.json", &json!({ "id": id }).to_string());
    let told: Value = serde_json::from_str(&output(&place, "asks", &json!({}))).unwrap();
    assert_eq!((&told["data"], &told["error"]["name"]), (&Value::Null, &json!("NotFoundError")), "{told:#}");
    assert_eq!((&told["thrown"][0], &told["thrown"][1]), (&json!(true), &json!("NotFoundError")));
    assert!(told["thrown"][2].as_str().unwrap().contains(id), "{told:#}");
    assert_eq!((&told["nonsense"], &told["nothing"]), (&json!("NotFoundError"), &json!("BadRequest")));
    assert_eq!(told["listed"], 0, "{told:#}");
}

#[test]
fn files_are_found_and_read_as_the_plugin_could_itself() {
    let body = r#"
      const of = async (promise) => { const { data, error } = await promise; return data ?? error }
      return JSON.stringify({
        read: await of(client.file.read({ query: { path: "src/urn.txt" } })),
        absent: await of(client.file.read({ query: { path: "src/none.txt" } })),
        outside: await of(client.file.read({ query: { path: OUTSIDE } })),
        listed: (await of(client.file.list({ query: { path: "." } }))).map((node) => `${node.type} ${node.path} ${node.ignored}`),
        files: await of(client.find.files({ query: { query: "urn" } })),
        found: await of(client.find.text({ query: { pattern: "cr[a-z]+ked" } })),
        wrong: await of(client.find.text({ query: { pattern: "(" } })),
      })"#;
    let place = trusted(&[
        ("src/urn.txt", "a pot\nthe urn is cracked\n"),
        ("b.txt", "nothing\n"),
        (".gitignore", "urn.log\n"),
        ("urn.log", "cracked, too\n"),
    ]);
    let git = |args: &[&str]| std::process::Command::new("git").args(args).current_dir(place.ws()).status();
    assert!(git(&["init", "-q"]).unwrap().success());
    let secret = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(secret.path().join("key"), "PRIVATE-WORDS").unwrap();
    let outside = json!(secret.path().join("key")).to_string();
    place.file(".opencode/plugin/p.js", &asks(&body.replace("OUTSIDE", &outside)));
    let told = output(&place, "asks", &json!({}));
    assert!(!told.contains("PRIVATE-WORDS"), "{told}");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["read"], json!({ "type": "text", "content": "a pot\nthe urn is cracked\n" }));
    assert_eq!(told["absent"]["name"], "NotFoundError", "{told:#}");
    assert_eq!(
        told["listed"],
        json!([
            "directory .opencode false",
            "directory src false",
            "file .gitignore false",
            "file b.txt false",
            "file urn.log true",
        ])
    );
    assert_eq!(told["files"][0], "src/urn.txt", "{told:#}");
    assert_eq!(told["found"].as_array().unwrap().len(), 1, "what git leaves out is left out: {told:#}");
    let found = &told["found"][0];
    assert_eq!((&found["path"]["text"], &found["line_number"]), (&json!("src/urn.txt"), &json!(2)));
    assert_eq!((&found["absolute_offset"], &found["submatches"][0]["start"]), (&json!(6), &json!(11)));
    assert!(told["wrong"]["data"]["message"].is_string(), "{told:#}");
}

#[test]
fn words_of_a_plugin_are_said_along_with_the_next_and_nobody_answers_them() {
    let plugin = r#"
export const Remind = async ({ client }) => ({
  "tool.execute.after": async (input) => {
    if (input.tool !== "read") return
    const { data } = await client.session.prompt({
      path: { id: input.sessionID },
      body: { noReply: true, parts: [{ type: "text", text: "The jug must not be moved." }] },
      throwOnError: true,
    })
    if (data.info.role !== "user" || data.parts[0].text !== "The jug must not be moved.") throw new Error(JSON.stringify(data))
  },
  "experimental.text.complete": async (input) => {
    await client.session.prompt({ path: { id: input.sessionID }, body: { noReply: true, parts: [{ type: "text", text: "Too late." }] } })
  },
})
"#;
    let place = trusted(&[(".opencode/plugin/remind.js", plugin), ("a.txt", "x\n")]);
    let model = Model::saying(vec![calls("read", &json!({ "filePath": "a.txt" }), 10), says("Done.", 20)]);
    let ran = model.run(&place, &["go"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "Done."), "{}", ran.err);
    assert_eq!(model.told().last().unwrap().1, "go");
    assert_eq!(model.told().last().unwrap(), &("user".to_owned(), "The jug must not be moved.".to_owned()));

    // What nobody was to answer is said along with what the person says next.
    let model = Model::saying(vec![says("Yes.", 20)]);
    let ran = model.run(&place, &["-c", "and now?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = model.told();
    let last: Vec<&str> = told.iter().rev().take(2).map(|(_, words)| words.as_str()).collect();
    assert!(last.contains(&"and now?") || last[0].contains("and now?"), "{told:?}");
    assert!(told.iter().any(|(_, words)| words.contains("Too late.")), "{told:?}");
}

#[test]
fn what_there_is_not_says_what_there_is() {
    let body = r#"
      const words = []
      for (const ask of [() => client.session.delete({ path: { id: "x" } }), () => client.event.subscribe(), () => client.session.prompt({ path: { id: context.sessionID }, body: { parts: [{ type: "text", text: "work" }] } })])
        try { await ask(); words.push("done") } catch (error) { words.push(error.message) }
      const { error } = await client.session.prompt({ path: { id: context.sessionID }, body: { noReply: true, parts: [{ type: "text", text: "hm" }] } })
      words.push(error.data.message)
      return JSON.stringify(words)"#;
    let place = trusted(&[(".opencode/plugin/p.js", &asks(body))]);
    let told: Vec<String> = serde_json::from_str(&output(&place, "asks", &json!({}))).unwrap();
    assert!(told[0].contains("client.session.delete") && told[0].contains("session.messages"), "{told:?}");
    assert!(told[1].contains("the hook `event`"), "{told:?}");
    assert!(told[2].contains("noReply"), "{told:?}");
    assert!(told[3].contains("not under way"), "{told:?}");
}
