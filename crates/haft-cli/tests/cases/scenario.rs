//! Turns `apply_patch_scenarios/NAME/{input/, patch.txt, expected/}` into cases that compare whole trees.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::load::{entries, json as read_json};

/// Returns one case per scenario, in the language of the other cases.
pub(crate) fn cases(root: &Path) -> anyhow::Result<Vec<Value>> {
    let overrides = read_json(&root.join("overrides.json"))?;
    let mut directories = entries(root)?;
    directories.retain(|path| path.is_dir());
    directories.sort();
    directories.iter().map(|directory| case(directory, &overrides)).collect()
}

fn case(directory: &Path, overrides: &Value) -> anyhow::Result<Value> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = |key: &str| overrides.get(&name).and_then(|over| over.get(key));
    let status = part("status").with_context(|| format!("overrides.json has no status for {name}"))?;
    let before = tree(&directory.join("input"))?;
    let mut files = match part("expected") {
        Some(expected) => expected.as_object().context("expected is not an object")?.clone(),
        None => tree(&directory.join("expected"))?,
    };
    let absent = part("absent").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for path in before.keys().map(String::as_str).chain(absent) {
        files.entry(path).or_insert(Value::Null);
    }
    let patch =
        fs::read_to_string(directory.join("patch.txt")).with_context(|| format!("patch of {name}"))?;
    Ok(json!({
        "id": format!("apply_patch-scenario-{name}"),
        "tool": "apply_patch",
        "files": before,
        "input": {"patchText": patch},
        "expect": {"status": status, "files": files},
        "disputed": part("disputed"),
    }))
}

fn tree(root: &Path) -> anyhow::Result<Map<String, Value>> {
    let mut files = Map::new();
    let mut pending = Vec::from_iter(root.is_dir().then(|| root.to_owned()));
    while let Some(directory) = pending.pop() {
        for path in entries(&directory)? {
            if path.is_dir() {
                pending.push(path);
            } else {
                let body = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
                let name = path.strip_prefix(root).context("a tree holds its own files")?;
                files.insert(name.to_string_lossy().into_owned(), json!({"base64": STANDARD.encode(body)}));
            }
        }
    }
    Ok(files)
}
