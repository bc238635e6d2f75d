//! A model that says what a test has written down, behind a server that keeps what it was asked.

use serde_json::{Value, json};

use crate::server::Server;
use crate::support::{Place, Ran, ran};

pub(crate) struct Model(Server);

impl Model {
    /// Answers each request with the next of these, in the format of chat completions.
    pub(crate) fn saying(answers: Vec<Value>) -> Model {
        Model(Server::answering(answers))
    }

    /// Has an agent work with it.
    pub(crate) fn run(&self, place: &Place, args: &[&str]) -> Ran {
        let mut haft = place.command(&[&["run", "-m", "openai/some-model", "--auto"], args].concat());
        ran(haft.env("HAFT_LLM_BASE_URL", &self.0.address).output().unwrap())
    }

    /// What it was told next, from the first message on: each with who says it.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let request = self.0.next().body;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let messages = request["messages"].as_array().unwrap();
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }
}

/// An answer in words, after so many tokens were read.
pub(crate) fn says(text: &str, tokens: u64) -> Value {
    answer(&json!({ "role": "assistant", "content": text }), "stop", tokens)
}

/// An answer that calls a tool, after so many tokens were read.
pub(crate) fn calls(tool: &str, input: &Value, tokens: u64) -> Value {
    let function = json!({ "name": tool, "arguments": input.to_string() });
    let call = json!({ "id": format!("call-{tokens}"), "type": "function", "function": function });
    answer(&json!({ "role": "assistant", "content": "", "tool_calls": [call] }), "tool_calls", tokens)
}

fn answer(message: &Value, finish: &str, tokens: u64) -> Value {
    json!({
        "choices": [{ "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10 },
    })
}
