//! What plugins do to calls: each hook runs in the order of the files, over one output that the next one sees.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use haft::permission::{Answer, Asker, Inquiry, Reply, Request, Told};
use haft::{BoxError, BoxFuture, Content, Described, Hook, Presented, ToolContext, ToolName};
use serde_json::{Map, Value, json};

use crate::error::HostError;
use crate::facts;
use crate::plugins::{Inner, Plugins};

/// The hook that may answer a question.
const ASK: &str = "permission.ask";

/// Variables that make programs load or run something, and the beginnings of such names. A command may be given more than
/// plugins have, and these would carry their code into it.
const LOADING: [&str; 9] = [
    "BASH_ENV",
    "BASHOPTS",
    "ENV",
    "NODE_OPTIONS",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONSTARTUP",
    "RUBYOPT",
];
const LOADING_BEGINNINGS: [&str; 4] = ["BASH_FUNC_", "DYLD_", "GIT_", "LD_"];

/// A hook that failed: whose it is, and how.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct HookError {
    why: String,
}

impl HookError {
    /// A host names the hook in its own words; of one that is gone, it has to be said.
    pub(crate) fn new(hook: &str, file: &Path, error: &HostError) -> HookError {
        let words = error.to_string();
        match words.contains(&format!("`{hook}`")) {
            true => HookError { why: words },
            false => HookError { why: format!("the hook {hook} of {}: {words}", file.display()) },
        }
    }
}

impl Plugins {
    /// Runs the hooks of one name over an output, one after the other.
    pub async fn run_hooks(
        &self,
        name: &str,
        input: Value,
        mut output: Value,
        context: Option<&ToolContext>,
    ) -> Result<Value, HookError> {
        for served in self.with_hook(name) {
            let done = served.hook(name, input.clone(), output, context).await;
            output = done.map_err(|error| HookError::new(name, &served.file.path, &error))?;
        }
        Ok(output)
    }

    /// What plugins say to a question. Whoever waits for an answer of ours just now is not asked: it may be its own
    /// question, which it could not hear while it waits, and must not judge.
    async fn judged(&self, request: &Request) -> Option<String> {
        let mut output = json!({ "status": "ask" });
        for served in self.with_hook(ASK).into_iter().filter(|served| !served.is_asking()) {
            // A hook that fails has agreed to nothing.
            output = served.hook(ASK, told(request), output, None).await.ok()?;
        }
        output.get("status").and_then(Value::as_str).map(str::to_owned)
    }

    /// Lets every file that wants to change a configuration, one after the other. Returns what each left of it.
    pub async fn configure(&self, mut config: Value) -> Result<Vec<(PathBuf, Value)>, HookError> {
        const NAME: &str = "config";
        let mut said = Vec::new();
        for served in self.with_hook(NAME) {
            let file = &served.file.path;
            let done = served.hook(NAME, config, Value::Null, None).await;
            config = done.map_err(|error| HookError::new(NAME, file, &error))?;
            said.push((file.clone(), config.clone()));
        }
        Ok(said)
    }

    /// Tells those that listen of something that happened. Nobody waits for what they do about it.
    pub async fn announce(&self, event: Value) {
        for served in self.with_hook("event") {
            served.announce(event.clone()).await;
        }
    }

    /// Whether any file has a hook of this name, so that there is something to be prepared for it.
    pub fn has_hook(&self, name: &str) -> bool {
        !self.with_hook(name).is_empty()
    }
}

fn of_call(tool: &ToolName, context: &ToolContext) -> Value {
    json!({ "tool": tool.as_str(), "sessionID": context.session.as_str(), "callID": context.call.as_str() })
}

