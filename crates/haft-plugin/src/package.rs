//! Packages that are installed already: where they are, and which of their files is the plugin. Nothing is ever fetched.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Fault;

/// A description of a package is no longer than this.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 20;
/// The names of what a package may be entered by if it does not say.
const INDEXES: &[&str] = &["index.ts", "index.js", "index.mjs", "index.cjs", "index.mts"];

/// The plugin of a package that is installed in the nearest `node_modules`, such as `name@1.2`.
pub(crate) fn installed(spec: &str, from: &Path) -> Result<PathBuf, Fault> {
    let name = without_version(spec);
    let fix = || format!("npm install {spec} in {}", from.display());
    if !is_name(name) {
        return Err(Fault::new(format!("{spec:?} is neither a path nor the name of a package")));
    }
    let found =
        from.ancestors().map(|level| level.join("node_modules").join(name)).find(|path| path.is_dir());
    let found = found.ok_or_else(|| {
        Fault::new(format!("the package {name} is not installed where the configuration could find it"))
            .fix(fix())
    })?;
    let real = found.canonicalize().map_err(|error| Fault::new(format!("{}: {error}", found.display())))?;
    entry(&real)
}

/// The file by which a directory is entered. It lies in the directory.
pub(crate) fn entry(directory: &Path) -> Result<PathBuf, Fault> {
    let described = directory.join("package.json");
    let description = match fs::metadata(&described) {
        Ok(found) if found.len() > DESCRIPTION_BYTES_MAX => {
            return Err(Fault::new(format!(
                "{} is larger than a description of a package",
                described.display()
            )));
        }
        Ok(_) => fs::read_to_string(&described)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|error| Fault::new(format!("{} cannot be read: {error}", described.display())))?,
        Err(_) => Value::Null,
    };
    let named = exported(&description).or_else(|| description.get("main").and_then(Value::as_str));
    let candidates: Vec<PathBuf> = match named {
        Some(named) => {
            let path = directory.join(named);
            let as_directory = INDEXES.iter().map(|index| path.join(index));
            let with_ending = ["js", "ts"].iter().map(|end| directory.join(format!("{named}.{end}")));
            std::iter::once(path.clone()).chain(with_ending).chain(as_directory).collect()
        }
        None => INDEXES.iter().map(|index| directory.join(index)).collect(),
    };
    let found = candidates.into_iter().find(|path| path.is_file());
    let found = found.ok_or_else(|| {
        let why = named.map_or_else(
            || "has no index".to_owned(),
            |named| format!("names {named:?}, which is not there"),
        );
        Fault::new(format!("the package in {} {why}", directory.display()))
    })?;
    let real = found.canonicalize().map_err(|error| Fault::new(format!("{}: {error}", found.display())))?;
    match real.starts_with(directory) {
        true => Ok(real),
        false => {
            Err(Fault::new(format!("the package in {} names a file outside of it", directory.display())))
        }
    }
}

/// What a package exports as its plugin: `./server`, or itself.
fn exported(description: &Value) -> Option<&str> {
    let exports = description.get("exports")?;
    let chosen = exports.get("./server").or_else(|| exports.get(".")).unwrap_or(exports);
    under_conditions(chosen)
}

/// The first of the conditions that hold for us, in the order in which they are written.
fn under_conditions(chosen: &Value) -> Option<&str> {
    match chosen {
        Value::String(path) => Some(path),
        Value::Object(conditions) => conditions
            .iter()
            .filter(|(condition, _)| {
                ["import", "node", "module", "default", "bun"].contains(&condition.as_str())
            })
            .find_map(|(_, chosen)| under_conditions(chosen)),
        Value::Array(several) => several.iter().find_map(under_conditions),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn without_version(spec: &str) -> &str {
    match spec[1.min(spec.len())..].find('@') {
        Some(at) => &spec[..=at],
        None => spec,
    }
}

/// Whether it is a name of a package, so that it leads to nothing else.
fn is_name(name: &str) -> bool {
    let bare = name.strip_prefix('@').unwrap_or(name);
    let parts: Vec<&str> = bare.split('/').collect();
    let is_plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.~".contains(c))
    };
    parts.len() == if name.starts_with('@') { 2 } else { 1 } && parts.iter().all(is_plain)
}
