//! Whole sessions of the real binary: with a server that speaks a provider's format, and across crashes.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Server;
use crate::support::Place;

const KEY: &str = "sk-test-4242424242";

/// Whether a text stands in a file below a directory.
fn holds(directory: &Path, text: &str) -> bool {
    let has = |path: &Path| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().any(|path| if path.is_dir() { holds(&path, text) } else { has(&path) })
}

fn events(chunks: &[Value]) -> String {
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    lines + "data: [DONE]\n\n"
}

fn delta(delta: &Value, finish: Option<&str>) -> Value {
    json!({ "id": "x", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
}

#[test]
fn a_session_over_chat_completions_reads_a_file_and_tells_what_it_says() {
    let place = Place::new();
    place.file("a.txt", "the word is heron\n");
    let call =
        |arguments: &str| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": arguments } }] });
    let server = Server::answering(vec![
        events(&[
            delta(&json!({ "role": "assistant", "content": "I look." }), None),
            delta(
                &json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": { "name": "read", "arguments": "" } }] }),
                None,
            ),
            delta(&call("{\"file"), None),
            delta(&call("Path\": \"a.txt\"}"), None),
            delta(&json!({}), Some("tool_calls")),
        ]),
        events(&[
            delta(&json!({ "role": "assistant", "content": "It is heron." }), None),
            delta(&json!({}), Some("stop")),
            json!({ "choices": [], "usage": { "prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127 } }),
        ]),
    ]);
    let mut haft = place.command(&["run", "-m", "openai/some-model", "which word?"]);
    let ran = haft.env("HAFT_LLM_BASE_URL", &server.address).env("OPENAI_API_KEY", KEY).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{err}");
    assert!(out.contains("It is heron."), "{out}");
    assert!(err.contains("120") && err.contains('7'), "usage is shown: {err}");

    let first = server.next().body;
    assert_eq!((first["model"].as_str(), first["stream"].as_bool()), (Some("some-model"), Some(true)));
    let tools = first["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "read"));
    let second = server.next().body;
    let result = second["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((result["role"].as_str(), result["tool_call_id"].as_str()), (Some("tool"), Some("c1")));
    assert!(result["content"].to_string().contains("the word is heron"), "{result}");
    assert!(!err.contains(KEY) && !holds(&place.home(), KEY), "the key was written down");
}

#[test]
fn of_an_answer_that_broke_off_and_came_again_only_the_whole_one_is_printed() {
    let place = Place::new();
    let broken =
        format!("data: {}\n\n", delta(&json!({ "role": "assistant", "content": "Half a\nword" }), None));
    let whole = events(&[delta(&json!({ "role": "assistant", "content": "Whole." }), Some("stop"))]);
    let say = |arguments: &[&str]| {
        let server = Server::answering(vec![broken.clone(), whole.clone()]);
        let mut haft = place.command(&[&["run", "-m", "openai/some-model", "go"], arguments].concat());
        let ran = haft.env("HAFT_LLM_BASE_URL", &server.address).env("OPENAI_API_KEY", KEY).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    assert_eq!(say(&[]), "Whole.\n");
    let documents = say(&["--format", "json"]);
    let documents: Vec<Value> = documents.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &'static str| documents.iter().filter(move |document| document["type"] == name);
    let removed = &of("message.removed").next().unwrap()["properties"]["messageID"];
    let said: Vec<&str> = of("message.part.delta")
        .filter(|document| document["properties"]["messageID"] != *removed)
        .filter_map(|document| document["properties"]["delta"].as_str())
        .collect();
    assert_eq!(said.concat(), "Whole.");
}

#[test]
fn a_job_that_ended_with_its_process_is_told_once_unless_its_end_was_seen() {
    let place = Place::new();
    let job = |command: &str| json!({ "tool": "bash", "input": { "command": command, "background": true } });
    let script = json!({ "turns": [
        { "calls": [job("sleep 60"), job("true")] },
        { "calls": [{ "tool": "bash", "input": { "command": "sleep 0.3" } }] },
        { "calls": [{ "tool": "jobs", "input": { "action": "list" } }] },
        { "text": "It runs." }, { "text": "I see." }, { "text": "Still." },
    ] });
    place.file("s.json", &script.to_string());
    assert_eq!(place.run(&["run", "-m", "scripted/s.json", "begin"]).code, 0);
    for (said, words) in [("I see.\n", "and?"), ("Still.\n", "again?")] {
        let ran = place.run(&["run", "-m", "scripted/s.json", "-c", words]);
        assert_eq!((ran.code, ran.out.as_str()), (0, said), "{}", ran.err);
    }
    let told = place.run(&["session", "export", "--all"]).out;
    assert_eq!(told.matches("is gone: the process that ran it has ended").count(), 1, "{told}");
    assert!(told.contains("if it is needed:\\nsleep 60"), "{told}");
}

#[test]
fn a_task_that_was_lost_with_its_process_is_told_when_the_session_goes_on() {
    let place = Place::new();
    let task = json!({ "description": "count", "prompt": "count them", "subagent_type": "general", "background": true });
    let script = json!({
        "agents": { "general": [{ "calls": [{ "tool": "bash", "input": { "command": "touch begun; sleep 60" } }] }] },
        "turns": [{ "calls": [{ "tool": "task", "input": task }] }, { "text": "I wait." }, { "text": "I see." }],
    });
    place.file("s.json", &script.to_string());
    let mut haft =
        place.command(&["run", "-m", "scripted/s.json", "begin"]).stdout(Stdio::null()).spawn().unwrap();
    for _ in 0..3000 {
        if place.ws().join("begun").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    haft.kill().unwrap();
    haft.wait().unwrap();
    let ran = place.run(&["run", "-m", "scripted/s.json", "-c", "and?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "I see.\n"), "{}", ran.err);
    let said = place.run(&["session", "export", "--all"]).out;
    assert_eq!(said.matches("Background task lost: count").count(), 1, "{said}");
    // It is told once.
    let ran = place.run(&["run", "-m", "scripted/s.json", "-c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let said = place.run(&["session", "export", "--all"]).out;
    assert_eq!(said.matches("Background task lost").count(), 1, "{said}");
}

#[test]
fn a_session_that_is_killed_at_any_moment_goes_on_and_runs_nothing_twice() {
    const TURNS: usize = 12;
    let place = Place::new();
    let mut turns: Vec<Value> = (0..TURNS)
        .map(|at| json!({ "calls": [{ "tool": "bash", "input": { "command": format!("echo {at} >> log") } }] }))
        .collect();
    turns.push(json!({ "text": "finished" }));
    place.file("s.json", &json!({ "turns": turns }).to_string());
    place.file("log", "");

    let mut prompt = vec!["run", "-m", "scripted/s.json", "begin"];
    let mut finished = false;
    // Each attempt lives a little longer than the one before, so each is cut somewhere else. The last ones live much
    // longer, so that a machine with much else to do comes to the end, too.
    for attempt in 0..60u64 {
        let mut haft = place.command(&prompt).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 + attempt * 17 + attempt.saturating_sub(45) * 400));
        let _ended = haft.kill();
        let out = haft.wait_with_output().unwrap();
        if String::from_utf8_lossy(&out.stdout).contains("finished") {
            finished = true;
            break;
        }
        // What was said is kept as soon as a session is there to keep it.
        if !place.run(&["session", "list"]).out.is_empty() {
            prompt = vec!["run", "-m", "scripted/s.json", "-c"];
        }
    }
    assert!(finished, "it never came to an end");
    let log = std::fs::read_to_string(place.ws().join("log")).unwrap();
    let lines: Vec<usize> = log.lines().map(|line| line.parse().unwrap()).collect();
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "something ran twice: {lines:?}");
    // The record claims no more than what happened, and whatever happened is on record.
    let calls = place.log();
    let status = |at: usize| {
        let key = format!("call_{at}_0");
        calls
            .iter()
            .find(|call| call["key"] == key.as_str())
            .map(|call| call["status"].as_str().unwrap().to_owned())
    };
    for at in 0..TURNS {
        match status(at).as_deref() {
            Some("completed") => assert!(lines.contains(&at), "{at} did not happen\n{calls:#?}"),
            Some("error") => {}
            // Its process died before it could begin.
            None => assert!(!lines.contains(&at), "{at} is not on record\n{calls:#?}"),
            Some(other) => panic!("{at} is {other}\n{calls:#?}"),
        }
    }
}

#[test]
fn two_runs_of_one_session_do_not_both_run() {
    let place = Place::new();
    place.file(
        "s.json",
        &json!({ "turns": [
            { "calls": [{ "tool": "bash", "input": { "command": "touch began; sleep 20" } }] },
            { "text": "done" },
        ]})
        .to_string(),
    );
    let mut first = place
        .command(&["run", "-m", "scripted/s.json", "begin"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !place.ws().join("began").exists() {
        assert!(first.try_wait().unwrap().is_none(), "the first ended early");
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = place.run(&["run", "-m", "scripted/s.json", "-c", "and this"]);
    assert_ne!(second.code, 0);
    assert!(second.err.contains("is being run already"), "{}", second.err);
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn a_question_is_answered_from_another_process() {
    let place = Place::new();
    let option = |label: &str| json!({ "label": label, "description": "" });
    let questions = json!([
        { "question": "Which database?", "header": "Database", "options": [option("SQLite"), option("Postgres")] },
        { "question": "Which targets?", "header": "Targets", "options": [option("Linux"), option("macOS")], "multiple": true },
    ]);
    let ask = json!({ "calls": [{ "tool": "question", "input": { "questions": questions } }] });
    place.file("s.json", &json!({ "turns": [ask, { "text": "Good." }] }).to_string());
    let mut haft = place.command(&["run", "-m", "scripted/s.json", "begin", "--on-ask", "wait:60"]);
    let haft = haft.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let waiting = || place.run(&["permission", "pending", "--json"]).json()["questions"][0].clone();
    let asked = (0..600).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Some(waiting()).filter(Value::is_object)
    });
    let asked = asked.expect("it is asked");
    let id = asked["id"].as_str().unwrap();
    assert_eq!(asked["questions"][0]["options"][1]["label"], "Postgres");
    let shown = place.run(&["permission", "pending"]).out;
    assert!(shown.contains("Which targets?") && shown.contains("2 macOS"), "{shown}");
    let wrong = place.run(&["permission", "reply", id, "answer", "--answer", "1"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    let outside = place.run(&["permission", "reply", id, "answer", "--answer", "9", "--answer", "1"]);
    assert!(outside.code == 2 && outside.err.contains("\"9\" is no answer to"), "{}", outside.err);
    let given = ["permission", "reply", id, "answer", "--answer", "postgres", "--answer", "1,2"];
    assert_eq!(place.run(&given).code, 0);
    let ran = haft.wait_with_output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let said = place.run(&["session", "export", "--all"]).out;
    assert!(said.contains("Postgres") && said.contains("Linux, macOS"), "{said}");
    assert_eq!(place.run(&given).code, 2, "it was answered");
}

#[test]
fn a_model_is_asked_with_the_options_of_its_configuration() {
    let place = Place::new();
    let answer = events(&[delta(&json!({ "role": "assistant", "content": "Yes." }), Some("stop"))]);
    let server = Server::answering(vec![answer]);
    let models = json!({ "m": {
        "options": { "reasoningEffort": "low", "textVerbosity": "low", "model": "another" },
        "variants": { "hard": { "reasoningEffort": "high" } },
    } });
    let config = json!({
        "provider": { "local": { "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": server.address, "apiKey": KEY }, "models": models } },
        "agent": { "build": { "variant": "hard", "temperature": 0.5, "top_p": 0.25, "options": { "serviceTier": "flex" } } },
    });
    let mut haft = place.command(&["run", "-m", "local/m", "go"]);
    let ran = haft.env("HAFT_CONFIG_CONTENT", config.to_string()).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let request = server.next().body;
    let of = |key: &str| request[key].clone();
    assert_eq!((of("model"), of("temperature"), of("top_p")), (json!("m"), json!(0.5), json!(0.25)));
    assert_eq!(
        (of("reasoning_effort"), of("verbosity"), of("service_tier")),
        (json!("high"), json!("low"), json!("flex"))
    );
}

#[test]
fn images_and_documents_are_attached_as_what_they_are() {
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let place = Place::new();
    let png = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, PNG).unwrap();
    std::fs::write(place.ws().join("a.png"), png).unwrap();
    std::fs::write(place.ws().join("b.pdf"), b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n")
        .unwrap();
    let answer = events(&[delta(&json!({ "role": "assistant", "content": "Seen." }), Some("stop"))]);
    let server = Server::answering(vec![answer]);
    let mut haft = place.command(&["run", "-m", "openai/some-model", "look at @a.png", "--file", "b.pdf"]);
    let ran = haft.env("HAFT_LLM_BASE_URL", &server.address).env("OPENAI_API_KEY", KEY).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let request = server.next().body;
    let said = request["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(
        said.contains("look at @a.png") && said.contains(&format!("data:image/png;base64,{}", &PNG[..40])),
        "{said}"
    );
    // A server of which nobody knows whether it reads documents is told that there is one.
    assert!(said.contains("b.pdf") && !said.contains("JVBERi0"), "{said}");
    let kept = place.run(&["session", "export", "--all"]).out;
    assert!(kept.contains("application/pdf") && kept.contains("image/png"), "{kept}");
}
