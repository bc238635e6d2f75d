//! The hook `config`: what plugins have to say about agents, models, instructions and rules of a conversation.
//!
//! What they say is checked as a file would be, and counts more than every file and less than the environment. Their
//! rules only narrow, so none of them outranks what a person has denied. Keys are a person's: plugins are shown none and
//! give none, because what must not be written down is known before they are asked.

use serde_json::{Map, Value};

use super::Plugins;
use crate::cli::Globals;
use crate::config::PluginWords;
use crate::exit::{Exit, Failure};
use crate::setting::Setting;

const HOOK: &str = "config";

/// What is read when a conversation begins. Everything else has had its effect before plugins are there.
const TAKEN: [&str; 11] = [
    "agent",
    "compaction",
    "default_agent",
    "disabled_providers",
    "enabled_providers",
    "instructions",
    "mode",
    "model",
    "permission",
    "provider",
    "tools",
];

/// What plugins may know besides.
const SHOWN: [&str; 4] = ["share", "small_model", "theme", "username"];

/// Options of a provider that are keys, or hold them.
const KEYS: [&str; 2] = ["apiKey", "headers"];
/// The only option of a provider that plugins are shown: any other could be a key.
const SHOWN_OPTION: &str = "baseURL";

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
    let mut before = shown(&setting.config.document());
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

/// What plugins are shown of the configuration. Keys are not part of it, whatever they are called.
fn shown(config: &Value) -> Value {
    let is_shown = |key: &str| TAKEN.contains(&key) || SHOWN.contains(&key);
    let fields = config.as_object().into_iter().flatten().filter(|(key, _)| is_shown(key));
    let mut shown: Map<String, Value> = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    for options in provider_options(shown.get_mut("provider")) {
        options.retain(|option, _| option == SHOWN_OPTION);
    }
    Value::Object(shown)
}

/// The options of every provider.
fn provider_options(providers: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let providers = providers.and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut());
    providers.filter_map(|provider| provider.get_mut("options")?.as_object_mut())
}

/// What a plugin changed that counts, and what has no effect, with the reason.
fn changes(before: &Value, after: &Value) -> (Map<String, Value>, Vec<String>) {
    let (mut changed, mut unheard) = (Map::new(), Vec::new());
    for (key, value) in after.as_object().into_iter().flatten() {
        if before.get(key) == Some(value) {
            continue;
        }
        match TAKEN.contains(&key.as_str()) {
            true => drop(changed.insert(key.clone(), value.clone())),
            false => unheard.push(format!(
                "`{}` is read before plugins are asked, so this changes nothing; write it into a file",
                haft::visible(key)
            )),
        }
    }
    let mut has_keys = false;
    for options in provider_options(changed.get_mut("provider")) {
        for key in KEYS {
            has_keys |= options.shift_remove(key).is_some();
        }
    }
    if has_keys {
        let why = "`apiKey` and `headers` of providers are not taken from plugins; use haft auth login, a file, or the hook chat.headers";
        unheard.push(why.to_owned());
    }
    (changed, unheard)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_could_be_a_key_is_shown() {
        let options = json!({ "baseURL": "http://x", "apiKey": "k", "secretAccessKey": "s" });
        let config =
            json!({ "model": "a/b", "provider": { "x": { "options": options } }, "mcp": { "y": "k" } });
        let provider = json!({ "x": { "options": { "baseURL": "http://x" } } });
        assert_eq!(shown(&config), json!({ "model": "a/b", "provider": provider }));
    }

    #[test]
    fn keys_are_taken_out_and_what_comes_too_late_is_said() {
        let before = json!({ "model": "a/b", "share": "manual" });
        let provider = json!({ "x": { "options": { "apiKey": "k", "baseURL": "http://x" } } });
        let after = json!({ "model": "a/b", "share": "auto", "provider": provider });
        let (changed, unheard) = changes(&before, &after);
        assert_eq!(
            Value::Object(changed),
            json!({ "provider": { "x": { "options": { "baseURL": "http://x" } } } })
        );
        assert!(
            unheard.len() == 2 && unheard[0].contains("`share`") && unheard[1].contains("`apiKey`"),
            "{unheard:?}"
        );
    }
}
