//! The seam to models: what one is told, what it says as it says it, and how that can fail.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft::{AgentId, BoxFuture, Content, Definition, Finish, Input, Usage};
use serde_json::{Map, Value};

pub use crate::given::Given;
use crate::shelf::{Laid, Shelf};
use crate::wire::words::{Tongue, Words};

/// Somebody who serves models.
pub trait Provider: Send + Sync {
    /// Has a model answer. Dropping what is returned ends it.
    fn answer<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, Result<Box<dyn Deltas>, ProviderError>>;

    /// The models that are served.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>>;
}

/// An answer as it arrives.
pub trait Deltas: Send {
    /// The next piece; nothing after [`Delta::Finished`]. An answer that ends without one was cut, and is an error.
    fn next(&mut self) -> BoxFuture<'_, Option<Result<Delta, ProviderError>>>;
}

/// Everything a model is told.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The model's id with its provider.
    pub model: String,
    /// The agent it speaks for.
    pub agent: AgentId,
    /// How it is to behave.
    pub system: Vec<String>,
    /// The conversation so far.
    pub conversation: Vec<Arc<Told>>,
    /// The tools it may call; none if it may call none.
    pub tools: Vec<Definition>,
    /// How it is to answer.
    pub options: Options,
    /// What is sent along with the request.
    pub headers: Headers,
}

/// Headers of a single request, by their names. Their values are secrets and are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

/// How a model is to answer. What is not set is left to its provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// From how much of what it could say it chooses.
    pub top_p: Option<f64>,
    /// How much it may say, in tokens.
    pub output_max: Option<u64>,
    /// Fields for its provider alone, passed on as they are.
    pub extra: Map<String, Value>,
}

/// A part of the conversation that every prompt shares from when it was said: it does not change, and its words are
/// found once.
#[derive(Debug)]
pub struct Told {
    utterance: Utterance,
    words: OnceLock<Words>,
    shelf: Shelf,
}

/// A part of the conversation, as models are told it.
#[derive(Debug, Clone, PartialEq)]
pub enum Utterance {
    /// What the person said and attached.
    User(Vec<Content>),
    /// What the model said.
    Assistant(Vec<Uttered>),
    /// What came of its calls.
    Results(Vec<CallResult>),
}

/// Something a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum Uttered {
    /// Text.
    Text(String),
    /// A thought. What is opaque comes from this very model.
    Reasoning {
        /// What may be shown of it.
        text: String,
        /// What its provider wants back.
        opaque: Option<Value>,
    },
    /// A call.
    Call {
        /// The provider's id of it.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        input: Input,
        /// What its provider wants back with it.
        opaque: Option<Value>,
    },
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The provider's id of it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model is given.
    pub content: Given,
    /// Whether it failed.
    pub is_error: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// Text.
    Text(String),
    /// A thought.
    Reasoning(String),
    /// The end of a thought, with what its provider wants back.
    ReasoningEnd(Option<Value>),
    /// A call is being written.
    Calling {
        /// The tool.
        name: String,
    },
    /// A call that is complete, or never will be.
    Call(ModelCall),
    /// What was counted so far.
    Usage(Usage),
    /// The end.
    Finished(Finish),
}

/// A call as a model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    /// The provider's id of it, unique within its message.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as they were sent.
    pub arguments: String,
    /// What its provider wants back with it.
    pub opaque: Option<Value>,
    /// Whether the model ran out of room while it wrote the arguments. Such a call never runs.
    pub is_cut: bool,
}

/// What is known of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelInfo {
    /// Its id with its provider.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// How much it can read and write at once, in tokens.
    pub context: Option<u64>,
    /// How much it can say, in tokens.
    pub output: Option<u64>,
    /// How it is to answer, beside what its agent says.
    pub options: Map<String, Value>,
    /// Further such sets of options, by the name under which an agent asks for one.
    pub variants: BTreeMap<String, Map<String, Value>>,
}

