//! Mistakes in files: each is told with its place and what to do, and every other tool works.

use serde_json::{Value, json};

use crate::project::{checked, names, output, trusted, untrusted};

const GOOD: &str = "export default { description: 'd', args: {}, execute: async () => 'fine' }";

/// Puts a file beside a good one, sees that the good one works, and returns what is said of the other.
fn beside_a_good_one(path: &str, text: &str) -> Value {
    let place = trusted(&[(path, text), (".opencode/tool/good.js", GOOD)]);
    assert_eq!(output(&place, "good", &json!({})), "fine", "{path}");
    assert!(names(&place).contains(&"read".to_owned()));
    let code = place.run(&["tools", "check"]).code;
    let told = checked(&place, path);
    assert_eq!(code, if told["status"] == "ok" { 0 } else { 2 }, "{told:#}");
    told
}

/// What is said of a file with a mistake: the line it is in, and the words.
fn mistake(path: &str, text: &str) -> (Option<u64>, String) {
    let told = beside_a_good_one(path, text);
    assert_eq!(told["status"], "error", "{told:#}");
    let error = &told["errors"][0];
    let words =
        format!("{} {}", error["message"].as_str().unwrap(), error["fix"].as_str().unwrap_or_default());
    (error["line"].as_u64(), words)
}

#[test]
fn a_syntax_error() {
    let text = "const a = 1\nexport default {\n  description: 'x',,\n}\n";
    for path in [".opencode/tool/bad.js", ".opencode/tool/bad.ts", ".opencode/plugin/bad.mjs"] {
        let (line, words) = mistake(path, text);
        assert_eq!(line, Some(3), "{path}: {words}");
    }
    let (line, words) = mistake(".opencode/tool/bad.cjs", "module.exports = {\n  a: function ( {\n}\n");
    assert!(line.is_some(), "{words}");
}

#[test]
fn whoever_calls_a_tool_of_a_broken_file_is_told_which_file_it_is() {
    let place = trusted(&[(".opencode/tool/syn.ts", "export default {,}\n")]);
    for (args, is_its) in [
        (&["call", "syn"][..], true),
        (&["call", "syn_one"], true),
        (&["tools", "show", "syn"], true),
        (&["call", "syntax"], false),
    ] {
        let ran = place.run(args);
        let hint = ran.err.lines().find(|line| line.contains("hint:")).unwrap_or_default();
        let names_it = hint.contains(".opencode/tool/syn.ts") && hint.contains("haft tools check");
        assert_eq!((ran.code, names_it), (7, is_its), "{args:?}: {}", ran.err);
    }
}

#[test]
fn whoever_calls_a_tool_of_an_untrusted_project_is_told_which_file_it_is() {
    let place = untrusted(&[(".opencode/tool/mine.js", GOOD)]);
    for args in [&["call", "mine"][..], &["tools", "show", "mine"]] {
        let ran = place.run(args);
        let hint = ran.err.lines().find(|line| line.contains("hint:")).unwrap_or_default();
        let names_it = hint.contains(".opencode/tool/mine.js") && hint.contains("haft trust");
        assert!(ran.code == 7 && names_it, "{args:?}: {}", ran.err);
    }
}

#[test]
fn an_import_that_is_not_there() {
    let (line, words) =
        mistake(".opencode/tool/bad.ts", "import a from 'left-padding'\nexport default { a }\n");
    assert!(words.contains("left-padding") && words.contains("npm install left-padding"), "{words}");
    assert_eq!(line, Some(1), "{words}");
    let (_, words) =
        mistake(".opencode/tool/bad.js", "import { x } from './lib/none.js'\nexport default { x }\n");
    assert!(words.contains("./lib/none.js") && words.contains("correct the path"), "{words}");
    let (_, words) = mistake(
        ".opencode/tool/bad.js",
        "import { nothingLikeIt } from 'node:path'\nexport default { nothingLikeIt }\n",
    );
    assert!(words.contains("nothingLikeIt"), "{words}");
}

