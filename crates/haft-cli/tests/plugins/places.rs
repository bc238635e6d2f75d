//! Where files are found, whose they are, and when they are left alone.

use serde_json::json;

use crate::project::{checked, names, output, trust, trusted, untrusted};

const MARKS: &str = "import fs from 'node:fs'\nfs.appendFileSync('ran.txt', 'x')\n\
                     export default { description: 'd', args: {}, execute: async () => 'ran' }\n";
const PLUGIN: &str = "import fs from 'node:fs'\nfs.appendFileSync('ran.txt', 'p')\n\
                      export const P = async () => ({ event: async () => fs.appendFileSync('ran.txt', 'e'), 'tool.execute.before': async () => fs.appendFileSync('ran.txt', 'b') })\n";

#[test]
fn files_of_a_project_that_nobody_trusts_are_listed_and_not_run() {
    let place = untrusted(&[
        (".opencode/tool/mine.js", MARKS),
        (".opencode/plugin/p.js", PLUGIN),
        (".opencode/tool.js", MARKS),
        ("more/p.js", PLUGIN),
        ("opencode.json", r#"{ "plugin": ["./more/p.js"] }"#),
        ("a.txt", "x\n"),
    ]);
    let told = place.run(&["tools", "check"]);
    for file in ["tool/mine.js", "plugin/p.js", "tool.js"] {
        assert!(told.out.contains(file), "{}", told.out);
        assert_eq!(checked(&place, file)["status"], "untrusted");
    }
    assert!(!names(&place).contains(&"mine".to_owned()));
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 0);
    assert_eq!(place.run(&["call", "mine"]).code, 7);
    assert!(!place.ws().join("ran.txt").exists(), "{}", place.read("ran.txt"));
    trust(&place);
    assert_eq!(output(&place, "mine", &json!({})), "ran");
    assert_eq!(place.run(&["trust", "forget"]).code, 0);
    let before = place.read("ran.txt");
    assert_eq!(place.run(&["call", "mine"]).code, 7, "what is known of it is not used either");
    assert_eq!(place.read("ran.txt"), before);
}

#[test]
fn whoever_wants_none_has_none() {
    let place =
        trusted(&[(".opencode/tool/mine.js", MARKS), (".opencode/plugin/p.js", PLUGIN), ("a.txt", "x\n")]);
    assert_eq!(place.run(&["--pure", "call", "read", "filePath=a.txt"]).code, 0);
    assert_eq!(place.run(&["--pure", "call", "mine"]).code, 7);
    let listed = place.command(&["tools", "list"]).env("HAFT_NO_PLUGINS", "1").output().unwrap();
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("mine"));
    assert!(!place.ws().join("ran.txt").exists());
    assert!(names(&place).contains(&"mine".to_owned()));
}

#[test]
fn files_of_the_person_are_there_everywhere_and_those_of_the_project_win() {
    let tool = |word: &str| {
        format!("export default {{ description: 'd', args: {{}}, execute: async () => '{word}' }}")
    };
    let place = untrusted(&[(".opencode/tool/both.js", &tool("of the project"))]);
    for (path, word) in [("haft/config/tool/own.js", "own"), ("haft/config/tools/both.mjs", "of the person")]
    {
        let path = place.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, tool(word)).unwrap();
    }
    assert_eq!(output(&place, "own", &json!({})), "own", "what is the person's own needs no trust");
    assert_eq!(output(&place, "both", &json!({})), "of the person");
    trust(&place);
    assert_eq!(output(&place, "both", &json!({})), "of the project");
}

#[test]
fn a_tool_of_the_project_is_there_in_its_directories() {
    let place = trusted(&[
        (
            ".opencode/tool/upper.js",
            "export default { description: 'd', args: {}, execute: async (a, ctx) => ctx.directory }",
        ),
        ("pkg/inner/a.txt", ""),
    ]);
    assert!(
        std::process::Command::new("git")
            .args(["init", "-q"])
            .current_dir(place.ws())
            .status()
            .unwrap()
            .success()
    );
    let ran = place.run(&["-C", "pkg/inner", "call", "upper"]);
    assert_eq!(
        (ran.code, ran.out.trim()),
        (0, place.ws().join("pkg/inner").to_str().unwrap()),
        "{}",
        ran.err
    );
}

#[test]
fn one_that_is_begun_for_somebody_works_at_once() {
    let place = trusted(&[]);
    for args in [&["new", "tool", "greet"][..], &["new", "plugin", "watch"]] {
        let ran = place.run(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let told = place.run(&["tools", "check"]);
    assert_eq!(told.code, 0, "{} {}", told.out, told.err);
    assert!(names(&place).contains(&"greet".to_owned()), "{}", told.out);
    let again = place.run(&["new", "tool", "greet"]);
    assert_ne!(again.code, 0, "nothing is written over");
}

#[test]
fn one_that_takes_the_place_of_a_built_in_is_made_and_said_to() {
    let place = trusted(&[]);
    let ran = place.run(&["new", "tool", "read"]);
    assert!(ran.code == 0 && ran.err.contains("place of the built-in read"), "{}", ran.err);
    assert!(!place.run(&["new", "tool", "greet"]).err.contains("built-in"));
    assert!(!place.run(&["new", "plugin", "glob"]).err.contains("built-in"));
}

#[test]
fn nothing_is_made_through_a_link_of_the_project() {
    for linked in [".opencode", ".opencode/tools", ".opencode/types"] {
        let place = trusted(&[]);
        std::fs::create_dir_all(place.outside()).unwrap();
        let at = place.ws().join(linked);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(place.outside(), &at).unwrap();
        let before = std::fs::read_dir(place.outside()).unwrap().count();
        let ran = place.run(&["new", "tool", "foo"]);
        assert!(
            ran.code == 2 && ran.err.contains("is a link to") && ran.err.contains("hint:"),
            "{}",
            ran.err
        );
        assert_eq!(std::fs::read_dir(place.outside()).unwrap().count(), before, "{linked}");
    }
}
