//! A model on this machine whose answers are written beforehand: so many calls one after the other, then a word.
//!
//! It speaks chat completions and Responses. Which answer comes next follows from the calls in the conversation, so
//! whoever asks twice is told the same. It looks at the bytes of a request alone, because reading a conversation of a
//! megabyte would take longer than what is measured.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::memory;

const CALL: &str = "bench_call_";
/// Whoever says nothing for so long has gone.
const SILENCE: Duration = Duration::from_secs(300);
const REQUEST_BYTES_MAX: usize = 256 << 20;

/// A call as an agent's model makes it.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) input: Value,
}

/// What the model says.
pub(super) struct Script {
    pub(super) calls: usize,
    pub(super) call: Box<dyn Fn(usize) -> Call + Send + Sync>,
    /// What stands in the output of the last call.
    pub(super) proof: String,
}

/// What was seen of an agent.
#[derive(Default, Clone)]
pub(super) struct Seen {
    /// Milliseconds from the end of an answer to the end of the next request.
    pub(super) turnarounds: Vec<f64>,
    /// KiB that the agent and all it started held when it told so many results.
    pub(super) memory: Vec<(usize, u64)>,
    /// Whether the model said its last word, and had the last result before it.
    pub(super) finished: bool,
    answered: Option<Instant>,
}

/// The model at work. It answers until the process ends.
pub(super) struct Model {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    script: Option<Arc<Script>>,
    /// The process of the agent, and how often to look at its memory.
    watched: Option<(u32, usize)>,
    seen: Seen,
}

impl Model {
    pub(super) fn start() -> Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let model = Model { address: listener.local_addr()?, shared: Arc::default() };
        let shared = model.shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    if let Err(error) = serve(&stream, &shared) {
                        eprintln!("the scripted model: {error:#}");
                    }
                });
            }
        });
        Ok(model)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Begins a new script.
    pub(super) fn play(&self, script: Script) {
        *lock(&self.shared) = Shared { script: Some(Arc::new(script)), ..Shared::default() };
    }

    /// Looks at the memory of an agent at every so many calls.
    pub(super) fn watch(&self, process: u32, every: usize) {
        lock(&self.shared).watched = Some((process, every));
    }

    pub(super) fn seen(&self) -> Seen {
        lock(&self.shared).seen.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: &TcpStream, shared: &Mutex<Shared>) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    let mut requests = BufReader::with_capacity(1 << 18, stream);
    // One for all requests of an agent: a megabyte of new memory each time would take as long as what is measured.
    let mut body = Vec::new();
    while let Some(line) = request(&mut requests, &mut body)? {
        let arrived = Instant::now();
        let mut writer = stream;
        if line.starts_with("GET ") {
            let models = json!({ "object": "list", "data": [{ "id": "fake-model", "object": "model" }], "models": [] });
            send(&mut writer, "application/json", &models.to_string())?;
            continue;
        }
        let (answer, is_turn) = answer(&line, std::str::from_utf8(&body)?, arrived, shared)?;
        send(&mut writer, "text/event-stream", &answer)?;
        if is_turn {
            lock(shared).seen.answered = Some(Instant::now());
        }
    }
    Ok(())
}

/// The next request: its first line. Its body takes the place of the one before.
fn request(requests: &mut impl BufRead, body: &mut Vec<u8>) -> Result<Option<String>> {
    let mut first = String::new();
    // A connection that is not used any more may end in any way.
    if !matches!(requests.read_line(&mut first), Ok(read) if read > 0) {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        requests.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        match line.split_once(": ").unwrap_or_default() {
            ("content-length", bytes) => length = bytes.parse().context("a length that is none")?,
            ("transfer-encoding", _) | ("content-encoding", _) => bail!("cannot read a request with {line}"),
            _ => {}
        }
    }
    ensure!(length <= REQUEST_BYTES_MAX, "a request of {length} bytes");
    body.resize(length, 0);
    requests.read_exact(body)?;
    Ok(Some(first))
}

fn send(stream: &mut impl Write, kind: &str, body: &str) -> Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}");
    Ok(stream.write_all(head.as_bytes())?)
}

