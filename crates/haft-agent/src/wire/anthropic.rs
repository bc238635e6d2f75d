//! Anthropic's messages.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use haft::{Content, Finish, Usage};
use serde_json::{Value, json};

use super::calls::{Calls, Draft, Rest};
use super::fault::{Fault, Report};
use super::media::{Piece, arguments, call_id, piece, seal, unseal};
use super::words::{Request, Stretch};
use super::{Decode, Format, options, parse, schema, sse};
use crate::provider::{CallResult, Delta, Prompt, Utterance, Uttered};
use crate::shelf::Laid;

const FORMAT: &str = "anthropic";
/// The version of the API, which is sent with every request.
pub(crate) const VERSION: &str = "2023-06-01";
const MESSAGES: &str = "messages";
/// How the blocks of thoughts begin.
const THOUGHTS: [&str; 2] = [r#"{"type":"thinking","#, r#"{"type":"redacted_thinking","#];
/// What marks a block for the cache, after its other fields.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
/// How many of the last messages are marked for the cache: the end, and where the end was a turn ago.
const CACHED_MESSAGES: usize = 2;

/// Makes a request. The format wants to know how much may be said.
pub(crate) fn request(
    prompt: &Prompt,
    output_max: u64,
    conversation: Vec<Stretch>,
) -> Result<Request, Fault> {
    let mut request = json!({
        "model": prompt.model,
        "max_tokens": prompt.options.output_max.unwrap_or(output_max),
        MESSAGES: null,
        "stream": true,
    });
    let mut system: Vec<Value> = prompt
        .system
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    if let Some(last) = system.last_mut() {
        cache(last);
        request["system"] = Value::Array(system);
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            let (name, description) = (tool.name.as_str(), &tool.description);
            Ok(json!({ "name": name, "description": description, "input_schema": schema::plain(tool)? }))
        });
        let mut tools = tools.collect::<Result<Vec<Value>, Fault>>()?;
        tools.last_mut().into_iter().for_each(cache);
        request["tools"] = Value::Array(tools);
    }
    if let Some(temperature) = prompt.options.temperature {
        request["temperature"] = json!(temperature);
    }
    if let Some(top_p) = prompt.options.top_p {
        request["top_p"] = json!(top_p);
    }
    options::apply(Format::Anthropic, &mut request, &prompt.options.extra);
    Ok(Request { fields: request, place: MESSAGES, conversation })
}

fn cache(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

/// Marks the last messages of a conversation for the cache.
pub(crate) fn mark_last(conversation: &mut [Stretch]) -> io::Result<()> {
    let settled = conversation.len().saturating_sub(CACHED_MESSAGES);
    conversation[settled..].iter_mut().try_for_each(mark)
}

/// Marks the last block of a message. Thoughts cannot be marked.
fn mark(message: &mut Stretch) -> io::Result<()> {
    for block in message.elements.iter_mut().rev() {
        let text = block.text()?;
        if THOUGHTS.iter().any(|start| text.starts_with(start)) {
            continue;
        }
        let marked = text.strip_suffix('}').map(|fields| format!("{fields}{MARK}}}"));
        if let Some(marked) = marked {
            *block = Arc::new(Laid::held(marked.into_bytes()));
        }
        break;
    }
    Ok(())
}

/// What was said, as blocks of a message.
pub(crate) fn blocks(utterance: &Utterance) -> io::Result<Vec<Value>> {
    match utterance {
        Utterance::User(content) => Ok(content.iter().filter_map(block).collect()),
        Utterance::Assistant(said) => Ok(said.iter().filter_map(uttered).collect()),
        Utterance::Results(results) => results.iter().map(result).collect(),
    }
}

/// Empty texts are refused.
fn block(content: &Content) -> Option<Value> {
    let source = |mime: &str, base64: String| json!({ "type": "base64", "media_type": mime, "data": base64 });
    Some(match piece(content) {
        Piece::Text(text) if text.is_empty() => return None,
        Piece::Text(text) => json!({ "type": "text", "text": text }),
        Piece::Image { mime, base64 } => json!({ "type": "image", "source": source(mime, base64) }),
        Piece::Document { base64, .. } => {
            json!({ "type": "document", "source": source("application/pdf", base64) })
        }
    })
}

fn uttered(said: &Uttered) -> Option<Value> {
    match said {
        Uttered::Text(text) if text.trim().is_empty() => None,
        Uttered::Text(text) => Some(json!({ "type": "text", "text": text })),
        // A thought without its signature is refused.
        Uttered::Reasoning { text, opaque } => {
            let sealed = unseal(FORMAT, opaque.as_ref())?;
            match (&sealed["signature"], &sealed["redacted"]) {
                (Value::String(signature), _) => {
                    Some(json!({ "type": "thinking", "thinking": text, "signature": signature }))
                }
                (_, Value::String(data)) => Some(json!({ "type": "redacted_thinking", "data": data })),
                _ => None,
            }
        }
        Uttered::Call { id, name, input, .. } => {
            Some(json!({ "type": "tool_use", "id": call_id(id), "name": name, "input": arguments(input) }))
        }
    }
}

fn result(result: &CallResult) -> io::Result<Value> {
    let content = result.content.read()?;
    let content: Vec<Value> = content.iter().filter_map(block).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": call_id(&result.id), "content": content });
    if result.is_error {
        block["is_error"] = json!(true);
    }
    Ok(block)
}

/// Reads a stream.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    open: BTreeMap<u64, Block>,
    calls: Calls,
    usage: Usage,
    finish: Option<Finish>,
}

