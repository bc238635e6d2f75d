//! The arguments of a call as they are typed: JSON, `name=text`, `name:=json`, `@file` and `-`.

use std::io::Read;
use std::path::Path;

use haft::Input;
use serde_json::{Map, Value};

use crate::exit::Failure;

/// The largest input that is read from a file or from standard input.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Joins the words of a command line to one input. `schema` tells what a plain text stands for.
///
/// A single word that is meant to be JSON but is not stays as it is: whoever sent it is told what is wrong with it.
pub(crate) fn input(words: &[String], directory: &Path, schema: Option<&Value>) -> Result<Input, Failure> {
    if let [only] = words {
        match word(only)? {
            Word::Json(text) => return Ok(parse(text.to_owned())),
            Word::File(path) => return Ok(parse(read_file(&directory.join(path))?)),
            Word::Stdin => return Ok(parse(read_stdin()?)),
            Word::Text(..) | Word::Value(..) => {}
        }
    }
    let mut fields = Map::new();
    for raw in words {
        match word(raw)? {
            Word::Text(name, text) => join(&mut fields, [(name.to_owned(), meant(text, schema, name))])?,
            Word::Value(name, text) => {
                let value =
                    json(text).map_err(|problem| Failure::usage(format_args!("{name}:= {problem}")))?;
                join(&mut fields, [(name.to_owned(), value)])?;
            }
            Word::Json(text) => join(&mut fields, object(json(text), raw)?)?,
            Word::File(path) => join(&mut fields, object(json(&read_file(&directory.join(path))?), raw)?)?,
            Word::Stdin => join(&mut fields, object(json(&read_stdin()?), raw)?)?,
        }
    }
    Ok(Input::Json(Value::Object(fields)))
}

/// Adds fields that are not there yet: of two values for one name, neither is certain to be meant.
fn join(
    fields: &mut Map<String, Value>,
    further: impl IntoIterator<Item = (String, Value)>,
) -> Result<(), Failure> {
    for (name, value) in further {
        if fields.contains_key(&name) {
            return Err(Failure::usage(format_args!("the argument {name:?} is given twice")));
        }
        fields.insert(name, value);
    }
    Ok(())
}

enum Word<'w> {
    Text(&'w str, &'w str),
    Value(&'w str, &'w str),
    Json(&'w str),
    File(&'w str),
    Stdin,
}

fn word(raw: &str) -> Result<Word<'_>, Failure> {
    if raw == "-" {
        return Ok(Word::Stdin);
    }
    if let Some(path) = raw.strip_prefix('@') {
        return Ok(Word::File(path));
    }
    let looks_like_json = raw.trim_start().starts_with(['{', '[', '"']) || raw.trim().is_empty();
    match raw.split_once('=') {
        Some((name, value)) if !looks_like_json => Ok(match name.strip_suffix(':') {
            Some(name) => Word::Value(name, value),
            None => Word::Text(name, value),
        }),
        _ if looks_like_json || json(raw).is_ok() => Ok(Word::Json(raw)),
        _ => Err(Failure::usage(format_args!("cannot read the argument {raw:?}"))
            .hint("write name=text, name:=json, a JSON object, @file or -")),
    }
}

/// Numbers are put right by every tool; a text is made a truth value, a list or an object where the schema wants one.
fn meant(text: &str, schema: Option<&Value>, name: &str) -> Value {
    let kind = schema.and_then(|schema| schema["properties"][name]["type"].as_str());
    match kind {
        Some("boolean" | "array" | "object") => json(text).unwrap_or_else(|_| Value::from(text)),
        Some(_) | None => Value::from(text),
    }
}

fn json(text: &str) -> Result<Value, String> {
    haft::json::parse(text).map_err(|error| format!("is not valid JSON: {error}"))
}

fn parse(text: String) -> Input {
    match haft::json::parse(&text) {
        Ok(value) => Input::Json(value),
        Err(error) => Input::Malformed { problem: error.to_string(), text },
    }
}

fn object(value: Result<Value, String>, raw: &str) -> Result<Map<String, Value>, Failure> {
    let shown: String = raw.chars().take(60).collect();
    match value {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Failure::usage(format_args!(
            "{shown:?} is not a JSON object and cannot be joined with others"
        ))),
        Err(problem) => Err(Failure::usage(format_args!("{shown:?} {problem}"))),
    }
}

fn read_file(path: &Path) -> Result<String, Failure> {
    let file = std::fs::File::open(path);
    let file =
        file.map_err(|error| Failure::usage(format_args!("cannot read {}: {error}", path.display())))?;
    read(file, &path.display().to_string())
}

fn read_stdin() -> Result<String, Failure> {
    read(std::io::stdin().lock(), "standard input")
}

fn read(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let result = from.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    result.map_err(|error| Failure::usage(format_args!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        return Err(Failure::usage(format_args!("{name} holds more than {INPUT_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage(format_args!("{name} is not UTF-8 text")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_words(words: &[&str]) -> Result<Input, Failure> {
        let schema = json!({ "properties": { "all": { "type": "boolean" }, "n": { "type": "integer" } } });
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        input(&words, Path::new("."), Some(&schema))
    }

    #[test]
    fn words_are_joined_to_one_object() {
        let joined = read_words(&["path=a=b", "n:=3", "all=true", r#"{"x":[1]}"#]).unwrap();
        assert_eq!(joined, Input::Json(json!({ "path": "a=b", "n": 3, "all": true, "x": [1] })));
        assert_eq!(read_words(&[]).unwrap(), Input::Json(json!({})));
    }

    #[test]
    fn a_single_json_word_is_passed_on_as_it_is() {
        assert_eq!(read_words(&[r#"{"a":"b=c"}"#]).unwrap(), Input::Json(json!({ "a": "b=c" })));
        assert!(matches!(read_words(&["{"]).unwrap(), Input::Malformed { .. }));
        assert!(matches!(read_words(&[""]).unwrap(), Input::Malformed { .. }));
    }

    #[test]
    fn what_cannot_be_read_is_a_usage_error() {
        for words in [&["plain"][..], &["n:=x"], &["a=1", "[1]"], &["@/no/such/file"], &["a=1", "a=2"]] {
            assert!(read_words(words).is_err(), "{words:?}");
        }
    }
}
