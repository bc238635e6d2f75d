//! What tools give back: texts, titles, pictures, too much, and nothing at all.

use serde_json::{Value, json};

use crate::project::{call, error, output, trusted};

/// A picture of one dot.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn a_picture_is_attached() {
    let tool = format!(
        "export default {{ description: 'draws', args: {{}}, execute: async () => ({{ title: 'A dot', output: 'drawn',\n\
         attachments: [{{ type: 'file', mime: 'image/png', filename: 'dot.png', url: 'data:image/png;base64,{DOT}' }}] }}) }}"
    );
    let place = trusted(&[(".opencode/tool/draw.js", &tool)]);
    let done = call(&place, "draw", &json!({}));
    assert_eq!((&done["title"], &done["output"]), (&json!("A dot"), &json!("drawn")), "{done:#}");
    assert_eq!(done["attachments"][0]["mime"], "image/png", "{done:#}");
    assert_eq!(done["attachments"].as_array().unwrap().len(), 1, "{done:#}");
}

#[test]
fn a_tool_says_what_it_is_at_and_the_result_has_the_last_word() {
    let tool = "export default { description: 'd', args: {}, async execute(args, ctx) {\n\
                  ctx.metadata({ title: 'half way', metadata: { done: 1 } }); await new Promise((r) => setTimeout(r, 5));\n\
                  ctx.metadata({ metadata: { done: 2, more: true } }); return { title: 'all', output: 'ok', metadata: { n: 7 } } } }";
    let place = trusted(&[(".opencode/tool/steps.js", tool)]);
    let done = call(&place, "steps", &json!({}));
    assert_eq!((&done["status"], &done["title"]), (&json!("completed"), &json!("all")), "{done:#}");
    assert_eq!(done["metadata"]["n"], 7, "{done:#}");
}

#[test]
fn facts_that_are_too_long_are_left_out_and_that_is_said() {
    let tool = "export default { description: 'd', args: {}, async execute(args, ctx) {\n\
                  ctx.metadata({ title: 'half way', metadata: { a: 'y'.repeat(3 << 20) } });\n\
                  return { output: 'ok', metadata: { a: 'y'.repeat(3 << 20) } } } }";
    let place = trusted(&[(".opencode/tool/facts.js", tool)]);
    let done = call(&place, "facts", &json!({}));
    assert_eq!((&done["status"], &done["output"]), (&json!("completed"), &json!("ok")));
    assert!(done["metadata"]["omitted"].as_str().unwrap().contains("bytes was left out"));
    assert!(done.to_string().len() < 4_000, "{}", done.to_string().len());
    let kept = std::fs::read_dir(place.store()).unwrap().flatten();
    let sizes: Vec<u64> = kept.map(|entry| entry.metadata().unwrap().len()).collect();
    assert!(sizes.iter().all(|size| *size < 2 << 20), "{sizes:?}");
}

#[test]
fn a_table_of_tools_in_common_js() {
    let table = "const helper = (n) => n * 2;\n\
                 module.exports = {\n\
                   twice: { description: 'Doubles', args: { n: { type: 'number', description: 'what' } }, execute: async ({ n }) => `${helper(n)}` },\n\
                   hail: { description: 'Hails', args: {}, execute: () => 'hail' },\n\
                 };";
    let place = trusted(&[(".opencode/tool.js", table)]);
    assert_eq!(output(&place, "twice", &json!({"n": 21})), "42");
    assert_eq!(output(&place, "hail", &json!({})), "hail", "a function that is not async will do");
}

#[test]
fn ten_megabytes_are_kept_whole_and_shown_in_part() {
    let tool = "export default { description: 'd', args: {}, execute: async () => 'pots and urns and jugs\\n'.repeat(480_000) }";
    let place = trusted(&[(".opencode/tool/much.js", tool)]);
    let done = call(&place, "much", &json!({}));
    assert_eq!((&done["status"], &done["metadata"]["truncated"]), (&json!("completed"), &json!(true)));
    let shown = done["output"].as_str().unwrap();
    assert!(shown.len() < 100_000, "{}", shown.len());
    let whole = place.run(&["output", done["call"].as_str().unwrap()]);
    assert_eq!(whole.out.trim_end().len(), 23 * 480_000 - 1, "{}", whole.err);
}

