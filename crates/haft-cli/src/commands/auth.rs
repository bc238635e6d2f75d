//! `haft auth`: stores keys of providers, says where keys come from, forgets them. No key is ever shown.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use haft::visible;
use haft_agent::providers::{KeySource, Providers};
use haft_agent::wire::Key;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use crate::cli::{AuthCommand, Globals};
use crate::exit::{Exit, Failure};
use crate::models;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// The longest key.
const KEY_BYTES_MAX: u64 = 16 << 10;

pub(crate) async fn run(
    globals: &Globals,
    terminal: Terminal,
    command: AuthCommand,
) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    let providers = models::providers(&setting)?;
    match command {
        AuthCommand::Login { provider } => login(&setting, &providers, provider.as_deref()).await,
        AuthCommand::List => list(&providers, terminal),
        AuthCommand::Logout { provider } => logout(&setting, &providers, &provider),
    }
}

async fn login(setting: &Setting, providers: &Providers, provider: Option<&str>) -> Result<Exit, Failure> {
    let ids = providers.ids();
    let known = || ids.iter().map(|id| visible(id)).collect::<Vec<_>>().join(", ");
    let Some(provider) = provider else {
        return Err(Failure::usage("whose key is it?").hint(format!("name a provider: {}", known())));
    };
    if !ids.iter().any(|id| id == provider) {
        let failure = Failure::usage(format_args!("there is no provider {provider:?}"));
        return Err(match haft::nearest(provider, ids.iter().map(String::as_str)) {
            Some(nearest) => failure.hint(format!("did you mean {}?", visible(nearest))),
            None => failure.hint(format!("known are {}; others can be configured", known())),
        });
    }
    let Some(key) = read_key(provider).await? else { return Ok(Exit::Interrupted) };
    let key = Key::new(&key).ok_or_else(|| Failure::usage("no key was given, so nothing was stored"))?;
    if key.reveal().contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(Failure::usage("a key is one word; nothing was stored"));
    }
    let mut keys = models::keys(&setting.paths)?;
    keys.put(provider, &key).map_err(|error| Failure::new(Exit::Defect, error))?;
    let path = visible(&keys.path().to_string_lossy());
    match setting.terminal.json {
        true => setting.terminal.document(&json!({ "v": 1, "stored": provider, "path": path }))?,
        false => setting.terminal.note(&format!("the key of {provider} is stored in {path}, for you alone")),
    }
    Ok(Exit::Ok)
}

fn list(providers: &Providers, terminal: Terminal) -> Result<Exit, Failure> {
    let ids = providers.ids();
    let sources = ids.iter().filter_map(|id| Some((id, providers.key_source(id)?)));
    let rows: Vec<(&String, String)> = sources.map(|(id, source)| (id, shown(&source))).collect();
    if terminal.json {
        let rows: Vec<Value> =
            rows.iter().map(|(id, source)| json!({ "provider": id, "source": source })).collect();
        terminal.document(&json!({ "v": 1, "keys": rows }))?;
        return Ok(Exit::Ok);
    }
    for (id, source) in &rows {
        terminal.line(&format!("{:14}  {}", visible(id), visible(source)))?;
    }
    if rows.is_empty() {
        terminal.note("no keys; store one with `haft auth login PROVIDER`");
    }
    Ok(Exit::Ok)
}

fn shown(source: &KeySource) -> String {
    match source {
        KeySource::Configuration => "configuration".to_owned(),
        KeySource::Stored => "stored".to_owned(),
        KeySource::Variable(variable) => variable.clone(),
    }
}

fn logout(setting: &Setting, providers: &Providers, provider: &str) -> Result<Exit, Failure> {
    let mut keys = models::keys(&setting.paths)?;
    let was_stored = keys.remove(provider).map_err(|error| Failure::new(Exit::Defect, error))?;
    if !was_stored {
        let failure = Failure::usage(format_args!("no key of {provider:?} is stored"));
        return Err(match providers.key_source(provider) {
            Some(source) => {
                failure.hint(format!("its key comes from elsewhere: {}", visible(&shown(&source))))
            }
            None => failure,
        });
    }
    match setting.terminal.json {
        true => setting.terminal.document(&json!({ "v": 1, "removed": provider }))?,
        false => setting.terminal.note(&format!("the key of {} is forgotten", visible(provider))),
    }
    Ok(Exit::Ok)
}

/// Reads a key from the terminal, where it does not appear, or from a pipe. None if the person gave up.
async fn read_key(provider: &str) -> Result<Option<String>, Failure> {
    if !std::io::stdin().is_terminal() {
        let mut key = String::new();
        std::io::stdin().lock().take(KEY_BYTES_MAX).read_to_string(&mut key)?;
        return Ok(Some(key));
    }
    let silence = Silence::begin()?;
    let mut err = std::io::stderr();
    write!(err, "key of {} (it will not appear): ", visible(provider)).and_then(|()| err.flush())?;
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().take(KEY_BYTES_MAX).read_line(&mut line).map(|_| line)
    });
    // Whoever interrupts gets a terminal back that shows what they type.
    let read = tokio::select! {
        line = line => Some(line.map_err(anyhow::Error::from)??),
        _ = tokio::signal::ctrl_c() => None,
    };
    drop(silence);
    writeln!(err)?;
    Ok(read)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Silence(Termios);

impl Silence {
    fn begin() -> Result<Silence, Failure> {
        let before = tcgetattr(std::io::stdin()).map_err(std::io::Error::from)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent).map_err(std::io::Error::from)?;
        Ok(Silence(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _gone = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}
