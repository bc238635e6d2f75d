//! `haft auth`: stores keys of providers, logs in through plugins, says where keys come from, forgets them. No key is
//! ever shown.

mod lines;
mod login;
mod through_plugin;

use haft::visible;
use haft_agent::providers::Providers;
use serde_json::{Value, json};

use crate::cli::{AuthCommand, Globals};
use crate::exit::{Exit, Failure};
use crate::models;
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: AuthCommand,
) -> Result<Exit, Failure> {
    let setting = Setting::load_anyway(globals, terminal)?;
    let providers = models::providers(&setting)?;
    match command {
        AuthCommand::Login { provider, method } => {
            login::run(&setting, &providers, provider.as_deref(), method.as_deref()).await
        }
        AuthCommand::List => list(&providers, terminal),
        AuthCommand::Logout { provider } => logout(&setting, &providers, &provider),
    }
}

fn list(providers: &Providers, terminal: Terminal) -> Result<Exit, Failure> {
    let ids = providers.ids();
    let sources = ids.iter().filter_map(|id| Some((id, providers.key_source(id)?)));
    let rows: Vec<(&String, String)> = sources.map(|(id, source)| (id, models::shown(&source))).collect();
    for warning in models::warnings(providers, None) {
        terminal.note(&format!("{} {warning}", terminal.err().yellow("warning:")));
    }
    if terminal.json {
        let rows: Vec<Value> =
            rows.iter().map(|(id, source)| json!({ "provider": id, "source": source })).collect();
        terminal.document(&json!({ "v": 1, "keys": rows }))?;
        return Ok(Exit::Ok);
    }
    for (id, source) in &rows {
        terminal.line(&format!("{:14}  {source}", visible(id)))?;
    }
    if rows.is_empty() {
        terminal.note("no keys; store one with `haft auth login PROVIDER`");
    }
    Ok(Exit::Ok)
}

fn logout(setting: &Setting, providers: &Providers, provider: &str) -> Result<Exit, Failure> {
    let mut keys = models::keys(&setting.paths)?;
    let was_stored = keys.remove(provider).map_err(|error| Failure::new(Exit::Defect, error))?;
    if !was_stored {
        let failure = Failure::usage(format_args!("no key of {provider:?} is stored"));
        return Err(match providers.key_source(provider) {
            Some(source) => failure.hint(format!("its key comes from elsewhere: {}", models::shown(&source))),
            None => failure,
        });
    }
    match setting.terminal.json {
        true => setting.terminal.document(&json!({ "v": 1, "removed": provider }))?,
        false => setting.terminal.note(&format!("the key of {} is forgotten", visible(provider))),
    }
    Ok(Exit::Ok)
}
