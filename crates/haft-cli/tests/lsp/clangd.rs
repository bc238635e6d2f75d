//! The server clangd: every operation that it has, problems after a change, and its end in the middle of work.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{Bench, is_missing, places, until, working_in};

fn project() -> Option<Bench> {
    let bench = (!is_missing("clangd")).then(Bench::new)?;
    bench.file(
        "shape.h",
        "struct Shape {\n  virtual int area() const = 0;\n};\nint measure(const Shape &shape);\n",
    );
    bench.file(
        "square.cpp",
        "#include \"shape.h\"\nstruct Square : Shape {\n  int area() const override { return 4; }\n};\n\
         int measure(const Shape &shape) { return shape.area(); }\n",
    );
    bench.file(
        "main.cpp",
        "#include \"shape.h\"\nint twice(const Shape &shape) {\n  return 2 * measure(shape);\n}\n",
    );
    let directory = bench.path("");
    let command =
        |file: &str| json!({ "directory": directory, "file": file, "arguments": ["c++", "-c", file] });
    bench.file("compile_commands.json", &json!([command("square.cpp"), command("main.cpp")]).to_string());
    Some(bench)
}

fn names(results: &[Value]) -> Vec<String> {
    results.iter().map(|result| result["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn clangd_answers_questions_about_a_project() {
    let Some(bench) = project() else { return };
    let at = |operation: &str, file: &str, text: &str| bench.ask(operation, file, text);
    let place = |file: &str, line: u64| (file.to_owned(), line);
    // Its index of the whole project is made in the background; what is in open files is known at once.
    at("hover", "square.cpp", "measure");
    assert_eq!(places(&at("goToDefinition", "main.cpp", "measure")), [place("square.cpp", 5)]);
    let hover = at("hover", "main.cpp", "measure")[0]["contents"].to_string();
    assert!(hover.contains("int measure(const Shape"), "{hover}");
    assert_eq!(names(&at("documentSymbol", "square.cpp", "struct")), ["Square", "measure"]);
    assert_eq!(places(&at("goToImplementation", "shape.h", "area")), [place("square.cpp", 3)]);
    assert_eq!(names(&at("prepareCallHierarchy", "main.cpp", "measure")), ["measure"]);

    let used = at("findReferences", "main.cpp", "measure");
    assert_eq!(places(&used), [place("main.cpp", 3), place("shape.h", 4), place("square.cpp", 5)]);
    let callers = at("incomingCalls", "square.cpp", "measure");
    assert_eq!(callers[0]["from"]["name"], "twice");
    let mut input = bench.question("workspaceSymbol", "main.cpp", "twice");
    input["query"] = "Squ".into();
    let found = bench.completed("lsp", input);
    assert!(found.text().contains("\"name\": \"Square\""), "{}", found.text());
    assert_eq!(found.title, "workspaceSymbol main.cpp:2:5");
}

#[test]
fn clangd_says_what_an_edit_broke_and_nothing_else() {
    let Some(bench) = project() else { return };
    bench.file("old.cpp", "int old() { return missing; }\nint fine() { return 1; }\n");
    let told = bench.edit("old.cpp", "return 1", "\n  return absent");
    let path = bench.path("old.cpp");
    assert_eq!(
        told,
        format!(
            "Edit applied successfully.\n\nLSP errors detected in old.cpp, please fix:\n<diagnostics file=\"{}\">\n\
             ERROR [3:10] Use of undeclared identifier 'absent'\n</diagnostics>",
            path.display()
        )
    );
    assert_eq!(bench.edit("old.cpp", "absent", "2"), "Edit applied successfully.");
}

#[test]
fn clangd_is_started_again_when_it_was_killed() {
    let Some(bench) = project() else { return };
    let definition = || bench.ask("hover", "main.cpp", "measure").len();
    assert_eq!(definition(), 1);
    let is_clangd = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.starts_with("clangd"))
    };
    let running: Vec<u32> = working_in(&bench.path("")).into_iter().filter(is_clangd).collect();
    assert!(!running.is_empty());
    for pid in &running {
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    }
    until("it is gone", || bench.servers.running() == 0);
    assert_eq!(definition(), 1);
    // What was open is opened again, and judged by what it was.
    bench.file("a.cpp", "int a() { return gone; }\n");
    assert_eq!(bench.edit("a.cpp", "int a", "int b"), "Edit applied successfully.");
}
