//! The one message and its answer, which comes as JSON or as a stream of events.

use serde_json::{Value, json};

/// What a service said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// A text.
    Text(String),
    /// It found nothing.
    Nothing,
    /// It did not understand, or could not do it.
    Problem(String),
}

/// Calls a tool of a service.
pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Reads an answer as it arrives.
#[derive(Default)]
pub(super) struct Reading {
    bytes: Vec<u8>,
    /// Up to here, events were read.
    read: usize,
    /// What was said so far that ends nothing.
    nothing: bool,
}

impl Reading {
    /// Takes the next bytes of a stream of events, and returns the answer as soon as it is there: a service may keep the
    /// stream open.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Option<Answer> {
        self.bytes.extend_from_slice(bytes);
        while let Some(end) = self.end_of_event() {
            let event = String::from_utf8_lossy(&self.bytes[self.read..end]).into_owned();
            self.read = end;
            match data(&event).as_deref().and_then(answer) {
                Some(Answer::Nothing) => self.nothing = true,
                Some(answer) => return Some(answer),
                None => {}
            }
        }
        None
    }

    /// Takes more bytes of an answer that is not read before it is whole.
    pub(super) fn more(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What has arrived.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// What the whole says; `None` if it is no answer.
    pub(super) fn end(mut self) -> Option<Answer> {
        if let Some(answer) = answer(self.text().trim()) {
            return Some(answer);
        }
        // A stream of events that nobody called one, or that ends without the empty line.
        self.event(b"\n\n").or(self.nothing.then_some(Answer::Nothing))
    }

    /// Where the next event ends: after an empty line.
    fn end_of_event(&self) -> Option<usize> {
        let rest = &self.bytes[self.read..];
        let mut line = 0;
        for at in memchr::memchr_iter(b'\n', rest) {
            if at > line && rest[line..at] != *b"\r" {
                line = at + 1;
                continue;
            }
            if line > 0 {
                return Some(self.read + at + 1);
            }
            line = at + 1;
        }
        None
    }
}

/// The data of an event: what stands behind `data:`, line by line.
fn data(event: &str) -> Option<String> {
    let line = |line: &str| {
        let data = line.strip_prefix("data:")?;
        Some(data.strip_prefix(' ').unwrap_or(data).to_owned())
    };
    let lines: Vec<String> = event.lines().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What one message says; `None` if it is no answer to a call.
fn answer(text: &str) -> Option<Answer> {
    let message: Value = serde_json::from_str(text).ok()?;
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        let said = error.get("message").and_then(Value::as_str);
        return Some(Answer::Problem(said.map_or_else(|| error.to_string(), str::to_owned)));
    }
    let result = message.get("result")?;
    let parts = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text =
        |part: &Value| Some(part.get("text")?.as_str()?.to_owned()).filter(|text| !text.trim().is_empty());
    let text = parts.iter().find_map(text);
    let is_problem = result.get("isError").and_then(Value::as_bool) == Some(true);
    Some(match (text, is_problem) {
        (Some(text), true) => Answer::Problem(text),
        (None, true) => Answer::Problem("it gave no reason".to_owned()),
        (Some(text), false) => Answer::Text(text),
        (None, false) => Answer::Nothing,
    })
}
