//! OpenAI's chat completions, as OpenAI and the many compatible servers speak them.

use haft::{Content, Finish, Usage};
use serde_json::{Map, Value, json};

use super::calls::{Calls, Draft, Rest};
use super::fault::Fault;
use super::media::{Piece, arguments, call_id, data_url, left_out, piece, put_over, seal, split, unseal};
use super::{Decode, Format, options, parse, reported, schema, sse};
use crate::provider::{CallResult, Delta, Prompt, Utterance, Uttered};

const FORMAT: &str = "chat";
/// The end of a stream.
pub(crate) const DONE: &str = "[DONE]";
/// What stands before media that a tool returned: the format has no place for them in results.
const MEDIA_OF_RESULTS: &str = "Attached media from tool result:";
/// Where servers put thoughts.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];
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
pub(crate) fn request(prompt: &Prompt, dialect: Dialect) -> Result<Value, Fault> {
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({ "role": "system", "content": prompt.system.join("\n\n") }));
    }
    for utterance in &prompt.conversation {
        match utterance {
            Utterance::User(content) => {
                messages.push(json!({ "role": "user", "content": user(content, dialect) }));
            }
            Utterance::Assistant(said) => messages.extend(assistant(said, dialect)),
            Utterance::Results(results) => messages.extend(told(results, dialect)),
        }
    }
    let mut request = json!({
        "model": prompt.model,
        "messages": messages,
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
    Ok(request)
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
fn told(results: &[CallResult], dialect: Dialect) -> Vec<Value> {
    let mut media = Vec::new();
    let mut messages = Vec::new();
    for result in results {
        let (text, attached) = split(&result.content);
        media.extend(attached.into_iter().map(|content| part(content, dialect)));
        messages.push(json!({ "role": "tool", "tool_call_id": dialect.id(&result.id), "content": text }));
    }
    if !media.is_empty() {
        media.insert(0, json!({ "type": "text", "text": MEDIA_OF_RESULTS }));
        messages.push(json!({ "role": "user", "content": media }));
    }
    messages
}

/// Reads a stream.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    drafts: Vec<Numbered>,
    calls: Calls,
    thought: Thought,
    finish: Option<Finish>,
}

/// A call that is being written, by its place.
#[derive(Debug)]
struct Numbered {
    index: Option<u64>,
    draft: Draft,
    ended: bool,
}

/// A thought under way.
#[derive(Debug, Default)]
struct Thought {
    field: Option<&'static str>,
    details: Vec<Value>,
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), Fault> {
        if event.data.trim() == DONE {
            return self.end(out);
        }
        let chunk = parse(event)?;
        reported(&chunk)?;
        if let Some(choice) = chunk["choices"].get(0) {
            self.choice(choice, &choice["delta"], out)?;
        } else if chunk.get("choices").is_none() && chunk.get("usage").is_none() {
            return Err(Fault::Malformed(format!(
                "an event has no choices: {}",
                event.data.chars().take(60).collect::<String>()
            )));
        }
        out.extend(usage(&chunk["usage"]).map(Delta::Usage));
        Ok(())
    }

    fn whole(&mut self, answer: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        reported(answer)?;
        let choice = answer["choices"].get(0).ok_or_else(|| Fault::malformed("the answer has no choices"))?;
        self.choice(choice, &choice["message"], out)?;
        out.extend(usage(&answer["usage"]).map(Delta::Usage));
        self.end(out)
    }

    /// Some servers leave out the marker; the reason to finish is what counts.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let finish =
            self.finish.take().ok_or_else(|| Fault::Cut("it ended without a reason to finish".to_owned()))?;
        out.push(Delta::Finished(finish));
        Ok(())
    }
}

