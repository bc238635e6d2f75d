//! What is thrown, and what happens when the engine has had enough.

use serde_json::{Value, json};

use crate::driver::{Host, execute};

#[test]
fn anything_can_be_thrown() {
    let body = "switch (args.k) {
      case 'error': throw new TypeError('bad', { cause: new Error('deep') })
      case 'string': throw 'x'
      case 'null': throw null
      case 'undefined': throw undefined
      case 'object': throw { status: 4 }
      case 'like': throw { name: 'NotFound', message: 'no file' }
      case 'proxy': throw new Proxy({}, { get() { throw new Error('trap') } })
      case 'half': throw new Error('a\\ud800b')
      case 'code': throw Object.assign(new Error('gone'), { code: 'ENOENT' })
    }";
    let mut host = Host::tool(&execute(body));
    let mut thrown = |kind: &str| {
        let error = host.call(json!({ "k": kind }))["error"].clone();
        assert_eq!(error["kind"], "failure", "{error}");
        (error["name"].clone(), error["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(thrown("error"), (json!("TypeError"), "bad (cause: deep)".to_owned()));
    assert_eq!(thrown("string"), (json!("Error"), "x".to_owned()));
    assert_eq!(thrown("null"), (json!("Error"), "threw null".to_owned()));
    assert_eq!(thrown("undefined"), (json!("Error"), "threw undefined".to_owned()));
    assert_eq!(thrown("object"), (json!("Error"), "threw {\"status\":4}".to_owned()));
    assert_eq!(thrown("like"), (json!("NotFound"), "no file".to_owned()));
    assert!(thrown("proxy").1.contains("cannot be read"));
    assert_eq!(thrown("half").1, "a\u{fffd}b");
    assert_eq!(thrown("code").1, "gone");
}

#[test]
fn stacks_name_lines_of_the_source() {
    let text = "import { deep } from './deep.ts'\n\ninterface Long {\n  a: string\n}\n\nexport default {\n  description: '',\n  async execute(args: Long) {\n    return deep(args.a)\n  },\n}\n";
    let deep = "enum E { A }\n\nexport function deep(a: string | undefined): string {\n  const e: E = E.A\n  throw new Error('deep ' + e + a)\n}\n";
    let mut host = Host::with(&[("t.ts", text), ("deep.ts", deep)]);
    host.loaded("t.ts");
    let error = host.call(json!({}))["error"].clone();
    let stack = error["stack"].as_str().unwrap();
    let lines: Vec<&str> = stack.lines().collect();
    assert!(lines[0].contains(&format!("{}:5:", host.text("deep.ts"))), "{stack}");
    assert!(lines[1].contains(&format!("{}:10:", host.text("t.ts"))), "{stack}");
    assert!(!stack.contains("haft:"), "{stack}");
}

#[test]
fn rejections_that_nobody_hears_become_lines_of_the_log() {
    let body = "Promise.reject(new Error('lost')); (async () => { throw 'later' })(); const caught = Promise.reject(1); await null; caught.catch(() => {}); return 'fine'";
    let mut host = Host::tool(&execute(body));
    assert_eq!(host.output(json!({})), "fine");
    assert_eq!(host.output(json!({})), "fine");
    let logs = host.logs();
    assert!(logs.contains("unhandled rejection: Error: lost") && logs.contains("later"), "{logs}");
    assert!(!logs.contains("threw 1"), "{logs}");
}

#[test]
fn what_nobody_catches_is_told_with_lines_of_the_source() {
    let text = "interface Long {\n  a: string\n}\nexport default {\n  description: '',\n  async execute() {\n    setTimeout(() => {\n      throw new Error('timer')\n    }, 1)\n    console.error(new Error('shown'))\n    await new Promise((done) => setTimeout(done, 20))\n    return ''\n  },\n}\n";
    let mut host = Host::tool(text);
    host.output(json!({}));
    let (logs, file) = (host.logs(), host.text("tool.ts"));
    assert!(logs.contains("Uncaught Error: timer") && logs.contains(&format!("{file}:8:")), "{logs}");
    assert!(logs.contains(&format!("{file}:10:")), "{logs}");
}

#[test]
fn a_listener_for_rejections_hears_them_instead() {
    let text = "import process from 'node:process'\nprocess.on('unhandledRejection', (reason: any) => console.log('heard ' + reason.message))\nexport default { description: '', execute: async () => { Promise.reject(new Error('lost')); return 'fine' } }";
    let mut host = Host::tool(text);
    assert_eq!(host.output(json!({})), "fine");
    assert_eq!(host.output(json!({})), "fine");
    let logs = host.logs();
    assert!(logs.contains("heard lost") && !logs.contains("unhandled"), "{logs}");
}

#[test]
fn a_memory_bomb_is_a_defect_and_the_host_survives_it() {
    let body =
        "if (!args.bomb) return 'ok'; const all = []; for (;;) all.push(new Array(1000).fill(args.bomb))";
    let mut host = Host::limited(&[("tool.ts", &execute(body))], 32);
    host.loaded("tool.ts");
    let error = host.call(json!({ "bomb": true }))["error"].clone();
    assert_eq!(error["kind"], "defect", "{error}");
    assert!(error["message"].as_str().unwrap().starts_with("out of memory"), "{error}");
    assert_eq!(host.output(json!({})), "ok");
}

#[test]
fn buffers_count_as_memory() {
    let body = "const { readFileSync, writeFileSync } = await import('node:fs'); writeFileSync('b', 'x'.repeat(4 << 20)); const all = []; for (;;) all.push(readFileSync('b'))";
    let mut host = Host::limited(&[("tool.ts", &execute(body))], 64);
    host.loaded("tool.ts");
    assert_eq!(host.call(json!({}))["error"]["kind"], "defect");
}

#[test]
fn endless_recursion_is_an_error() {
    let mut host = Host::tool(&execute("const f = (n: number): number => f(n + 1) + 1; return f(0)"));
    let error = host.call(json!({}))["error"].clone();
    assert_eq!((&error["kind"], &error["name"]), (&json!("failure"), &json!("RangeError")), "{error}");
    let nested: Value = json!({ "deep": "[".repeat(200_000) });
    let mut host = Host::tool(&execute("return JSON.parse(args.deep)"));
    assert_eq!(host.call(nested)["error"]["kind"], "failure");
}
