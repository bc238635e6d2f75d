//! The server rust-analyzer: every operation, problems after a change, and its end in the middle of work.

use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, is_missing, places, until, working_in};

const MAIN: &str = "mod shape;\n\nuse shape::{Shape, measure};\n\nstruct Square;\n\nimpl Shape for Square {\n    \
                    fn area(&self) -> u32 {\n        4\n    }\n}\n\nfn twice(shape: &dyn Shape) -> u32 {\n    \
                    2 * measure(shape)\n}\n\nfn main() {\n    println!(\"{}\", twice(&Square));\n}\n";

fn project() -> Option<Bench> {
    let bench = (!is_missing("rust-analyzer")).then(Bench::new)?;
    bench.file("Cargo.toml", "[package]\nname = \"shapes\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    bench.file(
        "src/shape.rs",
        "pub trait Shape {\n    fn area(&self) -> u32;\n}\n\n/// How large a shape is.\n\
         pub fn measure(shape: &dyn Shape) -> u32 {\n    shape.area()\n}\n",
    );
    bench.file("src/main.rs", MAIN);
    Some(bench)
}

fn names(results: &[Value]) -> Vec<String> {
    results.iter().map(|result| result["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rust_analyzer_answers_questions_about_a_project() {
    let Some(bench) = project() else { return };
    let at = |operation: &str, file: &str, text: &str| bench.ask(operation, file, text);
    let place = |file: &str, line: u64| (file.to_owned(), line);
    assert_eq!(places(&at("goToDefinition", "src/main.rs", "measure(shape)")), [place("shape.rs", 6)]);
    let hover = at("hover", "src/main.rs", "measure(shape)")[0]["contents"].to_string();
    assert!(hover.contains("pub fn measure(shape: &dyn Shape) -> u32"), "{hover}");
    assert!(hover.contains("How large a shape is."), "{hover}");
    assert_eq!(names(&at("documentSymbol", "src/shape.rs", "pub")), ["Shape", "measure"]);
    assert_eq!(places(&at("goToImplementation", "src/shape.rs", "area")), [place("main.rs", 8)]);
    assert_eq!(names(&at("prepareCallHierarchy", "src/main.rs", "measure(shape)")), ["measure"]);

    let used = at("findReferences", "src/shape.rs", "measure");
    assert_eq!(places(&used), [place("main.rs", 3), place("main.rs", 14), place("shape.rs", 6)]);
    let callers = at("incomingCalls", "src/shape.rs", "measure");
    assert_eq!(callers.iter().map(|call| &call["from"]["name"]).collect::<Vec<_>>(), ["twice"]);
    let called = at("outgoingCalls", "src/main.rs", "twice");
    assert_eq!(called.iter().map(|call| &call["to"]["name"]).collect::<Vec<_>>(), ["measure"]);
    let mut input = bench.question("workspaceSymbol", "src/main.rs", "twice");
    input["query"] = "Squ".into();
    let found = bench.completed("lsp", input);
    assert!(found.text().contains("\"name\": \"Square\""), "{}", found.text());
}

#[test]
fn rust_analyzer_says_what_an_edit_broke_and_nothing_else() {
    let Some(bench) = project() else { return };
    let old = MAIN.replace("fn main() {", "fn old() -> u32 {\n    \"old\"\n}\n\nfn main() {");
    bench.file("src/main.rs", &old);
    let told = bench.edit("src/main.rs", "        4", "        \"four\"");
    let path = bench.path("src/main.rs");
    assert_eq!(
        told,
        format!(
            "Edit applied successfully.\n\nLSP errors detected in src/main.rs, please fix:\n<diagnostics file=\"{}\">\n\
             ERROR [9:9] expected u32, found &'static str\n</diagnostics>",
            path.display()
        )
    );
    // It was told; it is not new any more, and neither is the other.
    assert_eq!(bench.edit("src/main.rs", "2 * measure", "3 * measure"), "Edit applied successfully.");
    assert_eq!(bench.edit("src/main.rs", "\"four\"", "4"), "Edit applied successfully.");
    // It knows what is in other files.
    let told = bench.edit("src/main.rs", "measure(shape)", "measure()");
    assert!(told.contains("ERROR [14:16] expected 1 argument, found 0"), "{told}");
}

#[test]
fn rust_analyzer_is_started_again_when_it_was_killed() {
    let Some(bench) = project() else { return };
    let hover = || bench.ask("hover", "src/main.rs", "measure(shape)")[0]["contents"].to_string();
    let found = hover();
    assert!(found.contains("pub fn measure"), "{found}");
    let is_server = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("rust-analy"))
    };
    let running: Vec<u32> = working_in(&bench.path("")).into_iter().filter(is_server).collect();
    assert!(!running.is_empty());
    for pid in &running {
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    }
    until("it is gone", || bench.servers.running() == 0);
    assert_eq!(hover(), found);
    // What was open is opened again, and judged by what it was.
    bench.file("src/main.rs", &MAIN.replace("        4", "        \"four\""));
    assert_eq!(bench.edit("src/main.rs", "2 * measure", "3 * measure"), "Edit applied successfully.");
}
