//! A language server that answers at once and says when it did, for `cargo xtask bench lsp`.
//!
//! After a change it waits some milliseconds, as one that works would, and then finds one error, whose message is the
//! time at which it was told: nanoseconds since 1970.

use std::io::{self, BufRead, Write};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let (mut input, mut changes) = (io::stdin().lock(), 0);
    while let Some(message) = next(&mut input)? {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({ "textDocumentSync": 1, "hoverProvider": true });
                say(&json!({ "id": id, "result": { "capabilities": capabilities } }))?;
            }
            Some("textDocument/didOpen") => {
                let document = &params["textDocument"];
                publish(document, &json!([]))?;
            }
            Some("textDocument/didChange") => {
                changes += 1;
                std::thread::sleep(Duration::from_millis(5 + changes % 20));
                let start = json!({ "line": 0, "character": 0 });
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let found = json!({
                    "range": { "start": start, "end": start },
                    "message": format!("told at {}", now.as_nanos()),
                });
                publish(&params["textDocument"], &json!([found]))?;
            }
            Some("exit") => break,
            Some(_) if !id.is_null() => say(&json!({ "id": id, "result": { "contents": "at once" } }))?,
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn publish(document: &Value, diagnostics: &Value) -> io::Result<()> {
    let params =
        json!({ "uri": document["uri"], "version": document["version"], "diagnostics": diagnostics });
    say(&json!({ "method": "textDocument/publishDiagnostics", "params": params }))
}

fn next(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().map_err(io::Error::other)?,
            None => break,
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

fn say(message: &Value) -> io::Result<()> {
    let body = message.to_string();
    let mut output = io::stdout().lock();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}
