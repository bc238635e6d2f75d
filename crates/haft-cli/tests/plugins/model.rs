//! A model that says what a test has written down, behind a server that keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, Ran, ran};

/// Only so that a broken haft fails a test and does not hang it.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Model {
    address: String,
    asked: mpsc::Receiver<Value>,
}

impl Model {
    /// Answers each request with the next of these, in the format of chat completions.
    pub(crate) fn saying(answers: Vec<Value>) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let (tell, asked) = mpsc::channel();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((connection, _)) = listener.accept() else { return };
                let Some(request) = serve(connection, &answer) else { return };
                let _gone = tell.send(request);
            }
        });
        Model { address, asked }
    }

    /// Has an agent work with it.
    pub(crate) fn run(&self, place: &Place, args: &[&str]) -> Ran {
        let mut haft = place.command(&[&["run", "-m", "openai/some-model", "--auto"], args].concat());
        ran(haft.env("HAFT_LLM_BASE_URL", &self.address).output().unwrap())
    }

    /// What it was told next, from the first message on: each with who says it.
    pub(crate) fn told(&self) -> Vec<(String, String)> {
        let request = self.asked.recv_timeout(PATIENCE).unwrap();
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let messages = request["messages"].as_array().unwrap();
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }
}

fn serve(mut connection: TcpStream, answer: &Value) -> Option<Value> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(connection, "{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len()).ok()?;
    serde_json::from_slice(&body).ok()
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
