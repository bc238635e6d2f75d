//! Which models can be asked here: configuration, environment, stored keys and plugins together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft::visible;
use haft_agent::auth::Keys;
use haft_agent::providers::{KeySource, Providers, ResolveError, Settings};

use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::location::Location;
use crate::paths::{Env, Paths};
use crate::plugins::{self, Logins};
use crate::setting::Setting;

/// Where keys are stored.
pub(crate) fn keys_path(paths: &Paths) -> PathBuf {
    paths.data.join("auth.json")
}

/// The stored keys.
pub(crate) fn keys(paths: &Paths) -> Result<Keys, Failure> {
    Keys::load(&keys_path(paths)).map_err(|error| Failure::new(Exit::Usage, error))
}

/// The providers that can be used here, as far as that is known without plugins.
pub(crate) fn providers(setting: &Setting) -> Result<Providers, Failure> {
    Ok(Providers::new(settings(setting)?))
}

/// The same, for whoever has only these.
pub(crate) fn providers_of(
    config: &Config,
    env: &Env,
    paths: &Paths,
    directory: &Path,
) -> Result<Providers, Failure> {
    Ok(Providers::new(settings_of(config, env, paths, directory)?))
}

/// The same with what plugins know: of these providers, or of all.
pub(crate) async fn providers_with(
    setting: &Setting,
    location: &Location<'_>,
    wanted: Option<&BTreeSet<String>>,
) -> Result<Providers, Failure> {
    let (plugins, credentials, context) = (location.plugins(), location.credentials(), setting.context());
    let plain = providers(setting)?;
    for warning in warnings(&plain, wanted) {
        warn(setting, &warning);
    }
    let (further, faults) = plugins::further_models(plugins, credentials, &context, &plain, wanted).await;
    faults.iter().for_each(|fault| warn(setting, fault));
    let infos = plain.ids().into_iter().map(|id| {
        let told = plugins::info(&id, plain.configured_models(&id));
        (id, told)
    });
    let settings = settings(setting)?;
    let placed = settings.configured.iter().filter(|configured| configured.base_url.is_some());
    let logins = Logins {
        placed: placed.map(|configured| configured.id.clone()).collect(),
        plugins: plugins.clone(),
        credentials: credentials.clone(),
        hosting: location.hosting().clone(),
        infos: infos.collect(),
        context,
    };
    Ok(Providers::new(Settings { further, ..settings }).loading_with(Arc::new(logins)))
}

/// What a person has to know about logins that are not used as they might expect.
pub(crate) fn warnings(providers: &Providers, wanted: Option<&BTreeSet<String>>) -> Vec<String> {
    let is_wanted = |id: &str| wanted.is_none_or(|wanted| wanted.contains(id));
    let unused = providers.unused_logins().into_iter().filter(|(id, ..)| is_wanted(id));
    let unused = unused.map(|(id, file, source)| {
        let (id, file) = (visible(id), visible(&file.to_string_lossy()));
        format!(
            "the login to {id} through {file} is not used: there is a key of your own ({})",
            shown(&source)
        )
    });
    let withheld = providers.withheld_headers().into_iter().filter(|id| is_wanted(id)).map(|id| {
        format!(
            "the configured headers of {} are not sent: the login is a plugin's, which would see them",
            visible(id)
        )
    });
    unused.chain(withheld).collect()
}

fn warn(setting: &Setting, words: &str) {
    setting.terminal.note(&format!("{} {}", setting.terminal.err().yellow("warning:"), visible(words)));
}

/// Where a key comes from, in words.
pub(crate) fn shown(source: &KeySource) -> String {
    match source {
        KeySource::Configuration => "configuration".to_owned(),
        KeySource::Stored => "stored".to_owned(),
        KeySource::Variable(variable) => visible(variable),
        KeySource::Plugin(file) => format!("plugin {}", visible(&file.to_string_lossy())),
    }
}

fn settings(setting: &Setting) -> Result<Settings, Failure> {
    settings_of(&setting.config, &setting.env, &setting.paths, &setting.directory)
}

fn settings_of(config: &Config, env: &Env, paths: &Paths, directory: &Path) -> Result<Settings, Failure> {
    let said = config.providers().map_err(|error| Failure::new(Exit::Usage, error))?;
    let keys = keys(paths)?;
    let stored = keys.providers().filter_map(|id| Some((id.to_owned(), keys.get(id)?))).collect();
    let variables = env.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let logins = keys.logins().map(|(id, login)| (id.to_owned(), login.file)).collect();
    let directory = directory.to_owned();
    Ok(Settings { variables, stored, logins, directory, ..said })
}

/// The name under which a key counts as a secret, whatever it was called.
const KEY: &str = "PROVIDER_API_KEY";

/// Every key that is known here, with a name by which it is known as one, so that none is ever written down elsewhere.
pub(crate) fn secrets(setting: &Setting) -> Vec<(String, String)> {
    // Where keys cannot be read, none is used either.
    let kept = keys(&setting.paths).ok();
    let stored = kept.iter().flat_map(|keys| keys.providers().filter_map(|id| keys.get(id)));
    let logins = kept.iter().flat_map(|keys| keys.logins());
    let tokens = logins.flat_map(|(_, login)| {
        let secrets: Vec<String> = login.credential.secrets().map(str::to_owned).collect();
        secrets.into_iter().map(|secret| (KEY.to_owned(), secret))
    });
    let configured = setting.config.providers().ok().map(|said| said.configured).unwrap_or_default();
    let headers = configured.iter().flat_map(|provider| &provider.headers).flat_map(header_secrets);
    let keys = configured.iter().filter_map(|provider| provider.key.clone());
    let keys = stored.chain(keys).map(|key| (KEY.to_owned(), key.reveal().to_owned()));
    headers.chain(keys).chain(tokens).collect()
}

/// A header under the name of a variable, which tells whether it is secret; and what follows a scheme such as `Bearer`,
/// which always is.
pub(crate) fn header_secrets((name, value): &(String, String)) -> Vec<(String, String)> {
    const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];
    let variable = name.replace('-', "_");
    let mut secrets = vec![(variable, value.clone())];
    if let Some((scheme, token)) = value.trim().split_once(' ')
        && SCHEMES.contains(&scheme.to_ascii_lowercase().as_str())
    {
        secrets.push((KEY.to_owned(), token.trim().to_owned()));
    }
    secrets
}

/// A model that cannot be asked is a matter of how haft is set up.
pub(crate) fn failure(setting: &Setting, error: ResolveError) -> Failure {
    setting.as_written(Failure::new(Exit::Usage, error))
}
