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
fn hooks_run_in_order_over_one_output() {
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("p.ts", PLUGIN)]).answering(|ask| {
            assert_eq!(ask["with"]["path"], json!(["session", "get"]));
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
