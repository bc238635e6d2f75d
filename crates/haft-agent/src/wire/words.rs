//! A conversation in the words of a format. What was said does not change, so each part is put into words once.

use std::sync::Arc;

use serde_json::Value;

use super::{anthropic, chat, gemini, responses};
use crate::provider::{Told, Utterance};

/// About how much the rest of a request takes: instructions and tools, mostly.
const FIELDS_BYTES: usize = 64 << 10;

/// How a provider is spoken to: everything on which the words for an utterance depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tongue {
    Chat(chat::Dialect),
    Responses,
    Anthropic,
    Gemini(gemini::Signing),
}

/// An utterance in the words of a tongue: elements of an array, as JSON.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) tongue: Tongue,
    pub(crate) elements: Vec<Arc<str>>,
}

/// Elements in a row that are said by the same side, and what stands around them.
pub(crate) struct Stretch {
    pub(crate) open: &'static str,
    pub(crate) elements: Vec<Arc<str>>,
    pub(crate) close: &'static str,
}

/// A request: its fields, and the conversation that stands in one of them.
pub(crate) struct Request {
    pub(crate) fields: Value,
    pub(crate) place: &'static str,
    pub(crate) conversation: Vec<Stretch>,
}

impl Tongue {
    /// Puts an utterance into words.
    pub(crate) fn words(self, utterance: &Utterance) -> Words {
        let elements = match self {
            Tongue::Chat(dialect) => chat::messages(utterance, dialect),
            Tongue::Responses => responses::items(utterance),
            Tongue::Anthropic => anthropic::blocks(utterance),
            Tongue::Gemini(signing) => gemini::parts(utterance, signing),
        };
        Words { tongue: self, elements: elements.iter().map(element).collect() }
    }

    /// What stands around elements of such an utterance. Where nothing does, each says itself who speaks.
    fn frame(self, utterance: &Utterance) -> (&'static str, &'static str) {
        let is_model = matches!(utterance, Utterance::Assistant(_));
        match (self, is_model) {
            (Tongue::Chat(_) | Tongue::Responses, _) => ("", ""),
            (Tongue::Anthropic, true) => (r#"{"role":"assistant","content":["#, "]}"),
            (Tongue::Anthropic, false) => (r#"{"role":"user","content":["#, "]}"),
            (Tongue::Gemini(_), true) => (r#"{"role":"model","parts":["#, "]}"),
            (Tongue::Gemini(_), false) => (r#"{"role":"user","parts":["#, "]}"),
        }
    }

    /// Tells a conversation: whatever one side says in one go is one stretch.
    pub(crate) fn tell(self, conversation: &[Arc<Told>]) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for told in conversation {
            let (open, close) = self.frame(told.utterance());
            let elements = told.words(self);
            match stretches.last_mut() {
                Some(last) if last.open == open => last.elements.extend(elements),
                _ if elements.is_empty() => {}
                _ => stretches.push(Stretch { open, elements, close }),
            }
        }
        stretches
    }
}

/// A value as it stands in the conversation.
pub(crate) fn element(value: &Value) -> Arc<str> {
    value.to_string().into()
}

impl Stretch {
    fn len(&self) -> usize {
        let elements: usize = self.elements.iter().map(|element| element.len() + 1).sum();
        self.open.len() + elements + self.close.len()
    }

    fn write(&self, text: &mut String) {
        text.push_str(self.open);
        for (at, element) in self.elements.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "," });
            text.push_str(element);
        }
        text.push_str(self.close);
    }
}

impl Request {
    /// The request as JSON, with the conversation in its place.
    pub(crate) fn text(&self) -> String {
        let length: usize = self.conversation.iter().map(Stretch::len).sum();
        let mut text = String::with_capacity(length + FIELDS_BYTES);
        for (name, value) in self.fields.as_object().into_iter().flatten() {
            text.push(if text.is_empty() { '{' } else { ',' });
            text.push_str(&Value::from(name.as_str()).to_string());
            text.push(':');
            match name == self.place {
                true => self.tell(&mut text),
                false => text.push_str(&value.to_string()),
            }
        }
        text.push('}');
        text
    }

    fn tell(&self, text: &mut String) {
        text.push('[');
        for (at, stretch) in self.conversation.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "," });
            stretch.write(text);
        }
        text.push(']');
    }
}
