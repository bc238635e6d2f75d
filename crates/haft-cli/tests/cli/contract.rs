//! What scripts build on: documents, exit codes, and what goes where.

use serde_json::json;

use crate::support::Place;

#[test]
fn a_completed_call_prints_its_output_and_leaves_with_zero() {
    let place = Place::new();
    place.file("a.txt", "hello\n");
    let ran = place.run(&["call", "read", "filePath=a.txt"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("1: hello"), "{}", ran.out);
    assert!(ran.err.contains("read a.txt"), "what is no data goes to standard error: {}", ran.err);
}

#[test]
fn the_document_of_a_call() {
    let place = Place::new();
    place.file("a.txt", "hello\n");
    let document =
        place.run(&["call", "read", r#"{"filePath":"a.txt"}"#, "--json", "--session", "s1"]).json();
    assert_eq!(
        (&document["v"], &document["tool"], &document["session"]),
        (&json!(1), &json!("read"), &json!("s1"))
    );
    assert_eq!((&document["status"], &document["title"]), (&json!("completed"), &json!("a.txt")));
    assert!(document["call"].as_str().unwrap().starts_with("cal_"));
    assert!(document["output"].as_str().unwrap().contains("1: hello"));
    assert_eq!(document["attachments"], json!([]));
    assert!(
        document["ms"].is_u64() && document["structured"].is_object() && document["metadata"].is_object()
    );
}

#[test]
fn every_way_to_write_the_input() {
    let place = Place::new();
    place.file("a.txt", "one\ntwo\nthree\n");
    let path = place.file("in.json", r#"{"filePath":"a.txt","offset":2}"#);
    let file = format!("@{}", path.display());
    let words: [&[&str]; 4] = [
        &["filePath=a.txt", "offset=2"],
        &["filePath=a.txt", "offset:=2"],
        &[r#"{"file_path":"a.txt","offset":"2"}"#],
        &[&file],
    ];
    for input in words {
        let args = [&["call", "read"], input].concat();
        let ran = place.run(&args);
        assert!(
            ran.code == 0 && ran.out.contains("2: two") && !ran.out.contains("1: one"),
            "{args:?} {}",
            ran.err
        );
    }
    let ran = place.run_with(&["call", "read", "-"], br#"{"path":"a.txt","limit":null}"#);
    assert!(ran.code == 0 && ran.out.contains("3: three"), "{}", ran.err);
}

#[test]
fn exit_codes_tell_failures_apart() {
    let place = Place::new();
    place.file("a.txt", "x");
    place.file(".env", "x");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["call", "read", "filePath=nope"], 3, "File not found"),
        (&["call", "read", "{}"], 4, "filePath"),
        (&["call", "read", "filePath=a.txt", "--deny", "read"], 5, "forbidden by the rule"),
        (&["call", "read", "filePath=.env"], 6, "--allow"),
        (&["call", "raed", "filePath=a.txt"], 7, "Did you mean read?"),
        (&["call"], 2, "Usage"),
        (&["call", "read", "nonsense"], 2, "name=text"),
        (&["call", "read", "filePath=a.txt", "--agent", "nobody"], 2, "nobody"),
        (&["nonsense"], 2, "unrecognized"),
    ];
    for (args, code, says) in cases {
        let ran = place.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?} should say {says:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}: no data, so nothing on standard output");
    }
}

#[test]
fn a_refusal_in_json_names_rule_place_and_way_out() {
    let place = Place::new();
    place.file(".env", "SECRET");
    place.global_config("{\n  \"permission\": {\n    \"read\": { \"*.env\": \"deny\" }\n  }\n}");
    let ran = place.run(&["call", "read", "filePath=.env", "--json"]);
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["kind"]), (5, &json!("denied")));
    assert_eq!(error["rule"]["pattern"], "*.env");
    assert!(error["rule"]["source"].as_str().unwrap().ends_with("haft.jsonc:3:15"), "{error}");
    assert!(!ran.out.contains("SECRET"));
}

#[test]
fn a_refusal_in_json_tells_no_more_of_a_rule_than_its_words_do() {
    let place = Place::new();
    place.global_config(r#"{ "permission": { "bash": { "curl --token hunter2 *": "deny" } } }"#);
    let ran = place.run(&["call", "bash", "command=curl --token hunter2 x", "--json"]);
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["rule"]["pattern"]), (5, &json!("curl --token …")));
    assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{}", ran.out);
    let shown = place.run(&["log", "show", ran.json()["call"].as_str().unwrap(), "--json"]);
    assert!(shown.out.contains("curl --token") && !shown.out.contains("hunter2"), "{}", shown.out);
}

#[test]
fn a_dry_run_shows_everything_and_does_nothing() {
    let place = Place::new();
    place.file("a.txt", "old\n");
    let ran = place.run(&["call", "write", "filePath=a.txt", "content=new\n", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("allow  edit a.txt") && ran.out.contains("-old") && ran.out.contains("+new"),
        "{}",
        ran.out
    );
    assert_eq!(place.read("a.txt"), "old\n");
    let refused = place.run(&["call", "write", "filePath=../outside/x", "content=x", "--dry-run"]);
    assert_eq!(refused.code, 6, "{}", refused.out);
    assert!(refused.out.contains("ask    external_directory"), "{}", refused.out);
    assert!(!place.store().join("haft.db").exists(), "a rehearsal leaves no trace");
}

#[test]
fn help_completions_and_manual_are_printed() {
    let place = Place::new();
    for args in [&["--help"][..], &["--version"], &["completions", "bash"], &["man"], &["call", "--help"]] {
        let ran = place.run(args);
        assert!(ran.code == 0 && ran.out.contains("haft"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn tools_are_listed_as_a_model_is_shown_them() {
    let place = Place::new();
    let names = |args: &[&str]| -> Vec<String> {
        let document = place.run(args).json();
        document["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let shown = names(&["tools", "list", "--json"]);
    assert!(shown.contains(&"read".to_owned()) && !shown.contains(&"invalid".to_owned()), "{shown:?}");
    let all = names(&["tools", "list", "--all", "--json"]);
    assert_eq!(all.first().map(String::as_str), Some("invalid"));
    let patching = names(&["tools", "list", "--json", "--model", "openai/gpt-5"]);
    assert!(!patching.contains(&"write".to_owned()), "{patching:?}");
    let shown = place.run(&["tools", "show", "read", "--json"]).json();
    assert_eq!(shown["input"]["properties"]["filePath"]["type"], "string");
    assert!(!shown["input"].to_string().contains("file_path"), "aliases are never advertised");
}
