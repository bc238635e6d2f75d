//! Messages as opencode's plugins know them, and back: what they change in a way that haft understands counts, and
//! everything else stays as it was.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::{AgentId, CallPart, Content, Finish, Input, Message, MessageId, Model, Part, Role, SessionId};
use haft_agent::{Recalled, RecalledResult};
use serde_json::{Value, json};

/// What is said about a message.
pub(super) fn info(message: &Message, session: &SessionId) -> Value {
    let model = message.model.as_ref();
    let (provider, id) = (model.map(|model| &model.provider), model.map(|model| &model.id));
    let mut info = json!({
        "id": message.id.as_str(),
        "sessionID": session.as_str(),
        "agent": message.agent.as_str(),
        "time": { "created": created(&message.id) },
    });
    match message.role {
        Role::User => {
            info["role"] = "user".into();
            info["model"] = json!({ "providerID": provider, "modelID": id });
        }
        Role::Assistant => {
            let usage = &message.usage;
            info["role"] = "assistant".into();
            info["mode"] = message.agent.as_str().into();
            info["providerID"] = json!(provider);
            info["modelID"] = json!(id);
            info["summary"] = message.is_summary.into();
            info["cost"] = 0.into();
            info["tokens"] = json!({
                "input": usage.input, "output": usage.output, "reasoning": usage.reasoning,
                "cache": { "read": usage.cache_read, "write": usage.cache_write },
            });
            if let Some((key, how)) = message.finish.as_ref().map(ended) {
                info[key] = how;
            }
        }
    }
    info
}

/// How an answer ended: in opencode's words for that, or with an error.
fn ended(finish: &Finish) -> (&'static str, Value) {
    let error = |name: &str, message: &str| json!({ "name": name, "data": { "message": message } });
    match finish {
        Finish::Stop => ("finish", "stop".into()),
        Finish::Calls => ("finish", "tool-calls".into()),
        Finish::Length => ("finish", "length".into()),
        Finish::Filtered => ("finish", "content-filter".into()),
        Finish::Interrupted => ("error", error("MessageAbortedError", "it was interrupted")),
        Finish::Failed(why) => ("error", error("UnknownError", why)),
    }
}

/// When a message was made, as its id tells: in milliseconds since 1970.
fn created(id: &MessageId) -> u64 {
    let digits = id.as_str().split_once('_').and_then(|(_, rest)| rest.get(..12));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

/// The parts of a message, with what came of its calls.
pub(super) fn parts(message: &Message, results: &[RecalledResult], session: &SessionId) -> Vec<Value> {
    let told = |(at, part): (usize, &Part)| {
        let mut told = match part {
            Part::Text { text, is_synthetic } => {
                let mut told = json!({ "type": "text", "text": text });
                if *is_synthetic {
                    told["synthetic"] = true.into();
                }
                told
            }
            Part::Reasoning { text, .. } => json!({ "type": "reasoning", "text": text }),
            Part::Media { mime, data, name } => {
                let url = format!("data:{mime};base64,{}", STANDARD.encode(data));
                json!({ "type": "file", "mime": mime, "filename": name, "url": url })
            }
            Part::Call(call) => {
                let result = results.iter().find(|result| result.call == call.call);
                json!({ "type": "tool", "tool": call.name, "callID": call.provider_id, "state": state(call, result) })
            }
        };
        told["id"] = part_id(&message.id, at).into();
        told["messageID"] = message.id.as_str().into();
        told["sessionID"] = session.as_str().into();
        told
    };
    message.parts.iter().enumerate().map(told).collect()
}

fn state(call: &CallPart, result: Option<&RecalledResult>) -> Value {
    let input = input_of(call);
    match result {
        Some(result) if result.is_error => {
            json!({ "status": "error", "input": input, "error": text_of(result) })
        }
        Some(result) => json!({
            "status": "completed", "input": input, "output": text_of(result), "title": "", "metadata": {},
        }),
        None => json!({ "status": "running", "input": input }),
    }
}

fn input_of(call: &CallPart) -> Value {
    match &call.input {
        Input::Json(input) => input.clone(),
        Input::Malformed { .. } => json!({}),
    }
}

fn text_of(result: &RecalledResult) -> String {
    result.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
}

/// The name of a part, which haft has none for.
pub(super) fn part_id(message: &MessageId, at: usize) -> String {
    format!("prt_{}_{at}", message.as_str())
}

/// The parts of a message after plugins had their say: those they left, changed, and those of their own.
pub(super) fn changed_parts(message: &Message, told: &[Value]) -> Vec<Part> {
    changed(message, Vec::new(), told).message.parts
}

/// A conversation after plugins had their say.
pub(super) fn changed_messages(
    before: &[Recalled],
    told: &[Value],
    model: &Model,
    agent: &AgentId,
) -> Vec<Recalled> {
    let change = |told: &Value| {
        let parts = told.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let info = told.get("info")?;
        let id = info.get("id").and_then(Value::as_str);
        if let Some(known) = before.iter().find(|recalled| Some(recalled.message.id.as_str()) == id) {
            return Some(changed(&known.message, known.results.clone(), parts));
        }
        let role = match info.get("role").and_then(Value::as_str)? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return None,
        };
        let mut message = Message::new(role, agent.clone());
        message.model = Some(model.clone());
        let new = changed(&message, Vec::new(), parts);
        (!new.message.parts.is_empty()).then_some(new)
    };
    told.iter().filter_map(change).collect()
}