#[test]
fn code_that_throws_when_it_is_loaded() {
    let (line, words) = mistake(".opencode/tool/bad.js", "const a = {}\n\na.b.c()\n");
    assert_eq!(line, Some(3), "{words}");
    let (_, words) = mistake(
        ".opencode/plugin/bad.js",
        "export const P = async () => {\n  throw new Error('no pots')\n}\n",
    );
    assert!(words.contains("no pots"), "{words}");
    let (line, words) = mistake(".opencode/plugin/bad.js", "\n\nexport const P = async () => 'hooks'\n");
    assert!(words.contains("must return an object of hooks"), "{words}");
    assert_eq!(line, Some(3), "{words}");
}

#[test]
fn exports_that_are_no_tools_are_named() {
    let text = "export const helper = 'x'\nexport const cfg = { a: 1 }\nexport default { description: 'no execute' }\n";
    let told = beside_a_good_one(".opencode/tool/shape.js", text);
    let skipped: Vec<&str> =
        told["skipped"].as_array().unwrap().iter().filter_map(|one| one["export"].as_str()).collect();
    assert!(
        skipped.contains(&"helper") && skipped.contains(&"cfg") && skipped.contains(&"default"),
        "{told:#}"
    );
    let lines: Vec<Option<u64>> =
        told["skipped"].as_array().unwrap().iter().map(|one| one["line"].as_u64()).collect();
    assert!([1, 2, 3].iter().all(|line| lines.contains(&Some(*line))), "{told:#}");
    assert_eq!(told["tools"], json!([]), "{told:#}");
    let text = "export const a = 5\nexport const P = async () => ({ tool: { t: { description: 'd' } } })\n";
    let told = beside_a_good_one(".opencode/plugin/shape.js", text);
    assert!(told.to_string().contains("no execute function"), "{told:#}");
}

#[test]
fn names_that_are_taken_or_cannot_be() {
    let tool = "export default { description: 'd', args: {}, execute: async () => 'second' }";
    let place = trusted(&[(".opencode/tool/same.js", GOOD), (".opencode/tools/same.js", tool)]);
    assert_eq!(output(&place, "same", &json!({})), "second", "what comes later wins");
    let told = checked(&place, "tools/same.js");
    assert!(told["errors"].to_string().contains("also in"), "{told:#}");

    let (line, words) = mistake(".opencode/tool/two words.js", tool);
    assert!(words.contains("two words") && words.contains("rename"), "{words}");
    assert_eq!(line, Some(1), "{words}");
    let text = "export const P = async () => ({ tool: { 'a/b': { description: 'd', args: {}, execute: async () => '' } } })";
    let (line, words) = mistake(".opencode/plugin/p.js", &format!("\n{text}"));
    assert!(words.contains("a/b") && line == Some(2), "{line:?} {words}");
}

