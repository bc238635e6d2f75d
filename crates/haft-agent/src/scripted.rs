//! A provider that reads its answers from a file: for tests, demonstrations and work without a network.
//!
//! Which answer comes next is decided by how many the model has given in the conversation, so a session that is
//! resumed goes on where it was.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft::{BoxFuture, Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::provider::{
    Delta, Deltas, ModelCall, ModelInfo, Prompt, Provider, ProviderError, Told, Utterance,
};

const NAME: &str = "scripted";

/// Answers that were written beforehand.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The answers, in order.
    #[serde(default)]
    turns: Vec<Answer>,
    /// Those of particular agents.
    #[serde(default)]
    agents: BTreeMap<String, Vec<Answer>>,
}

/// One answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
    /// Milliseconds before it begins.
    #[serde(default)]
    wait_ms: u64,
    /// `stop`, `length` or `filtered`; otherwise what follows from the calls.
    #[serde(default)]
    finish: Option<String>,
    /// Breaks off after the calls.
    #[serde(default)]
    cut: bool,
    /// Counted as read and written.
    #[serde(default)]
    tokens: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    tool: String,
    /// JSON; a string is sent as it is, so that nonsense can be sent, too.
    #[serde(default)]
    input: Value,
    #[serde(default)]
    id: Option<String>,
}

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("the script {path} cannot be read: {source}")]
    Unreadable {
        /// Where it is.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is no script.
    #[error("{path} is no script of turns: {source}")]
    Invalid {
        /// Where it is.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
}

impl Script {
    /// Reads a script.
    pub fn load(path: &Path) -> Result<Script, ScriptError> {
        let shown = || path.display().to_string();
        let text = std::fs::read(path).map_err(|source| ScriptError::Unreadable { path: shown(), source })?;
        serde_json::from_slice(&text).map_err(|source| ScriptError::Invalid { path: shown(), source })
    }

    /// Takes a script from JSON.
    pub fn from_json(json: &Value) -> serde_json::Result<Script> {
        Script::deserialize(json)
    }

    fn turns(&self, agent: &str) -> &[Answer] {
        self.agents.get(agent).unwrap_or(&self.turns)
    }
}

impl Provider for Script {
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>> {
        let is_answer = |told: &&Arc<Told>| matches!(told.utterance(), Utterance::Assistant(_));
        let given = prompt.conversation.iter().filter(is_answer).count();
        let turns = self.turns(prompt.agent.as_str());
        let answer = turns.get(given).cloned().ok_or_else(|| ProviderError::Refused {
            provider: NAME.to_owned(),
            message: format!("the script has {} answers for the agent {}", turns.len(), prompt.agent),
        });
        Box::pin(async move {
            let answer = answer?;
            tokio::time::sleep(Duration::from_millis(answer.wait_ms)).await;
            Ok(Box::new(answer.deltas(given)) as Box<dyn Deltas>)
        })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        let model = ModelInfo { id: NAME.to_owned(), ..ModelInfo::default() };
        Box::pin(std::future::ready(Ok(vec![model])))
    }
}

impl Answer {
    fn deltas(self, turn: usize) -> Written {
        let mut deltas = VecDeque::new();
        if let Some(thought) = self.reasoning {
            deltas.extend([Ok(Delta::Reasoning(thought)), Ok(Delta::ReasoningEnd(None))]);
        }
        // In pieces, as models speak.
        let text = self.text.unwrap_or_default();
        deltas.extend(text.split_inclusive(' ').map(|word| Ok(Delta::Text(word.to_owned()))));
        let has_calls = !self.calls.is_empty();
        for (at, call) in self.calls.into_iter().enumerate() {
            deltas.push_back(Ok(Delta::Calling { name: call.tool.clone() }));
            let arguments = match call.input {
                Value::String(text) => text,
                Value::Null => "{}".to_owned(),
                json => json.to_string(),
            };
            let id = call.id.unwrap_or_else(|| format!("call_{turn}_{at}"));
            let is_cut = self.finish.as_deref() == Some("length")
                && serde_json::from_str::<serde::de::IgnoredAny>(&arguments).is_err();
            let call = ModelCall { id, name: call.tool, arguments, opaque: None, is_cut };
            deltas.push_back(Ok(Delta::Call(call)));
        }
        if let Some((input, output)) = self.tokens {
            deltas.push_back(Ok(Delta::Usage(Usage { input, output, ..Usage::default() })));
        }
        deltas.push_back(match self.cut {
            true => Err(ProviderError::Broken {
                provider: NAME.to_owned(),
                message: "the script cuts it here".to_owned(),
            }),
            false => Ok(Delta::Finished(match self.finish.as_deref() {
                Some("length") => Finish::Length,
                Some("filtered") => Finish::Filtered,
                Some(_) => Finish::Stop,
                None if has_calls => Finish::Calls,
                None => Finish::Stop,
            })),
        });
        Written(deltas)
    }
}

struct Written(VecDeque<Result<Delta, ProviderError>>);

impl Deltas for Written {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Delta, ProviderError>>> {
        Box::pin(std::future::ready(self.0.pop_front()))
    }
}
