//! Arguments, context and results.

use serde_json::json;

use crate::driver::{Host, execute};

const CHECKED: &str = r#"
import { tool } from "@opencode-ai/plugin"
const z = tool.schema
export default tool({
  description: "",
  args: { n: z.coerce.number().default(7), tags: z.array(z.object({ k: z.string() })).optional(), even: z.number().refine(async (n) => n % 2 === 0, "must be even").optional() },
  formatValidationError: (error) => `${error.issues.length} wrong`,
  async execute(args) { return JSON.stringify(args) },
})"#;

#[test]
fn the_tool_gets_what_its_schema_makes_of_the_arguments() {
    let mut host = Host::tool(CHECKED);
    assert_eq!(host.output(json!({})), "{\"n\":7}");
    assert_eq!(host.output(json!({ "n": "12" })), "{\"n\":12}");
    assert_eq!(host.output(json!({ "even": 4 })), "{\"n\":7,\"even\":4}");
}

#[test]
fn arguments_that_do_not_fit_are_told_with_their_path() {
    let mut host = Host::tool(CHECKED);
    let error = host.call(json!({ "tags": [{ "k": 1 }] }))["error"].clone();
    assert_eq!(error["kind"], "input");
    assert_eq!(error["issues"][0]["path"], json!(["tags", 0, "k"]));
    assert_eq!(error["message"], "1 wrong");
    let error = host.call(json!({ "even": 3 }))["error"].clone();
    assert_eq!(error["issues"], json!([{ "path": ["even"], "message": "must be even" }]));
}

#[test]
fn other_libraries_check_by_the_standard_they_share() {
    let text = r#"
const text = (optional: boolean) => ({ "~standard": { version: 1, vendor: "mine", validate: (value: unknown) =>
  typeof value === "string" ? { value: value.trim() } : optional && value === undefined ? { value } : { issues: [{ message: "no text", path: ["inner"] }] } } })
const run = async (args: unknown) => JSON.stringify(args)
export default { description: "", args: { a: text(false), b: text(true) }, execute: run }
export const whole = { description: "", args: text(false), execute: run }"#;
    let mut host = Host::with(&[("tool.ts", text)]);
    let found = host.loaded("tool.ts");
    assert_eq!(
        found["tools"][0]["parameters"],
        json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a"] })
    );
    assert_eq!(host.output(json!({ "a": " x " })), "{\"a\":\"x\"}");
    let error = host.call(json!({ "a": 1 }))["error"].clone();
    assert_eq!(error["issues"], json!([{ "path": ["a", "inner"], "message": "no text" }]));
    assert_eq!(host.call_named("whole", json!({}))["error"]["kind"], "input");
}

#[test]
fn the_context_has_what_opencode_gives() {
    let body = "const { abort, metadata, ask, ...rest } = ctx; return JSON.stringify([Object.keys(rest).sort(), rest.sessionID, rest.extra, abort.aborted, typeof metadata, typeof ask])";
    let mut host = Host::tool(&execute(body)).answering(|_| json!({ "ok": [] }));
    let expected = r#"[["agent","callID","directory","extra","messageID","messages","sessionID","worktree"],"ses_1",{"a":1},false,"function","function"]"#;
    assert_eq!(host.output(json!({})), expected);
}

#[test]
fn what_was_said_is_asked_for_once_and_only_if_somebody_looks() {
    let body = "if (!args.looks) return ''; await null; const [first] = ctx.messages; return `${first.info.id} ${ctx.messages.length} ${ctx.callID}`";
    let mut host = Host::tool(&execute(body)).answering(|ask| {
        assert_eq!(ask["op"], "messages");
        json!({ "ok": [{ "info": { "id": format!("of {}", ask["for"]) }, "parts": [] }] })
    });
    host.output(json!({}));
    assert!(host.said.is_empty(), "{:?}", host.said);
    let calls = [(); 2].map(|()| host.begin("default", json!({ "looks": true })));
    for call in calls {
        let told = host.answer_to(call)["ok"]["output"].to_string();
        assert!(told.contains(&format!("of {call} 1 ")), "each call is asked for itself: {told}");
    }
    assert_eq!(host.said.iter().filter(|line| line["op"] == "messages").count(), 2, "{:?}", host.said);
}

