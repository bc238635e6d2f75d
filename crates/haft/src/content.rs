//! What a tool shows: content for the model, a title and metadata for people.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::output::Output;

/// One piece of what the model is given.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image or a document, passed on as it is and never turned into text.
    Media {
        /// Its media type, such as `image/png`.
        mime: String,
        /// Its bytes.
        data: Arc<[u8]>,
        /// Its file name, if it has one.
        name: Option<String>,
    },
}

impl Content {
    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            Content::Media { .. } => None,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Text(text) => write!(f, "Text({text:?})"),
            Content::Media { mime, data, name } => write!(f, "Media({mime}, {} bytes, {name:?})", data.len()),
        }
    }
}

/// The fact in a completed call's metadata that says that its output stays in the conversation, however old it gets.
pub const KEPT: &str = "kept";

/// How an output is shown. Title and metadata are for people and never reach the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Presented {
    /// What the model is given. Empty means the structured output itself.
    pub content: Vec<Content>,
    /// A few words for a person, such as the path that was read.
    pub title: String,
    /// Facts for programs that show calls to people.
    pub metadata: Map<String, Value>,
    /// The whole, where the tool has retained it already and shows a part of it.
    pub retained: Option<Output>,
}

impl Presented {
    /// Shows a text.
    pub fn text(text: impl Into<String>) -> Presented {
        Presented { content: vec![Content::Text(text.into())], ..Presented::default() }
    }

    /// Adds a title.
    pub fn titled(mut self, title: impl Into<String>) -> Presented {
        self.title = title.into();
        self
    }

    /// Adds a fact.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Presented {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// Says that the whole is retained already, and where.
    pub fn retaining(mut self, output: Output) -> Presented {
        self.retained = Some(output);
        self
    }

    /// Adds an image or a document.
    pub fn attach(
        mut self,
        mime: impl Into<String>,
        data: impl Into<Arc<[u8]>>,
        name: Option<String>,
    ) -> Presented {
        self.content.push(Content::Media { mime: mime.into(), data: data.into(), name });
        self
    }
}
