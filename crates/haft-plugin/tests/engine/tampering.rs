//! Code that overwrites the language harms itself at most.

use serde_json::json;

use crate::driver::Host;

#[test]
fn the_protocol_does_not_rest_on_what_a_plugin_can_replace() {
    let text = r#"
const broken = () => { throw "tampered" }
globalThis.AbortController = broken
Array.prototype.push = broken
Array.prototype[Symbol.iterator] = broken
Array.prototype.map = Array.prototype.forEach = Array.prototype.join = Array.prototype.filter = broken
JSON.parse = JSON.stringify = broken
Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = broken
Promise.resolve = Promise.all = broken
Object.keys = Object.entries = Object.assign = Object.create = Object.defineProperty = broken
Map.prototype.get = Map.prototype.set = Map.prototype.has = broken
Function.prototype.call = Function.prototype.apply = Function.prototype.bind = broken
Uint8Array.prototype.toBase64 = broken
String.prototype.replace = String.prototype.split = broken
Reflect.apply = broken
globalThis.Error = globalThis.TypeError = broken
export default { description: "t", args: { a: { type: "string" } }, async execute(args: any) { if (args.a === "no") throw "refused"; return { output: "still " + args.a, metadata: { n: 1 } } } }
"#;
    let mut host = Host::with(&[("t.ts", text)]);
    host.loaded("t.ts");
    assert_eq!(
        host.call(json!({ "a": "here" }))["ok"],
        json!({ "output": "still here", "metadata": { "n": 1 } })
    );
    assert_eq!(host.call(json!({ "a": "no" }))["error"]["message"], "refused");
}

#[test]
fn the_text_of_a_result_cannot_forge_a_line() {
    let text = "Object.prototype.toJSON = function () { return 'forged' }\nexport default { description: '', execute: () => 'x\\n{\"id\":99,\"ok\":{}}' }";
    let mut host = Host::with(&[("t.ts", text)]);
    host.load("t.ts", "tool");
    let answer = host.call(json!({}));
    assert_eq!(answer["id"], 2, "{answer}");
    assert!(host.said.iter().all(|line| line["id"] != 99));
}

#[test]
fn nothing_of_the_host_is_in_reach() {
    let text = r#"
const found = Object.getOwnPropertyNames(globalThis).filter((name) => /haft|ops|host/i.test(name))
const asked: string[] = []
for (const name of ["haft:ops", "haft:host/main", "haft:web/globals", "haft:get:1"]) {
  try { await import(name); asked.push(name) } catch {}
}
export default { description: "", execute: () => JSON.stringify([found, asked]) }"#;
    let mut host = Host::tool(text);
    assert_eq!(host.output(json!({})), "[[],[]]");
}
