//! The settlement boundary: what a tool presented becomes what the model is given.
//!
//! Text over the limits is retained whole first and then replaced by a preview that says where the whole is. Media
//! passes as it is, up to one limit for every producer. A tool that has shortened its own text is left alone up to a
//! ceiling.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::content::{Content, Presented};
use crate::name::ToolName;
use crate::output::{Output, OutputStore};
use crate::preview::{Amount, Budget, Limit, Preview, Shape, fits, preview};
use crate::recorder::StoreError;
use crate::settlement::Completed;
use crate::tool::ToolContext;

/// How much larger a text may be than the limits when its tool has shortened it already.
const CEILING: usize = 4;

/// So much of a title is kept: it names the call to people, who have its input beside it.
const TITLE_CHARS_MAX: usize = 1000;

/// The limits of what a model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Of text.
    pub text: Budget,
    /// Of each image or document, in bytes.
    pub media: usize,
    /// The tool that long reading can be left to, if there is one. It is mentioned only where it is advertised.
    pub delegate: Option<ToolName>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { text: Budget { lines: 2000, bytes: 50 * 1024 }, media: 20 * 1024 * 1024, delegate: None }
    }
}

/// Why an output could not be bounded.
#[derive(Debug, thiserror::Error)]
pub enum BoundError {
    /// An image or a document is too large. The model is told.
    #[error("the {mime} is too large to be shown: {bytes} bytes, and the limit is {limit}")]
    Media {
        /// What it is.
        mime: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The whole could not be kept.
    #[error("the complete output could not be retained")]
    Retain(#[source] StoreError),
}

/// Whose business it was to shorten a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortening {
    /// Nobody has yet: the limits hold.
    Ours,
    /// The tool has, and said so by setting `truncated` itself: only the ceiling holds.
    Theirs,
}

impl Shortening {
    /// Reads it off what a tool presented.
    pub fn of(presented: &Presented) -> Shortening {
        match presented.metadata.get("truncated") {
            Some(Value::Bool(_)) => Shortening::Theirs,
            Some(_) | None => Shortening::Ours,
        }
    }
}

/// Where and how an output is bounded.
pub struct Boundary<'a> {
    /// The limits.
    pub limits: &'a Limits,
    /// Whether the limits' delegate may be mentioned.
    pub delegates: bool,
    /// Where wholes are retained.
    pub outputs: &'a dyn OutputStore,
    /// The call that made the output.
    pub context: &'a ToolContext,
}

/// Bounds what was presented: all of it within the limits, or retained whole and shown in part.
pub async fn bound(
    boundary: &Boundary<'_>,
    presented: Presented,
    structured: Value,
    shortening: Shortening,
) -> Result<Completed, BoundError> {
    let limits = boundary.limits;
    let Presented { content, title, metadata, retained } = presented;
    check_media(&content, limits.media)?;
    let structured = without_media(structured, &content);
    let mut completed = Completed { title: entitled(title), content, structured, metadata, retained };

    let text = measured(&completed);
    let budget = match shortening {
        Shortening::Ours => limits.text,
        Shortening::Theirs => times(limits.text, CEILING),
    };
    if fits(&text, budget) {
        drop(text);
        completed.metadata.entry("truncated").or_insert(false.into());
        return Ok(completed);
    }
    let retained = boundary.outputs.retain(boundary.context, &text).await;
    let output = retained.map_err(BoundError::Retain)?;
    let delegate = limits.delegate.as_ref().filter(|_| boundary.delegates);
    let shown = both_ends(&text, limits.text, &output, delegate);
    let produced = text.len();
    drop(text);
    note(&mut completed.metadata, produced, shown.len(), &output);
    completed.content.retain(|part| part.as_text().is_none());
    completed.content.insert(0, Content::Text(shown));
    completed.retained = Some(output);
    Ok(completed)
}

