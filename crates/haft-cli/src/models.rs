//! Which models can be asked here: configuration, environment and stored keys together.

use std::path::Path;

use haft_agent::auth::Keys;
use haft_agent::providers::{Providers, ResolveError, Settings};

use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::paths::{Env, Paths};
use crate::setting::Setting;

/// The stored keys.
pub(crate) fn keys(paths: &Paths) -> Result<Keys, Failure> {
    Keys::load(&paths.data.join("auth.json")).map_err(|error| Failure::new(Exit::Usage, error))
}

/// The providers that can be used here.
pub(crate) fn providers(setting: &Setting) -> Result<Providers, Failure> {
    providers_of(&setting.config, &setting.env, &setting.paths, &setting.directory)
}

/// The same, for whoever has only these.
pub(crate) fn providers_of(
    config: &Config,
    env: &Env,
    paths: &Paths,
    directory: &Path,
) -> Result<Providers, Failure> {
    let said = config.providers().map_err(|error| Failure::new(Exit::Usage, error))?;
    let keys = keys(paths)?;
    let stored = keys.providers().filter_map(|id| Some((id.to_owned(), keys.get(id)?))).collect();
    let variables = env.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let directory = directory.to_owned();
    Ok(Providers::new(Settings { variables, stored, directory, ..said }))
}

/// The name under which a key counts as a secret, whatever it was called.
const KEY: &str = "PROVIDER_API_KEY";

/// Every key that is known here, with a name by which it is known as one, so that none is ever written down elsewhere.
pub(crate) fn secrets(setting: &Setting) -> Vec<(String, String)> {
    // Where keys cannot be read, none is used either.
    let stored = keys(&setting.paths).ok();
    let stored = stored.iter().flat_map(|keys| keys.providers().filter_map(|id| keys.get(id)));
    let configured = setting.config.providers().ok().map(|said| said.configured).unwrap_or_default();
    let headers = configured.iter().flat_map(|provider| &provider.headers).flat_map(header_secrets);
    let keys = configured.iter().filter_map(|provider| provider.key.clone());
    let keys = stored.chain(keys).map(|key| (KEY.to_owned(), key.reveal().to_owned()));
    headers.chain(keys).collect()
}

/// A header under the name of a variable, which tells whether it is secret; and what follows a scheme such as `Bearer`,
/// which always is.
fn header_secrets((name, value): &(String, String)) -> Vec<(String, String)> {
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
pub(crate) fn failure(error: ResolveError) -> Failure {
    Failure::new(Exit::Usage, error)
}
