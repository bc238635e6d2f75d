//! What a file offers, and why it cannot be loaded.

use serde_json::{Value, json};

use crate::driver::{Host, execute, runtimes};

/// The files that were read; in which order is the runtime's affair.
fn modules(found: &Value) -> Vec<String> {
    let mut files: Vec<String> = serde_json::from_value(found["modules"].clone()).unwrap();
    files.sort();
    files
}

#[test]
fn typescript_is_loaded_with_our_packages_and_the_runtime_has_what_our_engine_lacks() {
    let tool = r#"import { tool } from "@opencode-ai/plugin"
        import { z } from "zod"
        import { gzipSync } from "node:zlib"
        import { Size, twice } from "./dep"
        export default tool({
          description: "packs",
          args: { text: tool.schema.string().describe("what"), size: z.enum(["a", "b"]).default("a") },
          async execute(args: { text: string; size: string }): Promise<string> {
            return `${gzipSync(twice(args.text)).length > 0} ${args.size} ${Size.Big}`
          },
        })
        export const VERSION = "1""#;
    let dep =
        "export enum Size { Small, Big = 7 }\nexport const twice = (text: string): string => text + text\n";
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("tool.ts", tool), ("dep.ts", dep)]);
        let found = host.load("tool.ts", "tool")["ok"].clone();
        assert_eq!(found["tools"][0]["description"], "packs", "{found}");
        let parameters = &found["tools"][0]["parameters"];
        assert_eq!(parameters["required"], json!(["text"]));
        assert_eq!(parameters["properties"]["text"], json!({ "type": "string", "description": "what" }));
        assert_eq!(found["skipped"], json!([{ "export": "VERSION", "why": "it is a string and no tool" }]));
        assert_eq!(modules(&found), [host.text("dep.ts"), host.text("tool.ts")]);
        assert_eq!(host.output(json!({ "text": "x" })), "true a 7");
        let error = host.call("default", json!({ "text": 1 }))["error"].clone();
        assert_eq!((&error["kind"], &error["issues"][0]["path"]), (&json!("input"), &json!(["text"])));
    }
}

#[test]
fn packages_that_are_installed_are_the_ones_that_are_used() {
    let package = r#"{ "name": "zod", "type": "module", "exports": "./index.js" }"#;
    let zod = "export const z = { mark: 'installed' }";
    let tool = "import { z } from 'zod'\nexport default { description: (z as any).mark, args: {}, execute: () => '' }";
    for runtime in runtimes() {
        let files = [
            ("node_modules/zod/package.json", package),
            ("node_modules/zod/index.js", zod),
            ("tool.ts", tool),
        ];
        let mut host = Host::with(&runtime, &files);
        let found = host.load("tool.ts", "tool")["ok"].clone();
        assert_eq!(found["tools"][0]["description"], "installed", "{found}");
        assert_eq!(modules(&found), [host.text("node_modules/zod/index.js"), host.text("tool.ts")]);
    }
}

#[test]
fn javascript_is_what_its_text_says() {
    let esm = "export default { description: __dirname, execute: async () => 'esm' }";
    let cjs = "const part = require('./part'); module.exports = { description: '', execute: async () => 'cjs' + part }";
    for runtime in runtimes() {
        let files =
            [("esm.js", esm), ("cjs.js", cjs), ("part.cts", "const n: number = 4\nmodule.exports = n")];
        let mut host = Host::with(&runtime, &files);
        let found = host.load("esm.js", "tool");
        assert_eq!(found["ok"]["tools"][0]["description"], host.text("").trim_end_matches('/'), "{found}");
        assert_eq!(host.output(json!({})), "esm");
        let mut host = Host::with(&runtime, &files);
        let found = host.load("cjs.js", "tool");
        assert_eq!(modules(&found["ok"]), [host.text("cjs.js"), host.text("part.cts")]);
        assert_eq!(host.output(json!({})), "cjs4");
    }
}

#[test]
fn what_is_missing_is_named() {
    let files = [
        ("a.ts", "import x from 'left-pad'\nexport default x"),
        ("b.ts", "import x from './gone'\nexport default x"),
        ("c.js", "module.exports = require('left-pad/deep')"),
    ];
    for runtime in runtimes() {
        for (file, module) in [("a.ts", "left-pad"), ("b.ts", "./gone"), ("c.js", "left-pad/deep")] {
            let mut host = Host::with(&runtime, &files);
            let error = host.load(file, "tool")["error"].clone();
            assert_eq!((&error["kind"], &error["module"]), (&json!("module"), &json!(module)), "{error}");
            assert_eq!(
                (&error["unsupported"], &error["file"]),
                (&json!(false), &json!(host.text(file))),
                "{error}"
            );
        }
        if !runtime.ends_with("bun") {
            let mut host = Host::tool(&runtime, &execute("return (await import(args.name)) ? 'there' : ''"));
            for name in ["bun:sqlite", "haft:zod/index", "node:none"] {
                let error = host.call("default", json!({ "name": name }))["error"].clone();
                assert!(error["message"].as_str().unwrap().contains(name), "{error}");
            }
        }
    }
}

#[test]
fn a_mistake_is_told_with_its_place_in_the_source() {
    let throws = "interface A {\n  a: string\n}\n\nfunction f(x: number): never {\n  throw new TypeError(`no ${x}`)\n}\nf(1)\n";
    let broken = "const a: number = 1\nexport const b = (1 +\n";
    for runtime in runtimes() {
        let mut host = Host::with(&runtime, &[("throws.ts", throws), ("broken.ts", broken)]);
        let error = host.load("throws.ts", "tool")["error"].clone();
        assert_eq!(
            (&error["kind"], &error["message"]),
            (&json!("load"), &json!("TypeError: no 1")),
            "{error}"
        );
        assert_eq!((&error["file"], &error["line"]), (&json!(host.text("throws.ts")), &json!(6)), "{error}");
        let error = host.load("broken.ts", "tool")["error"].clone();
        assert_eq!(
            (&error["kind"], &error["file"]),
            (&json!("load"), &json!(host.text("broken.ts"))),
            "{error}"
        );
    }
}
