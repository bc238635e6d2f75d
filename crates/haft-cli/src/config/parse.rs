//! Parses JSON with comments and trailing commas, strictly otherwise, into nodes that know their places.

use std::collections::HashMap;
use std::ops::Range;
use std::str::FromStr as _;
use std::sync::Arc;

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, ParseStringErrorKind, parse_to_ast};
use serde_json::Number;

use super::error::{ConfigError, Located, Problem};
use super::node::{Entry, Kind, Node};
use super::text::{Cursor, Span, Text};

/// The deepest nesting.
pub(crate) const NESTING_MAX: usize = 64;

pub(super) const DIALECT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text. One without any value is an empty object.
pub(crate) fn parse(text: &Arc<Text>) -> Result<Node, ConfigError> {
    let parsed = parse_to_ast(text.as_str(), &CollectOptions::default(), &DIALECT)
        .map_err(|error| syntax(text, &error))?;
    let mut reader = Reader { text, cursor: Cursor::new(text) };
    match parsed.value {
        Some(value) => reader.node(value, 0),
        None => Ok(Node { kind: Kind::Object(Vec::new()), span: text.span(0..0) }),
    }
}

fn syntax(text: &Arc<Text>, error: &ParseError) -> ConfigError {
    let range = error.range();
    let written = text.written_at(range.start..range.end);
    let problem = match error.kind() {
        ParseErrorKind::NestingDepthExceeded => Problem::Nesting { max: NESTING_MAX },
        kind => {
            let message = match kind {
                ParseErrorKind::String(ParseStringErrorKind::InvalidUnicodeEscapeSequence(_)) => {
                    "no character has this escape".to_owned()
                }
                kind => lower_first(&kind.to_string()),
            };
            let hint = match text.has_bare_references() {
                true => "; {env:} and {file:} stay as they are until the project is trusted (haft trust)",
                false => "",
            };
            Problem::Syntax { message, hint }
        }
    };
    // What is not finished is marked where it begins.
    let marked = match error.kind() {
        ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray => {
            written.start..written.start + 1
        }
        _ => written,
    };
    Located::new(problem, &text.span(marked)).into()
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

struct Reader<'t> {
    text: &'t Arc<Text>,
    cursor: Cursor,
}

impl Reader<'_> {
    fn node(&mut self, value: Value<'_>, depth: usize) -> Result<Node, ConfigError> {
        let range = value.range();
        let span = self.span(range.start..range.end);
        let deeper = |span: &Span| match depth < NESTING_MAX {
            true => Ok(depth + 1),
            false => Err(ConfigError::from(Located::new(Problem::Nesting { max: NESTING_MAX }, span))),
        };
        let kind = match value {
            Value::NullKeyword(_) => Kind::Null,
            Value::BooleanLit(literal) => Kind::Bool(literal.value),
            Value::NumberLit(literal) => match Number::from_str(literal.value) {
                Ok(number) => Kind::Number(number),
                Err(_) => return Err(Located::new(Problem::Number, &span).into()),
            },
            Value::StringLit(literal) => {
                self.check_line(range.start..range.end, &span)?;
                Kind::Text(literal.value.into_owned())
            }
            Value::Array(array) => {
                let depth = deeper(&span)?;
                let items = array.elements.into_iter().map(|element| self.node(element, depth));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(object) => {
                let depth = deeper(&span)?;
                let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
                let mut seen: HashMap<String, usize> = HashMap::new();
                for property in object.properties {
                    let range = property.name.range();
                    let at = self.span(range.start..range.end);
                    self.check_line(range.start..range.end, &at)?;
                    let key = match property.name {
                        ObjectPropName::String(name) => name.value.into_owned(),
                        ObjectPropName::Word(name) => name.value.to_owned(),
                    };
                    if let Some(first) = seen.insert(key.clone(), entries.len()) {
                        let Span { line, column, .. } = entries[first].at;
                        return Err(Located::new(
                            Problem::DuplicateKey { key: at.shown(), line, column },
                            &at,
                        )
                        .into());
                    }
                    let value = self.node(property.value, depth)?;
                    entries.push(Entry { key, at, value });
                }
                Kind::Object(entries)
            }
        };
        Ok(Node { kind, span })
    }

    fn span(&mut self, range: Range<usize>) -> Span {
        let written = self.text.written_at(range);
        self.cursor.span(written)
    }

    /// The parser lets strings run over several lines; JSON does not.
    fn check_line(&self, range: Range<usize>, span: &Span) -> Result<(), ConfigError> {
        match self.text.as_str()[range].contains(['\n', '\r']) {
            true => Err(Located::new(Problem::LineBreak, span).into()),
            false => Ok(()),
        }
    }
}
