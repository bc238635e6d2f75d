//! `haft models`: the models that can be reached.

use std::collections::BTreeSet;
use std::time::Duration;

use haft::visible;
use haft_agent::provider::ModelInfo;
use haft_agent::providers::Listing;
use serde_json::{Value, json};

use crate::cli::{ConsentArgs, Globals};
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::models;
use crate::plugins;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// How long each provider is waited for.
const DEADLINE: Duration = Duration::from_secs(10);

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    provider: Option<&str>,
) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    let location = match plugins::are_there(&setting) {
        true => {
            let consent = ConsentArgs::default();
            let location = Location::open(&setting, &consent, Mode::Live, Life::OneCall)?;
            location.plugins().refresh().await;
            Some(location)
        }
        false => None,
    };
    let wanted = provider.map(|provider| BTreeSet::from([provider.to_owned()]));
    let providers = match &location {
        Some(location) => models::providers_with(&setting, location, wanted.as_ref()).await?,
        None => models::providers(&setting)?,
    };
    let listings =
        providers.list(provider, DEADLINE).await.map_err(|error| models::failure(&setting, error))?;
    let default = providers.default_model().await;
    if let Some(location) = &location {
        location.close().await;
    }
    if terminal.json {
        let default = default.as_ref().ok();
        let listed: Vec<Value> = listings.iter().map(document).collect();
        terminal.document(&json!({ "v": 1, "default": default, "providers": listed }))?;
    } else {
        for listing in &listings {
            show(&setting, listing, default.as_deref().ok())?;
        }
    }
    let reached = listings.iter().any(|listing| listing.models.is_ok());
    match (listings.is_empty(), default) {
        (true, Err(error)) => Err(models::failure(&setting, error)),
        _ if reached => Ok(Exit::Ok),
        _ => Ok(Exit::Failed),
    }
}

fn show(setting: &Setting, listing: &Listing, default: Option<&str>) -> Result<(), Failure> {
    let terminal = setting.terminal;
    let models = match &listing.models {
        Ok(models) => models,
        Err(error) => {
            let error = visible(&setting.config.as_written(&error.to_string()));
            terminal.say(&format!("{} {error}", terminal.err().yellow("warning:")));
            return Ok(());
        }
    };
    models.iter().try_for_each(|model| {
        let name = format!("{}/{}", listing.provider, model.id);
        let mark = if default == Some(name.as_str()) { "  (default)" } else { "" };
        let size = model.context.map(|context| format!("  {}k", context / 1000)).unwrap_or_default();
        terminal.line(&format!("{}{}{mark}", visible(&name), terminal.out().dim(&size)))
    })
}

fn document(listing: &Listing) -> Value {
    let model = |model: &ModelInfo| json!({ "id": model.id, "name": model.name, "context": model.context, "output": model.output });
    match &listing.models {
        Ok(models) => {
            let models: Vec<Value> = models.iter().map(model).collect();
            json!({ "provider": listing.provider, "models": models })
        }
        Err(error) => json!({ "provider": listing.provider, "error": error.to_string() }),
    }
}
