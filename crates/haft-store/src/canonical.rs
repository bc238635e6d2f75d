//! One digest for inputs that mean the same: the order of keys does not count.

use std::collections::BTreeMap;

use haft::Input;
use serde_json::Value;

use crate::digest;

/// The digest of an input. What is not JSON is compared letter by letter.
pub(crate) fn input_digest(input: &Input) -> String {
    match input {
        Input::Json(value) => {
            let mut text = String::new();
            write(value, &mut text);
            digest(text.as_bytes())
        }
        // No JSON begins with a NUL, so a malformed input is never taken for a proper one.
        Input::Malformed { text, .. } => digest(format!("\0{text}").as_bytes()),
    }
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (key, field) in fields.iter().collect::<BTreeMap<_, _>>() {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(field, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_count_and_everything_else_does() {
        let digest = |value| input_digest(&Input::Json(value));
        assert_eq!(
            digest(json!({ "a": 1, "b": { "c": 2, "d": 3 } })),
            digest(json!({ "b": { "d": 3, "c": 2 }, "a": 1 }))
        );
        let different =
            [json!([1, 2]), json!([2, 1]), json!({ "a": "1" }), json!({ "a": 1 }), json!("a"), json!(null)];
        for (at, one) in different.iter().enumerate() {
            for other in &different[at + 1..] {
                assert_ne!(digest(one.clone()), digest(other.clone()));
            }
        }
        let malformed = Input::Malformed { text: "null".to_owned(), problem: String::new() };
        assert_ne!(input_digest(&malformed), digest(json!(null)));
    }
}
