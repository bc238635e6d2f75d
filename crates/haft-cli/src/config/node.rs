//! The values of a configuration: JSON that remembers the order of its keys and where everything was written.

use serde_json::{Map, Number, Value};

use super::error::{ConfigError, Located, Problem};
use super::text::Span;

/// A value and where it was written.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The value.
    pub(crate) kind: Kind,
    /// Where it was written.
    pub(crate) span: Span,
}

/// A JSON value.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object, in the order of the file.
    Object(Vec<Entry>),
}

/// A key of an object and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key was written.
    pub(crate) at: Span,
    /// The value.
    pub(crate) value: Node,
}

impl Node {
    /// The entries of an object; none of anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Object(entries) => entries,
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => &[],
        }
    }

    /// The value of a key of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }

    /// The entries of an object, to change them.
    pub(crate) fn entries_mut(&mut self) -> &mut [Entry] {
        match &mut self.kind {
            Kind::Object(entries) => entries,
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => &mut [],
        }
    }

    /// The value of a key of an object, to change it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries_mut().iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value)
    }

    /// Takes a key out of an object.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Entry> {
        match &mut self.kind {
            Kind::Object(entries) => {
                let at = entries.iter().position(|entry| entry.key == key)?;
                Some(entries.remove(at))
            }
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::List(_) => None,
        }
    }

    /// The items of a list.
    pub(crate) fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Object(_) => None,
        }
    }

    /// The text of a string.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::List(_) | Kind::Object(_) => None,
        }
    }

    /// `true` or `false`.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        match &self.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Null | Kind::Number(_) | Kind::Text(_) | Kind::List(_) | Kind::Object(_) => None,
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn as_count(&self) -> Option<u64> {
        match &self.kind {
            Kind::Number(number) => number.as_u64(),
            Kind::Null | Kind::Bool(_) | Kind::Text(_) | Kind::List(_) | Kind::Object(_) => None,
        }
    }

    /// A number.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match &self.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::Null | Kind::Bool(_) | Kind::Text(_) | Kind::List(_) | Kind::Object(_) => None,
        }
    }

    /// The texts of a list; what is no text is passed over.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.as_list().unwrap_or_default().iter().filter_map(Node::as_text).map(str::to_owned).collect()
    }

    /// The value without its places.
    pub(crate) fn json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::json).collect()),
            Kind::Object(entries) => {
                let fields = entries.iter().map(|entry| (entry.key.clone(), entry.value.json()));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// An error at this value: it is not what belongs here.
    pub(crate) fn expected(&self, expected: &'static str) -> ConfigError {
        Located::new(Problem::Expected { expected, found: self.described() }, &self.span).into()
    }

    /// What stands here: a short value as it was written.
    pub(crate) fn described(&self) -> String {
        match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => self.span.shown(),
            Kind::List(_) => "an array".to_owned(),
            Kind::Object(_) => "an object".to_owned(),
        }
    }
}
