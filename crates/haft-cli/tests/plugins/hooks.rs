//! Plugins as people write them: each does its part, and the work goes on around it.

use serde_json::json;

use crate::project::{call, converse, error, names, output, trusted, until};

#[test]
fn somebody_is_told_when_the_agent_is_idle() {
    let plugin = r#"
export const Notify = async ({ $, directory }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return
    await $`printf '%s' ${"done: it's idle"} >> ${directory}/told.txt`
  },
})
"#;
    let place = trusted(&[(".opencode/plugin/notify.js", plugin)]);
    let ran = converse(&place, &json!([{ "text": "Hello." }]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    until("it was told", || place.ws().join("told.txt").exists());
    assert_eq!(place.read("told.txt"), "done: it's idle");
}

#[test]
fn secrets_of_the_project_are_kept_from_every_tool_that_reads() {
    let plugin = r#"
import type { Plugin } from "@opencode-ai/plugin"

export const EnvProtection: Plugin = async () => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool === "read" && output.args.filePath.includes(".env")) {
      throw new Error("Do not read .env files")
    }
  },
})
"#;
    let place =
        trusted(&[(".opencode/plugin/env.ts", plugin), (".env.local", "KEY=1"), ("a.txt", "plain\n")]);
    let told = error(&place, "read", &json!({"filePath": ".env.local"}));
    assert!(told.contains("Do not read .env files"), "{told}");
    assert!(output(&place, "read", &json!({"filePath": "a.txt"})).contains("plain"));
}

#[test]
fn commands_get_more_of_an_environment() {
    let plugin = r#"
export default { id: "env", server: async ({ directory }) => ({
  "shell.env": async (input, output) => {
    output.env.POT_HOME = directory
    output.env.POT_COUNT = 3
    output.env.POT_WHERE = input.cwd
  },
}) }
"#;
    let place = trusted(&[(".opencode/plugin/inject.js", plugin)]);
    let told = output(&place, "bash", &json!({"command": "echo $POT_COUNT $POT_HOME $POT_WHERE"}));
    let here = place.ws();
    assert_eq!(told.trim(), format!("3 {} {}", here.display(), here.display()));
}

#[test]
fn what_happens_is_counted() {
    let plugin = r#"
import { appendFileSync } from "node:fs"
import { join } from "node:path"

export const Telemetry = async ({ directory }) => {
  const file = join(directory, "events.jsonl")
  return { event: async ({ event }) => appendFileSync(file, JSON.stringify(event) + "\n") }
}
"#;
    let place = trusted(&[(".opencode/plugins/telemetry.mjs", plugin), ("a.txt", "one\n")]);
    let read = json!([{ "tool": "read", "input": { "filePath": "a.txt" } }]);
    let ran = converse(&place, &json!([{ "text": "I look.", "calls": read }, { "text": "Seen." }]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let events = || std::fs::read_to_string(place.ws().join("events.jsonl")).unwrap_or_default();
    until("the end was told", || events().contains("session.idle"));
    let events: Vec<serde_json::Value> =
        events().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_done = |event: &serde_json::Value| {
        event["type"] == "message.part.updated"
            && event["properties"]["part"]["state"]["status"] == "completed"
    };
    assert_eq!(events.iter().filter(|event| is_done(event)).count(), 1, "{events:#?}");
    assert!(events.iter().all(|event| event["properties"]["sessionID"].is_string()), "{events:#?}");
}

#[test]
fn arguments_that_a_plugin_changed_are_checked_and_permitted_again() {
    let plugin = r#"
export const Rewrite = async () => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool !== "read") return
    const asked = output.args.filePath
    if (asked === "alias") output.args.filePath = "a.txt"
    if (asked === "whole") output.args = { filePath: "a.txt", limit: 1 }
    if (asked === "secret") output.args.filePath = ".env"
    if (asked === "denied") output.args.filePath = "no/b.txt"
    if (asked === "nonsense") output.args = { filePath: 7 }
  },
})
"#;
    let place = trusted(&[
        (".opencode/plugin/rewrite.js", plugin),
        ("opencode.json", r#"{ "permission": { "read": { "no/*": "deny" } } }"#),
        ("a.txt", "one\ntwo\n"),
        ("no/b.txt", "three\n"),
        (".env", "KEY=hidden\n"),
    ]);
    let read = |path: &str| call(&place, "read", &json!({ "filePath": path }));
    assert!(read("alias")["output"].as_str().unwrap().contains("two"));
    let whole = read("whole")["output"].to_string();
    assert!(
        whole.contains("one") && !whole.contains("two\\n"),
        "what is put in place of the arguments counts: {whole}"
    );
    for (path, kind) in [("secret", "approval_needed"), ("denied", "denied"), ("nonsense", "input")] {
        let told = read(path);
        assert_eq!(told["status"], "error", "{told:#}");
        assert!(told["error"].to_string().contains(kind), "{path}: {told:#}");
        assert!(!told.to_string().contains("hidden"), "{told:#}");
    }
}

#[test]
fn results_are_changed_on_their_way_back() {
    let plugin = r#"
export const After = async () => ({
  "tool.execute.after": async (input, output) => {
    output.output = output.output.replaceAll("sesame", "******")
    output.title = `${input.tool} of ${input.args.filePath}`
    output.metadata.redacted = true
  },
})
"#;
    let place = trusted(&[(".opencode/plugin/after.js", plugin), ("a.txt", "open sesame\n")]);
    let done = call(&place, "read", &json!({"filePath": "a.txt"}));
    let text = done["output"].as_str().unwrap();
    assert!(text.contains("open ******") && !text.contains("sesame"), "{done:#}");
    assert_eq!((&done["title"], &done["metadata"]["redacted"]), (&json!("read of a.txt"), &json!(true)));
}

