//! The two ends of the protocol: a thread that reads, so that aborts are heard while JavaScript runs, and a
//! writer that puts each message on a line of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde::Serialize;
use serde_json::{Value, json};

use super::protocol::{Failure, Incoming, Order};
use super::turn::Event;
use super::watch::Watch;

/// The longest line that is taken from haft.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Writes messages to haft. When nobody reads them any more there is nothing left to do.
pub(super) struct Wire(Mutex<Box<dyn Write + Send>>);

impl Wire {
    pub(super) fn new(output: impl Write + Send + 'static) -> Wire {
        Wire(Mutex::new(Box::new(output)))
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
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            super::end(0);
        }
    }
}

/// Reads lines for as long as there are any, on a thread of its own.
pub(super) fn listen(input: impl Read + Send + 'static, events: Sender<Event>, watch: Arc<Watch>) {
    let reading = move || {
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let ended = !matches!(read, Ok(1..)) || line.last() != Some(&b'\n');
            let text = String::from_utf8_lossy(&line);
            if !text.trim().is_empty() {
                let incoming = Incoming::parse(&text);
                if let Ok(Incoming::Order(Order::Abort { id, .. })) = incoming {
                    watch.wants_to_stop(id);
                }
                if events.send(Event::Incoming(incoming)).is_err() {
                    return;
                }
            }
            if ended {
                watch.closed();
                // Whoever listened may be gone already, and that is as well.
                let _ = events.send(Event::Closed);
                return;
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("lines".into()).stack_size(256 << 10).spawn(reading) {
        super::give_up(&format!("no thread to read with: {error}"));
    }
}
