//! Which providers there are: those that haft knows, with what configuration, environment and stored keys say of them.

mod error;
mod keys;
mod listing;
mod logged_in;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::Model;

use crate::provider::{ModelInfo, Provider};
use crate::scripted::Script;
use crate::wire::{Endpoint, Format, Key, Wire};
use logged_in::{Loading, LoggedIn, NoPlugins};
use table::Known;

pub use error::ResolveError;
pub use listing::Listing;
pub use logged_in::{Loader, LoginOptions, Unloaded};
pub use table::{format_of_package, packages};

/// Points `openai` at a server that speaks chat completions.
const BASE_URL: &str = "HAFT_LLM_BASE_URL";
const OVERRIDDEN: &str = "openai";
/// The provider whose models are files.
const SCRIPTED: &str = "scripted";
/// How much a model may say at once where it must be said: more is rarely wanted, and is reserved by providers.
const OUTPUT_MAX: u64 = 32_000;
/// For models that nothing is known of.
const OUTPUT_UNKNOWN: u64 = 8_192;
/// How long a server on this machine is waited for when it was not asked for.
const LOCAL_WAIT: Duration = Duration::from_millis(700);
/// What is no model to talk to, by parts of its name.
const NOT_TALKING: &[&str] =
    &["embed", "whisper", "tts", "rerank", "moderation", "image", "audio", "realtime"];

/// What is said about providers.
#[derive(Default)]
pub struct Settings {
    /// Those that the configuration speaks of.
    pub configured: Vec<Configured>,
    /// Only these may be used.
    pub enabled: Option<BTreeSet<String>>,
    /// These may not.
    pub disabled: BTreeSet<String>,
    /// The model to use.
    pub model: Option<String>,
    /// The model for small work.
    pub small_model: Option<String>,
    /// The environment.
    pub variables: BTreeMap<String, String>,
    /// Keys that were stored.
    pub stored: BTreeMap<String, Key>,
    /// Files of plugins that somebody logged in through. Who has a key of their own does not need them.
    pub logins: BTreeMap<String, PathBuf>,
    /// What plugins say of models.
    pub further: Vec<Further>,
    /// Where scripts are looked for.
    pub directory: PathBuf,
}

/// What the configuration says of one provider.
#[derive(Default, Clone)]
pub struct Configured {
    /// Its id.
    pub id: String,
    /// Its format.
    pub format: Option<Format>,
    /// Variables that may hold its key.
    pub variables: Vec<String>,
    /// Its address.
    pub base_url: Option<String>,
    /// Its key.
    pub key: Option<Key>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// How long nothing may come.
    pub idle: Option<Duration>,
    /// Its models.
    pub models: Vec<ModelInfo>,
    /// Names under which models are known here, and what the provider calls them.
    pub aliases: BTreeMap<String, String>,
}

/// What a plugin says of a provider's models. It never says where they are: a person's key could be sent there.
#[derive(Default, Clone)]
pub struct Further {
    /// The provider.
    pub id: String,
    /// Its format, for a provider that nothing else is known of.
    pub format: Option<Format>,
    /// Its models.
    pub models: Vec<ModelInfo>,
    /// Names under which models are known here, and what the provider calls them.
    pub aliases: BTreeMap<String, String>,
}

/// The providers that can be used here.
pub struct Providers {
    settings: Settings,
    /// Who knows what the requests of somebody who logged in need.
    loader: Arc<dyn Loader>,
    /// Those that were used, so that their connections are used again.
    open: Mutex<HashMap<String, Arc<dyn Provider>>>,
    /// What was loaded for those that somebody logged in to.
    loading: Mutex<HashMap<String, Arc<Loading>>>,
}

/// A model that can be asked.
#[derive(Clone)]
pub struct Resolved {
    /// Who serves it.
    pub provider: Arc<dyn Provider>,
    /// Which it is.
    pub model: Model,
    /// What is known of it.
    pub info: ModelInfo,
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// The configuration.
    Configuration,
    /// `haft auth login`.
    Stored,
    /// A variable.
    Variable(String),
    /// A login through a plugin, by its file.
    Plugin(PathBuf),
}

impl Providers {
    /// Takes what is said. Nothing is sent anywhere yet.
    pub fn new(settings: Settings) -> Providers {
        Providers { settings, loader: Arc::new(NoPlugins), open: Mutex::default(), loading: Mutex::default() }
    }

    /// The same with somebody who knows what the requests of those who logged in need.
    pub fn loading_with(self, loader: Arc<dyn Loader>) -> Providers {
        Providers { loader, ..self }
    }

