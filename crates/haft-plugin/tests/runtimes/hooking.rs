//! Plugins: how they start, and their hooks.

use serde_json::{Value, json};

use crate::driver::{Host, runtimes};

const PLUGIN: &str = r#"
import { tool, type Plugin } from "@opencode-ai/plugin"
export const First: Plugin = async (input, options) => ({
  "tool.execute.before": async ({ tool }, output) => { output.args = { ...output.args, first: tool } },
  tool: { hello: tool({ description: "says hello", args: { name: tool.schema.string() }, async execute(args) { return "hello " + args.name } }) },
  "chat.params": async () => { throw new Error("boom") },
  config: async (config: any) => { config.seen = [options.level, input.worktree, input.project.id, input.serverUrl.port] },
})
export const Second = async ({ client }: any) => {
  await client.app.log({ body: { service: "p", level: "info", message: "started" } })
  return {
    "tool.execute.before": async (_: any, output: any) => { output.args.second = true },
    "permission.ask": async (_: any, output: any) => { output.status = (await client.session.get({ path: { id: "s" } })).data.status },
  }
}
"#;

#[test]
fn the_shell_of_a_plugin_runs_in_its_directory() {
    let text = "export const P = async ({ $, directory }: any) => ({ config: async (c: any) => {\n  c.text = await $`cat note.txt | tr a-z A-Z`.text()\n  c.code = (await $`exit 3`.nothrow().quiet()).exitCode\n  c.escaped = (await $`echo ${'a b; c'}`.quiet()).stdout.toString()\n  try { await $`exit 4`.quiet() } catch (error: any) { c.thrown = error.exitCode }\n} })";
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("sub/note.txt", "hello"), ("p.ts", text)]);
        let (file, folder) = (host.text("p.ts"), host.text("sub"));
        let loaded = host
            .order(json!({ "do": "load", "file": file, "as": "plugin", "input": { "directory": folder } }));
        assert!(loaded.get("ok").is_some(), "{loaded}");
        let config = host.hook("config", json!({}), Value::Null);
        let wanted = json!({ "text": "HELLO", "code": 3, "escaped": "a b; c\n", "thrown": 4 });
        assert_eq!(config["ok"], wanted, "{config}");
    }
}

#[test]
fn the_client_answers_as_the_sdk_does() {
    let text = r#"export const P = async ({ client }: any) => ({ config: async (c: any) => {
      c.failed = await client.session.get({ path: { id: "s" } })
      try { await client.session.get({ path: { id: "s" }, throwOnError: true }) } catch (error: any) { c.thrown = [error.name, error.message] }
      c.read = (await client.file.read({ query: { path: "note.txt" } })).data
      c.listed = (await client.file.list({ query: { path: "." } })).data.map((node: any) => node.path)
      c.found = (await client.find.files({ query: { query: "note" } })).data
      c.lines = (await client.find.text({ query: { pattern: "l+" } })).data.map((line: any) => line.submatches[0].start)
    } })"#;
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("sub/note.txt", "é hello\nall"), ("p.ts", text)]).answering(
            |_| json!({ "ok": { "error": { "name": "NotFoundError", "data": { "message": "none" } } } }),
        );
        let (file, folder) = (host.text("p.ts"), host.text("sub"));
        let loaded = host
            .order(json!({ "do": "load", "file": file, "as": "plugin", "input": { "directory": folder } }));
        assert!(loaded.get("ok").is_some(), "{loaded}");
        let config = host.hook("config", json!({}), Value::Null)["ok"].clone();
        assert_eq!(config["failed"]["error"]["name"], "NotFoundError", "{config:#}");
        assert_eq!(config["thrown"], json!(["NotFoundError", "none"]), "{config:#}");
        assert_eq!(config["read"], json!({ "type": "text", "content": "é hello\nall" }));
        assert_eq!((&config["listed"], &config["found"]), (&json!(["note.txt"]), &json!(["note.txt"])));
        assert_eq!(config["lines"], json!([5, 1]), "{config:#}");
    }
}

#[test]
fn hooks_run_in_order_over_one_output() {
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("p.ts", PLUGIN)]).answering(|ask| {
            assert_eq!(ask["with"]["path"], json!("session.get"));
            json!({ "ok": { "data": { "status": "deny" } } })
        });
        let found = host.load("p.ts", "plugin");
        assert_eq!(found["ok"]["tools"][0]["key"], "hello", "{found}");
        assert_eq!(host.logs(), "p: started");
        let answer =
            host.hook("tool.execute.before", json!({ "tool": "bash" }), json!({ "args": { "a": 1 } }));
        assert_eq!(answer["ok"], json!({ "args": { "a": 1, "first": "bash", "second": true } }));
        assert_eq!(host.hook("no.such.hook", json!({}), json!({ "x": 1 }))["ok"], json!({ "x": 1 }));
        let config = host.hook("config", json!({}), Value::Null);
        assert_eq!(config["ok"]["seen"], json!([3, "/w", "p", "4096"]), "{config}");
        let error = host.hook("chat.params", json!({}), json!({}))["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("boom") && message.contains(&host.text("p.ts")), "{message}");
        assert_eq!(host.hook("permission.ask", json!({}), json!({}))["ok"]["status"], "deny");
        assert_eq!(host.call("hello", json!({ "name": "you" }))["ok"]["output"], "hello you");
    }
}
