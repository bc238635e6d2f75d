//! What a model wrote, made into calls: mended where that is safe, and nowhere else.

use haft::{Definition, Input, Message};
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
    if call.is_cut {
        let problem = "the answer was cut off at the model's length limit, so the arguments are incomplete; make the call again with less in it";
        return Input::Malformed { text: call.arguments.clone(), problem: problem.to_owned() };
    }
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

/// An id that no other call of a message has.
pub(crate) fn unique_id(wanted: String, message: &Message) -> String {
    let is_free = |id: &String| message.calls().all(|call| call.provider_id != *id);
    let others = (2..).map(|n| format!("{wanted}_{n}"));
    std::iter::once(wanted.clone()).chain(others).find(is_free).unwrap_or(wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(arguments: &str) -> Input {
        written(arguments, false)
    }

    fn written(arguments: &str, is_cut: bool) -> Input {
        let call = ModelCall {
            id: "c".to_owned(),
            name: "read".to_owned(),
            arguments: arguments.to_owned(),
            opaque: None,
            is_cut,
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
        // Also where they happen to be JSON, or to be nothing at all.
        for arguments in [r#"{"a": "#, "{}", ""] {
            let Input::Malformed { problem, .. } = written(arguments, true) else { panic!("not malformed") };
            assert!(problem.contains("length limit"), "{problem}");
        }
    }

    #[test]
    fn an_id_that_is_used_twice_becomes_another() {
        let part = |id: &str| {
            haft::Part::Call(haft::CallPart {
                call: haft::CallId::mint(),
                provider_id: id.to_owned(),
                name: "read".to_owned(),
                input: Input::Json(json!({})),
                opaque: None,
            })
        };
        let agent = haft::AgentId::parse("build").unwrap();
        let message = Message::new(haft::Role::Assistant, agent).with(part("a")).with(part("a_2"));
        assert_eq!(unique_id("b".to_owned(), &message), "b");
        assert_eq!(unique_id("a".to_owned(), &message), "a_3");
    }
}