/// Why there is no answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing or wrong.
    #[error("{provider} does not accept the key: {message}")]
    Unauthorised {
        /// The provider.
        provider: String,
        /// Its words, or what is missing and how to give it.
        message: String,
    },
    /// Nothing is known that a request would need: whoever knows it did not say.
    #[error("{provider} cannot be asked: {message}")]
    Unopened {
        /// The provider.
        provider: String,
        /// Who did not say it, and why.
        message: String,
    },
    /// Too many requests, or too many of others.
    #[error("{provider} is busy: {message}")]
    Busy {
        /// The provider.
        provider: String,
        /// Its words.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for the model: {0}")]
    TooLong(String),
    /// The request was refused.
    #[error("{provider} refused the request: {message}")]
    Refused {
        /// The provider.
        provider: String,
        /// Its words.
        message: String,
    },
    /// A tool or its schema cannot be put into the provider's words.
    #[error("the tool {tool} cannot be offered to {provider}: {problem}")]
    Incompatible {
        /// The tool.
        tool: String,
        /// The provider.
        provider: String,
        /// What is in the way.
        problem: String,
    },
    /// Nobody is there.
    #[error("{provider} cannot be reached: {message}")]
    Unreachable {
        /// The provider.
        provider: String,
        /// Why.
        message: String,
    },
    /// The answer broke off, or nothing came for too long.
    #[error("the answer of {provider} broke off: {message}")]
    Broken {
        /// The provider.
        provider: String,
        /// Where, or how.
        message: String,
    },
    /// What was said before is not there any more.
    #[error(
        "what was said before cannot be read back from the disk: {0}; go on with the session anew to have it from the record"
    )]
    Lost(String),
    /// What came is not what its format says.
    #[error("{provider} sent something that cannot be understood: {message}")]
    Malformed {
        /// The provider.
        provider: String,
        /// What.
        message: String,
    },
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Told {
    /// Takes what was said.
    pub fn new(utterance: Utterance) -> Told {
        Told::on(&Shelf::none(), utterance)
    }

    /// The same, with a place for the words that will be found for it.
    pub(crate) fn on(shelf: &Shelf, utterance: Utterance) -> Told {
        Told { utterance, words: OnceLock::new(), shelf: shelf.clone() }
    }

    /// What was said.
    pub fn utterance(&self) -> &Utterance {
        &self.utterance
    }

    /// Its words in a tongue. Those of the first who asks are kept: a conversation rarely changes its provider.
    pub(crate) fn words(&self, tongue: Tongue) -> io::Result<Vec<Arc<Laid>>> {
        let kept = match self.words.get() {
            Some(kept) => kept,
            None => {
                let found = tongue.words(&self.utterance, &self.shelf)?;
                self.words.get_or_init(|| found)
            }
        };
        match kept.tongue == tongue {
            true => Ok(kept.elements.clone()),
            false => Ok(tongue.words(&self.utterance, &Shelf::none())?.elements),
        }
    }
}

impl ProviderError {
    /// Why what was said before is not there any more.
    pub(crate) fn lost(error: &io::Error) -> ProviderError {
        ProviderError::Lost(error.to_string())
    }

    /// Whether asking again may help, and when the provider wants to be asked.
    pub fn retry(&self) -> Option<Option<Duration>> {
        match self {
            ProviderError::Busy { retry_after, .. } => Some(*retry_after),
            ProviderError::Unreachable { .. }
            | ProviderError::Broken { .. }
            | ProviderError::Malformed { .. } => Some(None),
            ProviderError::Unauthorised { .. }
            | ProviderError::Unopened { .. }
            | ProviderError::TooLong(_)
            | ProviderError::Lost(_)
            | ProviderError::Refused { .. }
            | ProviderError::Incompatible { .. } => None,
        }
    }
}

impl fmt::Display for ModelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or(&self.id))
    }
}