/// A block under way.
#[derive(Debug)]
enum Block {
    Text,
    Thought { signature: String },
    Redacted(String),
    Call(Draft),
    Other,
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let json = parse(event)?;
        match json["type"].as_str().unwrap_or(&event.name) {
            "message_start" => self.count(&json["message"]["usage"], out),
            "content_block_start" => {
                let block = self.begin(&json["content_block"], out)?;
                self.open.insert(index(&json)?, block);
            }
            "content_block_delta" => self.delta(index(&json)?, &json["delta"], out)?,
            "content_block_stop" => {
                let block = self.open.remove(&index(&json)?);
                self.end_block(block.ok_or_else(|| Fault::malformed("a block ends that never began"))?, out);
            }
            "message_delta" => {
                self.count(&json["usage"], out);
                if let Some(reason) = json["delta"]["stop_reason"].as_str() {
                    self.stop(reason);
                }
            }
            "message_stop" => self.finish(out)?,
            "error" => return Err(Fault::Reported(Report::of(&json))),
            // Pings, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, answer: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        if answer["type"] == "error" || answer.get("error").is_some() {
            return Err(Fault::Reported(Report::of(answer)));
        }
        let blocks =
            answer["content"].as_array().ok_or_else(|| Fault::malformed("the answer has no content"))?;
        for block in blocks {
            let block = self.begin(block, out)?;
            self.end_block(block, out);
        }
        self.count(&answer["usage"], out);
        self.stop(answer["stop_reason"].as_str().unwrap_or_default());
        self.finish(out)
    }
}

impl Decoder {
    fn begin(&mut self, block: &Value, out: &mut Vec<Delta>) -> Result<Block, Fault> {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        Ok(match block["type"].as_str().unwrap_or_default() {
            "text" => {
                out.extend(Some(text("text")).filter(|text| !text.is_empty()).map(Delta::Text));
                Block::Text
            }
            "thinking" => {
                out.extend(Some(text("thinking")).filter(|text| !text.is_empty()).map(Delta::Reasoning));
                Block::Thought { signature: text("signature") }
            }
            "redacted_thinking" => Block::Redacted(text("data")),
            "tool_use" => {
                let (id, name) = (text("id"), text("name"));
                if name.is_empty() {
                    return Err(Fault::malformed("a call has no tool"));
                }
                out.push(Delta::Calling { name: name.clone() });
                // In streams the input begins as an empty object and comes in pieces.
                let is_given = block["input"].as_object().is_some_and(|input| !input.is_empty());
                let arguments = if is_given { block["input"].to_string() } else { String::new() };
                Block::Call(Draft { id, name, arguments, opaque: None })
            }
            _ => Block::Other,
        })
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let block = self.open.get_mut(&index);
        let block = block.ok_or_else(|| Fault::malformed("a piece of a block that never began"))?;
        let text = |key: &str| delta[key].as_str().unwrap_or_default().to_owned();
        match (block, delta["type"].as_str().unwrap_or_default()) {
            (Block::Text, "text_delta") => out.push(Delta::Text(text("text"))),
            (Block::Thought { .. }, "thinking_delta") => out.push(Delta::Reasoning(text("thinking"))),
            (Block::Thought { signature }, "signature_delta") => signature.push_str(&text("signature")),
            (Block::Call(draft), "input_json_delta") => draft.arguments.push_str(&text("partial_json")),
            _ => {}
        }
        Ok(())
    }

    fn end_block(&mut self, block: Block, out: &mut Vec<Delta>) {
        match block {
            Block::Text | Block::Other => {}
            Block::Thought { signature } => {
                let sealed = (!signature.is_empty()).then(|| seal(FORMAT, json!({ "signature": signature })));
                out.push(Delta::ReasoningEnd(sealed));
            }
            Block::Redacted(data) => {
                out.push(Delta::ReasoningEnd(Some(seal(FORMAT, json!({ "redacted": data })))));
            }
            Block::Call(draft) => self.calls.end(draft, out),
        }
    }

    /// Counts grow: the last word holds.
    fn count(&mut self, usage: &Value, out: &mut Vec<Delta>) {
        let own = &mut self.usage;
        let fields = [
            ("input_tokens", &mut own.input),
            ("output_tokens", &mut own.output),
            ("cache_read_input_tokens", &mut own.cache_read),
            ("cache_creation_input_tokens", &mut own.cache_write),
        ];
        let mut any = false;
        for (key, field) in fields {
            if let Some(count) = usage[key].as_u64() {
                *field = count;
                any = true;
            }
        }
        if let Some(thoughts) = usage["output_tokens_details"]["thinking_tokens"].as_u64() {
            self.usage.reasoning = thoughts;
        }
        if any {
            out.push(Delta::Usage(self.usage));
        }
    }

    fn stop(&mut self, reason: &str) {
        self.finish = Some(match reason {
            "tool_use" => Finish::Calls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Filtered,
            _ if self.calls.any() => Finish::Calls,
            _ => Finish::Stop,
        });
    }

    fn finish(&mut self, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let finish =
            self.finish.take().ok_or_else(|| Fault::Cut("it ended without a reason to stop".to_owned()))?;
        if !self.open.is_empty() {
            return Err(Fault::Cut("it ended within a block".to_owned()));
        }
        self.calls.finish(Rest::of(&finish), out);
        out.push(Delta::Finished(finish));
        Ok(())
    }
}

fn index(json: &Value) -> Result<u64, Fault> {
    json["index"].as_u64().ok_or_else(|| Fault::malformed("a block has no index"))
}
