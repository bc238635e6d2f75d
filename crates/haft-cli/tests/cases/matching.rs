//! Matches a JSON value: objects as subsets, arrays item by item, and the `$`-operators.

use anyhow::{Context as _, anyhow};
use serde_json::{Map, Value};

use crate::content::{Names, generated};
use crate::outcome::{Failure, mismatch};
use crate::pattern;

/// Checks `got` against `want`; `at` says where in the answer we are.
pub(crate) fn matches(want: &Value, got: &Value, names: &Names, at: &str) -> Result<(), Failure> {
    match want {
        Value::Object(fields) if generated(fields).is_none() => {
            if fields.keys().any(|key| key.starts_with('$')) {
                return operators(fields, got, names, at);
            }
            let Some(object) = got.as_object() else {
                mismatch!("{at}: expected an object, got {}", short(got));
            };
            for (key, want) in fields {
                let got = object.get(key).unwrap_or(&Value::Null);
                matches(want, got, names, &format!("{at}.{key}"))?;
            }
        }
        Value::Array(items) => {
            let Some(found) = got.as_array().filter(|found| found.len() == items.len()) else {
                mismatch!("{at}: got {}, want {}", short(got), short(want));
            };
            for (index, (want, got)) in items.iter().zip(found).enumerate() {
                matches(want, got, names, &format!("{at}[{index}]"))?;
            }
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let want = names.fill_value(want)?;
            if !same(&want, got) {
                mismatch!("{at}: got {}, want {}", short(got), short(&want));
            }
        }
    }
    Ok(())
}

/// Returns a value for a message, cut in the middle when it is long.
pub(crate) fn short(value: &Value) -> String {
    match value {
        Value::String(text) => short_text(text),
        _ => short_text(&value.to_string()),
    }
}

/// Returns a text for a message, cut in the middle when it is long.
pub(crate) fn short_text(text: &str) -> String {
    const WHOLE_CHARS_MAX: usize = 260;
    const HEAD_CHARS: usize = 180;
    const TAIL_CHARS: usize = 60;
    let length = text.chars().count();
    if length < WHOLE_CHARS_MAX {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD_CHARS).collect();
    let tail: String = text.chars().skip(length - TAIL_CHARS).collect();
    format!("{head}...<{length} chars>...{tail}")
}

/// Returns an array's items, or the value itself as the only one.
pub(crate) fn many(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        other => std::slice::from_ref(other),
    }
}

/// Compares values as people do: `1` and `1.0` are one number, the order of keys means nothing.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

fn operators(fields: &Map<String, Value>, got: &Value, names: &Names, at: &str) -> Result<(), Failure> {
    for (operator, argument) in fields {
        if !holds(operator, argument, got, names).map_err(|failure| failure.at(at))? {
            mismatch!("{at}: {} fails {operator} {}", short(got), short(argument));
        }
    }
    Ok(())
}

fn holds(operator: &str, argument: &Value, got: &Value, names: &Names) -> Result<bool, Failure> {
    Ok(match operator {
        "$matches" => found(argument, got, names)?,
        "$not_matches" => !found(argument, got, names)?,
        "$type" => is_of_type(argument, got)?,
        "$gte" => got.as_f64().is_some_and(|got| argument.as_f64().is_some_and(|least| got >= least)),
        "$lte" => got.as_f64().is_some_and(|got| argument.as_f64().is_some_and(|most| got <= most)),
        "$ne" => !same(got, &names.fill_value(argument)?),
        "$length" => length(got).is_some_and(|length| argument.as_u64() == Some(length as u64)),
        "$contains" => match got.as_array() {
            None => false,
            Some(items) => {
                for want in many(argument) {
                    if !any(items, |item| agrees(want, item, names))? {
                        return Ok(false);
                    }
                }
                true
            }
        },
        "$excludes" => match got {
            Value::Null => true,
            Value::Array(items) => !any(many(argument), |want| any(items, |item| agrees(want, item, names)))?,
            _ => return Err(Failure::Mismatch(format!("{} is not an array", short(got)))),
        },
        "$set" => is_set(argument, got, names)?,
        "$any" => any(many(argument), |want| agrees(want, got, names))?,
        "$absent" => got.is_null(),
        _ => return Err(anyhow!("unknown operator {operator}").into()),
    })
}

fn agrees(want: &Value, got: &Value, names: &Names) -> Result<bool, Failure> {
    match matches(want, got, names, "") {
        Ok(()) => Ok(true),
        Err(Failure::Mismatch(_)) => Ok(false),
        Err(broken @ Failure::Broken(_)) => Err(broken),
    }
}

fn any(items: &[Value], test: impl Fn(&Value) -> Result<bool, Failure>) -> Result<bool, Failure> {
    for item in items {
        if test(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn found(pattern: &Value, got: &Value, names: &Names) -> Result<bool, Failure> {
    let pattern = pattern.as_str().context("a pattern is a string")?;
    let pattern = pattern::compile(pattern, names)?;
    Ok(got.as_str().is_some_and(|text| pattern.is_match(text)))
}

fn is_of_type(name: &Value, got: &Value) -> Result<bool, Failure> {
    match name.as_str() {
        Some("string") => Ok(got.is_string()),
        Some("number") => Ok(got.is_number()),
        Some("boolean") => Ok(got.is_boolean()),
        Some("array") => Ok(got.is_array()),
        Some("object") => Ok(got.is_object()),
        _ => Err(anyhow!("$type does not know {name}").into()),
    }
}

fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) => Some(items.len()),
        Value::String(text) => Some(text.chars().count()),
        Value::Object(fields) => Some(fields.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Tells whether `got` holds exactly the items wanted, each as often as wanted, in any order.
fn is_set(argument: &Value, got: &Value, names: &Names) -> Result<bool, Failure> {
    let Some(items) = got.as_array() else { return Ok(false) };
    let mut left: Vec<&Value> = items.iter().collect();
    for want in argument.as_array().context("$set takes an array")? {
        let want = names.fill_value(want)?;
        match left.iter().position(|item| same(item, &want)) {
            Some(index) => left.swap_remove(index),
            None => return Ok(false),
        };
    }
    Ok(left.is_empty())
}
