//! More than a profile gives: what a command lacks is named, asked for exactly, and then permitted exactly.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::commands::is_confined;
use crate::support::{Place, Ran, ran};

/// A directory that commands see and cannot change: not among the temporary ones, of which they have their own.
fn far() -> TempDir {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).to_owned();
    let is_private = ["/tmp", "/var/tmp"].iter().any(|private| target.starts_with(private));
    let base = if is_private { std::env::home_dir().unwrap() } else { target };
    tempfile::Builder::new().prefix(".haft-grants-").tempdir_in(base).unwrap()
}

fn text(dir: &TempDir) -> String {
    dir.path().canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn call(place: &Place, input: &Value, more: &[&str]) -> Ran {
    let input = input.to_string();
    let args = [&["call", "bash", input.as_str(), "--json"], more].concat();
    place.run(&args)
}

/// A script that writes to one place, which is why it fails, and then to another. The analysis does not see it.
fn writer(place: &Place, first: &str, second: &str) -> Value {
    let script = format!("echo ran >> runs\necho x > {first}/x || exit 1\necho y > {second}/y\ntrue\n");
    place.file("sneak.sh", &script);
    json!({ "command": "sh sneak.sh" })
}

/// Answers the one question that is asked; returns it.
fn answer(place: &Place, reply: &[&str]) -> Value {
    for _ in 0..400 {
        let asked = place.run(&["permission", "pending", "--json"]).json()["requests"][0].clone();
        if let Some(id) = asked["id"].as_str() {
            let args = [&["permission", "reply", id], reply].concat();
            assert_eq!(place.run(&args).code, 0);
            return asked;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("nobody was asked");
}

fn asked(place: &Place, input: &Value, reply: &[&str]) -> (Value, Value) {
    let input = input.to_string();
    let mut command = place.command(&["call", "bash", &input, "--json", "--on-ask", "wait:60"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let question = answer(place, reply);
    (question, ran(child.wait_with_output().unwrap()).json())
}

fn output(done: &Value) -> &str {
    done["output"].as_str().unwrap_or_default()
}

#[test]
fn with_nobody_to_ask_the_refused_path_is_named_with_the_field_to_set() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let (first, second) = (far(), far());
    let input = writer(&place, &text(&first), &text(&second));
    // Somebody who says yes to everything has not seen what a program claims to lack.
    for more in [&[][..], &["--yes"], &["--allow", "*"]] {
        let done = call(&place, &input, more).json();
        assert_eq!(done["metadata"]["exit"], 1, "{done}");
        let field = format!("call again with writable: [\"{}\"]", text(&first));
        assert!(output(&done).contains(&field), "{}", output(&done));
    }
    assert_eq!(place.read("runs"), "ran\n".repeat(3));
    assert!(!first.path().join("x").exists());
}

#[test]
fn a_refused_path_is_asked_for_and_granted_exactly_and_the_command_runs_again() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let (first, second) = (far(), far());
    let input = writer(&place, &text(&first), &text(&second));
    let (question, done) = asked(&place, &input, &["once"]);
    assert!(question.to_string().contains("sandbox_write"), "{question}");
    assert!(question.to_string().contains(&text(&first)), "{question}");
    assert_eq!(done["metadata"]["exit"], 0, "{done}");
    assert!(output(&done).contains("was run again, as was agreed"), "{}", output(&done));
    assert_eq!(place.read("runs"), "ran\nran\n");
    assert!(first.path().join("x").exists());
    assert!(!second.path().join("y").exists(), "only what was agreed to");
    assert_eq!(std::fs::read_dir(second.path()).unwrap().count(), 0);

    // A rule that names it grants it without a question.
    std::fs::remove_file(first.path().join("x")).unwrap();
    let rule = format!("sandbox_write={}", text(&first));
    let done = call(&place, &input, &["--allow", &rule]).json();
    assert_eq!(done["metadata"]["exit"], 0, "{done}");
    assert!(first.path().join("x").exists() && !second.path().join("y").exists());
}

#[test]
fn a_no_widens_nothing_and_takes_back_nothing() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let (first, second) = (far(), far());
    let input = writer(&place, &text(&first), &text(&second));
    let (_, done) = asked(&place, &input, &["reject"]);
    assert_eq!(done["metadata"]["exit"], 1, "{done}");
    assert!(output(&done).contains("did not agree"), "{}", output(&done));
    assert_eq!(place.read("runs"), "ran\n");
    assert!(!first.path().join("x").exists() && !second.path().join("y").exists());
    let rule = format!("sandbox_write={}*", text(&first));
    let done = call(&place, &input, &["--on-ask", "wait:60", "--deny", &rule]).json();
    assert_eq!(done["metadata"]["exit"], 1, "{done}");
    assert!(!first.path().join("x").exists());
}

#[test]
fn what_is_asked_for_beforehand_is_what_the_kernel_permits() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let (first, second) = (far(), far());
    let mut input = writer(&place, &text(&first), &text(&second));
    input["writable"] = json!([text(&first)]);
    assert_eq!(call(&place, &input, &[]).code, 6);
    assert_eq!(call(&place, &input, &["--allow", "*"]).code, 6, "everything is not this");
    let forbidding = ["--allow", "sandbox_write", "--deny", "external_directory"];
    assert_eq!(call(&place, &input, &forbidding).code, 5, "whoever forbids leaving forbids this");
    assert!(!place.ws().join("runs").exists());
    let done = call(&place, &input, &["--allow", "sandbox_write"]).json();
    assert_eq!(done["metadata"]["exit"], 0, "{done}");
    assert!(first.path().join("x").exists() && !second.path().join("y").exists());

    let store = place.store();
    for (path, code) in [("/", 3), (store.to_str().unwrap(), 3), ("/no/such/thing", 6)] {
        let input = json!({ "command": "true", "writable": [path] });
        assert_eq!(call(&place, &input, &[]).code, code, "{path}");
    }
    let absent = json!({ "command": "true", "writable": [format!("{}/new", text(&first))] });
    let told = call(&place, &absent, &["--allow", "sandbox_write"]);
    assert_eq!(told.code, 3, "{}", told.out);
    assert!(told.out.contains("name the directory"), "{}", told.out);
}

#[test]
fn what_is_protected_is_granted_as_a_whole_or_not_at_all() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    place.file(".git/config", "[core]\n\thooksPath = tools/hooks\n");
    place.file("tools/hooks/pre-push", "old\n");
    place.file("sub.git/HEAD", "x");
    place.file(".git/modules/libs/a/config", "[core]\n\tworktree = ../../../../libs/a\n");
    place.file("libs/a/.git", "gitdir: ../../.git/modules/libs/a\n");
    let paths = ["tools/hooks/pre-push", "tools/hooks/new", "libs/a/.git", ".git/modules/libs/a/hooks/x"];
    let lines: String =
        paths.iter().map(|path| format!("mkdir -p $(dirname {path}); echo evil > {path}\n")).collect();
    place.file("sneak.sh", &format!("{lines}echo fine > libs/a/file\n"));
    let input = json!({ "command": "sh sneak.sh" });
    call(&place, &input, &[]);
    assert_eq!(place.read("libs/a/file"), "fine\n");
    assert_eq!(place.read("tools/hooks/pre-push"), "old\n");
    assert_eq!(place.read("libs/a/.git"), "gitdir: ../../.git/modules/libs/a\n");
    assert!(!place.ws().join("tools/hooks/new").exists());
    assert!(!place.ws().join(".git/modules/libs/a/hooks/x").exists());

    let granting = json!({ "command": "sh sneak.sh", "writable": ["tools/hooks"] });
    assert_eq!(call(&place, &granting, &[]).code, 6);
    assert_eq!(call(&place, &granting, &["--allow", "protected_path=tools/hooks"]).code, 0);
    assert_eq!(place.read("tools/hooks/pre-push"), "evil\n");
    assert_eq!(place.read("libs/a/.git"), "gitdir: ../../.git/modules/libs/a\n");
}