fn changed(message: &Message, mut results: Vec<RecalledResult>, told: &[Value]) -> Recalled {
    let before = |told: &Value| {
        let id = told.get("id").and_then(Value::as_str)?;
        let at = (0..message.parts.len()).find(|at| part_id(&message.id, *at) == id)?;
        message.parts.get(at)
    };
    let change = |told: &Value| {
        let said = told.get("text").and_then(Value::as_str);
        Some(match (before(told), said) {
            (Some(Part::Text { is_synthetic, .. }), Some(said)) => {
                Part::Text { text: said.to_owned(), is_synthetic: *is_synthetic }
            }
            (Some(Part::Call(call)), _) => Part::Call(changed_call(call, told.get("state")?, &mut results)),
            // Thoughts are sealed by whoever had them, and what is attached is what it is.
            (Some(part), _) => part.clone(),
            (None, said) => new_part(told, said)?,
        })
    };
    let parts = told.iter().filter_map(change).collect();
    Recalled { message: Message { parts, ..message.clone() }, results }
}

fn changed_call(call: &CallPart, state: &Value, results: &mut [RecalledResult]) -> CallPart {
    if let Some(result) = results.iter_mut().find(|result| result.call == call.call) {
        let key = if result.is_error { "error" } else { "output" };
        if let Some(text) = state.get(key).and_then(Value::as_str).filter(|text| *text != text_of(result)) {
            result.content = Arc::new([Content::Text(text.to_owned())]);
        }
    }
    let input = state.get("input").filter(|input| input.is_object() && **input != input_of(call));
    CallPart {
        input: input.map_or_else(|| call.input.clone(), |input| Input::Json(input.clone())),
        ..call.clone()
    }
}

