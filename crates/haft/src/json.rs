//! Reading JSON that a model wrote, strictly: what two readers could understand differently is refused.
//!
//! Refused are duplicate keys, nesting beyond 128 levels, lone surrogates, numbers out of range, text after the
//! value, and NUL characters, which no tool has a use for and file names cannot hold.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why a text is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

/// Reads one JSON value.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict.deserialize(&mut deserializer).map_err(|error| JsonError(error.to_string()))?;
    deserializer.end().map_err(|error| JsonError(error.to_string()))?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("the number is not finite"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        without_nul(value).map(|text| Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<Key>()? {
            let value = entries.next_value_seed(Strict)?;
            if object.contains_key(&key.0) {
                return Err(A::Error::custom(format_args!("the key {:?} stands twice in one object", key.0)));
            }
            object.insert(key.0, value);
        }
        Ok(Value::Object(object))
    }
}

struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        let text = String::deserialize(deserializer)?;
        without_nul(&text)?;
        Ok(Key(text))
    }
}

fn without_nul<E: Error>(text: &str) -> Result<&str, E> {
    if text.contains('\0') { Err(E::custom("a text contains the NUL character")) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        let answer = match parse(text) {
            Ok(value) => value.to_string(),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn reads_what_is_json() {
        check(
            r#" {"b":[1,-2,0.5,true,null],"a":"\u00e9"} "#,
            &expect![[r#"{"b":[1,-2,0.5,true,null],"a":"é"}"#]],
        );
        check("18446744073709551615", &expect!["18446744073709551615"]);
    }

    #[test]
    fn refuses_what_could_be_read_two_ways() {
        check(
            r#"{"a":1,"a":2}"#,
            &expect![[r#"error: the key "a" stands twice in one object at line 1 column 13"#]],
        );
        check(
            r#"{"x":{"a":1,"a":1}}"#,
            &expect![[r#"error: the key "a" stands twice in one object at line 1 column 18"#]],
        );
        check("1e400", &expect!["error: number out of range at line 1 column 5"]);
        check(r#""\ud800""#, &expect!["error: unexpected end of hex escape at line 1 column 8"]);
        check(r#""a\u0000b""#, &expect!["error: a text contains the NUL character at line 1 column 10"]);
        check("{} {}", &expect!["error: trailing characters at line 1 column 4"]);
        check("", &expect!["error: EOF while parsing a value at line 1 column 0"]);
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).is_ok());
    }
}
