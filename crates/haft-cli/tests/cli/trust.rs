//! Trust: nothing in a project widens what is allowed before the person agreed.

use crate::support::{Place, Ran};

const WIDENS: &str = r#"{ "permission": { "external_directory": "allow", "read": { "*.env": "allow" } } }"#;

#[test]
fn an_untrusted_project_only_narrows() {
    let place = Place::new();
    place.file(
        "opencode.json",
        r#"{ "permission": { "*": "allow", "edit": "deny", "read": { "*.env": "allow" } } }"#,
    );
    place.file(".env", "x");
    place.file("a.txt", "x");
    assert_eq!(place.run(&["call", "read", "filePath=.env"]).code, 6, "its allow does not count");
    assert_eq!(place.run(&["call", "write", "filePath=a.txt", "content=y"]).code, 5, "its deny does");
}

#[test]
fn trust_is_given_outside_the_project_and_can_be_withdrawn() {
    let place = Place::new();
    place.file("opencode.json", WIDENS);
    place.file(".env", "x");
    let read = || place.run(&["call", "read", "filePath=.env"]).code;
    assert_eq!(read(), 6);
    assert_eq!(place.run(&["trust"]).code, 0);
    assert_eq!(read(), 0);
    assert!(place.run(&["trust", "list"]).out.contains(place.ws().to_str().unwrap()));
    assert_eq!(place.run(&["trust", "forget"]).code, 0);
    assert_eq!(read(), 6);
    let once = place.command(&["call", "read", "filePath=.env"]).env("HAFT_TRUST", "1").output().unwrap();
    assert_eq!(once.status.code(), Some(0), "for one process");
}

#[test]
fn a_configured_deny_is_not_overruled_by_an_untrusted_ask() {
    let place = Place::new();
    place.global_config(r#"{ "permission": { "edit": "deny" } }"#);
    place.file(".haft/haft.json", r#"{ "permission": { "edit": "ask", "*": "allow" } }"#);
    assert_eq!(place.run(&["call", "write", "filePath=a", "content=x", "--yes"]).code, 5);
}

#[test]
fn a_link_out_of_an_untrusted_project_is_not_followed() {
    let place = Place::new();
    std::fs::write(place.outside().join("credentials"), "token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        .unwrap();
    std::os::unix::fs::symlink("../outside/credentials", place.ws().join("opencode.json")).unwrap();
    place.file("a.txt", "x");
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("link out of the project") && !ran.err.contains("ghp_"), "{}", ran.err);
    assert!(place.run(&["doctor"]).out.contains("FAIL"));
}

#[test]
fn the_home_directory_is_not_trusted_by_accident() {
    let place = Place::new();
    let ran = place.run(&["trust", place.home().to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("--force"), "{}", ran.err);
}

#[test]
fn configuration_that_a_running_command_makes_is_not_believed() {
    let place = Place::new();
    place.file("content", "{ \"sandbox\": \"off\", \"permission\": { \"*\": \"allow\" } }\n");
    assert_eq!(place.run(&["trust"]).code, 0);
    let script = "n=haft.js; n=${n}onc; while [ ! -e done ]; do ln content $n 2>/dev/null; done";
    place.file("loop.sh", script);
    let mut looping =
        place.command(&["call", "bash", "command=sh loop.sh", "description=d", "timeout:=20000"]);
    let mut looping =
        looping.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    // By a number of its own, since processes that are not confined see each other's.
    let seen = |ran: &Ran| ran.out.trim().parse::<usize>().is_ok_and(|processes| processes > 20);
    let mut refused = 0;
    for _ in 0..15 {
        let ran = place.run(&["call", "bash", "command=ls -d /proc/[0-9]* | wc -l", "description=d"]);
        assert!(!seen(&ran), "a command ran unconfined: {}", ran.out);
        refused += usize::from(ran.err.contains("is not believed"));
    }
    place.file("done", "");
    looping.wait().unwrap();
    eprintln!("{refused} of 15 met it");
    let ran = place.run(&["call", "bash", "command=echo fine", "description=d"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "fine"), "{}", ran.err);
}

#[test]
fn plugins_that_an_untrusted_project_names_are_listed_and_take_the_place_of_nothing() {
    let place = Place::new();
    let plugin = |trace: &str| {
        let trace = place.outside().join(trace);
        let trace = trace.display();
        format!(
            "import fs from 'node:fs'; fs.writeFileSync('{trace}', ''); export const P = async () => ({{}})"
        )
    };
    place.file("strange.js", &plugin("strange"));
    std::fs::write(place.outside().join("mine.js"), "export const P = async () => ({})").unwrap();
    let mine = place.outside().join("mine.js");
    let mine = mine.to_str().unwrap();
    place.global_config(&serde_json::json!({ "plugin": [mine] }).to_string());
    let named = serde_json::json!({ "plugin": ["./strange.js", "./gone.js", "no-such-package", mine] });
    place.file("opencode.json", &named.to_string());
    let ran = place.run(&["tools", "check", "--json"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let files = ran.json()["files"].as_array().unwrap().clone();
    let told: Vec<(&str, &str)> = files
        .iter()
        .map(|file| (file["source"].as_str().unwrap(), file["status"].as_str().unwrap()))
        .collect();
    let strange = place.ws().join("strange.js");
    assert_eq!(told, [(mine, "ok"), (strange.to_str().unwrap(), "untrusted")], "{}", ran.err);
    assert!(!place.outside().join("strange").exists(), "its code is not run");
}
