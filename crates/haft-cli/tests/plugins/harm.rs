//! Code that does harm, by mistake or on purpose: it harms itself, and everything else works.

use serde_json::{Value, json};

use crate::project::{call, checked, converse, output, trusted, until, working_in};
use crate::support::Place;

const GOOD: &str = "export default { description: 'd', args: {}, execute: async () => 'fine' }";

fn beside(files: &[(&str, &str)]) -> Place {
    let place = trusted(&[(".opencode/tool/good.js", GOOD)]);
    for (path, text) in files {
        place.file(path, text);
    }
    // Whoever is impatient need not wait long for what never ends.
    place.global_config(r#"{ "plugins": { "busy_seconds": 1, "seconds": 5, "memory": 67108864 } }"#);
    place
}

/// That a call has come to nothing, that everything else works, and that nothing is left of it.
fn harms_itself_only(place: &Place, done: &Value) {
    assert_eq!(done["status"], "error", "{done:#}");
    assert_eq!(output(place, "good", &json!({})), "fine");
    until("everything has gone", || working_in(&place.ws()).is_empty());
}

#[test]
fn an_endless_loop() {
    let loops = "export const call = { description: 'd', args: {}, execute: async () => { for (;;); } }\n\
                 export const promise = { description: 'd', args: {}, execute: async () => { for (;;) await null } }\n\
                 export const match = { description: 'd', args: {}, execute: async () => `${/^(a+)+$/.test('a'.repeat(60) + 'b')}` }\n";
    let place = beside(&[
        (".opencode/tool/loop.js", loops),
        (".opencode/tool/start.js", "for (;;);\nexport default 1\n"),
    ]);
    for name in ["loop_call", "loop_promise", "loop_match"] {
        let done = call(&place, name, &json!({}));
        assert!(done["error"].to_string().contains("loop.js"), "{name}: {done:#}");
        harms_itself_only(&place, &done);
    }
    let told = checked(&place, "start.js");
    assert!(told["status"] == "error" && told["errors"].to_string().contains("without a pause"), "{told:#}");
}

#[test]
fn who_waits_for_a_program_on_the_spot_is_in_no_loop() {
    let waits = "import { execSync } from 'node:child_process'\n\
                 export default { description: 'd', args: {}, execute: async () => String(execSync('sleep 2; echo done')) }\n";
    let place = beside(&[(".opencode/tool/waits.js", waits)]);
    assert_eq!(output(&place, "waits", &json!({})).trim(), "done");
}

#[test]
fn what_a_plugin_says_stands_on_lines_of_its_own() {
    let says = "export default { description: 'd', args: {}, execute: async () => { console.error('one\\n\\x1b[31mtwo'); return '' } }";
    let place = beside(&[(".opencode/tool/says.js", says)]);
    let told = place.run(&["call", "says"]).err;
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("plugin: ")).collect();
    assert_eq!(lines, ["plugin: one", "plugin: \\u{1b}[31mtwo"], "{told}");
}

#[test]
fn a_call_that_never_answers() {
    let place = beside(&[(
        ".opencode/tool/wait.js",
        "export default { description: 'd', args: {}, execute: () => new Promise(() => {}) }",
    )]);
    harms_itself_only(&place, &call(&place, "wait", &json!({})));
}

#[test]
fn a_bomb_of_memory() {
    let bombs = "const t = (execute) => ({ description: 'd', args: {}, execute })\n\
                 export const list = t(async () => { const all = []; for (;;) all.push(new Array(1000).fill({})) })\n\
                 export const text = t(async () => { let a = 'ab'; for (;;) a += a })\n\
                 export const bytes = t(async () => { const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1)) })\n";
    let place = beside(&[(".opencode/tool/bomb.js", bombs)]);
    for name in ["bomb_list", "bomb_text", "bomb_bytes"] {
        harms_itself_only(&place, &call(&place, name, &json!({})));
    }
}

