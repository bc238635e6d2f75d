//! Calls, and how they end as the model is told it.

use serde_json::{Map, Value};

use crate::codec::{InputError, OutputError};
use crate::content::Content;
use crate::error::{BoxError, Refusal};
use crate::output::Output;
use crate::preview::{Budget, Shape, fits, preview};
use crate::recorder::{Past, StoreError};
use crate::tool::ToolContext;

/// So many tools are named to a model that asked for one that is not there.
const NAMES_MAX: usize = 100;

/// One request of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Who calls, in what conversation. It comes whole from the runner.
    pub context: ToolContext,
    /// The provider's own id of the call, unique only within its message.
    pub provider_id: Option<String>,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub input: Input,
}

impl Call {
    /// Whether two requests are the same call: the same id, or the same provider id in the same message of the same
    /// session.
    pub fn is_same_as(&self, other: &Call) -> bool {
        let (a, b) = (&self.context, &other.context);
        let same_of_provider = match (&self.provider_id, &other.provider_id) {
            (Some(mine), Some(theirs)) => a.session == b.session && a.message == b.message && mine == theirs,
            (None, None) | (Some(_), None) | (None, Some(_)) => false,
        };
        a.call == b.call || same_of_provider
    }
}

/// Arguments as they arrived.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// JSON.
    Json(Value),
    /// Text that is not JSON, kept as it was sent.
    Malformed {
        /// What was sent.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Input {
    /// Whether the input is this JSON.
    pub(crate) fn is(&self, json: &Value) -> bool {
        match self {
            Input::Json(own) => own == json,
            Input::Malformed { .. } => false,
        }
    }
}

/// How a call ended, as the model is told it.
#[derive(Debug, Clone, PartialEq)]
pub enum Settlement {
    /// The tool did its work.
    Completed(Completed),
    /// Nothing was done, or the work failed; this says why.
    Rejected(Rejection),
}

/// What a completed call has to show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completed {
    /// A few words for a person.
    pub title: String,
    /// What the model is given, bounded. Empty means the structured output.
    pub content: Vec<Content>,
    /// The encoded output.
    pub structured: Value,
    /// Facts for people's programs.
    pub metadata: Map<String, Value>,
    /// The retained whole, if the content is a preview of it.
    pub retained: Option<Output>,
}

impl Completed {
    /// What the model is given, as one text: the text parts joined, or the structured output as JSON.
    pub fn text(&self) -> String {
        if self.content.is_empty() {
            return match &self.structured {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => serde_json::to_string_pretty(other).expect("a JSON value has a text"),
            };
        }
        self.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
    }
}

/// A settlement that says why nothing was done, or why it failed. The model reads its text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Rejection {
    /// No tool of that name was advertised.
    #[error("Unknown tool: {name}.{}", suggestion(nearest.as_deref(), available))]
    Unknown {
        /// The name as it was written.
        name: String,
        /// The advertised name nearest to it.
        nearest: Option<String>,
        /// Every advertised name.
        available: Vec<String>,
    },
    /// The tool that was advertised under the name is gone or replaced.
    #[error("Stale tool call: {name}. The tool changed after this turn began; call it again")]
    Stale {
        /// The name.
        name: String,
    },
    /// The arguments do not fit the schema, and the tool was not run.
    #[error("Invalid tool input: {0}")]
    InvalidInput(InputError),
    /// The tool ran, but what it returned does not fit its own schema.
    #[error("Tool returned an invalid value for its output schema: {0}")]
    InvalidOutput(OutputError),
    /// The tool failed in an expected way.
    #[error("{0}")]
    Failed(String),
    /// Consent was refused.
    #[error("{0}")]
    Refused(Refusal),
}

impl Rejection {
    /// How the call appears in the transcript if it is no proper call of a tool: as a call of the seeds' `invalid`
    /// tool, which carries the name that was written and what was wrong.
    pub fn as_invalid(&self, name: &str) -> Option<Value> {
        match self {
            Rejection::Unknown { .. } | Rejection::InvalidInput(_) => {
                Some(serde_json::json!({ "tool": told_name(name), "error": self.to_string() }))
            }
            Rejection::Stale { .. }
            | Rejection::InvalidOutput(_)
            | Rejection::Failed(_)
            | Rejection::Refused(_) => None,
        }
    }

    /// The same rejection with a message that fits a budget: a failure says where it is cut and how much is missing.
    pub(crate) fn bounded(self, budget: Budget) -> Rejection {
        match self {
            Rejection::Failed(message) if !fits(&message, budget) => {
                let shown = preview(&message, budget, Shape::Both);
                Rejection::Failed([shown.head, &shown.notice(), shown.tail].join("\n\n"))
            }
            other => other,
        }
    }

    /// A word for the kind, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Rejection::Unknown { .. } => "unknown_tool",
            Rejection::Stale { .. } => "stale",
            Rejection::InvalidInput(_) => "invalid_input",
            Rejection::InvalidOutput(_) => "invalid_output",
            Rejection::Failed(_) => "failed",
            Rejection::Refused(Refusal::Denied { .. }) => "denied",
            Rejection::Refused(Refusal::Corrected { .. }) => "rejected",
            Rejection::Refused(Refusal::Unanswered { .. }) => "approval_needed",
            Rejection::Refused(Refusal::Rehearsed { .. }) => "dry_run",
        }
    }
}

/// So much of a name that no tool has is told.
const NAME_CHARS_MAX: usize = 80;

/// A name that a model made up, as it is told: it may be a whole file that went to the wrong place.
pub fn told_name(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn suggestion(nearest: Option<&str>, available: &[String]) -> String {
    match (nearest, available) {
        (Some(nearest), _) => format!(" Did you mean {nearest}?"),
        (None, []) => " No tools are available".to_owned(),
        (None, available) => {
            let named = &available[..available.len().min(NAMES_MAX)];
            let more = match available.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(" Available tools: {}{more}", named.join(", "))
        }
    }
}

/// A call that ended without a settlement. The model is not told; the runner decides what follows.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The person said no: the turn ends.
    #[error("the person declined the call")]
    Declined,
    /// The complete output could not be retained, and a shortened one alone would be a lie.
    #[error("the complete output could not be retained")]
    Retain(#[source] StoreError),
    /// The call or its end could not be recorded.
    #[error("the call could not be recorded")]
    Record(#[source] StoreError),
    /// The call was made before. It is not run again.
    #[error("the call was made before and is not run again")]
    Repeated(Box<Past>),
    /// Something is broken.
    #[error("the tool is broken: {0}")]
    Defect(#[source] BoxError),
}