#[test]
fn a_model_is_told_something_else_about_a_tool() {
    let plugin = r#"
export const Define = async () => ({
  "tool.definition": async (input, output) => {
    if (input.toolID === "read") output.description = "Reads, but ask nicely. " + output.description
  },
})
"#;
    let place = trusted(&[(".opencode/plugin/define.js", plugin), ("a.txt", "x\n")]);
    let listed = place.run(&["tools", "list"]);
    assert!(listed.out.contains("Reads, but ask nicely."), "{} {}", listed.out, listed.err);
    // The person sees every tool as it is.
    assert!(!place.run(&["tools", "show", "read"]).out.contains("ask nicely"));
    assert!(output(&place, "read", &json!({"filePath": "a.txt"})).contains('x'));
}

#[test]
fn hooks_run_one_after_the_other_over_one_output() {
    let plugin = |word: &str| {
        format!(
            "export const A = async () => ({{ 'tool.execute.after': async (i, o) => {{ o.output += ' {word}1' }} }})\n\
             export const B = async () => ({{ 'tool.execute.after': async (i, o) => {{ o.output += ' {word}2' }} }})\n"
        )
    };
    let tool = "export default { description: 'd', args: {}, execute: async () => 'start' }";
    let place = trusted(&[
        (".opencode/plugin/b.js", &plugin("b")),
        (".opencode/plugin/a.js", &plugin("a")),
        (".opencode/tool/t.js", tool),
    ]);
    assert_eq!(output(&place, "t", &json!({})), "start a1 a2 b1 b2");
}

#[test]
fn a_plugin_gets_the_options_that_the_configuration_has_for_it() {
    let plugin = r#"
export default async ({ directory }, options) => ({
  tool: { greet: { description: "greets", args: {}, execute: async () => `${options.greeting} from ${options.deep[1].x}` } },
})
"#;
    let options =
        r#"{ "plugin": [["./extra/p.ts", { "greeting": "hail", "deep": [1, { "x": "inside" }] }]] }"#;
    let place = trusted(&[("extra/p.ts", plugin), ("opencode.json", options)]);
    assert_eq!(output(&place, "greet", &json!({})), "hail from inside");
    place.file("opencode.json", &options.replace("hail", "hello"));
    assert_eq!(output(&place, "greet", &json!({})), "hello from inside", "other options, another plugin");
}

#[test]
fn a_package_that_is_installed_is_a_plugin() {
    let place = trusted(&[
        (
            "node_modules/pot-plugin/package.json",
            r#"{ "name": "pot-plugin", "type": "module", "exports": { "./server": "./lib/server.js" } }"#,
        ),
        (
            "node_modules/pot-plugin/lib/server.js",
            "import { word } from './word.js'\nimport dep from 'pot-dep'\nexport const P = async () => ({ tool: { pot: { description: 'p', args: {}, execute: async () => word + dep.more } } })",
        ),
        ("node_modules/pot-plugin/lib/word.js", "export const word = 'from a package'"),
        ("node_modules/pot-dep/package.json", r#"{ "name": "pot-dep", "main": "main.cjs" }"#),
        ("node_modules/pot-dep/main.cjs", "exports.more = ' and its dependency'"),
        ("opencode.json", r#"{ "plugin": ["pot-plugin@1.0.0", "absent-plugin"] }"#),
        ("a.txt", "x\n"),
    ]);
    assert_eq!(output(&place, "pot", &json!({})), "from a package and its dependency");
    let told = place.run(&["tools", "check"]);
    assert_eq!(told.code, 2, "{}", told.out);
    assert!(told.out.contains("npm install absent-plugin"), "{}", told.out);
    assert!(names(&place).contains(&"pot".to_owned()));
}

#[test]
fn a_hook_that_fails_is_named() {
    let plugin = "export const Bad = async () => ({ 'tool.execute.after': async () => { throw new TypeError('no such pot') } })";
    let place = trusted(&[(".opencode/plugin/bad.js", plugin), ("a.txt", "x\n")]);
    let told = error(&place, "read", &json!({"filePath": "a.txt"}));
    assert!(
        told.contains("no such pot") && told.contains("tool.execute.after") && told.contains("bad.js"),
        "{told}"
    );
}

#[test]
fn what_haft_does_not_call_is_said() {
    let plugin =
        "export const P = async () => ({ 'some.future.hook': async () => {}, event: async () => {} })";
    let place = trusted(&[(".opencode/plugin/p.js", plugin)]);
    let told = place.run(&["tools", "check"]);
    assert!(told.out.contains("some.future.hook"), "{}", told.out);
}

#[test]
fn a_plugin_is_told_where_it_is_and_logs() {
    let plugin = r#"
export const P = async ({ client, project, worktree, serverUrl, $ }) => ({
  tool: {
    logs: { description: "l", args: {}, execute: async () => {
      await client.app.log({ body: { service: "pots", level: "error", message: "one is cracked" } })
      return `${typeof project.id} ${worktree} ${serverUrl} ${typeof $}`
    } },
  },
})
"#;
    let place = trusted(&[(".opencode/plugin/p.js", plugin)]);
    let ran = place.run(&["call", "logs"]);
    assert!(ran.code == 0 && ran.err.contains("one is cracked"), "{} {}", ran.out, ran.err);
    assert!(ran.out.contains("string") && ran.out.contains("function"), "{}", ran.out);
}
