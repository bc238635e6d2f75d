//! The hook `config`: what plugins have to say about agents, custom commands, models and rules of a conversation.
//!
//! What they say is checked as a file would be, and counts more than every file and less than the environment. Their
//! rules only narrow, so none of them outranks what a person has denied. Instructions are read and providers are spoken to
//! by haft itself, outside of every sandbox and with a person's keys, so neither is taken from plugins.

use serde_json::{Map, Value};

use super::Plugins;
use crate::cli::Globals;
use crate::config::{Config, PluginWords};
use crate::exit::{Exit, Failure};
use crate::setting::Setting;

const HOOK: &str = "config";

/// What is read when a conversation begins. Everything else has had its effect before plugins are there.
const TAKEN: [&str; 10] = [
    "agent",
    "command",
    "compaction",
    "default_agent",
    "disabled_providers",
    "enabled_providers",
    "mode",
    "model",
    "permission",
    "tools",
];

/// Those of them that hold things which have names.
const TABLES: [&str; 3] = ["agent", "command", "mode"];

/// What plugins may know besides.
const SHOWN: [&str; 4] = ["share", "small_model", "theme", "username"];

/// The setting after plugins had their say, if they had any.
pub(crate) async fn configured(
    setting: &Setting,
    globals: &Globals,
    plugins: &Plugins,
) -> Result<Option<Setting>, Failure> {
    plugins.refresh().await;
    if !plugins.has_hook(HOOK) {
        return Ok(None);
    }
    let mut before = shown(&setting.config);
    let said = plugins.configure(before.clone()).await;
    let mut words = Vec::new();
    for (file, after) in said.map_err(|error| Failure::new(Exit::Usage, error))? {
        let name = format!("the config hook of {}", haft::visible(&file.to_string_lossy()));
        let (changed, unheard) = changes(&before, &after);
        for key in unheard {
            warn(setting, &format!("{name}: {key}"));
        }
        if !changed.is_empty() {
            let text =
                serde_json::to_string_pretty(&changed).map_err(|error| Failure::new(Exit::Defect, error))?;
            words.push(PluginWords { name, text });
        }
        before = after;
    }
    if words.is_empty() {
        return Ok(None);
    }
    let configured = setting.with_words(globals, &words)?;
    let known: Vec<String> = setting.config.warnings().iter().map(ToString::to_string).collect();
    let new = configured.config.warnings().iter().map(ToString::to_string);
    new.filter(|warning| !known.contains(warning)).for_each(|warning| warn(setting, &warning));
    Ok(Some(configured))
}

fn warn(setting: &Setting, words: &str) {
    setting.terminal.note(&format!("{} {words}", setting.terminal.err().yellow("warning:")));
}

/// What plugins are shown of the configuration: as it is written, without what was put in from elsewhere.
pub(super) fn shown(config: &Config) -> Value {
    config.document_as_written(shown_of(&config.document()))
}

fn shown_of(config: &Value) -> Value {
    let is_shown = |key: &str| TAKEN.contains(&key) || SHOWN.contains(&key);
    let fields = config.as_object().into_iter().flatten().filter(|(key, _)| is_shown(key));
    Value::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// What a plugin changed that counts, and what has no effect, with the reason.
fn changes(before: &Value, after: &Value) -> (Map<String, Value>, Vec<String>) {
    let (mut changed, mut unheard) = (Map::new(), Vec::new());
    for (key, value) in after.as_object().into_iter().flatten() {
        if before.get(key) == Some(value) {
            continue;
        }
        match TAKEN.contains(&key.as_str()) {
            true if TABLES.contains(&key.as_str()) => {
                drop(changed.insert(key.clone(), changed_entries(before.get(key), value)));
            }
            true => drop(changed.insert(key.clone(), value.clone())),
            false => unheard.push(format!(
                "`{}` is not taken from plugins, so this changes nothing; write it into a file",
                haft::visible(key)
            )),
        }
    }
    (changed, unheard)
}

/// What is new in a table of things that have names. What is as it was stays what it was, also where only its
/// reference was shown; the fields of a thing are each taken whole.
fn changed_entries(before: Option<&Value>, after: &Value) -> Value {
    let (Some(before), Some(entries)) = (before, after.as_object()) else { return after.clone() };
    let changed = entries.iter().filter(|(name, entry)| before.get(name) != Some(entry));
    let fields = |(name, entry): (&String, &Value)| match (before.get(name), entry.as_object()) {
        (Some(known), Some(fields)) => {
            let new = fields.iter().filter(|(field, value)| known.get(field) != Some(value));
            let new = new.map(|(field, value)| (field.clone(), value.clone())).collect();
            (name.clone(), Value::Object(new))
        }
        (Some(_) | None, _) => (name.clone(), entry.clone()),
    };
    Value::Object(changed.map(fields).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn providers_and_instructions_are_neither_shown_nor_taken() {
        let provider = json!({ "x": { "env": ["TOKEN"], "options": { "baseURL": "http://x" } } });
        let config = json!({ "model": "a/b", "provider": provider, "mcp": { "y": "k" } });
        assert_eq!(shown_of(&config), json!({ "model": "a/b" }));

        let after = json!({ "model": "a/c", "provider": provider, "instructions": ["/etc/passwd"] });
        let (changed, unheard) = changes(&json!({ "model": "a/b" }), &after);
        assert_eq!(Value::Object(changed), json!({ "model": "a/c" }));
        assert!(
            unheard.len() == 2 && unheard[0].contains("`provider`") && unheard[1].contains("`instructions`"),
            "{unheard:?}"
        );
    }

    #[test]
    fn what_is_as_it_was_is_not_said_again() {
        let before =
            json!({ "command": { "a": { "template": "{env:X}", "model": "m" }, "b": { "template": "b" } } });
        let mut after = before.clone();
        after["command"]["a"]["model"] = "n".into();
        after["command"]["c"] = json!({ "template": "c" });
        let (changed, _) = changes(&before, &after);
        assert_eq!(
            Value::Object(changed),
            json!({ "command": { "a": { "model": "n" }, "c": { "template": "c" } } })
        );
    }
}
