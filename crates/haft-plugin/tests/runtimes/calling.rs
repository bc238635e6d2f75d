//! Calls: what they return and throw, and what they print.

use serde_json::{Value, json};

use crate::driver::{Host, execute, runtimes};

#[test]
fn nothing_that_code_prints_gets_into_the_protocol() {
    let body = "console.log('one', { two: 2 }); console.error('bad'); process.stdout.write('three\\nfo'); process.stdout.write('ur');
      const { execSync } = await import('node:child_process'); execSync('echo inherited', { stdio: 'inherit' });
      const { writeSync } = await import('node:fs'); writeSync(1, 'raw\\n');
      const { Worker } = await import('node:worker_threads');
      await new Promise((done) => new Worker('console.log(\"thread\"); require(\"node:fs\").writeSync(1, \"raw\\\\n\")', { eval: true }).on('exit', done));
      return 'fine'";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute(body));
        assert_eq!(host.output(json!({})), "fine");
        assert_eq!(host.order(json!({ "do": "ping" }))["ok"], Value::Null);
        let logs = host.logs();
        for line in ["one { two: 2 }", "bad", "three", "four"] {
            assert!(logs.contains(line), "{logs}");
        }
        let bad = host.said.iter().find(|line| line["text"] == "bad").unwrap();
        assert_eq!(bad["level"], "error");
    }
}

#[test]
fn results_may_be_large_and_text_may_be_broken() {
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute("return args.text + 'x'.repeat(10 << 20)"));
        let text = "y".repeat(1 << 20);
        assert_eq!(host.output(json!({ "text": text })).len(), 11 << 20);
        let mut host =
            Host::tool(&runtime, &execute("return 'a\\ud800b' + String.fromCharCode(92) + 'ud800'"));
        assert_eq!(host.output(json!({})), "a\u{fffd}b\\ud800");
    }
}

#[test]
fn what_is_thrown_is_told_with_lines_of_the_source() {
    let text = "interface Long {\n  a: string\n}\n\nexport default {\n  description: '',\n  async execute(args: Long) {\n    throw new TypeError('bad', { cause: new Error('deep') })\n  },\n}\nexport const odd = { description: '', execute: async () => { throw { status: 4 } } }\nexport const exits = { description: '', execute: async () => process.exit(1) }\n";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, text);
        let error = host.call("default", json!({}))["error"].clone();
        assert_eq!(error["message"], "bad (cause: deep)");
        let stack = error["stack"].as_str().unwrap();
        assert!(stack.lines().next().unwrap().contains(&format!("{}:8:", host.text("tool.ts"))), "{stack}");
        assert_eq!(stack.lines().count(), 1, "only the person's own frames: {stack}");
        assert_eq!(host.call("odd", json!({}))["error"]["message"], "threw {\"status\":4}");
        assert_eq!(host.call("exits", json!({}))["error"]["code"], "ERR_PROCESS_EXIT");
        assert_eq!(host.call("none", json!({}))["error"]["kind"], "failure");
    }
}

#[test]
fn what_nobody_catches_becomes_a_line_of_the_log() {
    let body = "Promise.reject(new Error('lost')); setTimeout(() => { throw new Error('later') }); await new Promise((done) => setTimeout(done, 30)); return 'fine'";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute(body));
        assert_eq!(host.output(json!({})), "fine");
        assert_eq!(host.output(json!({})), "fine");
        let logs = host.logs();
        assert!(logs.contains("unhandled rejection: Error: lost"), "{logs}");
        assert!(logs.contains("uncaught exception: Error: later"), "{logs}");
    }
}

#[test]
fn the_web_permission_and_metadata_are_asked_and_told_for_the_call() {
    let body = "ctx.metadata({ title: 'working', metadata: { step: 1 } })
      await ctx.ask({ permission: 'deploy', patterns: ['prod'] })
      const response = await fetch('http://example.com/a', { method: 'POST', body: 'hi' })
      return [response.status, response.url, response.headers.get('x-a'), await response.text()].join(' ')";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, &execute(body)).answering(|ask| match ask["op"].as_str() {
            Some("fetch") => {
                assert_eq!((&ask["with"]["method"], &ask["with"]["body"]), (&json!("POST"), &json!("aGk=")));
                json!({ "ok": { "status": 201, "url": "http://example.com/b", "headers": [["x-a", "1"]], "body": "aGVsbG8=" } })
            }
            _ => json!({ "ok": null }),
        });
        let id = host.begin("default", json!({}));
        let answer = host.answer_to(id);
        assert_eq!(answer["ok"]["output"], "201 http://example.com/b 1 hello", "{answer}");
        let told = host.said.iter().find(|line| line["say"] == "metadata").unwrap();
        assert_eq!((&told["for"], &told["metadata"]), (&json!(id), &json!({ "step": 1 })));
        let asked: Vec<&Value> =
            host.said.iter().filter(|line| line["for"] == id && line.get("ask").is_some()).collect();
        assert_eq!(asked.len(), 2, "{asked:?}");
    }
}

#[test]
fn what_was_said_is_asked_for_on_the_spot() {
    let text = "export default { description: 'd', args: {}, async execute(args: any, ctx: any) { await null; return `${ctx.messages.length} ${ctx.messages[0].info.id}` } }";
    for runtime in runtimes() {
        let mut host = Host::tool(&runtime, text).answering(|ask| {
            assert_eq!(ask["op"], "messages");
            json!({ "ok": [{ "info": { "id": "msg_1" }, "parts": [] }] })
        });
        let answer = host.call("default", json!({}));
        assert_eq!(answer["ok"]["output"], "1 msg_1", "{answer}");
    }
}
