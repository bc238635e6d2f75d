//! Secrets in a text that is in order: what stands under a name of one or is given to one, and nothing else.

use std::ops::Range;

use haft::permission::Effect;
use jsonc_parser::ast::{Array, Object, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};

use super::super::parse::DIALECT;
use super::plain::in_either;
use super::{announces, broken, is_reference, names_secret, names_table, spoken};

/// Tables of files and commands, whose names say nothing about what stands under them.
const RULES: &str = "permission";
/// Why there is a rule, in somebody's own words.
const WHY: &str = "why";

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
    /// Where values are effects, and anything else is there by mistake.
    Rules,
    /// A rule that is written out, with the name of the field that holds its effect.
    Rule(&'static str),
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
            Value::StringLit(_) => self.string(within_quotes(range.start..range.end), under),
            Value::NumberLit(_) if under == Under::Secret => self.found.push(range.start..range.end),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {}
        }
    }

    fn object(&mut self, object: &Object<'_>, under: Under) {
        for property in &object.properties {
            let range = property.name.range();
            let written = match property.name {
                ObjectPropName::String(_) => within_quotes(range.start..range.end),
                ObjectPropName::Word(_) => range.start..range.end,
            };
            // A rule is named by a command or an address.
            self.within(written, spoken);
            let under = of_entry(property.name.as_str(), &property.value, under);
            self.value(&property.value, under);
        }
    }

    fn array(&mut self, array: &Array<'_>, under: Under) {
        let mut is_announced = false;
        for element in &array.elements {
            let under = match (under, element) {
                (Under::Nothing, _) if is_announced => Under::Secret,
                (Under::Rules, Value::Object(rule)) => Under::Rule(effect_of(rule)),
                (under, _) => under,
            };
            self.value(element, under);
            is_announced = matches!(element, Value::StringLit(word) if announces(&word.value));
        }
    }

    fn string(&mut self, range: Range<usize>, under: Under) {
        let word = &self.text[range.clone()];
        let is_shown = match under {
            Under::Secret => is_reference(word),
            Under::Rules => is_reference(word) || is_effect(word),
            Under::Nothing | Under::Rule(_) => true,
        };
        match is_shown {
            true => self.within(range, spoken),
            false => self.found.push(range),
        }
    }

    fn within(&mut self, range: Range<usize>, find: impl Fn(&str) -> Vec<Range<usize>>) {
        let found = in_either(&self.text[range.clone()], find).into_iter();
        self.found.extend(found.map(|part| part.start + range.start..part.end + range.start));
    }
}

/// What the name of an entry and all around it say about its value.
fn of_entry(name: &str, value: &Value<'_>, under: Under) -> Under {
    let is_number = matches!(value, Value::NumberLit(_));
    match under {
        Under::Nothing if name == RULES => Under::Rules,
        Under::Nothing if names_secret(name) || names_table(name) => Under::Secret,
        Under::Rule(field) if name == field => Under::Rules,
        Under::Rule(_) if names_secret(name) => Under::Secret,
        Under::Rule(_) => Under::Nothing,
        Under::Rules if name == WHY => Under::Nothing,
        Under::Rules if is_number && names_secret(name) => Under::Secret,
        Under::Nothing | Under::Rules | Under::Secret => under,
    }
}

/// The field of a rule that holds its effect: V2 calls it so, and before it was called an action.
fn effect_of(rule: &Object<'_>) -> &'static str {
    match rule.properties.iter().any(|property| property.name.as_str() == "effect") {
        true => "effect",
        false => "action",
    }
}

/// Whether a word is an effect, or was meant to be one.
fn is_effect(word: &str) -> bool {
    let effects = [Effect::Allow, Effect::Ask, Effect::Deny].map(Effect::as_str);
    haft::nearest(word, effects).is_some()
}

fn within_quotes(range: Range<usize>) -> Range<usize> {
    range.start + 1..range.end - 1
}
