//! Logins through plugins, as those who ask models know them: what a loader answers, and requests that it carries.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use haft::{BoxFuture, ToolContext};
use haft_agent::provider::ModelInfo;
use haft_agent::providers::{Loader, LoginOptions, Unloaded};
use haft_agent::wire::{Arrival, Carrier, Dropped, Inbound, Key, Outbound};
use haft_plugin::{CarryError, Chunks, Logging, Options, Plugins, Reply, Request};
use haft_tools::hosting::Hosting;
use serde_json::{Map, Value, json};

use super::credentials::Credentials;
use crate::models;

/// Asks the loaders of plugins.
pub(crate) struct Logins {
    pub(crate) plugins: Plugins,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) hosting: Hosting,
    /// By whose rules loaders reach the web.
    pub(crate) context: ToolContext,
    /// What plugins are told of providers.
    pub(crate) infos: Map<String, Value>,
    /// Providers whose address is configured, so that nobody else's counts.
    pub(crate) placed: BTreeSet<String>,
}

impl Logins {
    async fn options(&self, provider: &str, file: &Path) -> Result<LoginOptions, String> {
        let shown = haft::visible(&file.to_string_lossy());
        let credential = self.credentials.of(provider, file).map_err(|error| haft::causes(&error))?;
        let credential = credential.ok_or_else(|| {
            format!("nobody is logged in through {shown} any more; run `haft auth login {provider}`")
        })?;
        let logging = self.plugins.logging(file, provider, self.context.clone());
        let offer = logging.offer().ok_or_else(|| {
            format!(
                "it was logged in to through {shown}, which offers no login here (haft tools check says why); `haft auth logout {provider}` forgets it"
            )
        })?;
        let info = self.infos.get(provider).cloned().unwrap_or_else(|| info(provider, &[]));
        let given = match offer.loads {
            true => logging.load(&info).await.map_err(|error| self.credentials.hide(&error.to_string()))?,
            false if credential.key().is_none() => {
                return Err(format!("{shown} has no loader, so nothing comes of the login through it"));
            }
            false => Options::default(),
        };
        let secrets = given.headers.iter().flat_map(models::header_secrets);
        let secrets = secrets.filter(|(name, value)| haft_store::is_secret_variable(name, value));
        let secrets: Vec<String> = secrets.map(|(_, value)| value).collect();
        self.credentials.learn(secrets.iter().map(String::as_str).chain(given.api_key.as_deref()));
        if let Some(url) = given.base_url.as_ref().filter(|_| !self.placed.contains(provider)) {
            let agreed = self.hosting.agree(url, &self.context).await;
            agreed.map_err(|error| format!("the address that {shown} gives is not used: {error}"))?;
        }
        let carrier = given.carries.then(|| {
            Arc::new(PluginCarrier { logging, info, credentials: self.credentials.clone() })
                as Arc<dyn Carrier>
        });
        Ok(LoginOptions {
            key: given.api_key.as_deref().or(credential.key()).and_then(Key::new),
            base_url: given.base_url,
            headers: given.headers,
            carrier,
        })
    }
}

impl Loader for Logins {
    fn load<'a>(
        &'a self,
        provider: &'a str,
        file: &'a Path,
    ) -> BoxFuture<'a, Result<LoginOptions, Unloaded>> {
        Box::pin(async move { self.options(provider, file).await.map_err(Unloaded) })
    }
}

/// Has the `fetch` of a loader carry requests.
struct PluginCarrier {
    logging: Logging,
    info: Value,
    credentials: Arc<Credentials>,
}

impl Carrier for PluginCarrier {
    fn carry<'a>(&'a self, request: Outbound) -> BoxFuture<'a, Result<Inbound, Dropped>> {
        Box::pin(async move {
            let Outbound { method, url, headers, body } = &request;
            let request = Request { method, url, headers, body: body.as_deref() };
            match self.logging.carry(&request, &self.info).await {
                Ok(Reply { status, headers, body }) => {
                    let body = Box::new(Arriving { body, credentials: self.credentials.clone() });
                    Ok(Inbound { status, headers, body })
                }
                Err(error) => Err(dropped(&error, &self.credentials)),
            }
        })
    }
}

/// An answer that a plugin hands over piece by piece.
struct Arriving {
    body: Chunks,
    credentials: Arc<Credentials>,
}

impl Arrival for Arriving {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Vec<u8>>, Dropped>> {
        Box::pin(async move {
            let chunk = self.body.next().await;
            chunk.map_err(|error| dropped(&error, &self.credentials))
        })
    }
}

fn dropped(error: &CarryError, credentials: &Credentials) -> Dropped {
    let words = credentials.hide(&error.to_string());
    match error {
        CarryError::Unreachable(_) => Dropped::Unreachable(words),
        CarryError::Failed(_) => Dropped::Failed(words),
    }
}

/// A provider as plugins know it: nothing of the person's own, neither keys nor addresses.
pub(crate) fn info(provider: &str, models: &[ModelInfo]) -> Value {
    let model = |model: &ModelInfo| {
        let free = json!({ "input": 0, "output": 0, "cache": { "read": 0, "write": 0 } });
        let told = json!({
            "id": model.id,
            "providerID": provider,
            "name": model.name.as_ref().unwrap_or(&model.id),
            "api": { "id": model.id },
            "cost": free,
            "limit": { "context": model.context, "output": model.output },
            "options": {},
            "headers": {},
        });
        (model.id.clone(), told)
    };
    let models: Map<String, Value> = models.iter().map(model).collect();
    json!({ "id": provider, "name": provider, "source": "custom", "env": [], "options": {}, "models": models })
}
