//! Plugins in conversations, with a server that shows what the model was really sent.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Asked, Server};
use crate::support::{Place, Ran, ran};

/// An answer that may wait for something.
enum Said {
    Whole(Value),
    /// Two calls, of which the second is complete only when a file below some place has changed.
    Waiting {
        calls: [(&'static str, Value); 2],
        file: PathBuf,
    },
}

impl Answer for Said {
    fn send(&self, connection: &mut TcpStream) -> std::io::Result<()> {
        let (file, [first, second]) = match self {
            Said::Whole(answer) => return answer.send(connection),
            Said::Waiting { calls, file } => (file, calls),
        };
        let event = |at: usize, function: Value, finish: Option<&str>| {
            let call =
                json!({ "index": at, "id": format!("w{at}"), "type": "function", "function": function });
            let choice = json!({ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": finish });
            format!("data: {}\n\n", json!({ "choices": [choice] }))
        };
        let before = std::fs::read(file)?;
        write!(
            connection,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )?;
        write!(
            connection,
            "{}",
            event(0, json!({ "name": first.0, "arguments": first.1.to_string() }), None)
        )?;
        write!(connection, "{}", event(1, json!({ "name": second.0, "arguments": "" }), None))?;
        connection.flush()?;
        while std::fs::read(file)? == before {
            std::thread::sleep(Duration::from_millis(5));
        }
        write!(connection, "{}", event(1, json!({ "arguments": second.1.to_string() }), Some("tool_calls")))?;
        write!(connection, "data: [DONE]\n\n")
    }
}

pub(crate) fn says(text: &str) -> Value {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }] })
}

pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(at, (name, input)): (usize, &(&str, Value))| {
        json!({ "id": format!("c{at}"), "type": "function",
            "function": { "name": name, "arguments": input.to_string() } })
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let message = json!({ "role": "assistant", "content": "", "tool_calls": calls });
    json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] })
}

pub(crate) fn talk(place: &Place, server: &Server, args: &[&str]) -> Ran {
    let mut haft = place.command(&[&["run", "-m", "openai/some-model"], args].concat());
    haft.env("HAFT_TRUST", "1").env("HAFT_LLM_BASE_URL", &server.address);
    ran(haft.output().unwrap())
}

#[test]
fn plugins_change_what_the_model_is_told_and_how_it_is_to_answer() {
    let place = Place::new();
    place.file(
        ".opencode/plugin/house.ts",
        r#"
        export const House = async () => ({
            "chat.message": async (input: { sessionID: string }, output: any) => {
                if (!input.sessionID.startsWith("ses_")) throw new Error("no session");
                output.parts[0].text = output.parts[0].text.replace("heron", "stork");
                output.parts.push({ type: "text", text: "Answer in one word.", synthetic: true });
            },
            "chat.params": async (input: any, output: any) => {
                if (input.provider.id !== "openai" || input.message.role !== "user") throw new Error("what is this?");
                output.temperature = 0.125;
                output.topP = 0.5;
                output.topK = 7;
                output.maxOutputTokens = 321;
                output.options.reasoningEffort = "low";
            },
            "chat.headers": async (input: any, output: any) => {
                output.headers["x-model"] = input.model.modelID;
                output.headers["x-ticket"] = "hush-hush-0123456789";
            },
            "experimental.chat.system.transform": async (_input: unknown, output: any) => {
                output.system.push("You are fond of birds.");
            },
        });
        "#,
    );
    let server =
        Server::answering(vec![json!({ "error": { "message": "bad ticket hush-hush-0123456789" } })]);
    let ran = talk(&place, &server, &["where is the heron?"]);
    let Asked { headers, body } = server.next();
    let messages = body["messages"].as_array().unwrap();
    let system = messages[0]["content"].as_str().unwrap();
    assert!(system.ends_with("You are fond of birds."), "{system}");
    assert_eq!(messages[1]["content"], "where is the stork?\nAnswer in one word.");
    assert_eq!((&body["temperature"], &body["top_p"]), (&json!(0.125), &json!(0.5)));
    assert_eq!((&body["top_k"], &body["reasoning_effort"]), (&json!(7), &json!("low")));
    assert_eq!(body["max_tokens"], 321);
    assert!(headers.contains("x-model: some-model") && headers.contains("x-ticket: hush-hush"), "{headers}");
    // A server that repeats what it was sent does not get it shown.
    assert!(ran.err.contains("bad ticket") && !ran.err.contains("hush-hush"), "{}", ran.err);
}

