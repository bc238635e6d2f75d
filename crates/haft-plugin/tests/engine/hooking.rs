//! Plugins: how they start, and their hooks.

use serde_json::{Value, json};

use crate::driver::Host;

const PLUGIN: &str = r#"
import { tool, type Plugin } from "@opencode-ai/plugin"
const first: Plugin = async (input, options) => ({
  "tool.execute.before": async ({ tool }, output) => { output.args = { ...output.args, first: tool } },
  tool: { hello: tool({ description: "says hello", args: { name: tool.schema.string() }, async execute(args, ctx) { return "hello " + args.name } }) },
  "chat.params": async () => { throw new Error("boom") },
  config: async (config) => { config.seen = [input.directory === config.directory, options.level, input.worktree, input.project.id, input.serverUrl.port] },
})
export const First = first
export const Again = first
export const Second = async ({ client }) => {
  await client.app.log({ body: { service: "p", level: "info", message: "started" } })
  return {
    "tool.execute.before": async (_, output) => { output.args.second = true },
    event: async ({ event }) => { console.log("event " + event.type) },
    "permission.ask": async (_, output) => { const got = await client.session.get({ path: { id: "s" } }); output.status = got.data.status },
  }
}
export const NOTE = "no plugin"
"#;

fn plugin() -> (Host, Value) {
    let mut host = Host::with(&[("p.ts", PLUGIN)]);
    let loaded = host.load("p.ts", "plugin");
    assert!(loaded.get("ok").is_some(), "{loaded}");
    (host, loaded["ok"].clone())
}

