//! Questions about wildcards: one pattern, or opencode's older maps of patterns in which the longest match wins.

use haft::permission::Pattern;
use serde_json::{Map, Value, json};

use super::{Answer, list, text};
use crate::exit::Failure;

pub(super) fn answer(question: &Value) -> Answer {
    match text(question, "op")? {
        "match" => {
            let pattern = Pattern::new(text(question, "pattern")?);
            Ok(json!({ "match": pattern.matches(text(question, "input")?) }))
        }
        "all" => {
            let input = text(question, "input")?;
            last(question, |pattern| Pattern::new(pattern).matches(input))
        }
        "all_structured" => {
            let head = text(question, "head")?;
            let tail: Vec<&str> = list(question, "tail")?.iter().filter_map(Value::as_str).collect();
            last(question, |pattern| {
                let mut words = pattern.split_whitespace();
                let rest: Vec<&str> = match words.next() {
                    Some(first) if Pattern::new(first).matches(head) => words.collect(),
                    Some(_) | None => return false,
                };
                rest.is_empty() || in_order(&tail, &rest)
            })
        }
        other => Err(Failure::usage(format_args!("unknown operation {other:?}"))),
    }
}

/// The value of the last pattern that matches, the patterns taken from short to long.
fn last(question: &Value, matches: impl Fn(&str) -> bool) -> Answer {
    let nothing = Map::new();
    let patterns = question["patterns"].as_object().unwrap_or(&nothing);
    let mut sorted: Vec<(&String, &Value)> = patterns.iter().collect();
    sorted.sort_by_key(|(pattern, _)| (pattern.len(), *pattern));
    let value = sorted.into_iter().rev().find(|(pattern, _)| matches(pattern)).map(|(_, value)| value);
    Ok(json!({ "value": value }))
}

/// Whether the patterns match some of the items, in order; a lone `*` is passed over.
fn in_order(items: &[&str], patterns: &[&str]) -> bool {
    match patterns {
        [] => true,
        ["*", rest @ ..] => in_order(items, rest),
        [first, rest @ ..] => {
            let pattern = Pattern::new(first);
            let found = items.iter().position(|item| pattern.matches(item));
            found.is_some_and(|at| in_order(&items[at + 1..], rest))
        }
    }
}
