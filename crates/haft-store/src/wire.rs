//! How an end of a call is written down. The core's types are free to change; these are what is on the disk.
//!
//! Whatever goes in is redacted on the way. Images and documents are kept apart, under the digest of their bytes.

mod consent;
pub(crate) mod message;

use std::path::PathBuf;
use std::sync::Arc;

use haft::{
    Completed, Content, Ended, InputError, Interruption, Issue, Output, OutputError, OutputId, Rejection,
    Settlement,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::consent::RefusalRecord;
use crate::digest;
use crate::fault::Fault;
use crate::redact::Redactor;

/// Deeper structures cannot be read back without risking the stack.
const DEPTH_MAX: usize = 500;

/// An end of a call, ready to be written.
pub(crate) struct Encoded {
    pub(crate) json: String,
    pub(crate) media: Vec<Media>,
}

/// An image or a document that an end refers to.
pub(crate) struct Media {
    pub(crate) digest: String,
    pub(crate) mime: String,
    pub(crate) bytes: Arc<[u8]>,
}

/// Finds the bytes of an image or a document by their digest.
type MediaOf<'a> = &'a mut dyn FnMut(&str) -> Result<Arc<[u8]>, Fault>;

/// Puts an end of a call into its record.
pub(crate) fn encode(ended: &Ended, redactor: &Redactor) -> Result<Encoded, Fault> {
    let mut media = Vec::new();
    let record = EndedRecord::of(ended, &mut Pen { redactor, media: &mut media })?;
    let json = serde_json::to_string(&record).map_err(|error| Fault::Json("a settlement", error))?;
    Ok(Encoded { json, media })
}

/// Takes an end of a call out of its record.
pub(crate) fn decode(json: &str, bytes: MediaOf<'_>) -> Result<Ended, Fault> {
    let record: EndedRecord = read("a settlement", json)?;
    record.into_core(bytes)
}

/// Reads JSON that the store wrote itself, as deep as it was written.
pub(crate) fn read<'a, T: Deserialize<'a>>(what: &'static str, json: &'a str) -> Result<T, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.disable_recursion_limit();
    T::deserialize(&mut deserializer).map_err(|error| Fault::Json(what, error))
}

/// Writes down, taking out secrets and setting media apart.
struct Pen<'a> {
    redactor: &'a Redactor,
    media: &'a mut Vec<Media>,
}

impl Pen<'_> {
    fn text(&self, text: &str) -> String {
        self.redactor.owned(text)
    }

    /// A command line, or what is shown like one.
    fn command(&self, text: &str) -> String {
        self.redactor.owned_command(text)
    }

    fn texts(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|text| self.text(text)).collect()
    }

    fn json(&self, value: &Value) -> Result<Value, Fault> {
        shallow(value)?;
        Ok(self.redactor.redact_json(value))
    }

    fn fields(&self, fields: &Map<String, Value>) -> Result<Map<String, Value>, Fault> {
        fields.values().try_for_each(shallow)?;
        Ok(self.redactor.redact_fields(fields))
    }

    /// Sets bytes apart. What is text is redacted like any other.
    fn media(&mut self, mime: &str, bytes: &Arc<[u8]>) -> String {
        let bytes = match std::str::from_utf8(bytes).map(|text| self.redactor.redact(text)) {
            Ok(std::borrow::Cow::Owned(clean)) => clean.into_bytes().into(),
            Ok(std::borrow::Cow::Borrowed(_)) | Err(_) => bytes.clone(),
        };
        let digest = digest(&bytes);
        self.media.push(Media { digest: digest.clone(), mime: mime.to_owned(), bytes });
        digest
    }
}

fn shallow(value: &Value) -> Result<(), Fault> {
    match depth_exceeds(value, DEPTH_MAX) {
        true => Err(Fault::Said(format!("the output is nested deeper than {DEPTH_MAX} levels"))),
        false => Ok(()),
    }
}

