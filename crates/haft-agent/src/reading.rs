//! What a model wrote, made into calls: mended where that is safe, and nowhere else.

use haft::{Definition, Input};
use serde_json::Value;

use crate::provider::ModelCall;

/// The name of the tool that is meant: as it is written, or in other letters if no tool is called so.
pub(crate) fn name<'a>(written: &'a str, tools: &'a [Definition]) -> &'a str {
    let known = |name: &str| tools.iter().any(|tool| tool.name.as_str() == name);
    if known(written) {
        return written;
    }
    let folded = written.to_ascii_lowercase();
    tools.iter().map(|tool| tool.name.as_str()).find(|name| *name == folded).unwrap_or(written)
}

/// The arguments: JSON, also where it was encoded twice, or nothing where none are needed.
pub(crate) fn input(call: &ModelCall) -> Input {
    let text = call.arguments.trim();
    if text.is_empty() {
        return Input::Json(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(fields)) => Input::Json(Value::Object(fields)),
            Ok(_) | Err(_) => Input::Json(Value::String(inner)),
        },
        Ok(json) => Input::Json(json),
        Err(error) => Input::Malformed { text: call.arguments.clone(), problem: error.to_string() },
    }
}

/// What was wrong with arguments that broke off because the model ran out of room.
pub(crate) fn cut_off(input: Input) -> Input {
    match input {
        Input::Malformed { text, problem } => Input::Malformed {
            text,
            problem: format!(
                "the answer was cut off at the model's length limit, so the arguments are incomplete ({problem}); make the call again with less in it"
            ),
        },
        complete @ Input::Json(_) => complete,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(arguments: &str) -> Input {
        let call = ModelCall {
            id: "c".to_owned(),
            name: "read".to_owned(),
            arguments: arguments.to_owned(),
            opaque: None,
        };
        input(&call)
    }

    #[test]
    fn arguments_are_mended_only_where_nothing_can_be_meant_otherwise() {
        assert_eq!(given(r#"{"a": 1}"#), Input::Json(json!({"a": 1})));
        assert_eq!(given(r#""{\"a\": 1}""#), Input::Json(json!({"a": 1})));
        assert_eq!(given(" "), Input::Json(json!({})));
        assert_eq!(given(r#""just words""#), Input::Json(json!("just words")));
        assert!(matches!(given(r#"{"a": "#), Input::Malformed { .. }));
        assert!(matches!(given(r#"{"a": 1}{"a": 2}"#), Input::Malformed { .. }));
    }

    #[test]
    fn arguments_that_were_cut_off_say_so() {
        let Input::Malformed { problem, .. } = cut_off(given(r#"{"a": "#)) else { panic!("not malformed") };
        assert!(problem.contains("length limit"), "{problem}");
    }
}
