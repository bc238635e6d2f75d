//! A provider on this machine: it speaks chat completions, gives tokens, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    /// Names and values, in small letters.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// The provider, and what it was asked so far.
pub(crate) struct FakeProvider {
    pub(crate) address: String,
    gate: Arc<Gate>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// Where a slow answer waits in the middle.
#[derive(Default)]
struct Gate {
    passed: Mutex<u32>,
    changed: Condvar,
}

impl Gate {
    fn wait(&self) {
        let passed = self.changed.wait_while(self.passed.lock().unwrap(), |passed| *passed == 0);
        *passed.unwrap() -= 1;
    }
}

impl FakeProvider {
    /// Lets one slow answer go on.
    pub(crate) fn go_on(&self) {
        *self.gate.passed.lock().unwrap() += 1;
        self.gate.changed.notify_one();
    }

    /// A provider whose model says this, and who gives tokens that are numbered.
    pub(crate) fn saying(words: &'static str) -> FakeProvider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let kept = asked.clone();
        let gate: Arc<Gate> = Arc::default();
        let slow = gate.clone();
        std::thread::spawn(move || {
            let mut tokens = 0;
            for stream in listener.incoming() {
                // Whoever leaves early is not served.
                let _left = serve(stream.unwrap(), &kept, words, &mut tokens, &slow);
            }
        });
        FakeProvider { address, gate, asked }
    }

    /// A text with the provider's address in the place of `BASE`.
    pub(crate) fn placed(&self, text: &str) -> String {
        text.replace("BASE", &format!("http://{}", self.address))
    }

    /// The person's configuration that lets plugins go there, with this besides.
    pub(crate) fn configuration(&self, rest: &Value) -> String {
        let mut config = json!({
            "permission": { "private_address": { &self.address: "allow" } },
            "disabled_providers": ["ollama", "lmstudio", "llamacpp", "vllm"],
        });
        let fields = config.as_object_mut().unwrap();
        fields.extend(rest.as_object().cloned().unwrap_or_default());
        config.to_string()
    }

    /// What was asked at a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.line.split(' ').nth(1) == Some(path)).cloned().collect()
    }
}

fn serve(
    stream: TcpStream,
    kept: &Mutex<Vec<Asked>>,
    words: &str,
    tokens: &mut u32,
    gate: &Gate,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        let (name, value) = (name.to_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().unwrap_or(0);
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    kept.lock().unwrap().push(Asked { line: line.trim().to_owned(), headers, body });
    if path == "/slow/chat/completions" {
        return stream_slowly(stream, words, gate);
    }
    let (status, answer) = match path.as_str() {
        "/v1/chat/completions" => {
            let message = json!({ "role": "assistant", "content": words });
            (200, json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }))
        }
        "/v1/models" => (200, json!({ "data": [{ "id": "served" }] })),
        "/token" => {
            *tokens += 1;
            let (access, refresh) =
                (format!("tok-access-{tokens}-secret"), format!("tok-refresh-{tokens}-secret"));
            (200, json!({ "access": access, "refresh": refresh }))
        }
        _ => (404, json!({ "error": "there is nothing here" })),
    };
    let (mut stream, text) = (stream, answer.to_string());
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}", text.len());
    write!(stream, "{head}\r\nconnection: close\r\n\r\n{text}")
}

/// Sends what is said in two parts, the second one when it is let go on.
fn stream_slowly(mut stream: TcpStream, words: &str, gate: &Gate) -> std::io::Result<()> {
    let event = |text: &str, finish: Option<&str>| {
        let choice = json!({ "delta": { "content": text }, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let (first, second) = words.split_at(words.len() / 2);
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    write!(stream, "{}", event(first, None))?;
    stream.flush()?;
    gate.wait();
    write!(stream, "{}data: [DONE]\n\n", event(second, Some("stop")))
}
