//! What is known of files without running them, and how it follows what they are.

use serde_json::{Value, json};

use crate::project::{names, output, trusted};
use crate::support::Place;

/// A tool that leaves a mark each time that its file is run.
const MARKS: &str = "import fs from 'node:fs'\nfs.appendFileSync('ran.txt', 'x')\n\
                     export default { description: 'one', args: {}, execute: async () => 'first' }\n";

fn runs(place: &Place) -> usize {
    std::fs::read_to_string(place.ws().join("ran.txt")).unwrap_or_default().len()
}

fn description(place: &Place, tool: &str) -> Value {
    place.run(&["--json", "tools", "show", tool]).json()["description"].clone()
}

#[test]
fn a_second_start_runs_no_code() {
    let place = trusted(&[(".opencode/tool/marks.js", MARKS), ("a.txt", "x\n")]);
    assert!(names(&place).contains(&"marks".to_owned()));
    assert_eq!(runs(&place), 1);
    for args in [
        &["tools", "list"][..],
        &["tools", "show", "marks"],
        &["call", "read", "filePath=a.txt"],
        &["tools", "list", "--json"],
    ] {
        assert_eq!(place.run(args).code, 0);
    }
    assert_eq!(runs(&place), 1, "all that is known of it was kept");
    output(&place, "marks", &json!({}));
    assert_eq!(runs(&place), 2, "to call it takes a process that has it");
}

#[test]
fn an_edited_file_is_loaded_again_and_one_that_went_reveals_the_built_in() {
    let place = trusted(&[
        (".opencode/tool/marks.js", MARKS),
        (
            ".opencode/tool/glob.js",
            "export default { description: 'mine', args: {}, execute: async () => 'my glob' }",
        ),
    ]);
    assert_eq!(description(&place, "marks"), "one");
    place.file(".opencode/tool/marks.js", &MARKS.replace("'one'", "'two'").replace("first", "second"));
    assert_eq!(description(&place, "marks"), "two");
    assert_eq!(output(&place, "marks", &json!({})), "second");
    assert_eq!(output(&place, "glob", &json!({})), "my glob");
    std::fs::remove_file(place.ws().join(".opencode/tool/glob.js")).unwrap();
    std::fs::remove_file(place.ws().join(".opencode/tool/marks.js")).unwrap();
    assert!(!names(&place).contains(&"marks".to_owned()));
    assert!(output(&place, "glob", &json!({"pattern": "ran.*"})).contains("ran.txt"));
}

#[test]
fn an_edited_module_counts_as_an_edited_file() {
    let place = trusted(&[
        (
            ".opencode/tool/outer.ts",
            "import { word } from '../lib/word'\nexport default { description: word, args: {}, execute: async () => word }",
        ),
        (".opencode/lib/word.ts", "export const word: string = 'old'"),
    ]);
    assert_eq!(description(&place, "outer"), "old");
    place.file(".opencode/lib/word.ts", "export const word: string = 'new'");
    assert_eq!(description(&place, "outer"), "new");
    assert_eq!(output(&place, "outer", &json!({})), "new");
}

#[test]
fn a_file_that_hung_is_tried_again_when_it_has_changed_or_somebody_checks() {
    let hangs = "import fs from 'node:fs'\nfs.appendFileSync('ran.txt', 'x')\nwhile (true) {}\n";
    let place = trusted(&[(".opencode/tool/hangs.js", hangs), ("a.txt", "x\n")]);
    place.global_config(r#"{ "plugins": { "busy_seconds": 1 } }"#);
    let starts = |expected: usize, why: &str| {
        let ran = place.run(&["call", "read", "filePath=a.txt"]);
        assert_eq!((ran.code, runs(&place)), (0, expected), "{why}: {}", ran.err);
        let told = ran.err.lines().filter(|line| line.contains("hangs.js")).collect::<Vec<_>>();
        assert!(matches!(told[..], [line] if line.contains("haft tools check")), "{why}: {}", ran.err);
    };
    starts(1, "nothing is known of it");
    starts(1, "it is known to hang");
    let told = crate::project::checked(&place, "hangs.js");
    assert!(told["errors"][0]["message"].as_str().unwrap().contains("without a pause"), "{told:#}");
    assert_eq!(runs(&place), 2, "whoever checks wants to know how it is now");
    starts(2, "it is still known to hang");
    place.file(".opencode/tool/hangs.js", &format!("{hangs}// changed\n"));
    starts(3, "it has changed");
    place.global_config(r#"{ "plugins": { "busy_seconds": 2 } }"#);
    starts(4, "it has more time");
    place.file(".opencode/tool/hangs.js", MARKS);
    assert_eq!(output(&place, "hangs", &json!({})), "first");
}

#[test]
fn an_engine_counts_only_while_it_is_configured() {
    let place = trusted(&[(
        ".opencode/tool/good.js",
        "export default { description: 'd', args: {}, execute: async () => 'fine' }",
    )]);
    for (config, engine) in
        [(r#"{ "plugins": { "engine": { "good.js": "node" } } }"#, "node"), ("{}", "embedded")]
    {
        place.global_config(config);
        assert_eq!(output(&place, "good", &json!({})), "fine");
        assert_eq!(crate::project::checked(&place, "good.js")["engine"], engine);
    }
}

#[test]
fn what_was_kept_and_is_torn_is_found_out_again() {
    let place = trusted(&[(".opencode/tool/marks.js", MARKS)]);
    assert!(names(&place).contains(&"marks".to_owned()));
    let mut torn = 0;
    let mut places = vec![place.home().join("haft")];
    while let Some(directory) = places.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else if path.parent().unwrap().ends_with("plugins") {
                std::fs::write(&path, "{\"torn").unwrap();
                torn += 1;
            }
        }
    }
    assert_eq!(torn, 1, "one file keeps what is known");
    assert!(names(&place).contains(&"marks".to_owned()));
    assert_eq!(output(&place, "marks", &json!({})), "first");
}

#[test]
fn a_conversation_sees_a_file_that_was_edited_meanwhile() {
    let place = trusted(&[(
        ".opencode/tool/word.js",
        "export default { description: 'd', args: {}, execute: async () => 'the old word' }",
    )]);
    let edit = "sed -i 's/old/new/' .opencode/tool/word.js";
    let ran = crate::project::converse(
        &place,
        &json!([
            { "text": "a", "calls": [{ "tool": "word", "input": {} }] },
            { "text": "b", "calls": [{ "tool": "bash", "input": { "command": edit } }] },
            { "text": "c", "calls": [{ "tool": "word", "input": {} }] },
            { "text": "done" },
        ]),
    );
    let log = place.log();
    let words: Vec<&Value> = log.iter().filter(|call| call["tool"] == "word").collect();
    assert_eq!(words.len(), 2, "{} {log:#?}", ran.err);
    let text = |call: &Value| place.run(&["output", call["call"].as_str().unwrap()]).out;
    assert_eq!(
        (text(words[0]).trim(), text(words[1]).trim()),
        ("the old word", "the new word"),
        "{}",
        ran.err
    );
}