#[test]
fn every_exported_function_is_started_once() {
    let (host, found) = plugin();
    assert_eq!(found["tools"][0]["key"], "hello");
    let hooks: Vec<&str> = found["hooks"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for hook in ["tool.execute.before", "chat.params", "config", "event", "permission.ask"] {
        assert!(hooks.contains(&hook), "{hooks:?}");
    }
    assert_eq!(found["skipped"][0]["export"], "NOTE");
    assert_eq!(host.logs(), "p: started");
}

#[test]
fn hooks_run_in_order_over_one_output() {
    let (mut host, _) = plugin();
    let answer = host.hook("tool.execute.before", json!({ "tool": "bash" }), json!({ "args": { "a": 1 } }));
    assert_eq!(answer["ok"], json!({ "args": { "a": 1, "first": "bash", "second": true } }));
    assert_eq!(host.hook("no.such.hook", json!({}), json!({ "x": 1 }))["ok"], json!({ "x": 1 }));
    assert_eq!(
        host.hook("event", json!({ "event": { "type": "session.idle" } }), Value::Null)["ok"],
        Value::Null
    );
    assert!(host.logs().contains("event session.idle"));
    let config = json!({ "directory": host.text("") });
    let config = host.hook("config", config, Value::Null);
    assert_eq!(config["ok"]["seen"], json!([true, 3, "/w", "p", "4096"]), "{config}");
    assert_eq!(host.call_named("hello", json!({ "name": "you" }))["ok"]["output"], "hello you");
}

#[test]
fn a_hook_that_throws_is_named_with_its_file() {
    let (mut host, _) = plugin();
    let error = host.hook("chat.params", json!({}), json!({}))["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("boom"), "{message}");
    assert!(message.contains("`chat.params`") && message.contains(&host.text("p.ts")), "{message}");
}

#[test]
fn the_client_asks_haft() {
    let (mut host, _) = plugin();
    host = host.answering(|ask| {
        assert_eq!(ask["with"]["path"], json!("session.get"));
        assert_eq!(ask["with"]["args"], json!([{ "path": { "id": "s" } }]));
        json!({ "ok": { "data": { "status": "deny" } } })
    });
    let answer = host.hook("permission.ask", json!({}), json!({ "status": "ask" }));
    assert_eq!(answer["ok"]["status"], "deny", "{answer}");
}

#[test]
fn the_client_answers_as_the_sdk_does() {
    let text = r#"export const P = async ({ client }: any) => ({ config: async (c: any) => {
      c.failed = await client.session.get({ path: { id: "s" } })
      c.keys = Object.keys(c.failed)
      try { await client.session.get({ path: { id: "s" } }, { throwOnError: true }) } catch (error: any) { c.thrown = [error.name, error.message, error.data] }
      c.read = await client.file.read({ query: { path: "note.txt" } })
      c.missing = (await client.file.read({ query: { path: "none.txt" } })).error.name
      c.wrong = (await client.file.read()).error.data.message
      c.listed = (await client.file.list({ query: { path: "." } })).data.map((node: any) => node.path)
      c.found = (await client.find.files({ query: { query: "nte" } })).data
      c.lines = (await client.find.text({ query: { pattern: "l+", limit: 1 } })).data
    } })"#;
    let mut host = Host::with(&[("sub/note.txt", "é hello\nall"), ("p.ts", text)]).answering(
        |_| json!({ "ok": { "error": { "name": "NotFoundError", "data": { "message": "no such session" } } } }),
    );
    let order = json!({ "do": "load", "file": host.text("p.ts"), "as": "plugin", "input": { "directory": host.text("sub") } });
    assert!(host.order(order).get("ok").is_some());
    let config = host.hook("config", json!({}), Value::Null)["ok"].clone();
    assert_eq!(config["failed"]["error"]["name"], "NotFoundError", "{config:#}");
    assert_eq!(config["keys"], json!(["data", "error"]));
    let thrown = json!(["NotFoundError", "no such session", { "message": "no such session" }]);
    assert_eq!(config["thrown"], thrown, "{config:#}");
    assert_eq!(config["read"]["data"], json!({ "type": "text", "content": "é hello\nall" }), "{config:#}");
    assert_eq!((&config["missing"], &config["listed"]), (&json!("NotFoundError"), &json!(["note.txt"])));
    assert!(config["wrong"].as_str().unwrap().contains("`path`"), "{config:#}");
    assert_eq!(config["found"], json!(["note.txt"]));
    let line = &config["lines"][0];
    assert_eq!(
        (&line["lines"]["text"], &line["line_number"]),
        (&json!("é hello\n"), &json!(1)),
        "{config:#}"
    );
    assert_eq!(line["submatches"], json!([{ "match": { "text": "ll" }, "start": 5, "end": 7 }]));
    assert_eq!(config["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hook_that_is_forgotten_is_let_go_of() {
    let text = "let n = 0\nexport const P = async () => ({ event: () => new Promise(() => {}), config: (c: any) => { c.n = ++n } })";
    let mut host = Host::with(&[("p.ts", text)]);
    host.load("p.ts", "plugin");
    host.send(&json!({ "id": 70, "do": "hook", "name": "event", "input": {}, "output": null }));
    host.send(&json!({ "do": "abort", "id": 70, "forget": true }));
    assert_eq!(host.answer_to(70)["error"]["name"], "AbortError");
    assert_eq!(host.hook("config", json!({}), Value::Null)["ok"], json!({ "n": 1 }));
}

#[test]
fn a_default_export_with_a_server_is_the_plugin() {
    let text = "export const helper = () => { throw new Error('not a plugin') }\nexport default { id: 'mine', server: async (_: unknown, options: any) => ({ config: (c: any) => { c.level = options.level } }) }";
    let mut host = Host::with(&[("p.ts", text)]);
    assert_eq!(host.load("p.ts", "plugin")["ok"]["hooks"], json!(["config"]));
    assert_eq!(host.hook("config", json!({}), Value::Null)["ok"], json!({ "level": 3 }));
}

#[test]
fn a_plugin_that_throws_at_its_start_is_told_with_its_place() {
    let text =
        "export const P = async (input: any) => {\n  input.experimental_workspace.register('a', {})\n}";
    let mut host = Host::with(&[("p.ts", text)]);
    let error = host.load("p.ts", "plugin")["error"].clone();
    assert_eq!(error["kind"], "load");
    assert!(error["message"].as_str().unwrap().contains("experimental_workspace"), "{error}");
    assert_eq!(
        (error["file"].clone(), error["line"].clone()),
        (json!(host.text("p.ts")), json!(2)),
        "{error}"
    );
}

#[test]
fn the_shell_of_a_plugin_runs_in_its_directory() {
    let text = "export const P = async ({ $, directory }: any) => ({ config: async (c: any) => {\n  c.text = await $`cat note.txt | tr a-z A-Z`.text()\n  c.code = (await $`exit 3`.nothrow().quiet()).exitCode\n  c.escaped = (await $`echo ${'a b; c'}`.quiet()).stdout.toString()\n  try { await $`exit 4`.quiet() } catch (error: any) { c.thrown = error.exitCode }\n} })";
    let mut host = Host::with(&[("sub/note.txt", "hello"), ("p.ts", text)]);
    let order = json!({ "do": "load", "file": host.text("p.ts"), "as": "plugin", "input": { "directory": host.text("sub") } });
    assert!(host.order(order).get("ok").is_some());
    let config = host.hook("config", json!({}), Value::Null);
    assert_eq!(
        config["ok"],
        json!({ "text": "HELLO", "code": 3, "escaped": "a b; c\n", "thrown": 4 }),
        "{config}"
    );
}
