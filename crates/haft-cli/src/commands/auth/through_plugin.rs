//! Logging in through a plugin: its questions, its address, its answer, which is kept with its file.

use std::collections::BTreeMap;
use std::path::Path;

use haft::visible;
use haft_agent::auth::{Credential, Login, NoCredential, Over};
use haft_agent::providers::{KeySource, Providers};
use haft_plugin::{AuthKind, AuthMethod, AuthOutcome, AuthPrompt, Authorized, HookError, Logging};
use serde_json::{Map, Value, json};

use super::lines::{self, Echo};
use super::login::typed_key;
use crate::exit::{Exit, Failure};
use crate::location::Location;
use crate::models;
use crate::setting::Setting;

/// What of an answer is haft's, and no part of a credential.
const OURS: [&str; 2] = ["provider", "type"];

/// A login that begins.
pub(super) struct Through<'a> {
    pub(super) setting: &'a Setting,
    pub(super) providers: &'a Providers,
    pub(super) location: &'a Location<'a>,
    pub(super) file: &'a Path,
    pub(super) provider: &'a str,
    pub(super) method: &'a AuthMethod,
}

pub(super) async fn run(through: &Through<'_>) -> Result<Exit, Failure> {
    let Through { setting, location, file, provider, method, .. } = *through;
    through.refuse_if_owned(provider)?;
    let logging = location.plugins().logging(file, provider, setting.context());
    location.credentials().begin(provider, file);
    let inputs = through.answers(&logging).await?;
    let authorized = logging.authorize(method.at, &inputs).await.map_err(|error| through.failed(&error))?;
    let outcome = match authorized {
        Authorized::Ended(outcome) => outcome,
        Authorized::Typed => {
            let key = typed_key(provider).await?.filter(|key| !key.is_empty());
            let key = key.ok_or_else(|| Failure::usage("no key was given, so nothing was stored"))?;
            AuthOutcome::Success(Map::from_iter([("key".to_owned(), key.into())]))
        }
        Authorized::Elsewhere { url, instructions, code, ticket } => {
            through.send_elsewhere(&url, &instructions);
            let code = match code {
                true => Some(through.brought_back().await?),
                false => {
                    setting.terminal.say("waiting until you have logged in; Ctrl-C ends it");
                    None
                }
            };
            logging.finish(ticket, code.as_deref()).await.map_err(|error| through.failed(&error))?
        }
    };
    match outcome {
        AuthOutcome::Success(fields) => through.store(&fields, &inputs),
        AuthOutcome::Failed => {
            let message = format!("{} says that the login failed; nothing was stored", through.shown());
            Err(Failure::new(Exit::Failed, anyhow::anyhow!(message)))
        }
    }
}

