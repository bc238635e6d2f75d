//! The seam to whoever has a say in conversations: what is said, what the model is told and how it is to answer.
//!
//! Everything that is returned is used in place of what was given. An error ends the step, so that nobody goes on with
//! half of what was wanted.

use std::sync::Arc;

use haft::{AgentId, BoxError, BoxFuture, CallId, Content, Message, MessageId, SessionId};

use crate::agent::Served;
use crate::provider::{Headers, Options};

/// Has a say in conversations. Whoever implements nothing changes nothing.
pub trait Influence: Send + Sync {
    /// What a person said, before it is kept.
    fn said<'a>(&'a self, at: Moment<'a>, message: Message) -> Influenced<'a, Message> {
        let _anybody = at;
        unchanged(message)
    }

    /// How the model is to answer.
    fn options<'a>(&'a self, at: Moment<'a>, options: Options) -> Influenced<'a, Options> {
        let _anybody = at;
        unchanged(options)
    }

    /// What is sent along with a request, beside what its provider is sent anyway.
    fn headers<'a>(&'a self, at: Moment<'a>) -> Influenced<'a, Headers> {
        let _anybody = at;
        unchanged(Headers::default())
    }

    /// How the model is to behave.
    fn system<'a>(&'a self, at: Moment<'a>, system: Vec<String>) -> Influenced<'a, Vec<String>> {
        let _anybody = at;
        unchanged(system)
    }

    /// Whether [`Influence::conversation`] is to be asked: what it is given has to be made first.
    fn sees_conversation(&self) -> bool {
        false
    }

    /// The conversation as the model is about to be told it. What is on record stays as it is.
    fn conversation<'a>(&'a self, at: Moment<'a>, messages: Vec<Recalled>) -> Influenced<'a, Vec<Recalled>> {
        let _anybody = at;
        unchanged(messages)
    }

    /// How a summary is asked for.
    fn summary<'a>(&'a self, at: Moment<'a>) -> Influenced<'a, Summarising> {
        let _anybody = at;
        unchanged(Summarising::default())
    }

    /// Whether the agent goes on by itself after a summary. Whoever said something is answered in any case.
    fn goes_on<'a>(&'a self, at: Moment<'a>, why: Compacted) -> Influenced<'a, bool> {
        let _anybody = (at, why);
        unchanged(true)
    }

    /// Whether [`Influence::text`] is to be asked. Text is then shown when it is complete, not as it comes.
    fn edits_text(&self) -> bool {
        false
    }

    /// A text that the model has finished, before it is kept.
    fn text<'a>(&'a self, at: Moment<'a>, place: TextPlace<'a>, text: String) -> Influenced<'a, String> {
        let _anybody = (at, place);
        unchanged(text)
    }
}

/// What became of something that somebody has a say in.
pub type Influenced<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// Leaves everything as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uninfluenced;

impl Influence for Uninfluenced {}

/// In which conversation something is, and where in it.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The agent that is spoken to.
    pub agent: &'a AgentId,
    /// The model that answers.
    pub served: &'a Served,
    /// What the person said last.
    pub asked: Option<&'a Message>,
}

/// A message as it is recalled for the model, with what came of its calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The message.
    pub message: Message,
    /// What came of its calls. Those that are missing are told as they are on record.
    pub results: Vec<RecalledResult>,
}

/// What the model is told of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledResult {
    /// The call.
    pub call: CallId,
    /// What came of it.
    pub content: Arc<[Content]>,
    /// Whether it failed.
    pub is_error: bool,
}

/// How a summary is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarising {
    /// What is asked instead of the usual.
    pub request: Option<String>,
    /// What is added to the usual.
    pub context: Vec<String>,
}

/// Why a conversation was summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compacted {
    /// It had become long.
    Long,
    /// The model could not read it any more.
    Overflowing,
}

/// Which text of which message.
#[derive(Debug, Clone, Copy)]
pub struct TextPlace<'a> {
    /// The message.
    pub message: &'a MessageId,
    /// Its part, counted from nothing.
    pub part: usize,
}

fn unchanged<'a, T: Send + 'a>(value: T) -> Influenced<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}