/// The answer to a request, and whether it is one of the script's.
fn answer(line: &str, body: &str, arrived: Instant, shared: &Mutex<Shared>) -> Result<(String, bool)> {
    let is_responses = line.contains("/responses");
    let words = |said: &Said| if is_responses { responses(said) } else { chat(said) };
    // Whoever offers no tools wants a title.
    if !body.contains("\"tools\":[{") {
        return Ok((words(&Said::Text("ok".to_owned())), false));
    }
    let turn = turn(body);
    let mut shared = lock(shared);
    let script = shared.script.clone().context("somebody asks before there is a script")?;
    if let Some(answered) = shared.seen.answered.take() {
        shared.seen.turnarounds.push((arrived - answered).as_secs_f64() * 1e3);
    }
    if let Some((process, every)) = shared.watched
        && (turn.is_multiple_of(every) || turn == script.calls)
    {
        shared.seen.memory.push((turn, memory::of_tree(process)));
    }
    if turn < script.calls {
        return Ok((words(&Said::Call(turn, (script.call)(turn))), true));
    }
    shared.seen.finished = body.contains(&script.proof);
    Ok((words(&Said::Text("done".to_owned())), true))
}

/// How many calls the conversation holds: one more than the number of the last.
fn turn(body: &str) -> usize {
    let Some(last) = body.rfind(CALL) else { return 0 };
    let digits = body[last + CALL.len()..].bytes().take_while(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')) + 1
}

enum Said {
    Text(String),
    Call(usize, Call),
}

fn chat(said: &Said) -> String {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "chat", "object": "chat.completion.chunk", "created": 0, "model": "fake-model",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let (delta, reason) = match said {
        Said::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Said::Call(turn, call) => {
            let function = json!({ "name": call.name, "arguments": call.input.to_string() });
            let call = json!({ "index": 0, "id": format!("{CALL}{turn}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": "", "tool_calls": [call] }), "tool_calls")
        }
    };
    // The same few tokens each time, so that nobody begins to shorten the conversation.
    let usage = json!({ "id": "chat", "object": "chat.completion.chunk", "created": 0, "model": "fake-model",
        "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020 } });
    let events = [chunk(delta, Value::Null), chunk(json!({}), json!(reason)), usage];
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn responses(said: &Said) -> String {
    let item = match said {
        Said::Text(text) => {
            json!({ "type": "message", "id": "msg", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }] })
        }
        Said::Call(turn, call) => {
            json!({ "type": "function_call", "id": format!("fc_{turn}"), "status": "completed",
            "call_id": format!("{CALL}{turn}"), "name": call.name, "arguments": call.input.to_string() })
        }
    };
    let usage = json!({ "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 20,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 1020 });
    let events = [
        json!({ "type": "response.created", "response": { "id": "resp", "object": "response",
            "status": "in_progress", "output": [] } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "resp", "object": "response",
            "status": "completed", "output": [item], "usage": usage } }),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_of_the_conversation_decides_which_answer_comes() {
        assert_eq!(turn(r#"{"messages":[],"tools":[{}]}"#), 0);
        assert_eq!(turn(r#"[{"id":"bench_call_0"},{"tool_call_id":"bench_call_0"}]"#), 1);
        assert_eq!(turn(r#"[{"id":"bench_call_9"},{"id":"bench_call_10"}]"#), 11);
    }

    #[test]
    fn requests_are_read_one_after_the_other() {
        let mut sent: &[u8] =
            b"POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET /y HTTP/1.1\r\nHost: z\r\n\r\n";
        let mut body = Vec::new();
        assert_eq!(request(&mut sent, &mut body).unwrap().unwrap(), "POST /v1/x HTTP/1.1\r\n");
        assert_eq!(body, b"{}");
        assert_eq!(request(&mut sent, &mut body).unwrap().unwrap(), "GET /y HTTP/1.1\r\n");
        assert_eq!((body, request(&mut sent, &mut Vec::new()).unwrap()), (Vec::new(), None));
    }
}
