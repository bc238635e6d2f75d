//! Checks one file that a case expects after a call: its content, its kind, its mode, or its absence.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use serde_json::Value;

use crate::content::{content_of, generate};
use crate::matching::short_text;
use crate::outcome::{Failure, mismatch};
use crate::pattern;
use crate::workspace::{Workspace, mode};

/// Compares what stands at a path with what is wanted there; `null` wants nothing.
pub(crate) fn check(workspace: &Workspace, name: &str, want: &Value) -> Result<(), Failure> {
    let path = workspace.path(name);
    let itself = fs::symlink_metadata(&path).ok();
    let (itself, want) = match (itself, want) {
        (None, Value::Null) => return Ok(()),
        (Some(_), Value::Null) => mismatch!("file {name} should be absent"),
        (None, _) => mismatch!("file {name} is missing"),
        (Some(itself), want) => (itself, want),
    };
    let fields = want.as_object();
    if let Some(fields) = fields {
        if fields.get("dir") == Some(&Value::Bool(true)) {
            if !path.is_dir() {
                mismatch!("{name} is not a directory");
            }
            return Ok(());
        }
        if let Some(wanted) = fields.get("is_symlink").and_then(Value::as_bool)
            && itself.is_symlink() != wanted
        {
            mismatch!("{name} is a symlink: {}, want {wanted}", itself.is_symlink());
        }
        if let Some(wanted) = fields.get("mode") {
            let found = fs::metadata(&path).with_context(|| format!("could not stat {name}"))?;
            let (got, wanted) = (found.permissions().mode() & 0o777, mode(wanted)?);
            if got != wanted {
                mismatch!("{name} has mode {got:o}, want {wanted:o}");
            }
        }
    }
    let body = fs::read(&path).with_context(|| format!("could not read {name}"))?;
    let text = String::from_utf8_lossy(&body);
    for pattern in fields.and_then(|fields| fields.get("matches")?.as_array()).into_iter().flatten() {
        let pattern = pattern.as_str().context("a pattern is a string")?;
        if !pattern::compile(pattern, &workspace.names)?.is_match(&text) {
            mismatch!("file {name} does not match /{pattern}/: {}", short_text(&format!("{text:?}")));
        }
    }
    let content = match fields {
        Some(fields) => content_of(fields),
        None => Some(want.clone()),
    };
    if let Some(content) = content {
        let wanted = generate(&workspace.names.fill_value(&content)?)?;
        if body != wanted {
            let wanted = format!("{:?}", String::from_utf8_lossy(&wanted));
            mismatch!("file {name}: {}, want {}", short_text(&format!("{text:?}")), short_text(&wanted));
        }
    }
    Ok(())
}
