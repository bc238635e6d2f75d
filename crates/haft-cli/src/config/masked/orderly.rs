//! Secrets in a text that is in order: what stands under a name of one, and nothing else.

use std::ops::Range;

use haft_store::{is_secret_name, password_place};
use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};

use super::super::parse::DIALECT;
use super::{broken, is_reference, is_secret_table};

/// Tables of files and commands, whose names say nothing about what stands under them.
const RULES: &str = "permission";

/// Where secrets stand; `None` if the text is not in order.
pub(super) fn places(text: &str) -> Option<Vec<Range<usize>>> {
    let collected = CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: false };
    let parsed = parse_to_ast(text, &collected, &DIALECT).ok()?;
    let mut scan = Scan { text, found: Vec::new() };
    if let Some(value) = &parsed.value {
        scan.value(value, Under::Nothing);
    }
    // What was commented out may be broken.
    for comment in parsed.comments.iter().flat_map(|map| map.values()).flat_map(|all| all.iter()) {
        let range = comment.range();
        scan.within(range.start..range.end, broken::places);
    }
    Some(scan.found)
}

/// What the tables and lists around a value say about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Nothing,
    Rules,
    Secret,
}

struct Scan<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
}

impl Scan<'_> {
    fn value(&mut self, value: &Value<'_>, under: Under) {
        let range = value.range();
        match value {
            Value::Object(object) => self.object(object, under),
            Value::Array(array) => self.array(array, under),
            // Without its quotes.
            Value::StringLit(_) => self.string(range.start + 1..range.end - 1, under),
            Value::NumberLit(_) if under == Under::Secret => self.found.push(range.start..range.end),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {}
        }
    }

    fn object(&mut self, object: &Object<'_>, under: Under) {
        for property in &object.properties {
            let name = property.name.as_str();
            let under = match under {
                Under::Nothing if name == RULES => Under::Rules,
                Under::Nothing if names_secret(name) => Under::Secret,
                under => under,
            };
            self.value(&property.value, under);
        }
    }

    fn array(&mut self, array: &Array<'_>, under: Under) {
        let mut after_flag = false;
        for element in &array.elements {
            let under = if after_flag && under == Under::Nothing { Under::Secret } else { under };
            self.value(element, under);
            after_flag = matches!(element, Value::StringLit(word) if is_flag(&word.value));
        }
    }

    fn string(&mut self, range: Range<usize>, under: Under) {
        let word = &self.text[range.clone()];
        match under {
            Under::Secret if is_reference(word) => {}
            Under::Secret => self.found.push(range),
            Under::Nothing | Under::Rules => {
                self.within(range.clone(), |word| password_place(word).into_iter().collect());
                self.within(range, |word| assigned(word).into_iter().collect());
            }
        }
    }

    fn within(&mut self, range: Range<usize>, find: impl Fn(&str) -> Vec<Range<usize>>) {
        let found = find(&self.text[range.clone()]).into_iter();
        self.found.extend(found.map(|part| part.start + range.start..part.end + range.start));
    }
}

fn names_secret(name: &str) -> bool {
    // A pattern such as `*.key` names files.
    let is_pattern = name.contains(['*', '?', '/']);
    !is_pattern && !is_reference(name) && is_secret_name(name) || is_secret_table(name)
}

/// Whether a word of a command line says that the next one is a secret.
fn is_flag(word: &str) -> bool {
    word.starts_with('-') && !word.contains(['=', ' ']) && is_secret_name(word)
}

/// What is given to a secret within a text, as in `--token=x`, `?api_key=x` and `Authorization: Bearer x`.
fn assigned(text: &str) -> Option<Range<usize>> {
    let names = broken::names(text).map(|name| name.end);
    let given = names.filter_map(|end| {
        let value = text[end..].trim_start().strip_prefix(['=', ':'])?.trim_start();
        Some(text.len() - value.len())
    });
    given
        .map(|start| start..text.len())
        .find(|range| !range.is_empty() && !is_reference(&text[range.clone()]))
}