#[test]
fn a_repository_that_stands_elsewhere_is_protected_too() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    place.file(".git", "gitdir: meta/work\n");
    place.file("meta/work/commondir", "..\n");
    place.file("meta/config", "[core]\n");
    place.file("meta/hooks/pre-commit", "old\n");
    let script = "echo x > .git; echo x >> meta/config; echo x > meta/hooks/pre-commit; echo x > meta/work/commondir; echo x > meta/index";
    place.file("sneak.sh", script);
    call(&place, &json!({ "command": "sh sneak.sh" }), &[]);
    assert_eq!(place.read("meta/index"), "x\n", "commits work");
    assert_eq!(place.read(".git"), "gitdir: meta/work\n");
    assert_eq!(place.read("meta/config"), "[core]\n");
    assert_eq!(place.read("meta/hooks/pre-commit"), "old\n");
    assert_eq!(place.read("meta/work/commondir"), "..\n");
}

#[test]
fn to_work_in_a_directory_is_not_to_change_it() {
    let (place, far) = (Place::new(), far());
    if !is_confined(&place) {
        return;
    }
    place.file("sneak.sh", "echo x > here; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit; true\n");
    let script = place.ws().join("sneak.sh");
    let input = json!({ "command": format!("sh {}", script.display()), "workdir": text(&far) });
    let ran = call(&place, &input, &["--allow", "external_directory", "--deny", "sandbox_write"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(std::fs::read_dir(far.path()).unwrap().count(), 0, "{}", ran.out);

    // What the script itself names is agreed to with it.
    let named = json!({ "command": "echo x > here", "workdir": text(&far) });
    let ran = call(&place, &named, &["--allow", "external_directory"]);
    assert_eq!((ran.code, far.path().join("here").exists()), (0, true), "{}{}", ran.out, ran.err);
}

#[test]
fn no_place_to_work_in_is_a_reason_to_run_without_confinement() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let input = json!({ "command": "ls", "workdir": "/" });
    let ran = call(&place, &input, &["--allow", "external_directory", "--deny", "unconfined"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let everything = json!({ "command": "cp sneak.sh /" });
    let ran = call(&place, &everything, &["--yes"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("was not run"), "{}", ran.out);
}

#[test]
fn everything_named_by_a_program_that_nobody_knows_is_asked_about_and_stays_as_it_is() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let program = "#!/bin/sh\necho ran; touch $1/haft-made-this 2>&1; true\n";
    let program = place.file("program", program);
    assert!(std::process::Command::new("chmod").arg("755").arg(program).status().unwrap().success());
    let input = json!({ "command": "./program /" });
    let ran = call(&place, &input, &[]);
    assert!(ran.code == 6 && ran.out.contains("external_directory /*"), "{}{}", ran.out, ran.err);
    let ran = call(&place, &input, &["--allow", "external_directory"]);
    assert!(ran.code == 0 && ran.out.contains("ran"), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("Read-only file system") && !Path::new("/haft-made-this").exists(),
        "{}",
        ran.out
    );
    // A command that only shows everything where it is leaves nothing.
    let input = json!({ "command": "bwrap --ro-bind / / true; echo nested=$?; echo usable" });
    let ran = call(&place, &input, &[]);
    assert!(ran.code == 0 && ran.out.contains("usable"), "{}{}", ran.out, ran.err);
}

/// A server on this machine's loopback that greets everybody.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).ok();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello").ok();
        }
    });
    port
}