impl Hook for Plugins {
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.refresh())
    }

    fn before<'a>(
        &'a self,
        tool: &'a ToolName,
        context: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, BoxError>> {
        const NAME: &str = "tool.execute.before";
        Box::pin(async move {
            if !self.has_hook(NAME) {
                return Ok(input);
            }
            let output = json!({ "args": input });
            let mut output = self.run_hooks(NAME, of_call(tool, context), output, Some(context)).await?;
            Ok(output.get_mut("args").map(Value::take).unwrap_or_default())
        })
    }

    fn after<'a>(
        &'a self,
        tool: &'a ToolName,
        context: &'a ToolContext,
        input: &'a Value,
        shown: Presented,
    ) -> BoxFuture<'a, Result<Presented, BoxError>> {
        const NAME: &str = "tool.execute.after";
        Box::pin(async move {
            if !self.has_hook(NAME) {
                return Ok(shown);
            }
            let mut told = of_call(tool, context);
            told["args"] = input.clone();
            let text = text_of(&shown);
            let output = json!({ "title": shown.title, "output": text, "metadata": shown.metadata });
            let output = self.run_hooks(NAME, told, output, Some(context)).await?;
            Ok(changed(shown, &text, &output))
        })
    }

    fn definition<'a>(
        &'a self,
        tool: &'a ToolName,
        told: Described,
    ) -> BoxFuture<'a, Result<Described, BoxError>> {
        const NAME: &str = "tool.definition";
        Box::pin(async move {
            if !self.has_hook(NAME) {
                return Ok(told);
            }
            let output = json!({ "description": told.description, "parameters": told.input });
            let mut output = self.run_hooks(NAME, json!({ "toolID": tool.as_str() }), output, None).await?;
            let description = output.get("description").and_then(Value::as_str).map(str::to_owned);
            let input = output.get_mut("parameters").map(Value::take).filter(Value::is_object);
            Ok(Described {
                description: description.unwrap_or(told.description),
                input: input.map_or(told.input, Arc::new),
            })
        })
    }

    fn environment<'a>(
        &'a self,
        context: &'a ToolContext,
        directory: &'a Path,
    ) -> BoxFuture<'a, Result<Vec<(OsString, OsString)>, BoxError>> {
        const NAME: &str = "shell.env";
        Box::pin(async move {
            if !self.has_hook(NAME) {
                return Ok(Vec::new());
            }
            let told = json!({
                "cwd": directory, "sessionID": context.session.as_str(), "callID": context.call.as_str(),
            });
            let output = self.run_hooks(NAME, told, json!({ "env": {} }), Some(context)).await?;
            let set = output.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
            let text = |value: Value| match value {
                Value::String(text) => Some(text),
                Value::Null => None,
                other => Some(other.to_string()),
            };
            let is_loading = |name: &&String| {
                LOADING.contains(&name.as_str())
                    || LOADING_BEGINNINGS.iter().any(|begins| name.starts_with(begins))
            };
            if let Some(name) = set.keys().find(is_loading) {
                let why = format!("{name} makes programs load code, and is not taken from plugins");
                return Err(HookError { why: format!("the hook {NAME}: {why}") }.into());
            }
            Ok(set.into_iter().filter_map(|(name, value)| Some((name.into(), text(value)?.into()))).collect())
        })
    }
}

/// The texts of what is shown, as one.
fn text_of(shown: &Presented) -> String {
    let texts: Vec<&str> = shown.content.iter().filter_map(Content::as_text).collect();
    texts.join("\n")
}

/// What is shown after hooks had their say. Where they left the text alone, it stays as it is.
fn changed(mut shown: Presented, before: &str, output: &Value) -> Presented {
    if let Some(title) = output.get("title").and_then(Value::as_str) {
        title.clone_into(&mut shown.title);
    }
    // What the tool itself tells may be longer than what plugins may add.
    if let Some(metadata) = output.get("metadata").and_then(Value::as_object)
        && *metadata != shown.metadata
    {
        shown.metadata = facts::bounded(metadata.clone());
    }
    match output.get("output").and_then(Value::as_str) {
        Some(text) if text != before => {
            shown.content.retain(|part| part.as_text().is_none());
            shown.content.insert(0, Content::Text(text.to_owned()));
        }
        Some(_) | None => {}
    }
    shown
}

/// Lets plugins answer what would be asked, before a person is. They are never asked about what a rule decides.
///
/// Whoever asks is there before the plugins are, which need a gate themselves.
pub struct AskingPlugins {
    plugins: OnceLock<Weak<Inner>>,
    otherwise: Arc<dyn Asker>,
    guarded: &'static [&'static str],
}

impl AskingPlugins {
    /// Asks this one, as long as there are no plugins, and always about the actions that are guarded: code that could
    /// agree to those would need nobody's consent to get beyond what it has.
    pub fn new(otherwise: Arc<dyn Asker>, guarded: &'static [&'static str]) -> AskingPlugins {
        AskingPlugins { plugins: OnceLock::new(), otherwise, guarded }
    }

    /// Says which plugins to ask from now on, as long as they are there. A second time changes nothing.
    pub fn ask_first(&self, plugins: &Plugins) {
        let _known = self.plugins.set(Arc::downgrade(&plugins.0));
    }

    fn plugins(&self) -> Option<Plugins> {
        self.plugins.get().and_then(Weak::upgrade).map(Plugins)
    }
}

impl Asker for AskingPlugins {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let judged = match self.plugins() {
                Some(plugins) => plugins.judged(request).await,
                None => None,
            };
            match judged.as_deref().unwrap_or("ask") {
                "allow" if !self.guarded.contains(&request.question.action.as_str()) => {
                    Answer::Reply(Reply::Once)
                }
                "deny" => {
                    let words = "a plugin denies it; do not try to get around it";
                    Answer::Reply(Reply::Reject(Some(words.to_owned())))
                }
                _ => self.otherwise.ask(request).await,
            }
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        self.otherwise.inquire(inquiry)
    }
}

/// A request as opencode's plugins know it.
fn told(request: &Request) -> Value {
    let names: Vec<&str> = request.question.resources.iter().map(|resource| resource.name()).collect();
    let mut metadata = Map::new();
    metadata.insert("detail".to_owned(), request.showing.detail.clone().into());
    if let Some(input) = &request.input {
        metadata.insert("input".to_owned(), input.clone());
    }
    json!({
        "id": request.id.as_str(),
        "type": request.question.action.as_str(),
        "permission": request.question.action.as_str(),
        "pattern": names,
        "patterns": names,
        "always": request.question.save,
        "sessionID": request.context.session.as_str(),
        "messageID": request.context.message.as_str(),
        "callID": request.context.call.as_str(),
        "title": request.showing.title,
        "metadata": metadata,
    })
}