#[test]
fn a_schema_that_cannot_be_told_to_a_model() {
    let text = "const loop = {}; loop.loop = loop\n\
                export const bad = { description: 'd', args: { a: { type: 'object', properties: loop } }, execute: async () => '' }\n\
                export const also = { description: 'd', args: { a: 7 }, execute: async () => '' }\n\
                export const fine = { description: 'd', args: {}, execute: async () => 'ok' }\n";
    let place = trusted(&[(".opencode/tool/odd.js", text), (".opencode/tool/good.js", GOOD)]);
    assert_eq!(output(&place, "good", &json!({})), "fine");
    let told = checked(&place, "odd.js");
    let errors: Vec<(&str, u64)> = told["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["message"].as_str().unwrap(), error["line"].as_u64().unwrap()))
        .collect();
    let line = |tool: &str| errors.iter().find(|(words, _)| words.contains(tool)).map(|(_, line)| *line);
    assert_eq!((line("bad"), line("also")), (Some(2), Some(3)), "each is told with its line: {told:#}");
    let shown = place.run(&["tools", "check"]).out;
    assert!(shown.contains(".opencode/tool/odd.js:3:"), "{shown}");
    assert_eq!(output(&place, "odd_fine", &json!({})), "ok", "the other tools of the same file work");
}

#[test]
fn typescript_that_has_no_javascript_is_named_with_its_line() {
    let text = "function sealed(c: any) {}\n\n@sealed\nclass A {}\nexport default { description: 'd', args: {}, execute: async () => '' }\n";
    let (line, words) = mistake(".opencode/tool/deco.ts", text);
    assert_eq!(line, Some(3), "{words}");
    assert!(words.to_lowercase().contains("decorator"), "{words}");
    let text = "enum Kind { Pot = 'pot', Urn = 'urn' }\nnamespace Deep { export const n = 2 }\n\
                class Box { constructor(private readonly kind: Kind) {} say() { return `${this.kind}${Deep.n}` } }\n\
                export default { description: 'd', args: {}, execute: async () => new Box(Kind.Urn).say() }\n";
    let place = trusted(&[(".opencode/tool/enums.ts", text)]);
    assert_eq!(output(&place, "enums", &json!({})), "urn2");
}

#[test]
fn files_that_are_no_text_or_not_there() {
    let place = trusted(&[(".opencode/tool/good.js", GOOD), (".opencode/tool/empty.js", "")]);
    std::fs::write(place.ws().join(".opencode/tool/bytes.js"), [0xff, 0xfe, 0x00, 0x80, b'\n']).unwrap();
    std::os::unix::fs::symlink("nowhere.js", place.ws().join(".opencode/tool/gone.js")).unwrap();
    std::fs::create_dir(place.ws().join(".opencode/tool/folder.js")).unwrap();
    assert_eq!(output(&place, "good", &json!({})), "fine");
    assert_eq!(checked(&place, "bytes.js")["status"], "error");
    assert_eq!(checked(&place, "empty.js")["tools"], json!([]));
}

#[test]
fn a_link_to_what_the_code_does_not_see_is_told_as_that() {
    let place = trusted(&[]);
    let elsewhere = tempfile::tempdir_in("/var/tmp").unwrap();
    let real = elsewhere.path().canonicalize().unwrap().join("real.js");
    std::fs::write(&real, GOOD).unwrap();
    std::fs::create_dir_all(place.ws().join(".opencode/tool")).unwrap();
    for (name, engine) in [("mine.js", "embedded"), ("its.js", "node")] {
        std::os::unix::fs::symlink(&real, place.ws().join(".opencode/tool").join(name)).unwrap();
        place.global_config(&format!(r#"{{ "plugins": {{ "engine": {{ "{name}": "{engine}" }} }} }}"#));
        let told = checked(&place, name)["errors"][0].clone();
        let (message, fix) = (told["message"].as_str().unwrap(), told["fix"].as_str().unwrap());
        assert!(message.contains(real.to_str().unwrap()) && message.contains("private"), "{told:#}");
        assert!(fix.contains("move"), "{told:#}");
    }
}

#[test]
fn a_mistake_is_mended_by_editing_the_file() {
    let place = trusted(&[(".opencode/tool/late.js", "export default {")]);
    assert_eq!(place.run(&["call", "late"]).code, 7);
    place.file(".opencode/tool/late.js", GOOD);
    assert_eq!(output(&place, "late", &json!({})), "fine");
}

#[test]
fn an_argument_that_is_no_schema_is_told_with_its_own_line() {
    let text = "import { tool } from '@opencode-ai/plugin'\nexport default tool({\n  description: 'd',\n  args: {\n    fine: { type: 'string' },\n    size: 7,\n  },\n  execute: async () => '',\n})\n";
    for engine in ["embedded", "node"] {
        let place = trusted(&[
            (".opencode/tool/arg.ts", text),
            ("haft.jsonc", &format!(r#"{{ "plugins": {{ "engine": {{ "arg.ts": "{engine}" }} }} }}"#)),
        ]);
        let told = checked(&place, "arg.ts");
        assert_eq!(told["engine"], engine, "{told:#}");
        assert_eq!(told["errors"][0]["line"], 6, "{told:#}");
        assert_eq!(told["errors"][0]["column"], 5, "{told:#}");
    }
}