#[test]
fn a_host_is_asked_for_by_its_name_and_no_other_is_reached() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let (granted, other) = (server(), server());
    let curl = |port: u16| format!("curl -fsS http://127.0.0.1:{port}/");
    let host = format!("127.0.0.1:{granted}");
    let rule = format!("network={host}");
    let input = json!({ "command": curl(granted), "network": [host] });
    assert_eq!(call(&place, &input, &[]).code, 6);
    assert_eq!(call(&place, &input, &["--allow", "*"]).code, 6, "everything is not this");
    let done = call(&place, &input, &["--allow", &rule]).json();
    assert_eq!(output(&done), "hello", "{done}");

    let input = json!({ "command": curl(other), "network": [host] });
    let done = call(&place, &input, &["--allow", &rule]).json();
    assert_ne!(done["metadata"]["exit"], 0, "{done}");
    let field = format!("network: [\"{host}\",\"127.0.0.1:{other}\"]");
    assert!(output(&done).contains(&field), "{}", output(&done));
    // What the proxy refused is certain, so a rule that grants it is followed at once.
    let done = call(&place, &input, &["--allow", "network=127.0.0.1:*"]).json();
    assert!(output(&done).starts_with("hello"), "{done}");

    place.global_config(&json!({ "sandbox": { "hosts": [host] } }).to_string());
    let done = call(&place, &json!({ "command": curl(granted) }), &[]).json();
    assert_eq!(output(&done), "hello", "{done}");

    let bad = call(&place, &json!({ "command": "true", "network": ["https://a.com/"] }), &[]);
    assert!(bad.code == 3 && bad.out.contains("is no host"), "{}", bad.out);
}

