//! OpenAI's chat completions, as OpenAI and the many compatible servers speak them.

mod stream;

use std::io;
use std::sync::Arc;

use haft::Content;
use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::media::{Piece, arguments, call_id, data_url, left_out, piece, put_over, split, unseal};
use super::words::{Request, Stretch, element};
use super::{Format, options, schema};
use crate::provider::{CallResult, Prompt, Utterance, Uttered};
pub(crate) use stream::{DONE, Decoder};

const FORMAT: &str = "chat";
const MESSAGES: &str = "messages";
/// What stands before media that a tool returned: the format has no place for them in results.
const MEDIA_OF_RESULTS: &str = "Attached media from tool result:";
/// Where servers put thoughts that they want back as they came.
const DETAILS: &str = "reasoning_details";

/// What a server understands beyond what all do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// It reads PDFs.
    documents: bool,
    /// It calls the limit `max_completion_tokens`.
    completion_tokens: bool,
    /// It takes only ids of nine letters and digits.
    short_ids: bool,
}

impl Dialect {
    /// What the server at an address understands.
    pub(crate) fn of(base_url: &str) -> Dialect {
        let is_openai = base_url.contains("//api.openai.com");
        Dialect {
            documents: is_openai || base_url.contains("//openrouter.ai"),
            completion_tokens: is_openai,
            short_ids: base_url.contains("//api.mistral.ai"),
        }
    }
}

impl Dialect {
    /// A call's id as the server takes it. The same id always becomes the same.
    fn id(self, id: &str) -> String {
        const LENGTH: usize = 9;
        let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !self.short_ids || fits {
            return call_id(id);
        }
        // FNV-1a, written in letters and digits.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        let digit = |at: u32| char::from_digit((hash / 36u64.pow(at) % 36) as u32, 36).unwrap_or('0');
        (0..LENGTH as u32).map(digit).collect()
    }
}

/// Makes a request.
pub(crate) fn request(
    prompt: &Prompt,
    dialect: Dialect,
    mut conversation: Vec<Stretch>,
) -> Result<Request, Fault> {
    let mut request = json!({
        "model": prompt.model,
        MESSAGES: null,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            let (name, description) = (tool.name.as_str(), &tool.description);
            let parameters = schema::plain(tool)?;
            let function = json!({ "name": name, "description": description, "parameters": parameters });
            Ok(json!({ "type": "function", "function": function }))
        });
        request["tools"] = tools.collect::<Result<_, Fault>>()?;
    }
    let wanted = &prompt.options;
    let limit = if dialect.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    let numbers = [
        ("temperature", wanted.temperature.map(|n| json!(n))),
        ("top_p", wanted.top_p.map(|n| json!(n))),
        (limit, wanted.output_max.map(|n| json!(n))),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            request[key] = value;
        }
    }
    options::apply(Format::Chat, &mut request, &wanted.extra);
    if !prompt.system.is_empty() {
        let system = json!({ "role": "system", "content": prompt.system.join("\n\n") });
        conversation.insert(0, Stretch { open: "", elements: vec![Arc::new(element(&system))], close: "" });
    }
    Ok(Request { fields: request, place: MESSAGES, conversation })
}

/// What was said, as messages.
pub(crate) fn messages(utterance: &Utterance, dialect: Dialect) -> io::Result<Vec<Value>> {
    match utterance {
        Utterance::User(content) => Ok(vec![json!({ "role": "user", "content": user(content, dialect) })]),
        Utterance::Assistant(said) => Ok(assistant(said, dialect).into_iter().collect()),
        Utterance::Results(results) => told(results, dialect),
    }
}

/// Plain text stays plain: older servers take nothing else.
fn user(content: &[Content], dialect: Dialect) -> Value {
    let parts: Vec<Value> = content.iter().map(|content| part(content, dialect)).collect();
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    texts.map_or_else(|| Value::Array(parts.clone()), |texts| json!(texts.join("\n")))
}

fn part(content: &Content, dialect: Dialect) -> Value {
    match piece(content) {
        Piece::Text(text) => json!({ "type": "text", "text": text }),
        Piece::Image { mime, base64 } => {
            json!({ "type": "image_url", "image_url": { "url": data_url(mime, &base64) } })
        }
        Piece::Document { name, base64 } if dialect.documents => {
            let file = json!({ "filename": name, "file_data": data_url("application/pdf", &base64) });
            json!({ "type": "file", "file": file })
        }
        Piece::Document { name, .. } => {
            json!({ "type": "text", "text": left_out("application/pdf", Some(name)) })
        }
    }
}

fn assistant(said: &[Uttered], dialect: Dialect) -> Option<Value> {
    let (mut text, mut calls, mut thoughts) = (String::new(), Vec::new(), Map::new());
    for uttered in said {
        match uttered {
            Uttered::Text(more) => text.push_str(more),
            Uttered::Reasoning { text, opaque } => {
                let Some(sealed) = unseal(FORMAT, opaque.as_ref()) else { continue };
                if let Some(details) = sealed[DETAILS].as_array() {
                    let all = thoughts.entry(DETAILS).or_insert_with(|| json!([]));
                    all.as_array_mut().into_iter().for_each(|all| all.extend(details.iter().cloned()));
                } else if let Some(field) = sealed["field"].as_str() {
                    let told = thoughts.get(field).and_then(Value::as_str).unwrap_or_default();
                    thoughts.insert(field.to_owned(), json!(format!("{told}{text}")));
                }
            }
            Uttered::Call { id, name, input, .. } => {
                let arguments = Value::Object(arguments(input)).to_string();
                let function = json!({ "name": name, "arguments": arguments });
                calls.push(json!({ "id": dialect.id(id), "type": "function", "function": function }));
            }
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({ "role": "assistant", "content": text });
    // Plain thoughts are wanted while the model works on its calls, and refused by some servers elsewhere.
    thoughts.retain(|field, _| field == DETAILS || !calls.is_empty());
    put_over(&mut message, &thoughts);
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    Some(message)
}

/// Results, and after all of them what they hold besides text.
fn told(results: &[CallResult], dialect: Dialect) -> io::Result<Vec<Value>> {
    let mut media = Vec::new();
    let mut messages = Vec::new();
    for result in results {
        let content = result.content.read()?;
        let (text, attached) = split(&content);
        media.extend(attached.into_iter().map(|content| part(content, dialect)));
        messages.push(json!({ "role": "tool", "tool_call_id": dialect.id(&result.id), "content": text }));
    }
    if !media.is_empty() {
        media.insert(0, json!({ "type": "text", "text": MEDIA_OF_RESULTS }));
        messages.push(json!({ "role": "user", "content": media }));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fit_where_they_go() {
        let mistral = Dialect::of("https://api.mistral.ai/v1");
        assert_eq!(mistral.id("aB3dE6gH9"), "aB3dE6gH9");
        let (one, two) = (mistral.id("call_1"), mistral.id("call_2"));
        assert!(
            one.len() == 9 && one.bytes().all(|byte| byte.is_ascii_alphanumeric()) && one != two,
            "{one} {two}"
        );
        assert_eq!(Dialect::of("http://127.0.0.1/v1").id("call:1"), "call_1");
    }
}
