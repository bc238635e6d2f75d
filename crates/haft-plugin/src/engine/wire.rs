//! What is said to haft: each message on a line of its own.

use std::cell::RefCell;
use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::protocol::Failure;

/// Writes messages to haft. When nobody reads them any more there is nothing left to do.
pub(super) struct Wire(RefCell<Box<dyn Write>>);

impl Wire {
    pub(super) fn new(output: impl Write + 'static) -> Wire {
        Wire(RefCell::new(Box::new(output)))
    }

    /// Answers an order with JSON that was made already.
    pub(super) fn done(&self, id: u64, json: &str) {
        self.line(format!("{{\"id\":{id},\"ok\":{json}}}"));
    }

    pub(super) fn failed(&self, id: Option<u64>, failure: &Failure) {
        self.message(&json!({ "id": id, "error": failure }));
    }

    /// Asks haft something; `with` is JSON that was made already.
    pub(super) fn ask(&self, ask: u64, op: &str, call: Option<u64>, with: &str) {
        let op = Value::from(op);
        let call = call.map_or("null".to_owned(), |id| id.to_string());
        self.line(format!("{{\"ask\":{ask},\"op\":{op},\"for\":{call},\"with\":{with}}}"));
    }

    pub(super) fn log(&self, level: &str, text: &str) {
        self.message(&json!({ "say": "log", "level": level, "text": text }));
    }

    /// Tells the title and metadata of a call that is still running; `update` is JSON that was made already.
    pub(super) fn metadata(&self, call: u64, update: &str) {
        let inside = update.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let comma = if inside.is_empty() { "" } else { "," };
        self.line(format!("{{\"say\":\"metadata\",\"for\":{call}{comma}{inside}}}"));
    }

    fn message(&self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            Ok(line) => self.line(line),
            Err(error) => {
                self.line(json!({ "say": "log", "level": "error", "text": error.to_string() }).to_string())
            }
        }
    }

    fn line(&self, mut line: String) {
        line.push('\n');
        let mut output = self.0.borrow_mut();
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            super::end(0);
        }
    }
}