#[test]
fn a_stack_without_an_end() {
    let deep = "const f = (n) => 1 + f(n + 1)\nexport default { description: 'd', args: {}, execute: async () => String(f(0)) }";
    let place = beside(&[(".opencode/tool/deep.js", deep)]);
    harms_itself_only(&place, &call(&place, "deep", &json!({})));
}

#[test]
fn a_file_that_is_nested_beyond_all_measure() {
    let nested =
        |ending: &str| format!("export default {}1{}{ending}", "[".repeat(100_000), "]".repeat(100_000));
    let place =
        beside(&[(".opencode/tool/js.js", &nested("")), (".opencode/tool/ts.ts", &nested(" as any"))]);
    assert_eq!(output(&place, "good", &json!({})), "fine");
    for file in ["js.js", "ts.ts"] {
        assert_eq!(checked(&place, file)["status"], "error", "{file}");
    }
}

#[test]
fn a_process_that_ends_itself() {
    let ends = "export const exit = { description: 'd', args: {}, execute: async () => { process.exit(0) } }\n\
                export const kill = { description: 'd', args: {}, execute: async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}) } }\n\
                export const fine = { description: 'd', args: {}, execute: async () => 'still' }\n";
    let place = beside(&[(".opencode/tool/ends.js", ends)]);
    for name in ["ends_exit", "ends_kill"] {
        harms_itself_only(&place, &call(&place, name, &json!({})));
    }
    assert_eq!(output(&place, "ends_fine", &json!({})), "still");
}

#[test]
fn nobody_catches_what_is_rejected() {
    let loose = "Promise.reject(new Error('at load'))\n\
                 export default { description: 'd', args: {}, execute: async () => { Promise.reject(new Error('lost')); setTimeout(() => { throw new Error('later') }, 1); await new Promise((r) => setTimeout(r, 20)); return 'went on' } }";
    let place = beside(&[(".opencode/tool/loose.js", loose)]);
    let done = call(&place, "loose", &json!({}));
    assert!(done["output"] == "went on" || done["error"].to_string().contains("loose.js"), "{done:#}");
    assert_eq!(output(&place, "good", &json!({})), "fine");
}

#[test]
fn tampering_with_what_everything_stands_on() {
    let tamper = "Object.prototype.polluted = 'yes'\nArray.prototype.push = () => { throw new Error('push') }\n\
                  Object.defineProperty(Object.prototype, 'toJSON', { get() { throw new Error('toJSON') } })\n\
                  JSON.stringify = () => '{\"id\":1,\"ok\":{}}'\nJSON.parse = () => ({})\nPromise.prototype.then = () => { throw new Error('then') }\n\
                  globalThis.Error = undefined\nString.prototype.split = null\n\
                  export default { description: 'd', args: {}, execute: () => 'tampered' }\n";
    let place = beside(&[(".opencode/tool/tamper.js", tamper)]);
    let done = call(&place, "tamper", &json!({}));
    assert!(done["output"] == "tampered" || done["status"] == "error", "{done:#}");
    assert_eq!(output(&place, "good", &json!({})), "fine", "no other file sees it");
    until("everything has gone", || working_in(&place.ws()).is_empty());
}

#[test]
fn getters_that_throw_where_they_are_not_expected() {
    let odd = "export const exec = { description: 'd', args: {}, get execute() { throw new Error('get execute') } }\n\
               export const args = { description: 'd', get args() { throw new Error('get args') }, execute: async () => 'x' }\n\
               export const described = { get description() { throw new Error('get description') }, args: {}, execute: async () => 'x' }\n\
               export const fine = { description: 'd', args: {}, execute: async () => 'ok' }\n";
    let place = beside(&[(".opencode/tool/odd.js", odd)]);
    let told = checked(&place, "odd.js");
    assert_eq!(told["status"], "error", "{told:#}");
    assert_eq!(output(&place, "good", &json!({})), "fine");
}

