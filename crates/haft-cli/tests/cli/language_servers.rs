//! Language servers through the command line: only where trusted and wanted, and shown by `haft doctor`.

use serde_json::{Value, json};

use crate::support::{Place, Ran, ran};
use crate::traced;

/// A server that leaves a trace of having been started, and then ends.
fn place(lsp: &Value) -> Place {
    let place = Place::new();
    place.global_config(&json!({ "lsp": lsp, "sandbox": "off" }).to_string());
    place.file("a.txt", "one\n");
    place
}

fn tracing() -> Value {
    json!({ "mine": { "command": ["/bin/sh", "-c", "echo started > trace"], "extensions": [".txt"] } })
}

fn trusting(place: &Place, args: &[&str]) -> Ran {
    ran(place.command(args).env("HAFT_TRUST", "1").output().unwrap())
}

const HOVER: &[&str] =
    &["call", "lsp", "operation=hover", "filePath=a.txt", "line:=1", "character:=1", "--json"];
const EDIT: &[&str] = &["call", "edit", "filePath=a.txt", "oldString=one", "newString=two", "--json"];

#[test]
fn no_server_is_started_in_a_project_that_nobody_trusts() {
    let place = place(&tracing());
    let asked = place.run(HOVER);
    assert_eq!(asked.code, 3, "{}", asked.out);
    assert!(asked.out.contains("nobody trusts") && asked.out.contains("haft trust"), "{}", asked.out);
    let edited = place.run(EDIT);
    assert_eq!((edited.code, edited.json()["output"].as_str()), (0, Some("Edit applied successfully.")));
    assert!(!place.ws().join("trace").exists());

    let told =
        trusting(&place, &["call", "edit", "filePath=a.txt", "oldString=two", "newString=three", "--json"]);
    assert!(place.ws().join("trace").exists());
    assert_eq!(place.read("a.txt"), "three\n");
    assert!(told.out.contains("is not known, because mine was of no help"), "{}", told.out);
}

#[test]
fn servers_that_nobody_wants_are_not_started() {
    let off = place(&json!(false));
    let asked = trusting(&off, HOVER);
    assert!(asked.code == 3 && asked.out.contains("switched off"), "{}", asked.out);
    // Without a word about them they answer questions, and nobody waits for them after a change.
    let silent = Place::new();
    silent.file("a.txt", "one\n");
    assert_eq!(trusting(&silent, EDIT).json()["output"], "Edit applied successfully.");
    let asked = trusting(&silent, HOVER);
    assert!(asked.out.contains("No LSP server available for this file type."), "{}", asked.out);
}

#[test]
fn the_doctor_shows_what_is_there_and_how_to_get_what_is_not() {
    let mut servers = tracing();
    servers["absent"] = json!({ "command": ["no-such-server"], "extensions": [".a"] });
    let place = place(&servers);
    place.file("x.zig", "");
    let findings = |ran: Ran| -> Vec<(bool, String)> {
        let findings = ran.json()["findings"].as_array().unwrap().clone();
        let of_servers = findings.into_iter().filter(|finding| finding["about"] == "lsp");
        of_servers.map(|found| (found["ok"] == true, found["text"].as_str().unwrap().to_owned())).collect()
    };
    let mut doctor = place.command(&["doctor", "--json"]);
    let found = findings(ran(doctor.env("HAFT_TRUST", "1").env("PATH", "/nowhere").output().unwrap()));
    assert_eq!(found[0], (true, "mine (.txt); asked after every change".to_owned()));
    assert!(
        found.iter().any(|(ok, text)| *ok && text.starts_with("zls is missing (zls was not found): ")),
        "{found:?}"
    );
    assert!(found.iter().any(|(ok, text)| !ok && text.contains("no-such-server was not found")), "{found:?}");
    assert!(!found.iter().any(|(_, text)| text.contains("gopls")), "{found:?}");
    let untrusted = findings(place.run(&["doctor", "--json"]));
    assert!(untrusted[0].1.contains("before the project is trusted"), "{untrusted:?}");
}

#[test]
fn the_tool_is_shown_only_with_its_switch() {
    let place = Place::new();
    let shown = |ran: Ran| ran.out.lines().any(|line| line.trim_start().starts_with("lsp "));
    let mut with = place.command(&["tools", "list"]);
    let with = ran(with.env("OPENCODE_EXPERIMENTAL_LSP_TOOL", "1").output().unwrap());
    assert!(!shown(place.run(&["tools", "list"])) && shown(with));
}

#[test]
fn no_server_is_started_for_a_repository_within_that_nobody_trusts() {
    const SERVER: &str = "node_modules/.bin/typescript-language-server";
    let place = place(&json!(true));
    for directory in traced::DIRECTORIES {
        traced::program(&place, &format!("{directory}{SERVER}"));
        place.file(&format!("{directory}tsconfig.json"), "");
    }
    traced::trust_the_outer(&place);
    // One that ends at once may be started again.
    let only =
        |started: &str, server: &str| !started.is_empty() && started.lines().all(|line| line == server);
    let (_, started) = traced::write(&place, "packages/a/a.ts");
    assert!(only(&started, SERVER), "the trusted one further up: {started}");
    let (told, started) = traced::write(&place, "sub/a.ts");
    let told = told.to_string();
    assert!(started.is_empty() && told.contains("typescript is not started, because"), "{started} {told}");
    let hover = ["call", "lsp", "operation=hover", "filePath=sub/a.ts", "line:=1", "character:=1", "--json"];
    let asked = place.run(&hover);
    assert!(asked.code == 3 && asked.out.contains("nobody trusts"), "{}", asked.out);
    assert_eq!(traced::taken(&place), "");
    assert_eq!(place.run(&["trust", "sub"]).code, 0);
    let (_, started) = traced::write(&place, "sub/b.ts");
    assert!(only(&started, &format!("sub/{SERVER}")), "{started}");
}