    /// The ids of all providers that may be used, whether they are set up or not.
    pub fn ids(&self) -> Vec<String> {
        let known = table::KNOWN.iter().map(|known| known.id.to_owned());
        let configured = self.settings.configured.iter().map(|configured| configured.id.clone());
        let logins = self.settings.logins.keys().cloned();
        let further = self.settings.further.iter().map(|further| further.id.clone());
        let mut seen = BTreeSet::new();
        known
            .chain(configured)
            .chain(logins)
            .chain(further)
            .filter(|id| self.is_enabled(id) && seen.insert(id.clone()))
            .collect()
    }

    /// Finds a model that was named as `provider/model`.
    pub fn resolve(&self, name: &str) -> Result<Resolved, ResolveError> {
        let Some((provider, id)) = name.split_once('/').filter(|(_, id)| !id.is_empty()) else {
            let nearest = table::guess(name).map(|provider| format!("{provider}/{name}"));
            return Err(ResolveError::NoProvider { model: haft::visible(name), nearest });
        };
        let real = self.configured(provider).and_then(|configured| configured.aliases.get(id));
        let real = real.or_else(|| self.further(provider).find_map(|further| further.aliases.get(id)));
        let id = real.map_or(id, String::as_str);
        let model = Model { provider: provider.to_owned(), id: id.to_owned() };
        if provider == SCRIPTED {
            let script = Script::load(&self.settings.directory.join(id))?;
            let info = ModelInfo { id: id.to_owned(), ..ModelInfo::default() };
            return Ok(Resolved { provider: Arc::new(script), model, info });
        }
        let info = self.info(provider, id);
        let output_max = info.output.unwrap_or(OUTPUT_UNKNOWN).min(OUTPUT_MAX);
        let wire = self.wire(provider, output_max)?;
        Ok(Resolved { provider: wire, model, info })
    }

    /// The model to use when nobody names one: the configured one, else one of the first provider that is set up.
    pub async fn default_model(&self) -> Result<String, ResolveError> {
        if let Some(model) = &self.settings.model {
            return Ok(model.clone());
        }
        if self.overridden().is_some()
            && let Some(model) = self.first_served(OVERRIDDEN).await
        {
            return Ok(model);
        }
        let of_configured = self.settings.configured.iter().find_map(|configured| {
            let model = configured.models.first()?;
            self.endpoint(&configured.id, OUTPUT_UNKNOWN).ok()?;
            Some(format!("{}/{}", configured.id, model.id))
        });
        let of_known = || {
            table::KNOWN.iter().find_map(|known| {
                let model = known.model?;
                self.endpoint(known.id, OUTPUT_UNKNOWN).ok()?;
                Some(format!("{}/{model}", known.id))
            })
        };
        let of_further = || {
            self.settings.further.iter().find_map(|further| {
                let model = further.models.first()?;
                self.endpoint(&further.id, OUTPUT_UNKNOWN).ok()?;
                Some(format!("{}/{}", further.id, model.id))
            })
        };
        if let Some(model) = of_configured.or_else(of_known).or_else(of_further) {
            return Ok(model);
        }
        for known in table::KNOWN.iter().filter(|known| known.is_local()) {
            if let Some(model) = self.first_served(known.id).await {
                return Ok(model);
            }
        }
        Err(ResolveError::NothingSetUp)
    }

    /// The model for small work, if one is configured.
    pub fn small_model(&self) -> Option<&str> {
        self.settings.small_model.as_deref()
    }

    /// Models of a provider that the configuration names.
    pub fn configured_models(&self, provider: &str) -> &[ModelInfo] {
        self.configured(provider).map(|configured| configured.models.as_slice()).unwrap_or_default()
    }

    async fn first_served(&self, provider: &str) -> Option<String> {
        let wire = self.wire(provider, OUTPUT_UNKNOWN).ok()?;
        let models = tokio::time::timeout(LOCAL_WAIT, wire.models()).await.ok()?.ok()?;
        let talks = |model: &&ModelInfo| !NOT_TALKING.iter().any(|part| model.id.contains(part));
        models.iter().find(talks).map(|model| format!("{provider}/{}", model.id))
    }

    fn wire(&self, provider: &str, output_max: u64) -> Result<Arc<dyn Provider>, ResolveError> {
        let endpoint = self.endpoint(provider, output_max)?;
        let key = format!("{provider} {output_max}");
        let loading = self.loading(provider);
        let is_placed = self.configured(provider).is_some_and(|configured| configured.base_url.is_some());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || match (endpoint, loading) {
            (endpoint, Some(loading)) => {
                Arc::new(LoggedIn::new(endpoint, is_placed, loading)) as Arc<dyn Provider>
            }
            (endpoint, None) => Arc::new(Wire::new(endpoint)),
        };
        Ok(open.entry(key).or_insert_with(made).clone())
    }

