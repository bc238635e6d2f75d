//! Checks a settlement against the `expect` of a step.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value, json};

use crate::content::generate;
use crate::files;
use crate::matching::{many, matches, same, short, short_text};
use crate::outcome::{Failure, mismatch};
use crate::pattern;
use crate::workspace::Workspace;

/// Everything a step may expect of a call.
pub(crate) const EXPECTATIONS: [&str; 16] = [
    "attachments",
    "error_matches",
    "error_not_matches",
    "files",
    "max_ms",
    "metadata",
    "output_equals",
    "output_json",
    "output_line_set",
    "output_matches",
    "output_max_bytes",
    "output_not_matches",
    "output_order",
    "saved_output",
    "status",
    "title_matches",
];

type Verdict = Result<(), Failure>;

/// Checks all that is expected of one call.
pub(crate) fn check(
    expect: &Map<String, Value>,
    settlement: &Value,
    workspace: &Workspace,
    elapsed: Duration,
) -> Verdict {
    let Some(settlement) = settlement.as_object() else {
        mismatch!("the settlement is not an object: {}", short(settlement));
    };
    let output = text(settlement, "output")?;
    let error = error_text(settlement, output)?;
    status(expect, settlement, &error)?;
    output_text(expect, output, workspace)?;
    patterns(expect, "output_matches", output, workspace)?;
    patterns(expect, "output_not_matches", output, workspace)?;
    patterns(expect, "error_matches", &error, workspace)?;
    patterns(expect, "error_not_matches", &error, workspace)?;
    patterns(expect, "title_matches", text(settlement, "title")?, workspace)?;
    for (key, absent) in [("metadata", json!({})), ("attachments", json!([]))] {
        if let Some(want) = expect.get(key) {
            let got = settlement.get(key).filter(|got| !got.is_null()).unwrap_or(&absent);
            matches(want, got, &workspace.names, key)?;
        }
    }
    for (name, want) in expect.get("files").and_then(Value::as_object).into_iter().flatten() {
        files::check(workspace, name, want)?;
    }
    if let Some(want) = expect.get("saved_output") {
        saved_output(want, settlement, workspace)?;
    }
    if let Some(most) = expect.get("max_ms") {
        let most = most.as_f64().context("max_ms is a number")?;
        if elapsed.as_millis() as f64 > most {
            mismatch!("took {} ms, more than {most}", elapsed.as_millis());
        }
    }
    Ok(())
}

fn status(expect: &Map<String, Value>, settlement: &Map<String, Value>, error: &str) -> Verdict {
    let either = json!(["completed", "error"]);
    let want = expect.get("status").unwrap_or(&either);
    let got = settlement.get("status").unwrap_or(&Value::Null);
    if !many(want).iter().any(|want| same(want, got)) {
        mismatch!("status {}, want {}; {}", short(got), short(want), short_text(error));
    }
    Ok(())
}

fn output_text(expect: &Map<String, Value>, output: &str, workspace: &Workspace) -> Verdict {
    if let Some(want) = expect.get("output_equals") {
        matches(want, &Value::from(output), &workspace.names, "output")?;
    }
    order(expect, output, workspace)?;
    if let Some(most) = expect.get("output_max_bytes") {
        let most = most.as_u64().context("output_max_bytes is a number")?;
        if output.len() as u64 > most {
            mismatch!("output is {} bytes, more than {most}", output.len());
        }
    }
    if let Some(want) = expect.get("output_line_set") {
        let mut want: Vec<String> = strings(want)?.iter().map(|line| workspace.names.fill(line)).collect();
        let mut got: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
        want.sort();
        got.sort_unstable();
        if got != want {
            mismatch!("output lines {}, want {}", short(&json!(got)), short(&json!(want)));
        }
    }
    if let Some(want) = expect.get("output_json") {
        let Ok(got) = serde_json::from_str(output) else {
            mismatch!("output is not JSON: {}", short_text(output));
        };
        matches(want, &got, &workspace.names, "output_json")?;
    }
    Ok(())
}

fn order(expect: &Map<String, Value>, output: &str, workspace: &Workspace) -> Verdict {
    let mut rest = output;
    for literal in expect.get("output_order").map_or(Ok(Vec::new()), strings)? {
        let Some(at) = rest.find(&workspace.names.fill(literal)) else {
            mismatch!("output_order: {literal:?} is missing or out of order");
        };
        // The next literal may overlap this one, but must start after it.
        let mut after = rest[at..].chars();
        after.next();
        rest = after.as_str();
    }
    Ok(())
}

fn patterns(expect: &Map<String, Value>, key: &str, text: &str, workspace: &Workspace) -> Verdict {
    let wanted = !key.ends_with("_not_matches");
    for pattern in expect.get(key).map_or(Ok(Vec::new()), strings)? {
        if pattern::compile(pattern, &workspace.names)?.is_match(text) != wanted {
            mismatch!("{key} /{pattern}/: {}", short_text(text));
        }
    }
    Ok(())
}

/// Compares the whole text behind `metadata.outputPath`.
fn saved_output(want: &Value, settlement: &Map<String, Value>, workspace: &Workspace) -> Verdict {
    let path = settlement.get("metadata").and_then(|metadata| metadata.get("outputPath"));
    let Some(path) = path.and_then(Value::as_str).map(Path::new).filter(|path| path.exists()) else {
        mismatch!("metadata.outputPath is missing or names no file: {path:?}");
    };
    let body = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    if body != generate(&workspace.names.fill_value(want)?)? {
        mismatch!("saved output differs ({} bytes)", body.len());
    }
    Ok(())
}

/// Returns what went wrong in the tool's words: the error, or the output where there is no error.
fn error_text(settlement: &Map<String, Value>, output: &str) -> Result<String, Failure> {
    let error = match settlement.get("error") {
        None | Some(Value::Null) => "",
        Some(Value::String(message)) => message,
        Some(Value::Object(error)) => match text(error, "message")? {
            "" => return Ok(Value::from(error.clone()).to_string()),
            message => message,
        },
        Some(other) => mismatch!("error is neither a string nor an object: {}", short(other)),
    };
    Ok(if error.is_empty() { output.to_owned() } else { error.to_owned() })
}

fn text<'a>(settlement: &'a Map<String, Value>, key: &str) -> Result<&'a str, Failure> {
    match settlement.get(key) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(Failure::Mismatch(format!("{key} is not a string: {}", short(other)))),
    }
}

fn strings(value: &Value) -> anyhow::Result<Vec<&str>> {
    many(value).iter().map(|item| item.as_str().ok_or_else(|| anyhow!("not a string: {item}"))).collect()
}