/// A part that a plugin adds: text, or a file that it brings along.
fn new_part(told: &Value, said: Option<&str>) -> Option<Part> {
    let text = |key: &str| told.get(key).and_then(Value::as_str);
    match text("type")? {
        "text" => {
            let is_synthetic = told.get("synthetic").and_then(Value::as_bool).unwrap_or(false);
            Some(Part::Text { text: said?.to_owned(), is_synthetic })
        }
        "file" => {
            let (head, data) = text("url")?.strip_prefix("data:")?.split_once(',')?;
            let mime = text("mime").or_else(|| head.strip_suffix(";base64"))?.to_owned();
            let data = STANDARD.decode(data).ok().filter(|_| head.ends_with(";base64"))?;
            Some(Part::Media { mime, data: data.into(), name: text("filename").map(str::to_owned) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use haft::CallId;

    use super::*;

    fn call(id: &str) -> CallPart {
        let input = Input::Json(json!({ "filePath": id }));
        let (call, provider_id) = (CallId::mint(), id.to_owned());
        CallPart { call, provider_id, name: "read".to_owned(), input, opaque: Some(json!("sealed")) }
    }

    fn conversation() -> (Vec<Recalled>, SessionId, Model, AgentId) {
        let agent = AgentId::parse("build").unwrap();
        let thought = Part::Reasoning { text: "hm".to_owned(), opaque: Some(json!("sealed")) };
        let (one, two) = (call("one"), call("two"));
        let result = |call: &CallPart, is_error| RecalledResult {
            call: call.call.clone(),
            content: Arc::new([Content::Text(format!("came of {}", call.provider_id))]),
            is_error,
        };
        let results = vec![result(&one, false), result(&two, true)];
        let media = Part::Media { mime: "image/png".to_owned(), data: Arc::new([1, 2, 3]), name: None };
        let asked = Message::new(Role::User, agent.clone()).with(Part::text("look")).with(media);
        let answer = Message::new(Role::Assistant, agent.clone())
            .with(thought)
            .with(Part::text("I look."))
            .with(Part::Call(one))
            .with(Part::Call(two));
        let messages =
            vec![Recalled { message: asked, results: Vec::new() }, Recalled { message: answer, results }];
        (messages, SessionId::mint(), Model { provider: "p".to_owned(), id: "m".to_owned() }, agent)
    }

    fn told(messages: &[Recalled], session: &SessionId) -> Vec<Value> {
        let tell = |Recalled { message, results }: &Recalled| json!({ "info": info(message, session), "parts": parts(message, results, session) });
        messages.iter().map(tell).collect()
    }

    #[test]
    fn what_nobody_changes_comes_back_as_it_was() {
        let (messages, session, model, agent) = conversation();
        let told = told(&messages, &session);
        assert_eq!(told[1]["parts"][3]["state"]["status"], "error");
        assert_eq!(changed_messages(&messages, &told, &model, &agent), messages);
    }

    #[test]
    fn what_is_changed_counts_where_it_is_understood() {
        let (messages, session, model, agent) = conversation();
        let mut told = told(&messages, &session);
        told[0]["parts"][1] = json!({ "id": told[0]["parts"][1]["id"], "type": "file", "url": "data:," });
        told[1]["parts"][0]["text"] = "other thoughts".into();
        told[1]["parts"][2]["state"]["input"] = json!({ "filePath": "…" });
        told[1]["parts"][2]["state"]["output"] = "pruned".into();
        told[1]["parts"].as_array_mut().unwrap().remove(3);
        told.push(json!({ "info": { "role": "user" }, "parts": [{ "type": "text", "text": "hurry" }] }));
        told.push(json!({ "info": { "role": "oracle" }, "parts": [{ "type": "text", "text": "doom" }] }));
        told.push(json!({ "info": { "role": "user" }, "parts": [{ "type": "tool", "tool": "bash" }] }));
        told.push(json!(7));
        let changed = changed_messages(&messages, &told, &model, &agent);
        assert_eq!(changed.len(), 3);
        assert_eq!(changed[0], messages[0]);
        assert_eq!(changed[1].message.parts[..2], messages[1].message.parts[..2]);
        assert_eq!(changed[1].message.parts.len(), 3);
        let Part::Call(call) = &changed[1].message.parts[2] else { panic!("no call") };
        assert_eq!(
            (&call.input, &call.opaque),
            (&Input::Json(json!({ "filePath": "…" })), &Some(json!("sealed")))
        );
        assert_eq!(text_of(&changed[1].results[0]), "pruned");
        assert_eq!(changed[2].message.last_text(), Some("hurry"));
    }

    #[test]
    fn plugins_can_attach_what_they_bring_along() {
        let agent = AgentId::parse("build").unwrap();
        let message = Message::new(Role::User, agent).with(Part::text("look"));
        let told = [
            json!({ "type": "file", "mime": "image/png", "url": "data:image/png;base64,AQID", "filename": "a.png" }),
            json!({ "type": "file", "mime": "image/png", "url": "file:///etc/passwd" }),
            json!({ "type": "file", "mime": "image/png", "url": "data:image/png;base64,%%%" }),
        ];
        let (mime, name) = ("image/png".to_owned(), Some("a.png".to_owned()));
        assert_eq!(changed_parts(&message, &told), [Part::Media { mime, data: Arc::new([1, 2, 3]), name }]);
    }
}