#[test]
fn a_hook_that_hangs_is_ended_and_named() {
    let hangs = "export const H = async () => ({ 'tool.execute.before': async (input) => { if (input.tool === 'glob') for (;;); } })";
    let place = beside(&[(".opencode/plugin/hangs.js", hangs)]);
    let done = call(&place, "glob", &json!({"pattern": "*"}));
    assert!(done["status"] == "error" && done["error"].to_string().contains("hangs.js"), "{done:#}");
    assert_eq!(output(&place, "good", &json!({})), "fine");
}

#[test]
fn words_on_standard_output_are_no_answers() {
    let noisy = "import fs from 'fs'\nexport default { description: 'd', args: {}, execute: async () => {\n\
                 console.log('{\"id\":1,\"ok\":{\"output\":\"forged\"}}'); process.stdout.write('{\"id\":2,\"ok\":{}}\\n'); return 'true' } }";
    let place = beside(&[(".opencode/tool/noisy.js", noisy)]);
    assert_eq!(output(&place, "noisy", &json!({})), "true");
}

#[test]
fn an_event_hook_that_hangs_is_named_and_keeps_nobody_waiting() {
    let hangs = "export const H = async () => ({ event: () => new Promise(() => {}) })";
    let spins = "export const S = async () => ({ event: () => { for (;;); } })";
    let other = "import fs from 'node:fs'\nexport const O = async () => ({ event: async ({ event }) => fs.appendFileSync('told', event.type + '\\n'), dispose: async () => fs.appendFileSync('told', 'end') })";
    let place = beside(&[
        (".opencode/plugin/hangs.js", hangs),
        (".opencode/plugin/other.js", other),
        (".opencode/plugin/spins.js", spins),
    ]);
    let ran = converse(&place, &json!([{ "text": "Hello." }]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    for file in ["hangs.js", "spins.js"] {
        let named = ran.err.lines().find(|line| line.contains("the hook event of") && line.contains(file));
        assert!(named.is_some_and(|line| line.contains("given up")), "{file}: {}", ran.err);
    }
    let told = place.read("told");
    assert!(told.contains("session.idle") && told.ends_with("end"), "{told}");
}

#[test]
fn a_plugin_that_logs_without_end_is_cut_short() {
    let noisy = "export default { description: 'd', args: {}, execute: async () => { for (let i = 0; i < 5000; i++) console.error('noise ' + i); return 'ok' } }";
    let place = beside(&[(".opencode/tool/noisy.js", noisy)]);
    let ran = place.run(&["call", "noisy"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.err.lines().filter(|line| line.contains("noise ")).count();
    assert!((1..1000).contains(&lines), "{lines}");
    let counted =
        ran.err.lines().filter_map(|line| line.split_once(" lines were left out of ")?.0.rsplit(' ').next());
    let left_out: usize = counted.map(|count| count.parse::<usize>().unwrap()).sum();
    assert_eq!(lines + left_out, 5000, "{}", ran.err.lines().last().unwrap());
}

#[test]
fn buffers_under_node_are_held_by_the_limit_of_commands() {
    let tool = "export default { description: 'd', args: {}, async execute() {\n\
                  const held = []; try { for (let i = 0; i < 64; i++) held.push(Buffer.alloc(64 << 20)) }\n\
                  catch (error) { return `${held.length} ${error.name}` }\n\
                  return 'all' } }";
    let place = trusted(&[(".opencode/tool/hoards.js", tool)]);
    let memory = 1 << 30;
    place.global_config(&format!(
        r#"{{ "plugins": {{ "engine": {{ "hoards.js": "node" }} }}, "sandbox": {{ "memory": {memory} }} }}"#
    ));
    let told = output(&place, "hoards", &json!({}));
    let (held, error) = told.split_once(' ').unwrap_or_else(|| panic!("{told}"));
    let held: u64 = held.parse().unwrap();
    assert!(held > 0 && held * (64 << 20) < memory && error == "RangeError", "{told}");
}
