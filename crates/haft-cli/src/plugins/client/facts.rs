//! What plugins may know of the place they work in: what is configured, without rules, keys and addresses of providers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use haft::Action;
use haft::permission::Resource;
use haft_agent::provider::ModelInfo;
use serde_json::{Map, Value, json};

use crate::config::{Agent, Config, CustomCommand};
use crate::models;
use crate::paths::{Env, Paths};
use crate::plugins::configuring::shown;
use crate::plugins::project;
use crate::setting::Setting;

/// Facts about a place. They are put together when somebody asks, since hardly anybody does.
pub(crate) struct Facts {
    /// The configuration: first as files have it, and later as plugins left it.
    config: Mutex<Arc<Config>>,
    env: Arc<Env>,
    paths: Paths,
    directory: PathBuf,
    worktree: PathBuf,
    project: Value,
}

impl Facts {
    pub(super) fn new(setting: &Setting) -> Facts {
        Facts {
            config: Mutex::new(setting.config.clone()),
            env: setting.env.clone(),
            paths: setting.paths.clone(),
            directory: setting.directory.clone(),
            worktree: setting.project().clone(),
            project: project(setting),
        }
    }

    /// Takes note of what plugins have said about the configuration.
    pub(crate) fn take_note(&self, setting: &Setting) {
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = setting.config.clone();
    }

    fn now(&self) -> Arc<Config> {
        self.config.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the hook `config` is shown.
    pub(super) fn config(&self) -> Value {
        shown(&self.now())
    }

    pub(super) fn agents(&self) -> Value {
        let config = self.now();
        config.document_as_written(config.agents().iter().map(|known| agent(known, &config)).collect())
    }

    /// The custom commands, as opencode tells them.
    pub(super) fn commands(&self) -> Value {
        let told = |command: &CustomCommand| {
            let mut told = json!({ "name": command.name, "template": command.template });
            let set = [
                ("description", command.description.clone().map(Value::from)),
                ("agent", command.agent.clone().map(Value::from)),
                ("model", command.model.clone().map(Value::from)),
                ("subtask", command.subtask.map(Value::from)),
            ];
            for (name, value) in set.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                told[name] = value;
            }
            told
        };
        let config = self.now();
        config.document_as_written(config.commands().iter().map(told).collect())
    }

    pub(super) fn paths(&self) -> Value {
        json!({
            "home": self.paths.home,
            "state": self.paths.state,
            "config": self.paths.config,
            "worktree": self.worktree,
            "directory": self.directory,
        })
    }

    pub(super) fn project(&self) -> Value {
        self.project.clone()
    }

    /// The providers that are configured or have a key, with the models that are configured. Which others they serve is
    /// not asked of them.
    pub(super) fn providers(&self) -> Value {
        let config = self.now();
        // Where the configuration makes no sense, there are none that could be used either.
        let Ok(said) = config.providers() else { return json!({ "providers": [], "default": {} }) };
        let default = said.model.as_deref().and_then(|model| model.split_once('/'));
        let default: Map<String, Value> =
            default.into_iter().map(|(provider, model)| (provider.to_owned(), model.into())).collect();
        let configured = said.configured.clone();
        let ids = models::providers_of(&config, &self.env, &self.paths, &self.directory).map(|providers| {
            let is_there = |id: &String| {
                providers.key_source(id).is_some() || configured.iter().any(|known| known.id == *id)
            };
            providers.ids().into_iter().filter(is_there).collect::<Vec<String>>()
        });
        let providers: Vec<Value> = ids
            .unwrap_or_default()
            .iter()
            .map(|id| {
                let known = configured.iter().find(|known| known.id == *id);
                let models = known.map(|known| known.models.as_slice()).unwrap_or_default();
                let models: Map<String, Value> =
                    models.iter().map(|model| (model.id.clone(), told(model, id))).collect();
                json!({ "id": id, "name": id, "source": "config", "env": [], "options": {}, "models": models })
            })
            .collect();
        json!({ "providers": providers, "default": default })
    }
}

fn agent(agent: &Agent, config: &Config) -> Value {
    let mut told = json!({
        "name": agent.name,
        "mode": agent.mode.as_str(),
        "builtIn": crate::config::is_shipped(&agent.name),
        "hidden": agent.hidden,
        "options": agent.options,
        "tools": {},
        "permission": permission(&agent.name, config),
    });
    let model = agent.model.as_deref().and_then(|model| model.split_once('/'));
    let set = [
        ("model", model.map(|(provider, id)| json!({ "providerID": provider, "modelID": id }))),
        ("description", agent.description.clone().map(Value::from)),
        ("prompt", agent.prompt.clone().map(Value::from)),
        ("maxSteps", agent.steps.map(Value::from)),
        ("temperature", agent.temperature.map(Value::from)),
        ("topP", agent.top_p.map(Value::from)),
    ];
    for (name, value) in set.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        told[name] = value;
    }
    told
}

/// What an agent may do in general; rules about something in particular are not told.
fn permission(agent: &str, config: &Config) -> Value {
    // Where there are no rules, nothing is allowed.
    let rules = config.ruleset(agent, Vec::new()).unwrap_or_default();
    let effect = |action: &str| rules.effect(&Action::new(action), &Resource::new("*")).as_str();
    json!({ "edit": effect("edit"), "bash": { "*": effect("bash") }, "webfetch": effect("webfetch") })
}

fn told(model: &ModelInfo, provider: &str) -> Value {
    json!({
        "id": model.id,
        "providerID": provider,
        "name": model.name.as_ref().unwrap_or(&model.id),
        "limit": { "context": model.context.unwrap_or(0), "output": model.output.unwrap_or(0) },
    })
}
