//! What the configuration says about models and who serves them, as opencode writes it.
//!
//! A project that nobody trusts is not heard here: it could send a key to an address of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use haft_agent::provider::ModelInfo;
use haft_agent::providers::{Configured, Settings, format_of_package, packages};
use haft_agent::wire::Key;
use serde_json::{Map, Value};

use super::Config;
use super::error::{ConfigError, Located, Problem};
use super::node::{Entry, Kind, Node};

impl Config {
    /// What is said about providers. Environment and stored keys are for the caller to add.
    pub(crate) fn providers(&self) -> Result<Settings, ConfigError> {
        let text = |key: &str| self.get(key).and_then(Node::as_text).map(str::to_owned);
        let configured = self.get("provider").map(Node::entries).unwrap_or_default();
        Ok(Settings {
            configured: configured.iter().map(provider).collect::<Result<_, _>>()?,
            enabled: self.get("enabled_providers").map(texts).transpose()?.map(BTreeSet::from_iter),
            disabled: self
                .get("disabled_providers")
                .map(texts)
                .transpose()?
                .unwrap_or_default()
                .into_iter()
                .collect(),
            model: text("model"),
            small_model: text("small_model"),
            ..Settings::default()
        })
    }
}

impl Config {
    /// The model that is asked unless another is named.
    pub(crate) fn model(&self) -> Option<String> {
        self.get("model").and_then(Node::as_text).map(str::to_owned)
    }
}

fn provider(entry: &Entry) -> Result<Configured, ConfigError> {
    let Entry { key: id, value, .. } = entry;
    let mut configured = Configured { id: id.clone(), ..Configured::default() };
    if let Some(package) = value.get("npm") {
        let name = package.as_text().ok_or_else(|| package.expected("the name of a package"))?;
        configured.format = Some(format_of_package(name).ok_or_else(|| unknown_package(package, name))?);
    }
    if let Some(api) = value.get("api") {
        configured.base_url = Some(text(api)?);
    }
    if let Some(variables) = value.get("env") {
        configured.variables = texts(variables)?;
    }
    for Entry { key, value, .. } in value.get("options").map(Node::entries).unwrap_or_default() {
        match key.as_str() {
            "baseURL" => configured.base_url = Some(text(value)?),
            "apiKey" => configured.key = Key::new(&text(value)?),
            "headers" => {
                let Kind::Object(headers) = &value.kind else { return Err(value.expected("an object")) };
                let header = |entry: &Entry| Ok((entry.key.clone(), text(&entry.value)?));
                configured.headers = headers.iter().map(header).collect::<Result<_, ConfigError>>()?;
            }
            "timeout" => configured.idle = idle(value)?,
            // opencode passes the rest on to its packages.
            _ => {}
        }
    }
    for Entry { key, value, .. } in value.get("models").map(Node::entries).unwrap_or_default() {
        let model = model(key, value)?;
        if model.id != *key {
            configured.aliases.insert(key.clone(), model.id.clone());
        }
        configured.models.push(model);
    }
    Ok(configured)
}

fn model(id: &str, value: &Node) -> Result<ModelInfo, ConfigError> {
    let count = |key: &str| match value.get("limit").and_then(|limit| limit.get(key)) {
        None => Ok(None),
        Some(count) => count.as_count().map(Some).ok_or_else(|| count.expected("a whole number")),
    };
    Ok(ModelInfo {
        id: value.get("id").map(text).transpose()?.unwrap_or_else(|| id.to_owned()),
        name: value.get("name").map(text).transpose()?,
        context: count("context")?.filter(|count| *count > 0),
        output: count("output")?.filter(|count| *count > 0),
        options: value.get("options").map(fields).transpose()?.unwrap_or_default(),
        variants: variants(value)?,
    })
}

/// The variants of a model that are not switched off.
fn variants(model: &Node) -> Result<BTreeMap<String, Map<String, Value>>, ConfigError> {
    let said = model.get("variants").map(Node::entries).unwrap_or_default();
    let on = said.iter().filter(|entry| entry.value.get("disabled").and_then(Node::as_bool) != Some(true));
    on.map(|entry| {
        let mut options = fields(&entry.value)?;
        options.shift_remove("disabled");
        Ok((entry.key.clone(), options))
    })
    .collect()
}

fn fields(node: &Node) -> Result<Map<String, Value>, ConfigError> {
    match node.json() {
        Value::Object(fields) => Ok(fields),
        _ => Err(node.expected("an object")),
    }
}

/// Milliseconds, or `false` for as long as it takes.
fn idle(value: &Node) -> Result<Option<Duration>, ConfigError> {
    const FOR_EVER: Duration = Duration::from_secs(24 * 3600);
    match (value.as_bool(), value.as_count()) {
        (Some(false), _) => Ok(Some(FOR_EVER)),
        (_, Some(ms)) if ms > 0 => Ok(Some(Duration::from_millis(ms))),
        _ => Err(value.expected("milliseconds, or false")),
    }
}

fn text(node: &Node) -> Result<String, ConfigError> {
    node.as_text().map(str::to_owned).ok_or_else(|| node.expected("a text"))
}

fn texts(node: &Node) -> Result<Vec<String>, ConfigError> {
    let items = node.as_list().ok_or_else(|| node.expected("an array of texts"))?;
    items.iter().map(text).collect()
}

fn unknown_package(node: &Node, name: &str) -> ConfigError {
    let nearest = haft::nearest(name, packages()).map(str::to_owned);
    let expected = "a package whose format haft speaks, such as \"@ai-sdk/openai-compatible\"";
    Located::new(Problem::Word { expected, found: node.described(), nearest }, &node.span).into()
}