#[test]
fn plugins_see_the_conversation_and_edit_what_the_model_says() {
    let place = Place::new();
    place.file("a.txt", "the word is heron\n");
    place.file(
        ".opencode/plugin/editor.js",
        r#"
        export default async () => ({
            "experimental.chat.messages.transform": async (_input, output) => {
                for (const { info, parts } of output.messages) {
                    if (info.role === "user") parts[0].text += " (" + output.messages.length + ")";
                    for (const part of parts)
                        if (part.type === "tool" && part.state.status === "completed")
                            part.state.output = part.tool + " had " + (part.state.output.includes("heron") ? "it" : "nothing");
                }
                output.messages.push({ info: { role: "user" }, parts: [{ type: "text", text: "hurry" }] });
            },
            "experimental.text.complete": async (input, output) => {
                if (input.messageID && input.partID) output.text = output.text.toUpperCase();
            },
        });
        "#,
    );
    let server =
        Server::answering(vec![calls(&[("read", json!({ "filePath": "a.txt" }))]), says("It is heron.")]);
    let ran = talk(&place, &server, &["which word?"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "IT IS HERON."), "{}", ran.err);
    let first = server.next().body;
    assert_eq!(first["messages"][1]["content"], "which word? (1)");
    assert_eq!(first["messages"][2]["content"], "hurry");
    let second = server.next().body;
    let told: Vec<&Value> =
        second["messages"].as_array().unwrap().iter().map(|said| &said["content"]).collect();
    assert_eq!(told[1..], [&json!("which word? (2)"), &json!(""), &json!("read had it"), &json!("hurry")]);
}

#[test]
fn a_hook_that_throws_ends_the_work_and_is_named() {
    let place = Place::new();
    place.file(
        ".opencode/plugin/broken.ts",
        r#"export const Broken = async () => ({ "chat.params": async () => { throw new Error("out of order"); } });"#,
    );
    let server = Server::answering(vec![says("Never.")]);
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    for words in ["chat.params", "broken.ts", "out of order"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert!(!server.has_been_asked(), "the model was asked");
}

#[test]
fn a_tool_that_is_edited_during_a_conversation_is_offered_as_it_is_now() {
    let place = Place::new();
    let tool = |word: &str| {
        format!(
            "import {{ tool }} from \"@opencode-ai/plugin\";\nexport default tool({{ description: \"says {word}\", args: {{}}, execute: async () => \"{word}\" }});\n"
        )
    };
    let file = place.file(".opencode/tool/bird.ts", &tool("heron"));
    place.file("new.ts", &tool("stork"));
    let copy = json!({ "command": "cp new.ts .opencode/tool/bird.ts", "description": "Replaces the tool" });
    let server = Server::answering(vec![
        Said::Whole(calls(&[("bird", json!({}))])),
        Said::Waiting { calls: [("bash", copy), ("bird", json!({}))], file },
        Said::Whole(calls(&[("bird", json!({}))])),
        Said::Whole(says("Done.")),
    ]);
    let ran = talk(&place, &server, &["--auto", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let described = |asked: &Asked| {
        let tools = asked.body["tools"].as_array().unwrap().clone();
        let bird = tools.into_iter().find(|tool| tool["function"]["name"] == "bird").unwrap();
        bird["function"]["description"].as_str().unwrap().to_owned()
    };
    let asked: Vec<Asked> = (0..4).map(|_| server.next()).collect();
    let last = |asked: &Asked| asked.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert_eq!((described(&asked[1]), last(&asked[1])), ("says heron".to_owned(), json!("heron")));
    assert_eq!(described(&asked[2]), "says stork");
    let stale = last(&asked[2]);
    assert!(stale.as_str().unwrap().starts_with("Stale tool call: bird"), "{stale}");
    assert_eq!(last(&asked[3]), "stork");
}

#[test]
fn a_hook_that_fetches_is_decided_by_the_rules_of_its_session() {
    let tickets = Server::answering(vec![json!({ "ticket": "t-42" })]);
    let place = Place::new();
    let code = r#"export const Tickets = async () => ({
        "chat.headers": async (_input: unknown, output: any) => {
            const { ticket } = await (await fetch("ADDRESS", { method: "POST", body: "{}" })).json();
            output.headers["x-ticket"] = ticket;
        },
    });"#;
    place.file(".opencode/plugin/tickets.ts", &code.replace("ADDRESS", &tickets.address));
    place.global_config(r#"{ "permission": { "webfetch": "deny" } }"#);
    let server = Server::answering(vec![says("Yes.")]);
    let ran = talk(&place, &server, &["hello"]);
    assert!(ran.code != 0 && ran.err.contains("chat.headers"), "{}", ran.err);
    assert!(!tickets.has_been_asked(), "a denied address was asked");
    place.global_config(
        r#"{ "permission": { "webfetch": "allow" }, "webfetch": { "allow_private": ["127.0.0.1:*"] } }"#,
    );
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(server.next().headers.contains("x-ticket: t-42"));
}

#[test]
fn a_plugin_that_was_at_work_is_told_of_the_end() {
    let place = Place::new();
    place.file(
        ".opencode/plugin/last.ts",
        r#"import { writeFileSync } from "node:fs";
        export const Last = async ({ directory }: { directory: string }) => {
            let asked = 0;
            return {
                "chat.params": async () => { asked += 1; },
                dispose: async () => { writeFileSync(`${directory}/asked`, String(asked)); },
            };
        };"#,
    );
    let server = Server::answering(vec![says("Yes.")]);
    let ran = talk(&place, &server, &["hello"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.read("asked"), "1");
    let check = place.command(&["tools", "check", "--json"]).env("HAFT_TRUST", "1").output().unwrap();
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(check["files"][0]["uncalled"], json!([]), "{check}");
}