    /// What a plugin knows of a provider that somebody logged in to through it.
    fn loading(&self, provider: &str) -> Option<Arc<Loading>> {
        let file = self.login(provider)?;
        let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = || Arc::new(Loading::new(self.loader.clone(), provider, file));
        Some(loading.entry(provider.to_owned()).or_insert_with(begun).clone())
    }

    /// Everything that is needed to ask a provider.
    fn endpoint(&self, id: &str, output_max: u64) -> Result<Endpoint, ResolveError> {
        let (known, configured) = (table::by_id(id), self.configured(id));
        let login = self.login(id);
        if known.is_none() && configured.is_none() && login.is_none() && self.further(id).next().is_none() {
            let ids = self.ids();
            let nearest = haft::nearest(id, ids.iter().map(String::as_str)).map(str::to_owned);
            return Err(ResolveError::UnknownProvider {
                provider: haft::visible(id),
                nearest,
                known: ids.join(", "),
            });
        }
        if !self.is_enabled(id) {
            return Err(ResolveError::Disabled { provider: id.to_owned() });
        }
        let overridden = self.overridden().filter(|_| id == OVERRIDDEN);
        let base_url = overridden
            .map(str::to_owned)
            .or_else(|| configured.and_then(|configured| configured.base_url.clone()))
            .or_else(|| known.map(|known| known.base_url.to_owned()))
            // Whoever somebody logged in through may know.
            .or_else(|| login.map(|_| String::new()))
            .ok_or_else(|| ResolveError::NoAddress { provider: id.to_owned() })?;
        let key = self.key(id).map(|(key, _)| key);
        // Who gives another address may have a server without keys behind it.
        let is_free = overridden.is_some()
            || known.is_none_or(Known::is_local)
            || configured.is_some_and(|configured| configured.base_url.is_some());
        if key.is_none() && login.is_none() && !is_free {
            return Err(ResolveError::NoKey { provider: id.to_owned(), variable: self.variable(id) });
        }
        let format = match overridden {
            Some(_) => Format::Chat,
            None => configured
                .and_then(|configured| configured.format)
                .or_else(|| known.map(|known| known.format))
                .or_else(|| self.further(id).find_map(|further| further.format))
                .unwrap_or(Format::Chat),
        };
        let headers = configured.map(|configured| configured.headers.clone()).unwrap_or_default();
        Ok(Endpoint {
            provider: id.to_owned(),
            format,
            base_url,
            key,
            // These are the person's, and may be keys: no plugin is given them.
            headers: if login.is_some() { Vec::new() } else { headers },
            idle: configured.and_then(|configured| configured.idle),
            output_max,
            carrier: None,
        })
    }

    /// What the configuration says of a model, else a plugin, else what its name tells.
    fn info(&self, provider: &str, id: &str) -> ModelInfo {
        let known = table::limits(id);
        let is_it = |model: &&ModelInfo| model.id == id;
        let configured = self.configured_models(provider).iter().find(is_it);
        let further = || self.further(provider).find_map(|further| further.models.iter().find(is_it));
        match configured.or_else(further) {
            None => known,
            Some(said) => ModelInfo {
                id: id.to_owned(),
                name: said.name.clone(),
                context: said.context.or(known.context),
                output: said.output.or(known.output),
                options: said.options.clone(),
                variants: said.variants.clone(),
            },
        }
    }

    fn further(&self, id: &str) -> impl Iterator<Item = &Further> {
        self.settings.further.iter().filter(move |further| further.id == id)
    }

    fn configured(&self, id: &str) -> Option<&Configured> {
        self.settings.configured.iter().find(|configured| configured.id == id)
    }

    fn overridden(&self) -> Option<&str> {
        self.settings.variables.get(BASE_URL).map(String::as_str).filter(|url| !url.is_empty())
    }

    fn is_local(&self, id: &str) -> bool {
        table::by_id(id).is_some_and(Known::is_local) && self.configured(id).is_none()
    }

    /// Whether the configuration lets a provider be used.
    pub fn is_enabled(&self, id: &str) -> bool {
        let is_chosen = self.settings.enabled.as_ref().is_none_or(|enabled| enabled.contains(id));
        is_chosen && !self.settings.disabled.contains(id)
    }
}