impl Through<'_> {
    /// Who has a key of their own is not logged in by a plugin: nothing would come of it.
    fn refuse_if_owned(&self, provider: &str) -> Result<(), Failure> {
        let Some(source) = self.providers.own(provider) else { return Ok(()) };
        let id = visible(provider);
        let failure = Failure::usage(format_args!(
            "{id} has a key of your own ({}), and no plugin is put in its place",
            models::shown(&source)
        ));
        Err(failure.hint(match source {
            KeySource::Stored | KeySource::Plugin(_) => format!("run `haft auth logout {id}` first"),
            KeySource::Variable(variable) => format!("unset {} first", visible(&variable)),
            KeySource::Configuration => "take it out of the configuration first".to_owned(),
        }))
    }

    /// Puts the method's questions to the person.
    async fn answers(&self, logging: &Logging) -> Result<BTreeMap<String, String>, Failure> {
        let mut inputs = BTreeMap::new();
        for (at, prompt) in self.method.prompts.iter().enumerate() {
            let is_asked = match prompt.conditional {
                true => {
                    logging.asks(self.method.at, at, &inputs).await.map_err(|error| self.failed(&error))?
                }
                false => true,
            };
            if is_asked {
                let answer = self.answer(logging, at, prompt).await?;
                inputs.insert(prompt.key.clone(), answer);
            }
        }
        Ok(inputs)
    }

    /// The answer to one question. Who types is asked again until it fits; a pipe has one try.
    async fn answer(&self, logging: &Logging, at: usize, prompt: &AuthPrompt) -> Result<String, Failure> {
        let message = visible(&prompt.message);
        let terminal = self.setting.terminal;
        if lines::is_typed() {
            for (nth, option) in prompt.options.iter().enumerate() {
                let hint =
                    option.hint.as_ref().map(|hint| format!("  {}", visible(hint))).unwrap_or_default();
                terminal.say(&format!("  {} {}{hint}", nth + 1, visible(&option.label)));
            }
        }
        let example = prompt.placeholder.as_ref().filter(|example| !example.is_empty());
        let question = match example {
            Some(example) => format!("{message} (such as {}):", visible(example)),
            None => format!("{message}:"),
        };
        loop {
            let line = lines::line(&question, Echo::Shown).await?.ok_or_else(|| {
                Failure::usage(format_args!("the input ended before this was answered: {message}"))
                    .hint("give one line for each question, in their order; nothing was stored")
            })?;
            let problem = match picked(prompt, &line) {
                None => Some("this is none of the options".to_owned()),
                Some(value) => {
                    let objection = match prompt.checked {
                        true => logging.objection(self.method.at, at, &value).await,
                        false => Ok(None),
                    };
                    match objection.map_err(|error| self.failed(&error))? {
                        None => return Ok(value),
                        objection => objection,
                    }
                }
            };
            let problem = self.location.credentials().hide(&problem.unwrap_or_default());
            if !lines::is_typed() {
                let failure = Failure::usage(format_args!("{message}: {}", visible(&problem)));
                let labels: Vec<String> =
                    prompt.options.iter().map(|option| visible(&option.label)).collect();
                return Err(match labels.is_empty() {
                    true => failure.hint("nothing was stored"),
                    false => failure.hint(format!("the options are {}", labels.join(", "))),
                });
            }
            terminal.say(&visible(&problem));
        }
    }

    fn send_elsewhere(&self, url: &str, instructions: &str) {
        let terminal = self.setting.terminal;
        if !url.is_empty() {
            terminal.say(&format!("open {}", visible(url)));
        }
        for line in instructions.lines() {
            terminal.say(&visible(line));
        }
    }

    async fn brought_back(&self) -> Result<String, Failure> {
        let code = lines::line("the code from there:", Echo::Shown).await?.filter(|code| !code.is_empty());
        code.ok_or_else(|| Failure::usage("no code was given, so nothing was stored"))
    }

    /// Keeps what the plugin brought in, with its file.
    fn store(&self, fields: &Map<String, Value>, inputs: &BTreeMap<String, String>) -> Result<Exit, Failure> {
        let credential = credential(self.method.kind, fields, inputs).map_err(|error| {
            let message = format!("what {} answers is no login: {error}; nothing was stored", self.shown());
            Failure::new(Exit::Failed, anyhow::anyhow!(message))
        })?;
        self.location.credentials().learn(credential.secrets());
        let target = fields.get("provider").and_then(Value::as_str).unwrap_or(self.provider);
        let over = if target == self.provider { Over::AnyLogin } else { Over::ItsOwn };
        self.refuse_if_owned(target)?;
        let mut keys = models::keys(&self.setting.paths)?;
        let login = Login { file: self.file.to_owned(), credential };
        let stored =
            keys.put_login(target, &login, over).map_err(|error| Failure::new(Exit::Defect, error))?;
        let (target, path) = (visible(target), visible(&keys.path().to_string_lossy()));
        if !stored {
            let message = format!("{path} holds something else for {target}; nothing was stored");
            return Err(Failure::usage(message).hint(format!("run `haft auth logout {target}` first")));
        }
        let terminal = self.setting.terminal;
        match terminal.json {
            true => terminal.document(
                &json!({ "v": 1, "stored": target, "path": path, "plugin": self.shown() }),
            )?,
            false => terminal.note(&format!(
                "logged in to {target} through {}; what it gave is stored in {path}, for you and that file alone",
                self.shown()
            )),
        }
        Ok(Exit::Ok)
    }

    fn failed(&self, error: &HookError) -> Failure {
        let message = self.location.credentials().hide(&error.to_string());
        Failure::new(Exit::Failed, anyhow::anyhow!("{message}")).hint("nothing was stored")
    }

    fn shown(&self) -> String {
        visible(&self.file.to_string_lossy())
    }
}

/// What an answer stands for; none if it is no option.
fn picked(prompt: &AuthPrompt, line: &str) -> Option<String> {
    if prompt.options.is_empty() {
        return Some(line.to_owned());
    }
    let is_it = |option: &&haft_plugin::AuthOption| {
        option.value == line || option.label.trim().eq_ignore_ascii_case(line)
    };
    let number = || prompt.options.get(line.parse::<usize>().ok()?.checked_sub(1)?);
    prompt.options.iter().find(is_it).or_else(number).map(|option| option.value.clone())
}

/// What a plugin answered, as it is kept. With a key goes what the person answered, as in opencode.
fn credential(
    kind: AuthKind,
    fields: &Map<String, Value>,
    inputs: &BTreeMap<String, String>,
) -> Result<Credential, NoCredential> {
    if let Some(key) = fields.get("key").and_then(Value::as_str) {
        let given = fields.get("metadata").and_then(Value::as_object).cloned();
        let answered = || match kind {
            AuthKind::Api => inputs.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect(),
            AuthKind::Oauth => Map::new(),
        };
        return Credential::of_key(key, &given.unwrap_or_else(answered));
    }
    let mut tokens: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| !OURS.contains(&name.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    tokens.insert("type".to_owned(), "oauth".into());
    Credential::parse(&Value::Object(tokens))
}