#[test]
fn a_name_for_many_hosts_does_not_get_around_a_rule_about_one() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    let input = json!({ "command": "true", "network": ["*.example.com"] });
    let but = ["--allow", "network=*.example.com", "--deny", "network=evil.example.com"];
    assert_eq!(call(&place, &input, &but).code, 6);
    assert_eq!(call(&place, &input, &["--yes"]).code, 0);
    for named in ["evil.example.com", "evil.example.com:443", "Evil.Example.Com.:8080"] {
        let input = json!({ "command": "true", "network": [named] });
        let denied = call(&place, &input, &["--allow", "network", "--deny", "network=evil.example.com"]);
        assert_eq!(denied.code, 5, "{named}: {}", denied.out);
    }
    place.global_config(r#"{ "sandbox": { "hosts": ["*.example.com"] } }"#);
    assert_eq!(call(&place, &input, &[]).code, 0, "what is configured needs no question");
}

#[test]
fn the_read_only_profile_is_widened_by_exactly_what_is_agreed_to() {
    let place = Place::new();
    if !is_confined(&place) {
        return;
    }
    place.global_config(r#"{ "sandbox": "read-only" }"#);
    place.file(".git/hooks/pre-commit", "old\n");
    place.file(
        "sneak.sh",
        "echo x > new; echo x > a/new; echo x > .git/hooks/pre-commit; echo x > /tmp/own\n",
    );
    place.file("a/file", "");
    call(&place, &json!({ "command": "sh sneak.sh" }), &[]);
    assert!(!place.ws().join("new").exists() && !place.ws().join("a/new").exists());
    let input = json!({ "command": "sh sneak.sh", "writable": ["a"] });
    assert_eq!(call(&place, &input, &[]).code, 6);
    call(&place, &input, &["--allow", "sandbox_write"]);
    assert!(!place.ws().join("new").exists() && place.ws().join("a/new").exists());
    call(&place, &json!({ "command": "sh sneak.sh", "writable": ["."] }), &["--allow", "sandbox_write"]);
    assert!(place.ws().join("new").exists());
    assert_eq!(place.read(".git/hooks/pre-commit"), "old\n");
}

#[test]
fn where_less_can_be_held_nothing_runs_unasked() {
    let place = Place::new();
    let lesser = |level: &str, input: &Value, more: &[&str]| {
        let input = input.to_string();
        let args = [&["call", "bash", input.as_str(), "--json"], more].concat();
        ran(place.command(&args).env("HAFT_SANDBOX_LEVEL", level).output().unwrap())
    };
    let touch = json!({ "command": "touch ran" });
    for level in ["landlock", "none"] {
        assert_eq!(lesser(level, &touch, &[]).code, 6);
        assert_eq!(lesser(level, &touch, &["--allow", "*"]).code, 6, "everything is not this");
        assert!(!place.ws().join("ran").exists());
        let hosts = json!({ "command": "touch ran", "network": ["example.com"] });
        let told = lesser(level, &hosts, &["--allow", "network", "--allow", "unconfined"]);
        assert!(told.code == 3 && told.out.contains("single hosts"), "{}", told.out);
        assert!(!place.ws().join("ran").exists());
    }
    assert_eq!(lesser("landlock", &touch, &["--allow", "unconfined"]).code, 0);
    assert!(place.ws().join("ran").exists());
    assert_eq!(lesser("nonsense", &touch, &[]).code, 2);
}
