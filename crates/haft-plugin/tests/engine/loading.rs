//! What a file offers, and why it cannot be loaded.

use serde_json::json;

use crate::driver::{Host, execute};

#[test]
fn exports_with_an_execute_function_are_tools_and_the_others_are_named() {
    let mut host = Host::with(&[(
        "math.ts",
        r#"import { tool } from "@opencode-ai/plugin"
           import { z } from "zod"
           export const add = tool({
             description: "adds",
             args: { a: tool.schema.number().describe("first"), b: z.number().default(2), c: z.enum(["x", "y"]).optional() },
             async execute(args) { return String(args.a + args.b) },
           })
           export const VERSION = "1"
           export default { description: "none", async execute() { return "d" } }"#,
    )]);
    let found = host.loaded("math.ts");
    assert_eq!(found["tools"][0]["key"], "add");
    let add = &found["tools"][0];
    assert_eq!(add["description"], "adds");
    assert_eq!(add["parameters"]["required"], json!(["a"]));
    assert_eq!(add["parameters"]["properties"]["a"], json!({ "type": "number", "description": "first" }));
    assert_eq!(add["parameters"]["properties"]["c"]["enum"], json!(["x", "y"]));
    assert_eq!(found["tools"][1]["key"], "default");
    assert_eq!(found["tools"][1]["parameters"], json!({ "type": "object", "properties": {} }));
    assert_eq!(found["skipped"], json!([{ "export": "VERSION", "why": "it is a string and no tool" }]));
    assert_eq!(found["modules"], json!([host.text("math.ts")]));
}

#[test]
fn plain_maps_are_required_and_unchecked_and_json_schemas_are_taken_as_they_are() {
    let mut host = Host::with(&[(
        "t.js",
        r#"export const old = { description: "", args: { q: { type: "string", description: "words" } }, execute: (a) => JSON.stringify(a) }
           export const schema = { description: "", args: { type: "object", properties: { n: { type: "integer" } } }, execute: (a) => JSON.stringify(a) }
           export const none = { description: "", args: null, execute: (a) => JSON.stringify(a) }
           export const wrong = { description: "", args: { f() {} }, execute: () => "" }"#,
    )]);
    let found = host.loaded("t.js");
    let parameters = |key: &str| {
        let tools = found["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["key"] == key).map(|tool| tool["parameters"].clone())
    };
    let words = json!({ "type": "string", "description": "words" });
    assert_eq!(
        parameters("old"),
        Some(json!({ "type": "object", "properties": { "q": words }, "required": ["q"] }))
    );
    assert_eq!(
        parameters("schema"),
        Some(json!({ "type": "object", "properties": { "n": { "type": "integer" } } }))
    );
    assert_eq!(parameters("none"), Some(json!({ "type": "object", "properties": {} })));
    assert_eq!(found["faulty"][0]["export"], "wrong");
    assert_eq!(host.call_named("old", json!({ "q": 1 }))["ok"]["output"], "{\"q\":1}");
    assert_eq!(host.call_named("none", json!(null))["ok"]["output"], "{}");
}

#[test]
fn a_syntax_error_has_its_place_and_a_sentence() {
    for (file, text, line, column) in [
        ("a.ts", "export const a: number = 1\nexport const b = (1 +\n", 3, 1),
        ("b.js", "export const a = 1\nexport const = 2\n", 2, 14),
        ("c.ts", "const x: string = 'a'\nlet x = 3\nexport {}\n", 1, 7),
        ("d.json", "{\n  \"a\": ,\n}", 2, 8),
    ] {
        let entry = format!("import './{file}'");
        let mut host = Host::with(&[(file, text), ("entry.ts", &entry)]);
        let error = host.load("entry.ts", "tool")["error"].clone();
        assert_eq!(error["kind"], "load", "{error}");
        assert_eq!(error["file"], host.text(file), "{error}");
        assert_eq!((error["line"].as_u64(), error["column"].as_u64()), (Some(line), Some(column)), "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_file_that_throws_is_told_with_the_line_in_its_source() {
    let text = "type A = {\n  a: string\n}\ninterface B {}\n\nfunction f(x: number): never {\n  throw new TypeError(`no ${x}`)\n}\nf(1)\n";
    let mut host = Host::with(&[("t.ts", text)]);
    let error = host.load("t.ts", "tool")["error"].clone();
    assert_eq!(error["message"], "TypeError: no 1");
    assert_eq!(error["file"], host.text("t.ts"));
    assert_eq!(error["line"], 7, "{error}");
}

#[test]
fn what_is_missing_is_named() {
    let mut host = Host::with(&[
        ("a.ts", "import x from 'left-pad'\nexport default x"),
        ("b.ts", "import x from './gone'\nexport default x"),
        ("c.ts", "import net from 'node:net'\nexport default net"),
        ("d.ts", "import { noSuchName } from 'crypto'\nexport default noSuchName"),
        ("e.ts", "import ops from 'haft:ops'\nexport default ops"),
        ("f.ts", "import fs from 'node:fs/parts/promises'\nexport default fs"),
        ("g.ts", "const ops = await import('haft:ops')\nexport default ops"),
        ("h.ts", "export default await new Function('return import(\"haft:ops\")')()"),
    ]);
    for (file, module, unsupported) in [
        ("a.ts", "left-pad", false),
        ("b.ts", "./gone", false),
        ("c.ts", "node:net", true),
        ("d.ts", "crypto", true),
        ("e.ts", "haft:ops", false),
        ("f.ts", "node:fs/parts/promises", true),
        ("g.ts", "haft:ops", false),
        ("h.ts", "haft:ops", false),
    ] {
        let error = host.load(file, "tool")["error"].clone();
        assert_eq!(error["kind"], "module", "{file}: {error}");
        assert_eq!(error["module"], module, "{error}");
        assert_eq!(error["unsupported"], unsupported, "{error}");
    }
    let error = host.load("nothing.ts", "tool")["error"].clone();
    assert_eq!(error["kind"], "module", "{error}");
}

#[test]
fn top_level_await_and_import_meta() {
    let mut host = Host::with(&[
        (
            "t.ts",
            "const { n } = await import('./dep.ts')\n\
             export default { description: '', execute: () => [n, import.meta.main, import.meta.filename, import.meta.dirname, import.meta.url].join(' ') }",
        ),
        ("dep.ts", "await Promise.resolve()\nexport const n = import.meta.main"),
    ]);
    let found = host.loaded("t.ts");
    assert_eq!(found["modules"], json!([host.text("t.ts"), host.text("dep.ts")]));
    let file = host.text("t.ts");
    let folder = file.strip_suffix("/t.ts").unwrap();
    assert_eq!(host.output(json!({})), format!("false true {file} {folder} file://{file}"));
}

#[test]
fn a_module_that_never_ends_can_be_aborted() {
    let mut host = Host::with(&[("t.ts", "for (;;);"), ("ok.ts", &execute("return 'ok'"))]);
    let order = json!({ "do": "load", "file": host.text("t.ts"), "as": "tool", "input": {} });
    let id = host.send_order(order);
    host.abort(id);
    assert_eq!(host.answer_to(id)["error"]["name"], "AbortError");
    host.loaded("ok.ts");
    assert_eq!(host.output(json!({})), "ok");
}