#[test]
fn what_is_no_result_is_a_failure_that_says_why() {
    let bodies = [
        ("undefined", "undefined", "returned nothing"),
        ("cycle", "(() => { const a = { output: 1 }; a.self = a; return a })()", "cannot be written as JSON"),
        ("symbol", "Symbol('s')", "symbol"),
        ("meta", "(() => { const m = {}; m.m = m; return { output: 'x', metadata: m } })()", "metadata"),
        ("getter", "({ get output() { throw new Error('no touching') } })", "no touching"),
        ("proxy", "new Proxy({}, { get() { throw new Error('not even looking') } })", "not even looking"),
        ("tojson", "({ toJSON() { throw new Error('no JSON of me') } })", "no JSON of me"),
        ("never", "(() => { throw undefined })()", "undefined"),
        ("text", "(() => { throw 'only words' })()", "only words"),
        ("number", "(() => { throw 42 })()", "42"),
        ("object", "(() => { throw { code: 'E_POT' } })()", "E_POT"),
        ("rejected", "Promise.reject(null)", "null"),
    ];
    let mut files: Vec<(String, String)> = Vec::new();
    for (name, body, _) in bodies {
        let tool =
            format!("export default {{ description: 'd', args: {{}}, execute: async () => {body} }}\n");
        files.push((format!(".opencode/tool/{name}.js"), tool));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let place = trusted(&files);
    for (name, _, words) in bodies {
        let told = error(&place, name, &json!({}));
        assert!(told.contains(words), "{name}: {told}");
    }
}

#[test]
fn what_has_json_is_shown_as_that() {
    let tool = "const t = (value) => ({ description: 'd', args: {}, execute: async () => value })\n\
                export const list = t([1, 'two', { three: 3 }])\nexport const number = t(12.5)\nexport const yes = t(true)";
    let place = trusted(&[(".opencode/tool/give.js", tool)]);
    assert_eq!(output(&place, "give_list", &json!({})), r#"[1,"two",{"three":3}]"#);
    assert_eq!(output(&place, "give_number", &json!({})), "12.5");
    assert_eq!(output(&place, "give_yes", &json!({})), "true");
}

#[test]
fn arguments_arrive_decoded_and_those_that_do_not_fit_are_told_in_the_tools_own_words() {
    let tool = r#"
import { tool } from "@opencode-ai/plugin"
const z = tool.schema
export default {
  ...tool({
    description: "Takes much",
    args: {
      when: z.coerce.date().describe("a day"),
      many: z.coerce.number().int().min(1).optional(),
      name: z.string().trim().transform((s) => s.toUpperCase()),
      kind: z.enum(["pot", "urn"]).default("urn"),
      deep: z.object({ tags: z.array(z.string().regex(/^t/, "a tag begins with t")) }).optional(),
    },
    async execute(args) { return `${args.when.getUTCFullYear()} ${typeof args.many} ${args.name} ${args.kind}` },
  }),
  formatValidationError: (error) => `please mend ${error.issues.map((issue) => issue.path.join("/")).join(" and ")}`,
}
"#;
    let place = trusted(&[(".opencode/tool/takes.ts", tool)]);
    let given = json!({"when": "2024-02-03", "many": "7", "name": " jug "});
    assert_eq!(output(&place, "takes", &given), "2024 number JUG urn");
    let told =
        error(&place, "takes", &json!({"when": "2024-02-03", "name": "x", "deep": {"tags": ["t1", "u2"]}}));
    assert!(told.contains("please mend deep/tags/1"), "{told}");
    let shown = place.run(&["--json", "tools", "show", "takes"]).json();
    let parameters: &Value = &shown["parameters"];
    assert!(
        shown.to_string().contains("a day") && !shown.to_string().contains("$schema"),
        "{parameters:#} {shown:#}"
    );
}
