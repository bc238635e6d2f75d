//! Providers that somebody logged in to through a plugin: what their requests need is loaded when the first is made.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use haft::BoxFuture;

use crate::provider::{Deltas, ModelInfo, Prompt, Provider, ProviderError};
use crate::wire::{Carrier, Endpoint, Key, Wire};

/// The seam to plugins: knows what the requests of somebody who logged in through one need.
pub trait Loader: Send + Sync {
    /// What requests to a provider need, by what was got through this very file.
    fn load<'a>(&'a self, provider: &'a str, file: &'a Path)
    -> BoxFuture<'a, Result<LoginOptions, Unloaded>>;
}

/// What requests need, for this process and this provider alone.
#[derive(Default, Clone)]
pub struct LoginOptions {
    /// The key.
    pub key: Option<Key>,
    /// Where the provider is, unless the configuration says so or haft knows.
    pub base_url: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Who carries the requests.
    pub carrier: Option<Arc<dyn Carrier>>,
}

/// Why nothing is known. The words name the file and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unloaded(pub String);

/// Where there are no plugins, nothing is loaded.
pub(super) struct NoPlugins;

impl Loader for NoPlugins {
    fn load<'a>(&'a self, _: &'a str, file: &'a Path) -> BoxFuture<'a, Result<LoginOptions, Unloaded>> {
        let why = format!("it was logged in to through {}, and there are no plugins here", file.display());
        Box::pin(std::future::ready(Err(Unloaded(haft::visible(&why)))))
    }
}

/// What was loaded for a provider, which all of its models share.
pub(super) struct Loading {
    loader: Arc<dyn Loader>,
    provider: String,
    file: PathBuf,
    /// One loads, the others wait for it.
    options: tokio::sync::Mutex<Option<Arc<LoginOptions>>>,
}

impl Loading {
    pub(super) fn new(loader: Arc<dyn Loader>, provider: &str, file: &Path) -> Loading {
        Loading {
            loader,
            provider: provider.to_owned(),
            file: file.to_owned(),
            options: tokio::sync::Mutex::default(),
        }
    }

    async fn options(&self) -> Result<Arc<LoginOptions>, ProviderError> {
        let mut place = self.options.lock().await;
        if let Some(options) = &*place {
            return Ok(options.clone());
        }
        let loaded = self.loader.load(&self.provider, &self.file).await;
        let loaded = Arc::new(loaded.map_err(|why| ProviderError::Unopened {
            provider: self.provider.clone(),
            message: why.to_string(),
        })?);
        *place = Some(loaded.clone());
        Ok(loaded)
    }

    /// Forgets what does not open anything any more: it may have expired.
    async fn forget(&self, options: &Arc<LoginOptions>) {
        let mut place = self.options.lock().await;
        if place.as_ref().is_some_and(|known| Arc::ptr_eq(known, options)) {
            *place = None;
        }
    }
}

/// A provider that somebody logged in to.
pub(super) struct LoggedIn {
    /// Without anything of the person's.
    endpoint: Endpoint,
    /// Whether the configuration says where it is, which counts more than what a plugin says.
    is_placed: bool,
    loading: Arc<Loading>,
    wire: Mutex<Option<(Arc<LoginOptions>, Arc<Wire>)>>,
}

impl LoggedIn {
    pub(super) fn new(endpoint: Endpoint, is_placed: bool, loading: Arc<Loading>) -> LoggedIn {
        LoggedIn { endpoint, is_placed, loading, wire: Mutex::default() }
    }

    async fn wire(&self) -> Result<(Arc<LoginOptions>, Arc<Wire>), ProviderError> {
        let options = self.loading.options().await?;
        let mut known = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((from, wire)) = known.as_ref().filter(|(from, _)| Arc::ptr_eq(from, &options)) {
            return Ok((from.clone(), wire.clone()));
        }
        let wire = Arc::new(Wire::new(self.opened(&options)?));
        *known = Some((options.clone(), wire.clone()));
        Ok((options, wire))
    }

    fn opened(&self, options: &LoginOptions) -> Result<Endpoint, ProviderError> {
        let mut endpoint = self.endpoint.clone();
        if let Some(given) = options.base_url.as_ref().filter(|_| !self.is_placed) {
            endpoint.base_url.clone_from(given);
        }
        if endpoint.base_url.is_empty() {
            return Err(ProviderError::Unreachable {
                provider: endpoint.provider.clone(),
                message: format!(
                    "neither its plugin nor the configuration says where it is; set provider.{}.options.baseURL",
                    endpoint.provider
                ),
            });
        }
        endpoint.key = options.key.clone();
        endpoint.headers = options.headers.clone();
        endpoint.carrier = options.carrier.clone();
        Ok(endpoint)
    }

    async fn asked<T>(
        &self,
        options: &Arc<LoginOptions>,
        answer: Result<T, ProviderError>,
    ) -> Result<T, ProviderError> {
        if let Err(ProviderError::Unauthorised { .. }) = &answer {
            self.loading.forget(options).await;
        }
        answer
    }
}

impl Provider for LoggedIn {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        Box::pin(async move {
            let (options, wire) = self.wire().await?;
            let answer = wire.answer(prompt).await;
            self.asked(&options, answer).await
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async move {
            let (options, wire) = self.wire().await?;
            let answer = wire.models().await;
            self.asked(&options, answer).await
        })
    }
}
