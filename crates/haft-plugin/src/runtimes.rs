//! Bun and Node as hosts: the program they are given, and how they are started.
//!
//! The program is one text, since `--eval` takes one. It is joined from the modules under `js/host`, each in a function
//! of its own, so that they share nothing but what they export.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::embedded;

/// A runtime reads configuration of the directory that it starts in, which may be a project's that nobody trusts, so it
/// starts in one that is nobody's and goes to work afterwards. The conversation moves to files that programs started by the code do not inherit; what these print goes with what
/// the runtime itself has to say.
const APART: &str = "cd / && exec 3<&0 4>&1 0</dev/null 1>&2; exec \"$@\"";

/// How a runtime is started as a host, with options of its own.
pub fn host_command(runtime: &Path, options: &[&str]) -> (PathBuf, Vec<OsString>) {
    let mut args: Vec<OsString> = vec!["-c".into(), APART.into(), "haft".into(), runtime.into()];
    args.extend(options.iter().map(OsString::from));
    args.extend(["--eval".into(), SCRIPT.as_str().into()]);
    ("/bin/sh".into(), args)
}

/// The texts of our own modules in a folder, for runtimes that have no packages installed.
pub fn own_modules(folder: &str) -> Option<Value> {
    let is_offered = ["plugin", "zod"].contains(&folder);
    is_offered.then(|| json!({ "files": embedded::texts_in(folder).collect::<serde_json::Map<_, _>>() }))
}

static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let thread = Joined::new("host/node/thread.mjs");
    let texts = json!({ "thread": thread.exporting() });
    Joined::new("host/node/serve.mjs").with_texts(&texts)
});

/// Modules that were joined.
#[derive(Default)]
struct Joined {
    /// The runtime's own modules that are imported.
    imported: Vec<String>,
    modules: Vec<String>,
    code: String,
    /// What the module exports that everything began with.
    exports: Vec<String>,
}

impl Joined {
    fn new(entry: &str) -> Joined {
        let mut joined = Joined::default();
        joined.exports = joined.add(entry);
        joined
    }

    fn with_texts(&self, texts: &Value) -> String {
        format!("{}haft[\"haft:texts\"] = {texts};\n{}", self.head(), self.code)
    }

    /// As a module that exports what its first one does.
    fn exporting(&self) -> String {
        let entry = self.modules.first().map(String::as_str).unwrap_or_default();
        let names = self.exports.join(", ");
        format!("{}{}export const {{ {names} }} = haft[{entry:?}];\n", self.head(), self.code)
    }

    fn head(&self) -> String {
        let mut head = String::new();
        for (at, name) in self.imported.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(head, "import * as own{at} from {name:?};");
        }
        head + "const haft = {};\n"
    }

    /// Adds a module after those that it imports, and says what it exports.
    fn add(&mut self, name: &str) -> Vec<String> {
        self.modules.push(name.to_owned());
        let mut exports = Vec::new();
        let mut body = String::new();
        for line in embedded::text(name.strip_suffix(".js").unwrap_or(name)).unwrap_or_default().lines() {
            if let Some((what, from)) = import(line) {
                body.push_str(&format!("const {what} = {};\n", self.source(name, from)));
                continue;
            }
            let line = match exported(line) {
                Some((names, rest)) => {
                    exports.extend(names);
                    rest
                }
                None => line,
            };
            body.push_str(line);
            body.push('\n');
        }
        let names = exports.join(", ");
        self.code.push_str(&format!("haft[{name:?}] = (() => {{\n{body}return {{ {names} }};\n}})();\n"));
        exports
    }

    /// Where an imported module is found in the joined text.
    fn source(&mut self, importer: &str, from: &str) -> String {
        if let Some(from) = provided(from) {
            let known = self.imported.iter().position(|known| known == from);
            let at = known.unwrap_or_else(|| {
                self.imported.push(from.to_owned());
                self.imported.len() - 1
            });
            return format!("own{at}");
        }
        let name = match from.strip_prefix("haft:") {
            Some("ops") if importer.starts_with("bun/") => "host/node/machine.mjs".to_owned(),
            Some("ops") => "host/node/ops.mjs".to_owned(),
            Some("texts") => from.to_owned(),
            Some(own) => format!("{own}.js"),
            None => beside(importer, from),
        };
        if !self.modules.contains(&name) && !name.starts_with("haft:") {
            self.add(&name);
        }
        format!("haft[{name:?}]")
    }
}

/// What is the runtime's own: Node's modules, and those of ours that stand in for them elsewhere.
fn provided(from: &str) -> Option<&str> {
    match from {
        "haft:node/parts/buffer" => Some("node:buffer"),
        "haft:node/path" => Some("node:path"),
        "haft:node/process" => Some("node:process"),
        _ => from.starts_with("node:").then_some(from),
    }
}

/// What a line imports, as a pattern that takes it apart, and from where.
fn import(line: &str) -> Option<(String, &str)> {
    let (what, from) = line.strip_prefix("import ")?.strip_suffix("\";")?.split_once(" from \"")?;
    let pattern = match what.strip_prefix("* as ") {
        Some(whole) => whole.to_owned(),
        None if what.starts_with('{') => what.replace(" as ", ": "),
        None => format!("{{ default: {what} }}"),
    };
    Some((pattern, from))
}

/// The names that a line exports, and the line without that.
fn exported(line: &str) -> Option<(Vec<String>, &str)> {
    let rest = line.strip_prefix("export ")?;
    let declared = rest.strip_prefix("async ").unwrap_or(rest);
    let kinds = ["function ", "const ", "class "];
    let named = kinds.iter().find_map(|kind| declared.strip_prefix(kind))?;
    let end = if named.starts_with('{') { named.find('}')? } else { named.find([' ', '('])? };
    let names = named[..end].split([' ', ',', '{']).filter(|name| !name.is_empty()).map(str::to_owned);
    Some((names.collect(), rest))
}

fn beside(importer: &str, from: &str) -> String {
    let mut parts: Vec<&str> = importer.split('/').collect();
    parts.pop();
    for part in from.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::{Joined, SCRIPT};

    #[test]
    fn every_module_is_joined_after_what_it_imports() {
        let joined = Joined::new("host/node/serve.mjs");
        for module in &joined.modules {
            let begin = format!("haft[{module:?}] = (() => {{\n");
            let (_, rest) = joined.code.split_once(&begin).expect("it is there once");
            assert!(!rest.starts_with("return"), "{module} has no text");
        }
        assert!(
            !SCRIPT.lines().any(|line| line.starts_with("export ") || line.contains(" from \"./")),
            "{}",
            *SCRIPT
        );
        assert!(SCRIPT.len() < 120 << 10, "one argument is not longer than that: {}", SCRIPT.len());
    }
}
