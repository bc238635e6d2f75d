//! Regular expressions as the cases write them, in Python's dialect.
//!
//! Two differences matter and are translated: without `(?m)` Python's `$` also matches before a final
//! line feed, and a `[` inside a character class is a plain character there.
//! What the `regex` crate cannot express (look-around, back references) is a failure, never passed over.

use anyhow::Context as _;
use regex::Regex;
use serde_json::Value;

use crate::case::{Case, Question};
use crate::content::Names;

/// The keys whose strings are patterns.
const PATTERN_KEYS: [&str; 8] = [
    "$matches",
    "$not_matches",
    "error_matches",
    "error_not_matches",
    "matches",
    "output_matches",
    "output_not_matches",
    "title_matches",
];

/// The names every pattern may mention; a step's `bind` adds others.
const PLACES: [&str; 6] = ["cwd", "root", "parent", "outside", "home", "server"];

/// Compiles a pattern, with its placeholders standing for exactly their values.
pub(crate) fn compile(pattern: &str, names: &Names) -> anyhow::Result<Regex> {
    Regex::new(&translate(&names.fill_pattern(pattern)))
        .with_context(|| format!("pattern /{pattern}/ does not compile"))
}

/// Lists the patterns that do not compile, also those of cases that will be skipped.
pub(crate) fn troubles(cases: &[Case]) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    for case in cases {
        let mut names = Names::default();
        for name in PLACES.into_iter().chain(bound(case)) {
            names.bind(name, format!("/tmp/a+b (c)/{name}"));
        }
        for pattern in patterns(case) {
            if let Err(error) = compile(pattern, &names) {
                found.push((case.id.as_str(), format!("{error:#}")));
            }
        }
    }
    found
}

fn bound(case: &Case) -> impl Iterator<Item = &str> {
    case.steps().iter().flat_map(|step| &step.bind).map(|(name, _)| name.as_str())
}

fn patterns(case: &Case) -> Vec<&str> {
    let mut found = Vec::new();
    if let Question::Probe { expect, .. } = &case.question {
        collect(expect, &mut found);
    }
    for step in case.steps() {
        found.extend(step.bind.iter().map(|(_, pattern)| pattern.as_str()));
        for (key, value) in &step.expect {
            collect_field(key, value, &mut found);
        }
    }
    for request in &case.expect_requests {
        collect(request, &mut found);
    }
    found
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect_field(key, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn collect_field<'a>(key: &str, value: &'a Value, found: &mut Vec<&'a str>) {
    if PATTERN_KEYS.contains(&key) {
        match value {
            Value::Array(items) => found.extend(items.iter().filter_map(Value::as_str)),
            _ => found.extend(value.as_str()),
        }
    }
    collect(value, found);
}

fn translate(python: &str) -> String {
    let flags =
        python.strip_prefix("(?").and_then(|rest| rest.split_once(')')).map_or("", |(flags, _)| flags);
    let multi_line = flags.chars().all(|flag| flag.is_ascii_alphabetic()) && flags.contains('m');
    let mut rust = String::with_capacity(python.len());
    let mut class_start = None;
    let mut chars = python.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'Z')) => rust.push_str(r"\z"),
                Some((_, escaped)) => rust.extend(['\\', escaped]),
                None => rust.push('\\'),
            },
            '[' if class_start.is_some() => rust.push_str(r"\["),
            '[' => {
                class_start = Some(at + if python[at + 1..].starts_with('^') { 2 } else { 1 });
                rust.push('[');
            }
            // A bracket that comes first in a class is one of its members.
            ']' if class_start.is_some_and(|start| at > start) => {
                class_start = None;
                rust.push(']');
            }
            '$' if class_start.is_none() && !multi_line => rust.push_str(r"(?:\n?\z)"),
            _ => rust.push(c),
        }
    }
    rust
}