impl Decoder {
    fn choice(&mut self, choice: &Value, delta: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        self.think(delta, out);
        // Refusals are words too.
        for text in ["content", "refusal"].into_iter().filter_map(|key| delta[key].as_str()) {
            if !text.is_empty() {
                self.end_thought(out);
                out.push(Delta::Text(text.to_owned()));
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.end_thought(out);
            self.write(call, out)?;
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.finish(reason, out)?;
        }
        Ok(())
    }

    fn think(&mut self, delta: &Value, out: &mut Vec<Delta>) {
        if let Some(details) = delta[DETAILS].as_array() {
            details.iter().for_each(|detail| self.thought.add(detail));
        }
        let said = THOUGHTS.into_iter().find_map(|field| Some((field, delta[field].as_str()?)));
        if let Some((field, text)) = said.filter(|(_, text)| !text.is_empty()) {
            self.thought.field = Some(field);
            out.push(Delta::Reasoning(text.to_owned()));
        }
    }

    fn end_thought(&mut self, out: &mut Vec<Delta>) {
        let Thought { field, details } = std::mem::take(&mut self.thought);
        let opaque = match (details.is_empty(), field) {
            (false, _) => json!({ DETAILS: details }),
            (true, Some(field)) => json!({ "field": field }),
            (true, None) => return,
        };
        out.push(Delta::ReasoningEnd(Some(seal(FORMAT, opaque))));
    }

    /// A piece of a call. Pieces belong together by their index; servers that have none send whole calls.
    fn write(&mut self, piece: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let index = piece["index"].as_u64();
        let id = piece["id"].as_str().unwrap_or_default();
        let name = piece["function"]["name"].as_str().unwrap_or_default();
        let arguments = match &piece["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers send the object itself.
            json => json.to_string(),
        };
        let is_other =
            |draft: &Draft| !id.is_empty() && !draft.id.is_empty() && draft.id != id && !name.is_empty();
        let known = self.drafts.iter().rposition(|known| match index {
            Some(_) => known.index == index,
            None => name.is_empty() || !id.is_empty() && known.draft.id == id,
        });
        let known = known.filter(|at| !is_other(&self.drafts[*at].draft));
        let at = match known {
            Some(at) => at,
            None if name.is_empty() => return Err(Fault::malformed("a piece of a call has no tool")),
            None => {
                self.end_whole(out);
                out.push(Delta::Calling { name: name.to_owned() });
                let draft = Draft { name: name.to_owned(), ..Draft::default() };
                self.drafts.push(Numbered { index, draft, ended: false });
                self.drafts.len() - 1
            }
        };
        let Numbered { draft, ended, .. } = &mut self.drafts[at];
        if *ended {
            return match arguments.trim().is_empty() || arguments == draft.arguments {
                true => Ok(()),
                false => Err(Fault::malformed(format!("the call of {} goes on after its end", draft.name))),
            };
        }
        if draft.id.is_empty() {
            draft.id = id.to_owned();
        }
        draft.arguments.push_str(&arguments);
        Ok(())
    }

    /// When another call begins, those before it that are whole have ended; others may be interleaved with it.
    fn end_whole(&mut self, out: &mut Vec<Delta>) {
        for known in self.drafts.iter_mut().filter(|known| !known.ended && known.draft.is_whole()) {
            known.ended = true;
            self.calls.end(known.draft.clone(), out);
        }
    }

    fn finish(&mut self, reason: &str, out: &mut Vec<Delta>) -> Result<(), Fault> {
        self.end_thought(out);
        for known in self.drafts.iter_mut().filter(|known| !known.ended) {
            known.ended = true;
            self.calls.end(known.draft.clone(), out);
        }
        let finish = match reason {
            "length" | "max_tokens" | "model_length" => Finish::Length,
            "content_filter" => Finish::Filtered,
            "error" => return Err(Fault::Cut("the provider ended it with an error".to_owned())),
            _ if self.calls.any() => Finish::Calls,
            _ => Finish::Stop,
        };
        self.calls.finish(Rest::of(&finish), out);
        self.finish = Some(finish);
        Ok(())
    }
}

impl Thought {
    /// Details come in pieces, too: those of one kind and index belong together.
    fn add(&mut self, piece: &Value) {
        let last = self.details.last_mut().filter(|last| {
            piece["index"].is_number() && last["index"] == piece["index"] && last["type"] == piece["type"]
        });
        let (Some(Value::Object(last)), Value::Object(fields)) = (last, piece) else {
            return self.details.push(piece.clone());
        };
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            match (last.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(more);
                }
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// What was counted. Tokens from a cache are counted among those that were read, and so are taken out.
fn usage(json: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let read = json["prompt_tokens"].as_u64()?;
    let details = &json["prompt_tokens_details"];
    let cache_read = count(&details["cached_tokens"]).max(count(&json["prompt_cache_hit_tokens"]));
    let cache_write = count(&details["cache_write_tokens"]);
    Some(Usage {
        input: read.saturating_sub(cache_read + cache_write),
        output: count(&json["completion_tokens"]),
        reasoning: count(&json["completion_tokens_details"]["reasoning_tokens"]),
        cache_read,
        cache_write,
    })
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
