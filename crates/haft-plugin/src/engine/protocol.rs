//! The lines that pass between haft and a host: one JSON object each, UTF-8.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something haft wants done.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(super) enum Order {
    Load {
        id: u64,
        file: String,
        #[serde(rename = "as")]
        kind: Kind,
        #[serde(default)]
        options: Option<Value>,
        #[serde(default)]
        input: Value,
    },
    Call {
        id: u64,
        tool: String,
        #[serde(default)]
        args: Value,
        #[serde(default)]
        context: Value,
    },
    Hook {
        id: u64,
        name: String,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        output: Value,
    },
    /// One step of a hook that is no function: `auth` or `provider`.
    Part {
        id: u64,
        hook: String,
        #[serde(default)]
        with: Value,
    },
    Abort {
        id: u64,
        /// Nobody waits for its end either.
        #[serde(default)]
        forget: bool,
    },
    /// Takes the types out of a text. Whoever wants that done wants it done away from themselves, as it may be anything.
    Strip { id: u64, path: String, source: String },
    /// Is only answered: haft wants to know whether code still lets go.
    Ping { id: u64 },
}

/// What a file is loaded as.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Tool,
    Plugin,
    /// Only evaluated.
    Module,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Plugin => "plugin",
            Kind::Module => "module",
        }
    }
}

/// What haft answers to a question of ours.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) ask: u64,
    pub(super) result: Result<Value, Refused>,
}

/// An error that haft answers with.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Refused {
    #[serde(default = "error_name")]
    pub(super) name: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) code: Option<String>,
}

fn error_name() -> String {
    "Error".to_owned()
}

/// A line of haft's, taken apart.
#[derive(Debug)]
pub(super) enum Incoming {
    Order(Order),
    Answer(Answer),
}

impl Incoming {
    /// Reads one line. The error says what was wrong, and names the id if there was one.
    pub(super) fn parse(line: &str) -> Result<Incoming, (Option<u64>, String)> {
        let value: Value = serde_json::from_str(line).map_err(|error| (id_in(line), error.to_string()))?;
        if let Some(ask) = value.get("answer").and_then(Value::as_u64) {
            let result = match value.get("error") {
                Some(error) if !error.is_null() => Err(serde_json::from_value(error.clone())
                    .map_err(|error| (None, format!("the error of answer {ask}: {error}")))?),
                _ => Ok(value.get("ok").cloned().unwrap_or(Value::Null)),
            };
            return Ok(Incoming::Answer(Answer { ask, result }));
        }
        let id = value.get("id").and_then(Value::as_u64);
        serde_json::from_value(value).map(Incoming::Order).map_err(|error| (id, error.to_string()))
    }
}

/// The id in a line that cannot be read as a whole, for one, because it is nested too deeply.
fn id_in(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("\"id\":")?;
    let digits = rest.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// How an order failed, as haft is told it.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Failure {
    /// The arguments do not fit the tool's own schema.
    Input { issues: Value, message: Option<String> },
    /// The person's code threw.
    #[serde(rename = "failure")]
    Thrown {
        name: String,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        stack: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The engine itself gave up.
    Defect { message: String },
    /// The file could not be loaded.
    Load {
        message: String,
        #[serde(flatten)]
        place: Place,
        #[serde(skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stack: Option<Box<str>>,
        /// The export that is wrong, for errors of our own about one.
        #[serde(skip_serializing_if = "Option::is_none")]
        export: Option<Box<str>>,
    },
    /// A module it imports is missing, or is one that this engine does not have.
    Module {
        message: String,
        module: String,
        unsupported: bool,
        #[serde(flatten)]
        place: Place,
        #[serde(skip_serializing_if = "Option::is_none")]
        fix: Option<String>,
    },
    /// A line that is not of this protocol.
    Protocol { message: String },
}

/// Where in the person's files something went wrong; lines and columns count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column: Option<u32>,
}

impl Failure {
    pub(super) fn aborted() -> Failure {
        Failure::Thrown {
            name: "AbortError".to_owned(),
            message: "the call was aborted".to_owned(),
            stack: None,
            code: Some("ABORT_ERR".to_owned()),
        }
    }
}
