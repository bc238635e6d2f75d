//! Content that cases describe rather than spell out, and the `{{names}}` in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

static PLACEHOLDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{\{(\w+)\}\}").expect("the placeholder pattern is valid"));

/// The keys of an object that describe content; others beside them (`mode`, `matches` …) describe the file.
pub(crate) const CONTENT_KEYS: [&str; 5] = ["text", "base64", "repeat", "lines", "concat"];

/// What the placeholders of one case stand for.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// Lets a name stand for a value from now on.
    pub(crate) fn bind(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// Replaces the names in a text. A name that stands for nothing stays as it is.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.replace(text, str::to_owned)
    }

    /// Replaces the names in a regular expression, so that each value matches itself.
    pub(crate) fn fill_pattern(&self, pattern: &str) -> String {
        self.replace(pattern, regex::escape)
    }

    fn replace(&self, text: &str, render: fn(&str) -> String) -> String {
        let value = |found: &Captures<'_>| match self.0.get(&found[1]) {
            Some(value) => render(value),
            None => found[0].to_owned(),
        };
        PLACEHOLDER.replace_all(text, value).into_owned()
    }

    /// Replaces the names everywhere in a value, and every `{"$gen": content}` by its text.
    pub(crate) fn fill_value(&self, value: &Value) -> anyhow::Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.fill_value(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => match generated(fields) {
                Some(spec) => Value::String(
                    String::from_utf8(generate(&self.fill_value(spec)?)?).context("$gen is not UTF-8")?,
                ),
                None => {
                    let filled =
                        fields.iter().map(|(key, item)| Ok((self.fill(key), self.fill_value(item)?)));
                    Value::Object(filled.collect::<anyhow::Result<_>>()?)
                }
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }
}

/// Returns the content of an object that is `{"$gen": content}` and nothing else.
pub(crate) fn generated(fields: &Map<String, Value>) -> Option<&Value> {
    fields.get("$gen").filter(|_| fields.len() == 1)
}

/// Returns the part of a file's description that describes its content, if any.
pub(crate) fn content_of(fields: &Map<String, Value>) -> Option<Value> {
    let content: Map<String, Value> = fields
        .iter()
        .filter(|(key, _)| CONTENT_KEYS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!content.is_empty()).then_some(Value::Object(content))
}

/// Turns a content description into bytes.
pub(crate) fn generate(spec: &Value) -> anyhow::Result<Vec<u8>> {
    if let Some(text) = spec.as_str() {
        return Ok(text.as_bytes().to_vec());
    }
    let part = |key: &str| spec.get(key);
    if let Some(text) = part("text") {
        return Ok(string(text, "text")?.as_bytes().to_vec());
    }
    if let Some(text) = part("base64") {
        return STANDARD.decode(string(text, "base64")?).context("base64 content");
    }
    if let Some(repeat) = part("repeat") {
        let unit = string(repeat.get(0).unwrap_or(&Value::Null), "repeat[0]")?;
        return Ok(unit.as_bytes().repeat(count(repeat.get(1), "repeat[1]")?));
    }
    if let Some(described) = part("lines") {
        return lines(described);
    }
    if let Some(parts) = part("concat").and_then(Value::as_array) {
        let parts: Vec<Vec<u8>> = parts.iter().map(generate).collect::<Result<_, _>>()?;
        return Ok(parts.concat());
    }
    bail!("not a content description: {spec}")
}

fn lines(described: &Value) -> anyhow::Result<Vec<u8>> {
    let separator = described.get("sep").map_or(Ok("\n"), |sep| string(sep, "lines.sep"))?;
    let format = string(described.get("format").unwrap_or(&Value::Null), "lines.format")?;
    let (from, to) = (count(described.get("from"), "lines.from")?, count(described.get("to"), "lines.to")?);
    let line = |n: usize| format.replace("{n:04}", &format!("{n:04}")).replace("{n}", &n.to_string());
    let mut text = (from..=to).map(line).collect::<Vec<_>>().join(separator);
    if described.get("final_newline").is_none_or(|wanted| wanted == &Value::Bool(true)) {
        text.push_str(separator);
    }
    Ok(text.into_bytes())
}

fn string<'a>(value: &'a Value, what: &str) -> anyhow::Result<&'a str> {
    value.as_str().with_context(|| format!("{what} is not a string: {value}"))
}

fn count(value: Option<&Value>, what: &str) -> anyhow::Result<usize> {
    let number = value.and_then(Value::as_u64).with_context(|| format!("{what} is not a whole number"))?;
    Ok(usize::try_from(number)?)
}
