//! The hooks `auth` and `provider`: logging in through a plugin, what its loader answers, and requests that it carries.
//!
//! A file is given nothing here but what its caller hands over for it; whose credential that is, the desk decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::ToolContext;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::HostError;
use crate::hooks::HookError;
use crate::plugins::Plugins;
use crate::served::{Served, Step};
use crate::words::AuthOffer;

const AUTH: &str = "auth";
const PROVIDER: &str = "provider";
/// How long a plugin may take to let go of an answer.
const DROPPING_MAX: Duration = Duration::from_secs(2);
/// How long a person may take in a browser.
const BROWSING_MAX: Duration = Duration::from_secs(15 * 60);

/// What a method answers to the answers of a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Authorized {
    /// The person goes to an address first.
    Elsewhere {
        /// The address; it may be empty.
        url: String,
        /// What to do there.
        instructions: String,
        /// Whether the person brings back a code.
        code: bool,
        /// By what the rest of it is known.
        ticket: u64,
    },
    /// The person types in a key.
    Typed,
    /// It is over.
    Ended(Outcome),
}

/// How a login ended. What is in it is secret.
#[derive(Clone, PartialEq)]
pub enum Outcome {
    /// The person is in.
    Success(Map<String, Value>),
    /// The person is not.
    Failed,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Outcome::Failed) { "Failed" } else { "Success(…)" })
    }
}

/// What requests need, as a loader answers. It is secret.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Options {
    /// The key.
    #[serde(default)]
    pub api_key: Option<String>,
    /// The address.
    #[serde(default, rename = "baseURL")]
    pub base_url: Option<String>,
    /// Further headers.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Whether it carries the requests itself.
    #[serde(default)]
    pub carries: bool,
}

/// A request that a loader's `fetch` is to carry.
pub struct Request<'a> {
    /// The method of HTTP.
    pub method: &'a str,
    /// Where to.
    pub url: &'a str,
    /// Each a name and a value.
    pub headers: &'a [(String, String)],
    /// What is sent.
    pub body: Option<&'a str>,
}

/// What came back.
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// Each a name and a value.
    pub headers: Vec<(String, String)>,
    /// The rest of it.
    pub body: Chunks,
}

/// An answer that is arriving. Dropping it tells the plugin that nobody wants more of it.
pub struct Chunks {
    logging: Logging,
    url: String,
    /// By what the host knows it, until all of it was read.
    stream: Option<u64>,
}

/// Why a request was not carried.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// It did not get through, and may another time.
    #[error(transparent)]
    Unreachable(HookError),
    /// The code gave up, or was stopped.
    #[error(transparent)]
    Failed(HookError),
}

/// A file through which people log in to a provider, and on whose behalf.
#[derive(Clone)]
pub struct Logging {
    plugins: Plugins,
    file: PathBuf,
    provider: String,
    context: ToolContext,
}

impl Plugins {
    /// How people can log in here, file by file.
    pub fn auth_offers(&self) -> Vec<(PathBuf, AuthOffer)> {
        let offers = |served: &Arc<Served>| {
            let offers = served.manifest.loaded.auth.iter();
            offers.map(|offer| (served.file.path.clone(), offer.clone())).collect::<Vec<_>>()
        };
        self.all_served().iter().flat_map(offers).collect()
    }

    /// Which providers' models plugins know, file by file.
    pub fn model_offers(&self) -> Vec<(PathBuf, String)> {
        let offers = |served: &Arc<Served>| {
            let offers = served.manifest.loaded.models.iter();
            offers.map(|provider| (served.file.path.clone(), provider.clone())).collect::<Vec<_>>()
        };
        self.all_served().iter().flat_map(offers).collect()
    }

    /// Speaks with a file about a provider.
    pub fn logging(&self, file: &Path, provider: &str, context: ToolContext) -> Logging {
        Logging { plugins: self.clone(), file: file.to_owned(), provider: provider.to_owned(), context }
    }
}

impl Logging {
    /// What the file offers for the provider, if it still does.
    pub fn offer(&self) -> Option<AuthOffer> {
        let served = self.served()?;
        served.manifest.loaded.auth.iter().find(|offer| offer.provider == self.provider).cloned()
    }

    /// Whether a prompt of a method is put to the person, by what they answered so far.
    pub async fn asks(
        &self,
        method: usize,
        prompt: usize,
        inputs: &BTreeMap<String, String>,
    ) -> Result<bool, HookError> {
        let with = json!({ "act": "asks", "method": method, "prompt": prompt, "inputs": inputs });
        let answer = self.auth(with, self.hook_time()).await?;
        Ok(answer.get("asks").and_then(Value::as_bool).unwrap_or(true))
    }

    /// What is wrong with an answer, if something is.
    pub async fn objection(
        &self,
        method: usize,
        prompt: usize,
        value: &str,
    ) -> Result<Option<String>, HookError> {
        let with = json!({ "act": "checks", "method": method, "prompt": prompt, "value": value });
        let answer = self.auth(with, self.hook_time()).await?;
        Ok(answer.get("objection").and_then(Value::as_str).map(str::to_owned))
    }

    /// Begins to log in.
    pub async fn authorize(
        &self,
        method: usize,
        inputs: &BTreeMap<String, String>,
    ) -> Result<Authorized, HookError> {
        let with = json!({ "act": "authorize", "method": method, "inputs": inputs });
        let answer = self.auth(with, self.hook_time()).await?;
        if answer.get("typed").is_some() {
            return Ok(Authorized::Typed);
        }
        if let Some(outcome) = answer.get("outcome") {
            return Ok(Authorized::Ended(outcome_of(outcome)));
        }
        let text = |key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let ticket = answer.get("ticket").and_then(Value::as_u64);
        Ok(Authorized::Elsewhere {
            url: text("url"),
            instructions: text("instructions"),
            code: answer.get("code").and_then(Value::as_bool).unwrap_or_default(),
            ticket: ticket.ok_or_else(|| self.nonsense("it gave no way to finish"))?,
        })
    }