#[test]
fn metadata_and_questions_reach_haft_with_their_call() {
    let body = "ctx.metadata({ title: 'half', metadata: { done: 1 } }); await ctx.ask({ permission: 'x', patterns: ['a'], always: ['*'], metadata: {} }); return 'asked'";
    let mut host = Host::tool(&execute(body)).answering(|_| json!({ "ok": null }));
    assert_eq!(host.output(json!({})), "asked");
    let said = &host.said;
    assert_eq!(said[0], json!({ "say": "metadata", "for": 2, "title": "half", "metadata": { "done": 1 } }));
    assert_eq!((said[1]["op"].clone(), said[1]["for"].clone()), (json!("permission"), json!(2)));
    assert_eq!(said[1]["with"]["patterns"], json!(["a"]));

    let mut host = Host::tool(&execute("await ctx.ask({ permission: 'x', patterns: [] })")).answering(
        |_| json!({ "error": { "name": "PermissionRejectedError", "message": "denied by a rule", "code": "DENIED" } }),
    );
    let error = host.call(json!({}))["error"].clone();
    assert_eq!(
        (&error["name"], &error["message"]),
        (&json!("PermissionRejectedError"), &json!("denied by a rule"))
    );
}

#[test]
fn results_come_in_every_shape_opencode_takes() {
    let body = "switch (args.k) {
      case 'string': return 'text'
      case 'whole': return { title: 'T', output: 'O', metadata: { a: [1, null] }, attachments: [{ type: 'file', mime: 'image/png', url: 'data:,' }] }
      case 'bare': return { output: 'O' }
      case 'number': return 4.5
      case 'object': return { a: 1 }
      case 'half': return 'a\\ud800b'
      case 'lines': return 'a\\nb\\u2028c'
    }";
    let mut host = Host::tool(&execute(body));
    let mut ok = |kind: &str| host.call(json!({ "k": kind }))["ok"].clone();
    assert_eq!(ok("string"), json!({ "output": "text" }));
    let file = json!({ "type": "file", "mime": "image/png", "url": "data:," });
    assert_eq!(
        ok("whole"),
        json!({ "output": "O", "title": "T", "metadata": { "a": [1, null] }, "attachments": [file] })
    );
    assert_eq!(ok("bare"), json!({ "output": "O" }));
    assert_eq!(ok("number"), json!({ "output": "4.5" }));
    assert_eq!(ok("object"), json!({ "output": "{\"a\":1}" }));
    assert_eq!(ok("half"), json!({ "output": "a\u{fffd}b" }));
    assert_eq!(ok("lines"), json!({ "output": "a\nb\u{2028}c" }));
}

#[test]
fn what_is_no_result_is_a_failure_that_names_the_tool() {
    let body = "const a: any = {}; a.a = a; switch (args.k) {
      case 'nothing': return
      case 'cycle': return a
      case 'metadata': return { output: '', metadata: a }
      case 'big': return { output: '', metadata: { n: 10n } }
      case 'function': return () => {}
      case 'getter': return { get output() { throw new RangeError('from a getter') } }
      case 'list': return { output: '', metadata: [1] }
    }";
    let mut host = Host::tool(&execute(body));
    let mut message = |kind: &str| {
        let answer = host.call(json!({ "k": kind }));
        assert_eq!(answer["error"]["kind"], "failure", "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    };
    for kind in ["nothing", "cycle", "metadata", "big", "function", "list"] {
        assert!(message(kind).contains("`default`"), "{kind}: {}", message(kind));
    }
    assert!(message("nothing").contains("returned nothing"));
    assert_eq!(message("getter"), "from a getter");
}

#[test]
fn a_result_of_ten_megabytes_arrives_whole() {
    let mut host = Host::tool(&execute("return 'abcdefghij'.repeat(1 << 20)"));
    assert_eq!(host.output(json!({})).len(), 10 << 20);
}

#[test]
fn arguments_of_ten_megabytes_arrive_whole() {
    let mut host = Host::tool(&execute("return String(args.text.length)"));
    assert_eq!(host.output(json!({ "text": "é".repeat(10 << 20) })), (10 << 20).to_string());
}

#[test]
fn calls_run_beside_each_other() {
    let mut host = Host::tool(&execute(
        "if (args.wait) await new Promise((done) => setTimeout(done, 300)); return String(args.n)",
    ));
    let slow = host.begin("default", json!({ "n": 1, "wait": true }));
    assert_eq!(host.output(json!({ "n": 2 })), "2");
    assert_eq!(host.answer_to(slow)["ok"]["output"], "1");
}

#[test]
fn lines_that_are_not_of_the_protocol_are_answered_and_forgotten() {
    let mut host = Host::tool(&execute("return 'ok'"));
    host.send(&json!({ "id": 90, "do": "dance" }));
    assert_eq!(host.answer_to(90)["error"]["kind"], "protocol");
    assert_eq!(
        host.call_named("absent", json!({}))["error"]["message"],
        "there is no tool `absent` in this file"
    );
    assert_eq!(host.output(json!({})), "ok");
}
