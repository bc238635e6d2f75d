//! Local searches of small projects with the sources of what they depend on.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use expect_test::expect;
use haft::Tool;
use serde_json::{Value, json};

use super::CodeSearch;
use crate::testing::Bench;
use crate::{CodeSearching, SourceStores};

const CHANNEL: &str = "\
/// Creates a bounded mpsc channel.
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    make(buffer)
}
";

/// A project that depends on packages of every kind; those of cargo and Go are kept outside.
fn project() -> Bench {
    let bench = Bench::new();
    bench.file(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"tokio\"\nversion = \"1.2.3\"\n\
         source = \"registry+https://x\"\n\n[[package]]\nname = \"log\"\nversion = \"0.4.0\"\nsource = \"registry+https://x\"\n",
    );
    bench.file("src/main.rs", "fn main() {\n    let (tx, rx) = tokio::sync::mpsc::channel(8);\n}\n");
    bench.file("go.mod", "module x\n\nrequire (\n\tgithub.com/Foo/router v1.0.0 // indirect\n)\n");
    bench.file(".gitignore", "node_modules\n.venv\ndist\n");
    bench.file("dist/bundle.js", "function channel() {}\n");
    bench.file("node_modules/@scope/queue/package.json", r#"{"version": "4.5.6"}"#);
    bench.file("node_modules/@scope/queue/index.d.ts", "export declare function enqueue(job: Job): void;\n");
    bench.file(".venv/pyvenv.cfg", "");
    bench.file(
        ".venv/lib/python3.12/site-packages/httpx/_client.py",
        "class AsyncClient:\n    '''An async client.'''\n",
    );
    bench.file(".venv/lib/python3.12/site-packages/httpx-0.27.0.dist-info/METADATA", "");
    out(&bench, "cargo/registry/src/index-1/tokio-1.2.3/src/sync/mpsc/bounded.rs", CHANNEL);
    out(
        &bench,
        "cargo/registry/src/index-1/tokio-0.9.9/src/lib.rs",
        "pub fn channel_of_another_version() {}\n",
    );
    out(
        &bench,
        "cargo/registry/src/index-1/log-0.4.0/src/lib.rs",
        "/// A channel for records.\npub fn log() {}\n",
    );
    out(
        &bench,
        "go/github.com/!foo/router@v1.0.0/router.go",
        "func NewRouter() *Router {\n\treturn nil\n}\n",
    );
    searching(bench)
}

fn searching(mut bench: Bench) -> Bench {
    let stores =
        SourceStores { cargo: Some(bench.outside("cargo")), go: Some(bench.outside("go")), python: None };
    bench.services.code_search = CodeSearching { stores, is_local: true, service: None };
    bench.registered_again()
}

fn out(bench: &Bench, name: &str, content: &str) {
    let path = bench.outside(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn found(bench: &Bench, query: &str) -> String {
    bench.completed("codesearch", json!({"query": query})).text()
}

#[test]
fn the_definition_in_the_package_that_is_named_comes_first() {
    project().check(
        "codesearch",
        json!({"query": "tokio mpsc bounded channel"}),
        expect![[r#"
            title: Code search: tokio mpsc bounded channel
            $out/cargo/registry/src/index-1/tokio-1.2.3/src/sync/mpsc/bounded.rs:1-4  [tokio 1.2.3 (cargo)]
            /// Creates a bounded mpsc channel.
            pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
                make(buffer)
            }

            src/main.rs:1-3
            fn main() {
                let (tx, rx) = tokio::sync::mpsc::channel(8);
            }

            (Searched locally: 2 files, in the workspace and 1 of 5 packages that it depends on.)"#]],
    );
}

#[test]
fn packages_of_every_kind_are_found_with_their_versions() {
    let bench = project();
    assert!(found(&bench, "enqueue job").contains("index.d.ts:1-1  [@scope/queue 4.5.6 (node)]"));
    assert!(found(&bench, "httpx AsyncClient").contains("[httpx 0.27.0 (python)]\nclass AsyncClient:"));
    assert!(found(&bench, "NewRouter").contains("[github.com/Foo/router v1.0.0 (go)]\nfunc NewRouter()"));
    let text = found(&bench, "channel");
    assert!(text.contains("log 0.4.0") && text.contains("5 packages"), "all are searched: {text}");
    assert!(!text.contains("another_version") && !text.contains("dist/"), "{text}");
}

#[test]
fn checkouts_vendored_sources_and_linked_packages_are_found() {
    let bench = searching(Bench::new());
    bench.file(
        "sub/Cargo.lock",
        "[[package]]\nname = \"fork\"\nversion = \"1.0.0\"\nsource = \"git+https://x/fork#0123456789abcdef\"\n",
    );
    out(&bench, "cargo/git/checkouts/fork-aa11/0123456/src/lib.rs", "pub fn forked_thing() {}\n");
    bench.file("vendor/lib/a.c", "int vendored_thing(void);\n");
    bench.file("node_modules/.store/pkg@1/node_modules/pkg/index.js", "function linked_thing() {}\n");
    bench.link("node_modules/pkg", ".store/pkg@1/node_modules/pkg");
    bench.file("packages/own/index.js", "function own_thing() {}\n");
    bench.link("node_modules/own", "../packages/own");
    bench.link("node_modules/gone", "../../out");
    let text = found(&bench, "thing");
    for part in [
        "[fork 1.0.0 (cargo)]",
        "vendor/lib/a.c:1-1  [lib (vendored)]",
        "node_modules/.store/pkg@1/node_modules/pkg/index.js:1-1  [pkg (node)]",
        "packages/own/index.js:1-1\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("own_thing").count(), 1, "what is linked from the workspace is its own: {text}");
}

#[test]
fn leaving_the_workspace_takes_the_same_consent_as_for_every_tool() {
    let bench = project();
    bench.check_questions(
        "codesearch",
        json!({"query": "channel"}),
        expect![[r#"
            external_directory on $out/cargo/registry/src/*, $out/go/* (always: $out/cargo/registry/src/*, $out/go/*)
            codesearch on channel (always: *)
            codesearch channel in ., $out/cargo/registry/src, $out/go
        "#]],
    );
    // Nobody is there to ask, or a rule denies: what is inside is searched, and the rest is named.
    for effect in ["ask", "deny"] {
        let bench = searching(project_ruled(&[("external_directory", "*", effect)]));
        let text = found(&bench, "channel");
        assert!(text.contains("src/main.rs") && !text.contains("bounded.rs"), "{text}");
        assert!(text.contains("external_directory") && text.contains("cargo/registry/src"), "{text}");
    }
    let partly = [("external_directory", "*", "deny"), ("external_directory", "*/registry/src/*", "allow")];
    let text = found(&searching(project_ruled(&partly)), "channel");
    assert!(text.contains("bounded.rs") && text.contains("/go."), "{text}");
    let bench = searching(project_ruled(&[("codesearch", "*", "deny")]));
    assert!(bench.rejected("codesearch", json!({"query": "channel"})).contains("codesearch"));
}

fn project_ruled(rules: &[(&str, &str, &str)]) -> Bench {
    project().ruled(rules)
}

#[test]
fn what_may_not_be_read_is_not_shown() {
    let bench = searching(project_ruled(&[("read", "*/tokio-1.2.3/*", "deny"), ("read", "src/*", "ask")]));
    let text = found(&bench, "tokio mpsc channel");
    assert!(!text.contains("bounded.rs") && !text.contains("main.rs"), "{text}");
    assert!(text.contains("log-0.4.0"), "{text}");
}

#[test]
fn a_lock_file_leads_nowhere_else() {
    let bench = searching(Bench::new());
    out(&bench, "secret/src/lib.rs", "pub fn hidden_thing() {}\n");
    out(&bench, "cargo/registry/src/index-1/x-1/lib.rs", "");
    out(&bench, "go/x/a.go", "");
    let lock = |name: &str, version: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+x\"\n")
    };
    let up = "../../../../secret";
    bench.file(
        "Cargo.lock",
        lock(up, "1") + &lock("..", "/../../../secret") + &lock("x", "1/../../../../../secret"),
    );
    bench.file(
        "go.mod",
        "require ../secret v1\nrequire x.y/../../secret v1\nrequire /secret. v/../../secret\n",
    );
    bench.file("package.json", "{}");
    fs::create_dir(bench.path("node_modules")).unwrap();
    symlink(bench.outside("secret"), bench.path("node_modules/a")).unwrap();
    symlink(bench.outside("secret"), bench.path("vendor")).unwrap();
    symlink(bench.outside(""), bench.path(".venv")).unwrap();
    let text = found(&bench, "hidden_thing");
    assert!(text.starts_with("No code snippets"), "{text}");
}

#[test]
fn files_that_are_large_minified_binary_or_odd_are_passed_over() {
    let bench = searching(Bench::new());
    bench.file("large.js", "function needle() {}\n".repeat(60_000));
    bench.file("mini.js", format!("function needle(){{}}{}", "a(1);".repeat(2000)));
    bench.file("binary.js", b"function needle() {}\n\0\0");
    bench.file("data.json", "{\"needle\": 1}");
    bench.file("latin.js", b"// caf\xe9\nfunction needle_of_latin() {}\n");
    let fifo = bench.path("pipe.js");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    bench.link("loop.js", "loop.js");
    let text = found(&bench, "needle");
    assert!(text.contains("latin.js:1-2") && text.contains("1 file"), "{text}");
    for name in ["large", "mini", "binary", "data", "pipe"] {
        assert!(!text.contains(&format!("{name}.")), "{name}: {text}");
    }
}

#[test]
fn as_much_is_shown_as_was_asked_for() {
    let bench = searching(Bench::new());
    for number in 0..300 {
        let body = format!("    let x = {number};\n").repeat(20);
        bench.file(
            &format!("src/f{number}.rs"),
            format!("/// A needle.\nfn needle_{number}() {{\n{body}}}\n"),
        );
    }
    let shown = |tokens: u64| {
        let done = bench.completed("codesearch", json!({"query": "needle", "tokensNum": tokens}));
        (done.text().len(), done.metadata["truncated"].clone())
    };
    let (few, truncated) = shown(1000);
    assert!((2500..4500).contains(&few) && truncated == Value::Bool(true), "{few}");
    let (more, _) = shown(5000);
    assert!((18_000..22_000).contains(&more), "{more}");
}

#[test]
fn input_that_makes_no_sense_is_refused_with_what_to_do() {
    let bench = searching(Bench::new());
    let refused = |input: Value| bench.rejected("codesearch", input);
    assert!(refused(json!({"query": " ?? "})).contains("name a library"));
    assert!(refused(json!({"query": "x".repeat(3000)})).contains("a few telling words"));
    for tokens in [json!(999), json!(50_001), json!(-1), json!("many")] {
        assert!(refused(json!({"query": "x", "tokensNum": tokens})).contains("tokensNum"));
    }
    assert!(refused(json!({})).contains("query"));
}

#[test]
fn a_search_that_takes_too_long_shows_what_it_found_and_says_so() {
    let bench = project();
    let mut hasty = CodeSearch::new(&bench.services);
    hasty.local.time_max = Duration::ZERO;
    let done =
        bench.replacing("codesearch", Tool::new(hasty)).completed("codesearch", json!({"query": "channel"}));
    assert!(done.text().contains("(Time ran out before everything was seen."), "{}", done.text());
}