    /// Finishes it: with the code that the person brought back, or when the plugin has heard from elsewhere.
    pub async fn finish(&self, ticket: u64, code: Option<&str>) -> Result<Outcome, HookError> {
        let with = json!({ "act": "callback", "ticket": ticket, "code": code });
        let answer = self.auth(with, BROWSING_MAX).await?;
        Ok(outcome_of(answer.get("outcome").unwrap_or(&Value::Null)))
    }

    /// What requests need. `info` is what the loader is told of the provider.
    pub async fn load(&self, info: &Value) -> Result<Options, HookError> {
        let with = json!({ "act": "loader", "info": info });
        let answer = self.auth(with, self.hook_time()).await?;
        serde_json::from_value(answer).map_err(|error| self.nonsense(&error.to_string()))
    }

    /// Has the loader's `fetch` carry a request. A host that was started anew loads again first.
    pub async fn carry(&self, request: &Request<'_>, info: &Value) -> Result<Reply, CarryError> {
        let Request { method, url, headers, body } = request;
        let with = json!({ "act": "fetch", "method": method, "url": url, "headers": headers, "body": body });
        let mut answer = self.carried(with.clone(), url).await?;
        if answer.get("unloaded").is_some() {
            self.load(info).await.map_err(CarryError::Failed)?;
            answer = self.carried(with, url).await?;
        }
        let told: Carried = serde_json::from_value(answer)
            .map_err(|error| CarryError::Failed(self.nonsense(&error.to_string())))?;
        let body = Chunks { logging: self.clone(), url: (*url).to_owned(), stream: told.stream };
        Ok(Reply { status: told.status, headers: told.headers, body })
    }

    /// The models that the file knows of the provider, by their names, as it tells them.
    pub async fn models(&self, info: &Value, auth: Option<&Value>) -> Result<Value, HookError> {
        let with = json!({ "info": info, "auth": auth });
        let answer = self.step(PROVIDER, with, None, self.hook_time()).await;
        let mut answer = answer.map_err(|error| HookError::new(PROVIDER, &self.file, &error))?;
        Ok(answer.get_mut("models").map(Value::take).unwrap_or_default())
    }

    async fn auth(&self, with: Value, time: Duration) -> Result<Value, HookError> {
        let done = self.step(AUTH, with, None, time).await;
        done.map_err(|error| HookError::new(AUTH, &self.file, &error))
    }

    async fn carried(&self, with: Value, url: &str) -> Result<Value, CarryError> {
        let time = self.served().map(|served| served.limits().call).unwrap_or_default();
        self.step(AUTH, with, Some(url.to_owned()), time).await.map_err(|error| {
            let told = HookError::new(AUTH, &self.file, &error);
            match error {
                HostError::Failure(words) if words.starts_with("fetch failed") => {
                    CarryError::Unreachable(told)
                }
                HostError::Gone(_) => CarryError::Unreachable(told),
                _ => CarryError::Failed(told),
            }
        })
    }

    async fn step(
        &self,
        hook: &str,
        mut with: Value,
        carries: Option<String>,
        answer: Duration,
    ) -> Result<Value, HostError> {
        with["provider"] = self.provider.clone().into();
        // It may have been loaded anew since: what runs is what is there now.
        let served = self.served().ok_or_else(|| {
            HostError::Failure("it is not among the plugins that are loaded here".to_owned())
        })?;
        served.part(Step { hook, with, context: &self.context, carries, answer }).await
    }

    fn served(&self) -> Option<Arc<Served>> {
        self.plugins.all_served().into_iter().find(|served| served.file.path == self.file)
    }

    /// As for hooks, unless even calls are given less.
    fn hook_time(&self) -> Duration {
        self.served().map(|served| served.limits().hook.min(served.limits().call)).unwrap_or_default()
    }

    fn nonsense(&self, why: &str) -> HookError {
        HookError::new(AUTH, &self.file, &HostError::Nonsense(why.to_owned()))
    }
}

/// What a host tells of a request that was carried.
#[derive(Deserialize)]
struct Carried {
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    stream: Option<u64>,
}

impl Chunks {
    /// The next bytes; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, CarryError> {
        let Some(stream) = self.stream else { return Ok(None) };
        let answer = self.logging.carried(json!({ "act": "read", "stream": stream }), &self.url).await;
        let answer = answer.inspect_err(|_| self.stream = None)?;
        let Some(data) = answer.get("data").and_then(Value::as_str) else {
            self.stream = None;
            return Ok(None);
        };
        let bytes = STANDARD.decode(data);
        bytes.map(Some).map_err(|error| CarryError::Failed(self.logging.nonsense(&error.to_string())))
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        let (Some(stream), Ok(runtime)) = (self.stream, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let logging = self.logging.clone();
        runtime.spawn(async move {
            // One that is gone keeps nothing.
            let _gone = logging.auth(json!({ "act": "drop", "stream": stream }), DROPPING_MAX).await;
        });
    }
}

fn outcome_of(told: &Value) -> Outcome {
    match told.as_object() {
        Some(fields) if told["type"] == "success" => Outcome::Success(fields.clone()),
        Some(_) | None => Outcome::Failed,
    }
}
