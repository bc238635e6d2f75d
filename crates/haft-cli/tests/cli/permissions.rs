//! Decisions as a person asks about them, and saved consents.

use serde_json::json;

use crate::support::Place;

#[test]
fn explain_names_rule_place_and_what_it_overrode() {
    let place = Place::new();
    place.global_config("{ \"permission\": { \"read\": { \"*\": \"allow\", \"secret/*\": \"deny\" } } }");
    let ran = place.run(&["permission", "explain", "read", "secret/key"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.out.contains("deny") && ran.out.contains("haft.jsonc:1:43 (global)"), "{}", ran.out);
    assert!(ran.out.contains("overridden") && ran.out.contains("(defaults)"), "{}", ran.out);
}

#[test]
fn check_answers_with_word_and_exit_code() {
    let place = Place::new();
    for (action, resource, word, code) in
        [("read", "a.txt", "allow", 0), ("read", ".env", "ask", 6), ("external_directory", "/x/*", "ask", 6)]
    {
        let ran = place.run(&["permission", "check", action, resource]);
        assert_eq!((ran.out.trim(), ran.code), (word, code), "{action} {resource}");
    }
    let ran = place.run(&["permission", "check", "edit", "a", "--deny", "edit=a", "--json"]);
    assert_eq!((ran.code, &ran.json()["matched"]["source"]), (5, &json!("--deny")));
}

#[test]
fn a_script_is_explained_command_by_command_with_the_strictest_first() {
    let place = Place::new();
    place.global_config(r#"{ "permission": { "bash": { "*": "ask", "git *": "allow", "rm *": "deny" } } }"#);
    let ran = place.run(&["permission", "explain", "bash", "git status && sudo rm x; ls > ../y"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    let decided: Vec<&str> = ran.out.lines().filter(|line| line.contains("→")).collect();
    assert_eq!(decided.first(), Some(&"bash rm x  →  deny"), "{}", ran.out);
    assert_eq!(decided.last(), Some(&"bash git status  →  allow"), "{}", ran.out);
    assert!(decided.contains(&"bash sudo rm x  →  ask") && decided.contains(&"bash ls > ../y  →  ask"));
    assert!(decided.iter().any(|line| line.starts_with("external_directory")), "{}", ran.out);
    assert!(ran.out.contains("haft.jsonc:1:"), "{}", ran.out);

    for (script, code) in
        [("git status | git log", 0), ("git log $(x)", 6), ("rm x; git log", 5), ("cd .", 0)]
    {
        assert_eq!(place.run(&["permission", "check", "bash", script]).code, code, "{script}");
    }
    let ran = place.run(&["permission", "explain", "bash", "git log; $x \u{202e}", "--json"]);
    assert_eq!((ran.code, &ran.json()["decisions"][0]["action"]), (6, &json!("ask")));
}

#[test]
fn a_preview_shows_what_could_hide() {
    let place = Place::new();
    let ran = place.run(&[
        "permission",
        "preview",
        "write",
        r#"{"filePath":"src/\u202egpj.rs","content":"x\u001b[2Jy"}"#,
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!ran.out.contains('\u{202e}') && !ran.out.contains('\u{1b}'), "{:?}", ran.out);
    assert!(ran.out.contains(r"\u{202e}") && ran.out.contains(r"\u{1b}"), "{}", ran.out);
    assert!(!place.ws().join("src").exists());
}

#[test]
fn a_waiting_call_is_answered_from_another_process() {
    let place = Place::new();
    place.file(".env", "hidden");
    for (reply, code) in [("once", 0), ("reject", 5)] {
        let waiting = place
            .command(&["call", "read", "filePath=.env", "--on-ask", "wait:30", "--json"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = pending(&place);
        let ran = place.run(&["permission", "reply", &id, reply]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ended = crate::support::ran(waiting.wait_with_output().unwrap());
        assert_eq!(ended.code, code, "{}", ended.out);
    }
    assert_eq!(place.run(&["permission", "pending", "--json"]).json()["requests"], json!([]));
    assert_eq!(place.run(&["permission", "reply", "per_gone", "once"]).code, 2);
}

#[test]
fn an_always_is_saved_listed_obeyed_and_revoked() {
    let place = Place::new();
    place.file(".env", "hidden");
    let waiting = place.command(&["call", "read", "filePath=.env", "--on-ask", "wait:30"]).spawn().unwrap();
    let id = pending(&place);
    assert_eq!(
        place.run(&["permission", "reply", &id, "allow_always"]).code,
        0,
        "the old word is understood"
    );
    assert_eq!(waiting.wait_with_output().unwrap().status.code(), Some(0));

    assert_eq!(place.run(&["call", "read", "filePath=.env"]).code, 0, "it holds for the next process");
    assert_eq!(
        place.run(&["call", "read", "filePath=.env", "--deny", "read=*.env"]).code,
        5,
        "a deny outranks it"
    );
    let grants = place.run(&["permission", "list", "--json"]).json()["grants"].clone();
    let grant = grants[0]["id"].as_str().unwrap().to_owned();
    assert_eq!((&grants[0]["permission"], &grants[0]["scope"]), (&json!("read"), &json!("project")));
    assert!(place.run(&["permission", "explain", "read", ".env"]).out.contains("saved consent"));

    assert_eq!(place.run(&["permission", "forget", &grant]).code, 0);
    assert_eq!(place.run(&["permission", "forget", &grant]).code, 2);
    assert_eq!(place.run(&["call", "read", "filePath=.env"]).code, 6);
}

#[test]
fn a_rule_for_everything_does_not_open_what_other_programs_execute() {
    let place = Place::new();
    std::fs::create_dir_all(place.ws().join(".git/hooks")).unwrap();
    let hook = |extra: &[&str]| {
        let args = [&["call", "write", "filePath=.git/hooks/pre-commit", "content=x"], extra].concat();
        place.run(&args).code
    };
    assert_eq!(hook(&[]), 6);
    assert_eq!(hook(&["--allow", "*"]), 6, "everything is not this");
    assert_eq!(hook(&["--deny", "*"]), 5);
    assert_eq!(hook(&["--allow", "protected_path=.git/hooks/*"]), 0, "a rule that names it is");
}

#[test]
fn hooks_are_protected_wherever_git_is_told_to_find_them() {
    let place = Place::new();
    std::fs::create_dir_all(place.ws().join(".git")).unwrap();
    place.file(".git/config", "[core]\n\thooksPath = .githooks ; shared\n[include]\n\tpath = ../.gitcfg\n");
    place.file(".gitcfg", "[core]\n\thooksPath = more/hooks\n");
    for path in [".githooks/pre-commit", "more/hooks/pre-push", ".gitcfg"] {
        let path = format!("filePath={path}");
        assert_eq!(place.run(&["call", "write", &path, "content=x"]).code, 6, "{path}");
    }
    assert_eq!(place.run(&["call", "write", "filePath=more/other", "content=x"]).code, 0);
}

#[test]
fn what_stands_in_the_way_is_told_only_to_those_who_may_write() {
    let place = Place::new();
    place.file("secret/x", "s");
    std::fs::hard_link(place.ws().join("secret/x"), place.ws().join("secret/y")).unwrap();
    let denied = place.run(&["call", "write", "filePath=secret/x", "content=n", "--deny", "edit=secret/*"]);
    assert!(denied.code == 5 && !denied.err.contains("hard link"), "{}", denied.err);
    let outside = place.run(&["call", "write", "filePath=/etc", "content=n"]);
    assert!(outside.code == 6 && !outside.err.contains("is a directory"), "{}", outside.err);
    assert_eq!(place.run(&["call", "write", "filePath=secret", "content=n"]).code, 3);
}

#[test]
fn the_third_identical_call_in_a_session_asks() {
    let place = Place::new();
    place.file("a.txt", "x");
    let call = || place.run(&["call", "read", "filePath=a.txt", "--session", "loop"]).code;
    assert_eq!([call(), call(), call()], [0, 0, 6]);
    assert_eq!(place.run(&["call", "read", "filePath=a.txt"]).code, 0, "other sessions are not concerned");
}

/// Waits until a request is pending, and names it.
fn pending(place: &Place) -> String {
    for _ in 0..200 {
        let requests = place.run(&["permission", "pending", "--json"]).json();
        if let Some(id) = requests["requests"][0]["id"].as_str() {
            return id.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("no request became pending");
}
