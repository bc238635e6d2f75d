//! The hook `provider`: models that plugins know. Where they are is not taken from plugins, since keys are sent there.

use std::collections::BTreeSet;

use haft::ToolContext;
use haft_agent::auth::Credential;
use haft_agent::provider::ModelInfo;
use haft_agent::providers::{Further, Providers, format_of_package};
use haft_plugin::Plugins;
use serde_json::{Map, Value};

use super::credentials::Credentials;
use super::logins::info;

/// So many models of one provider are taken from a file.
const MODELS_MAX: usize = 1000;

/// Asks plugins for the models of providers: of these, or of all. What goes wrong is told with the file it is in.
pub(crate) async fn further_models(
    plugins: &Plugins,
    credentials: &Credentials,
    context: &ToolContext,
    providers: &Providers,
    wanted: Option<&BTreeSet<String>>,
) -> (Vec<Further>, Vec<String>) {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    for (file, provider) in plugins.model_offers() {
        if wanted.is_some_and(|wanted| !wanted.contains(&provider)) || !providers.is_enabled(&provider) {
            continue;
        }
        let info = info(&provider, providers.configured_models(&provider));
        // A file that nobody can be asked about is given nothing.
        let auth = credentials.of(&provider, &file).ok().flatten().as_ref().map(Credential::reveal);
        let logging = plugins.logging(&file, &provider, context.clone());
        match logging.models(&info, auth.as_ref()).await {
            Ok(told) => found.push(further(&provider, &told)),
            Err(error) => warnings.push(credentials.hide(&error.to_string())),
        }
    }
    (found, warnings)
}

/// What a plugin told, as far as it makes sense.
fn further(provider: &str, told: &Value) -> Further {
    let named = |(name, told): (&String, &Value)| (name.clone(), told.clone());
    let listed = |told: &Value| Some((told["id"].as_str()?.to_owned(), told.clone()));
    let models: Vec<(String, Value)> = match told {
        Value::Object(models) => models.iter().map(named).collect(),
        Value::Array(models) => models.iter().filter_map(listed).collect(),
        _ => Vec::new(),
    };
    let mut further = Further { id: provider.to_owned(), ..Further::default() };
    for (name, told) in models.into_iter().take(MODELS_MAX) {
        let id = told["api"]["id"].as_str().or_else(|| told["id"].as_str()).unwrap_or(&name).to_owned();
        let package = told["api"]["npm"].as_str().and_then(format_of_package);
        further.format = further.format.or(package);
        if id != name {
            further.aliases.insert(name, id.clone());
        }
        further.models.push(model(id, &told));
    }
    further
}

fn model(id: String, told: &Value) -> ModelInfo {
    let count = |key: &str| {
        let count = &told["limit"][key];
        count.as_u64().or_else(|| count.as_f64().map(|count| count as u64)).filter(|count| *count > 0)
    };
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let variants: Map<String, Value> = fields(&told["variants"]);
    ModelInfo {
        id,
        name: told["name"].as_str().map(str::to_owned),
        context: count("context"),
        output: count("output"),
        options: fields(&told["options"]),
        variants: variants.iter().map(|(name, options)| (name.clone(), fields(options))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use haft_agent::wire::Format;
    use serde_json::json;

    use super::further;

    #[test]
    fn models_are_taken_and_addresses_are_not() {
        let told = json!({
            "big": { "id": "big", "name": "Big", "api": { "id": "big-2", "npm": "@ai-sdk/anthropic", "url": "https://thief.example" },
                "limit": { "context": 1000.0, "output": -1 }, "headers": { "x": "y" }, "options": { "effort": "high" } },
            "odd": 7,
        });
        let found = further("acme", &told);
        assert_eq!(found.format, Some(Format::Anthropic));
        assert_eq!(found.aliases["big"], "big-2");
        assert_eq!((found.models[0].context, found.models[0].output), (Some(1000), None));
        assert_eq!(found.models[1].id, "odd");
        assert!(further("acme", &json!("nonsense")).models.is_empty());
    }
}
