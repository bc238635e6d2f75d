//! How a tool can fail to produce its output. The kinds stay apart all the way to the model and the operator.

use std::fmt;

use crate::codec::Issue;
use crate::permission::{Effect, Rule};
use crate::recorder::StoreError;

/// An error of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error and its causes in one line. A cause that the line ends with already is not repeated.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if line.is_empty() {
            line = text;
        } else if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        next = error.source();
    }
    line
}

/// Why a tool did not produce an output.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// An expected failure, told to the model in these words.
    #[error("{0}")]
    Failure(String),
    /// Consent was refused; the model is told why.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The person said no without a word: the turn ends, the model is told nothing.
    #[error("the request was declined")]
    Declined,
    /// The person gave the call another input, with which it begins anew. Only the gate says so; tools pass it on.
    #[error("the person changed the input of the call")]
    Edited(serde_json::Value),
    /// The input fits the schema and still is not what the tool takes, as only the tool could find out. Nothing was done.
    #[error("the input is invalid")]
    Invalid(Invalid),
    /// The tool is no longer what was advertised, because what it was made of has changed. Nothing was done.
    #[error("the tool has changed since it was advertised")]
    Stale,
    /// What it produced could not be kept, and less than that would be a lie.
    #[error("the output could not be kept")]
    Retain(#[source] StoreError),
    /// Something is broken, and the operator has to know.
    #[error("defect: {0}")]
    Defect(#[source] BoxError),
}

impl ToolError {
    /// An expected failure, told to the model in these words.
    pub fn failure(message: impl Into<String>) -> ToolError {
        ToolError::Failure(message.into())
    }

    /// Something broken.
    pub fn defect(error: impl Into<BoxError>) -> ToolError {
        ToolError::Defect(error.into())
    }
}

/// What a tool found wrong with its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong, and where.
    pub issues: Vec<Issue>,
    /// Words of the tool's own, in place of the list of issues.
    pub words: Option<String>,
}

impl From<StoreError> for ToolError {
    /// A store that fails is nothing the model could mend.
    fn from(error: StoreError) -> ToolError {
        ToolError::Defect(error.into())
    }
}

/// Why consent was not given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A rule denies it.
    Denied {
        /// What was to be done, to what.
        wanted: String,
        /// The rule.
        rule: Box<Rule>,
    },
    /// A person rejected it and said what to do instead.
    Corrected {
        /// What was to be done, to what.
        wanted: String,
        /// The person's words.
        words: String,
    },
    /// It needs somebody's consent, and there is nobody to ask.
    Unanswered {
        /// What was to be done, to what.
        wanted: String,
        /// The rule that asks; without one, silence asks.
        rule: Option<Box<Rule>>,
        /// What would allow it.
        hint: String,
    },
    /// This was only a rehearsal: the decisions were taken down, and nothing was done.
    Rehearsed {
        /// What would have been decided.
        effect: Effect,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Denied { wanted, rule } => write!(
                f,
                "permission denied: {wanted} is forbidden by the rule {} ({}); do not try to get around it",
                told(rule),
                rule.origin
            ),
            Refusal::Corrected { wanted, words } => {
                write!(f, "the user rejected permission for {wanted} with the following feedback: {words}")
            }
            Refusal::Unanswered { wanted, rule, hint } => {
                write!(f, "permission needed: {wanted} requires approval")?;
                match rule {
                    Some(rule) => write!(f, " by the rule {} ({})", told(rule), rule.origin)?,
                    None => f.write_str(" because no rule allows it")?,
                }
                write!(f, ", and there is nobody to ask; {hint}")
            }
            Refusal::Rehearsed { effect } => write!(f, "dry run: the decision would be {effect}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A rule as a model is told of it.
fn told(rule: &Rule) -> String {
    format!("{} {:?}: {}", rule.action, rule.told_resource(), rule.effect)
}
