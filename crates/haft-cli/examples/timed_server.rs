//! A language server that answers at once and says when it did, for `cargo xtask bench lsp`.
//!
//! After a change it waits some milliseconds, as one that works would, and then finds one error, whose message is the
//! time at which it was told: nanoseconds since 1970. With `at-once` or `later` it does not say of which version that is,
//! and with `later` it reads on while it works.

use std::io::{self, BufRead, Write};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let (mut input, mut changes) = (io::stdin().lock(), 0);
    let mode = std::env::args().nth(1);
    let (names_versions, reads_on) = (mode.is_none(), mode.as_deref() == Some("later"));
    while let Some(message) = next(&mut input)? {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({ "textDocumentSync": 1, "hoverProvider": true });
                say(&json!({ "id": id, "result": { "capabilities": capabilities } }))?;
            }
            Some(method @ ("textDocument/didOpen" | "textDocument/didChange")) => {
                changes += u64::from(method == "textDocument/didChange");
                let (is_change, pause) = (changes > 0, Duration::from_millis(5 + changes % 20));
                let mut document = params["textDocument"].clone();
                if !names_versions {
                    document["version"] = Value::Null;
                }
                let work = move || {
                    std::thread::sleep(pause);
                    publish(&document, &if is_change { json!([found()]) } else { json!([]) })
                };
                match reads_on {
                    true => drop(std::thread::spawn(work)),
                    false => work()?,
                }
            }
            Some("exit") => break,
            Some(_) if !id.is_null() => say(&json!({ "id": id, "result": { "contents": "at once" } }))?,
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn found() -> Value {
    let start = json!({ "line": 0, "character": 0 });
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({ "range": { "start": start, "end": start }, "message": format!("told at {}", now.as_nanos()) })
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