fn depth_exceeds(value: &Value, levels: usize) -> bool {
    let deeper = |value: &Value| levels == 0 || depth_exceeds(value, levels - 1);
    match value {
        Value::Array(items) => items.iter().any(deeper),
        Value::Object(fields) => fields.values().any(deeper),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndedRecord {
    Completed(CompletedRecord),
    Rejected(RejectionRecord),
    Declined,
    Broken(String),
    Cancelled,
    Interrupted(InterruptionRecord),
}

impl EndedRecord {
    fn of(ended: &Ended, pen: &mut Pen<'_>) -> Result<EndedRecord, Fault> {
        Ok(match ended {
            Ended::Settled(settlement) => match &**settlement {
                Settlement::Completed(completed) => {
                    EndedRecord::Completed(CompletedRecord::of(completed, pen)?)
                }
                Settlement::Rejected(rejection) => EndedRecord::Rejected(RejectionRecord::of(rejection, pen)),
            },
            Ended::Declined => EndedRecord::Declined,
            Ended::Broken(why) => EndedRecord::Broken(pen.text(why)),
            Ended::Cancelled => EndedRecord::Cancelled,
            Ended::Interrupted(interruption) => EndedRecord::Interrupted(match interruption {
                Interruption::NotStarted => InterruptionRecord::NotStarted,
                Interruption::Committed => InterruptionRecord::Committed,
                Interruption::RolledBack => InterruptionRecord::RolledBack,
                Interruption::Unknown => InterruptionRecord::Unknown,
            }),
        })
    }

    fn into_core(self, bytes: MediaOf<'_>) -> Result<Ended, Fault> {
        let settled = |settlement| Ended::Settled(Box::new(settlement));
        Ok(match self {
            EndedRecord::Completed(record) => settled(Settlement::Completed(record.into_core(bytes)?)),
            EndedRecord::Rejected(record) => settled(Settlement::Rejected(record.into_core())),
            EndedRecord::Declined => Ended::Declined,
            EndedRecord::Broken(why) => Ended::Broken(why),
            EndedRecord::Cancelled => Ended::Cancelled,
            EndedRecord::Interrupted(record) => Ended::Interrupted(match record {
                InterruptionRecord::NotStarted => Interruption::NotStarted,
                InterruptionRecord::Committed => Interruption::Committed,
                InterruptionRecord::RolledBack => Interruption::RolledBack,
                InterruptionRecord::Unknown => Interruption::Unknown,
            }),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InterruptionRecord {
    NotStarted,
    Committed,
    RolledBack,
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct CompletedRecord {
    title: String,
    content: Vec<ContentRecord>,
    structured: Value,
    metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    retained: Option<OutputRecord>,
}

impl CompletedRecord {
    fn of(completed: &Completed, pen: &mut Pen<'_>) -> Result<CompletedRecord, Fault> {
        Ok(CompletedRecord {
            title: pen.command(&completed.title),
            content: completed.content.iter().map(|part| ContentRecord::of(part, pen)).collect(),
            structured: pen.json(&completed.structured)?,
            metadata: pen.fields(&completed.metadata)?,
            retained: completed.retained.as_ref().map(OutputRecord::of),
        })
    }

    fn into_core(self, bytes: MediaOf<'_>) -> Result<Completed, Fault> {
        Ok(Completed {
            title: self.title,
            content: self.content.into_iter().map(|part| part.into_core(bytes)).collect::<Result<_, _>>()?,
            structured: self.structured,
            metadata: self.metadata,
            retained: self.retained.map(OutputRecord::into_core).transpose()?,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentRecord {
    Text(String),
    Media { digest: String, mime: String, name: Option<String> },
}

impl ContentRecord {
    fn of(content: &Content, pen: &mut Pen<'_>) -> ContentRecord {
        match content {
            Content::Text(text) => ContentRecord::Text(pen.text(text)),
            Content::Media { mime, data, name } => ContentRecord::Media {
                digest: pen.media(mime, data),
                mime: pen.text(mime),
                name: name.as_deref().map(|name| pen.text(name)),
            },
        }
    }

    fn into_core(self, bytes: MediaOf<'_>) -> Result<Content, Fault> {
        Ok(match self {
            ContentRecord::Text(text) => Content::Text(text),
            ContentRecord::Media { digest, mime, name } => {
                Content::Media { mime, data: bytes(&digest)?, name }
            }
        })
    }
}

#[derive(Serialize, Deserialize)]
struct OutputRecord {
    id: String,
    bytes: u64,
    lines: u64,
    /// Only where it is Unicode; a store knows where its outputs are.
    path: Option<PathBuf>,
}

impl OutputRecord {
    fn of(output: &Output) -> OutputRecord {
        let path = output.path.clone().filter(|path| path.to_str().is_some());
        OutputRecord { id: output.id.to_string(), bytes: output.bytes, lines: output.lines, path }
    }

    fn into_core(self) -> Result<Output, Fault> {
        let id =
            OutputId::parse(&self.id).map_err(|error| Fault::Nonsense("an output", error.to_string()))?;
        Ok(Output { id, bytes: self.bytes, lines: self.lines, path: self.path })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RejectionRecord {
    Unknown { name: String, nearest: Option<String>, available: Vec<String> },
    Stale { name: String },
    InvalidInput { message: String, issues: Vec<(String, String)> },
    InvalidOutput(String),
    Failed(String),
    Refused(RefusalRecord),
}

impl RejectionRecord {
    fn of(rejection: &Rejection, pen: &Pen<'_>) -> RejectionRecord {
        match rejection {
            Rejection::Unknown { name, nearest, available } => RejectionRecord::Unknown {
                name: pen.text(name),
                nearest: nearest.as_deref().map(|nearest| pen.text(nearest)),
                available: pen.texts(available),
            },
            Rejection::Stale { name } => RejectionRecord::Stale { name: pen.text(name) },
            Rejection::InvalidInput(InputError { message, issues }) => RejectionRecord::InvalidInput {
                message: pen.text(message),
                issues: issues
                    .iter()
                    .map(|issue| (pen.text(&issue.path), pen.text(&issue.problem)))
                    .collect(),
            },
            Rejection::InvalidOutput(OutputError(why)) => RejectionRecord::InvalidOutput(pen.text(why)),
            Rejection::Failed(why) => RejectionRecord::Failed(pen.text(why)),
            Rejection::Refused(refusal) => RejectionRecord::Refused(RefusalRecord::of(refusal, pen)),
        }
    }

    fn into_core(self) -> Rejection {
        match self {
            RejectionRecord::Unknown { name, nearest, available } => {
                Rejection::Unknown { name, nearest, available }
            }
            RejectionRecord::Stale { name } => Rejection::Stale { name },
            RejectionRecord::InvalidInput { message, issues } => {
                let issues = issues.into_iter().map(|(path, problem)| Issue { path, problem }).collect();
                Rejection::InvalidInput(InputError { message, issues })
            }
            RejectionRecord::InvalidOutput(why) => Rejection::InvalidOutput(OutputError(why)),
            RejectionRecord::Failed(why) => Rejection::Failed(why),
            RejectionRecord::Refused(record) => Rejection::Refused(record.into_core()),
        }
    }
}

#[cfg(test)]
mod tests;
