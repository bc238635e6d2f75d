//! Which models can be asked here: configuration, environment and stored keys together.

use haft_agent::auth::Keys;
use haft_agent::providers::{Providers, ResolveError, Settings};

use crate::exit::{Exit, Failure};
use crate::paths::Paths;
use crate::setting::Setting;

/// The stored keys.
pub(crate) fn keys(paths: &Paths) -> Result<Keys, Failure> {
    Keys::load(&paths.data.join("auth.json")).map_err(|error| Failure::new(Exit::Usage, error))
}

/// The providers that can be used here.
pub(crate) fn providers(setting: &Setting) -> Result<Providers, Failure> {
    let said = setting.config.providers().map_err(|error| Failure::new(Exit::Usage, error))?;
    let keys = keys(&setting.paths)?;
    let stored = keys.providers().filter_map(|id| Some((id.to_owned(), keys.get(id)?))).collect();
    let variables = setting.env.iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let directory = setting.directory.clone();
    Ok(Providers::new(Settings { variables, stored, directory, ..said }))
}

/// Every key that is known here, so that none is ever written down elsewhere.
pub(crate) fn secrets(setting: &Setting) -> Vec<String> {
    // Where keys cannot be read, none is used either.
    let stored = keys(&setting.paths).ok();
    let stored = stored.iter().flat_map(|keys| keys.providers().filter_map(|id| keys.get(id)));
    let configured = setting.config.providers().ok().map(|said| said.configured).unwrap_or_default();
    let configured = configured.into_iter().filter_map(|provider| provider.key);
    stored.chain(configured).map(|key| key.reveal().to_owned()).collect()
}

/// A model that cannot be asked is a matter of how haft is set up.
pub(crate) fn failure(error: ResolveError) -> Failure {
    Failure::new(Exit::Usage, error)
}
