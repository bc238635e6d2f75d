//! What is sent, in each format.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::sync::Arc;

use expect_test::Expect;
use haft::{Action, Content, Definition, Input, ToolName};
use haft_agent::provider::{CallResult, Headers, Options, Prompt, ProviderError, Utterance, Uttered};
use haft_agent::wire::Format;
use serde_json::{Value, json};

use crate::support::{FORMATS, KEY, Reply, Request, Server, hear, prompt, runtime};

fn media(mime: &str, name: Option<&str>) -> Content {
    Content::Media { mime: mime.to_owned(), data: Arc::from(*b"abc"), name: name.map(str::to_owned) }
}

fn tool(name: &str, schema: Value) -> Definition {
    let name = ToolName::parse(name).unwrap();
    let action = Action::from(&name);
    Definition {
        name,
        description: "Reads.".to_owned(),
        input: Arc::new(haft::Schema::given(schema)),
        output: Arc::new(haft::Schema::given(json!({}))),
        action,
    }
}

/// A conversation with everything in it. The opaque parts come from the format that is asked.
fn everything(opaque: impl Fn(Value) -> Option<Value>, thought: Value) -> Prompt {
    let call =
        |id: &str, input| Uttered::Call { id: id.to_owned(), name: "read".to_owned(), input, opaque: None };
    let result = |id: &str, content: Vec<Content>, is_error| CallResult {
        id: id.to_owned(),
        name: "read".to_owned(),
        content: content.into(),
        is_error,
    };
    let text = |text: &str| Content::Text(text.to_owned());
    let malformed = Input::Malformed { text: "{oops".to_owned(), problem: "eof".to_owned() };
    Prompt {
        tools: vec![tool(
            "read",
            json!({"$schema": "s", "type": "object", "properties": {"filePath": {"type": "string"}}, "required": ["filePath"], "additionalProperties": false}),
        )],
        options: Options {
            temperature: Some(0.5),
            output_max: Some(99),
            extra: [("x_own".to_owned(), json!(1))].into_iter().collect(),
            ..Options::default()
        },
        ..prompt(vec![
            Utterance::User(vec![
                text("look"),
                media("image/png", None),
                media("application/zip", Some("z.zip")),
            ]),
            Utterance::Assistant(vec![
                Uttered::Reasoning { text: "hm".to_owned(), opaque: opaque(thought) },
                Uttered::Reasoning {
                    text: "foreign".to_owned(),
                    opaque: Some(json!({"format": "other", "value": "secret"})),
                },
                Uttered::Text("I look.".to_owned()),
                call("a:1", Input::Json(json!({"filePath": "x"}))),
                call("b", malformed),
            ]),
            Utterance::Results(vec![
                result(
                    "a:1",
                    vec![text("an image"), media("image/png", None), media("application/pdf", Some("d.pdf"))],
                    false,
                ),
                result("b", vec![text("no")], true),
            ]),
            Utterance::User(vec![text("go on")]),
        ])
    }
}

fn sent(format: Format, prompt: &Prompt) -> Request {
    let server = Server::new(vec![Reply::json(400, &json!({}))]);
    runtime().block_on(hear(&server.wire(format), prompt));
    server.request()
}

fn check(format: Format, thought: Value, expected: Expect) {
    let name = match format {
        Format::Chat => "chat",
        Format::Responses => "responses",
        Format::Anthropic => "anthropic",
        Format::Gemini => "gemini",
    };
    let request = sent(format, &everything(|value| Some(json!({"format": name, "value": value})), thought));
    let body = serde_json::to_string_pretty(&request.body).unwrap();
    assert!(!body.contains("secret") && !body.contains(KEY) && !request.line.contains(KEY));
    expected.assert_eq(&format!("{}\n{body}", request.line));
}

#[test]
fn what_one_provider_was_told_is_put_into_the_words_of_the_next() {
    let prompt = || everything(Some, json!("a thought of nobody here"));
    let shared = prompt();
    for format in FORMATS.into_iter().chain(FORMATS) {
        assert_eq!(sent(format, &shared).body, sent(format, &prompt()).body, "{format:?}");
    }
}

#[test]
fn the_key_is_in_its_header_and_nowhere_else() {
    for (format, header, value) in [
        (Format::Chat, "authorization", format!("Bearer {KEY}")),
        (Format::Responses, "authorization", format!("Bearer {KEY}")),
        (Format::Anthropic, "x-api-key", KEY.to_owned()),
        (Format::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        let request = sent(format, &prompt(Vec::new()));
        assert_eq!(request.header(header), Some(value.as_str()));
        let holding = request.headers.iter().filter(|(_, value)| value.contains(KEY)).count();
        assert_eq!((holding, request.line.contains(KEY)), (1, false), "{format:?}");
    }
    assert_eq!(sent(Format::Anthropic, &prompt(Vec::new())).header("anthropic-version"), Some("2023-06-01"));
}

#[test]
fn headers_of_one_request_win_and_are_not_shown_by_whoever_repeats_them() {
    let secret = "ticket-0123456789";
    let headers = [("authorization", "Bearer other-key-42"), ("x-ticket", secret)];
    let headers = Headers(headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    assert!(!format!("{headers:?}").contains(secret));
    let asked = Prompt { headers, ..prompt(Vec::new()) };
    let server =
        Server::new(vec![Reply::json(400, &json!({ "error": { "message": format!("bad {secret}") } }))]);
    let (_, error) = runtime().block_on(hear(&server.wire(Format::Chat), &asked));
    let request = server.request();
    assert_eq!(request.header("authorization"), Some("Bearer other-key-42"));
    assert_eq!(request.header("x-ticket"), Some(secret));
    let shown = error.unwrap().to_string();
    assert!(shown.contains("bad") && !shown.contains(secret), "{shown}");
}

#[test]
fn a_tool_that_cannot_be_offered_is_named_before_anything_is_sent() {
    for format in FORMATS {
        let server = Server::new(Vec::new());
        let asked = Prompt { tools: vec![tool("odd", json!({"oneOf": []}))], ..prompt(Vec::new()) };
        let (_, error) = runtime().block_on(hear(&server.wire(format), &asked));
        let Some(ProviderError::Incompatible { tool, problem, .. }) = error else { panic!("{error:?}") };
        assert!(tool == "odd" && problem.contains("oneOf"), "{problem}");
    }
}

#[test]
fn a_models_name_cannot_leave_its_path() {
    let asked = Prompt { model: "../../x?key=1#y".to_owned(), ..prompt(Vec::new()) };
    let line = sent(Format::Gemini, &asked).line;
    assert_eq!(line, "POST /v1/models///x%3Fkey%3D1%23y:streamGenerateContent?alt=sse");
}