fn entitled(mut title: String) -> String {
    if let Some((end, _)) = title.char_indices().nth(TITLE_CHARS_MAX) {
        title.truncate(end);
        title.push('…');
    }
    title
}

/// The text that goes to the provider: the text parts, or the structured output where nothing was presented.
fn measured(completed: &Completed) -> Cow<'_, str> {
    let texts: Vec<&str> = completed.content.iter().filter_map(Content::as_text).collect();
    match texts.as_slice() {
        [] if completed.content.is_empty() => completed.text().into(),
        [only] => Cow::Borrowed(only),
        several => several.concat().into(),
    }
}

/// Head, how much is missing and where it is, tail; all of it together within the budget.
fn both_ends(text: &str, budget: Budget, output: &Output, delegate: Option<&ToolName>) -> String {
    let hint = hint(&output.address().to_string(), delegate);
    let lay_out = |shown: &Preview<'_>| {
        let parts = [shown.head, &shown.notice(), &hint, shown.tail];
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n\n")
    };
    // No notice is longer than one that counts all the bytes. Around it and the hint stand three blank lines.
    let notice = Limit::Bytes.notice(Amount { bytes: text.len(), lines: 0 });
    let room = Budget {
        lines: budget.lines.saturating_sub(4 + hint.lines().count()),
        bytes: budget.bytes.saturating_sub(notice.len() + hint.len() + 3 * "\n\n".len()),
    };
    lay_out(&preview(text, room, Shape::Both))
}

/// Tells a model how to get at the rest.
pub fn hint(address: &str, delegate: Option<&ToolName>) -> String {
    let how = match delegate {
        Some(delegate) => format!(
            "Use the {} tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context.",
            capitalised(delegate.as_str())
        ),
        None => "Use Grep to search the full content or Read with offset/limit to view specific sections."
            .to_owned(),
    };
    format!("The tool call succeeded but the output was truncated. Full output saved to: {address}\n{how}")
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn note(metadata: &mut Map<String, Value>, original: usize, shown: usize, output: &Output) {
    metadata.insert("truncated".to_owned(), true.into());
    metadata.insert("originalSize".to_owned(), original.into());
    metadata.insert("truncatedSize".to_owned(), shown.into());
    if let Some(path) = &output.path {
        metadata.insert("outputPath".to_owned(), path.to_string_lossy().into_owned().into());
    }
}

fn times(budget: Budget, factor: usize) -> Budget {
    Budget { lines: budget.lines.saturating_mul(factor), bytes: budget.bytes.saturating_mul(factor) }
}

fn check_media(content: &[Content], limit: usize) -> Result<(), BoundError> {
    for part in content {
        match part {
            Content::Media { mime, data, .. } if data.len() > limit => {
                return Err(BoundError::Media { mime: mime.clone(), bytes: data.len(), limit });
            }
            Content::Media { .. } | Content::Text(_) => {}
        }
    }
    Ok(())
}

/// Leaves out of the structured output what only repeats the media beside it.
fn without_media(mut structured: Value, content: &[Content]) -> Value {
    for part in content {
        if let Content::Media { data, .. } = part {
            let encoded = std::cell::OnceCell::new();
            drop_repeated(&mut structured, data, &encoded);
        }
    }
    structured
}

fn drop_repeated(value: &mut Value, data: &[u8], encoded: &std::cell::OnceCell<String>) {
    let length = data.len().div_ceil(3) * 4;
    let repeats = |value: &Value| {
        let text = value.as_str().filter(|text| length > 0 && text.len() >= length);
        text.is_some_and(|text| text.ends_with(encoded.get_or_init(|| base64_of(data)).as_str()))
    };
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !repeats(field));
            fields.values_mut().for_each(|field| drop_repeated(field, data, encoded));
        }
        Value::Array(items) => {
            items.retain(|item| !repeats(item));
            items.iter_mut().for_each(|item| drop_repeated(item, data, encoded));
        }
        Value::String(_) if repeats(value) => *value = Value::Null,
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn base64_of(data: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(data)
}
