//! OpenAI's responses. Nothing is stored there: thoughts come encrypted and are sent back as they came.

use std::collections::BTreeMap;
use std::io;

use haft::{Content, Finish, Usage};
use serde_json::{Value, json};

use super::calls::{Calls, Draft, Rest};
use super::fault::{Fault, Report};
use super::media::{Piece, arguments, call_id, data_url, piece, seal, unseal};
use super::words::{Request, Stretch};
use super::{Decode, Format, options, parse, schema, sse};
use crate::provider::{CallResult, Delta, Prompt, Utterance, Uttered};

const FORMAT: &str = "responses";
const INPUT: &str = "input";
const ENCRYPTED: &str = "reasoning.encrypted_content";

/// Makes a request.
pub(crate) fn request(prompt: &Prompt, conversation: Vec<Stretch>) -> Result<Request, Fault> {
    let mut request = json!({
        "model": prompt.model,
        INPUT: null,
        "stream": true,
        "store": false,
    });
    if thinks(&prompt.model) {
        request["include"] = json!([ENCRYPTED]);
    }
    if !prompt.system.is_empty() {
        request["instructions"] = json!(prompt.system.join("\n\n"));
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            let (name, description) = (tool.name.as_str(), &tool.description);
            let parameters = schema::plain(tool)?;
            Ok(json!({ "type": "function", "name": name, "description": description, "parameters": parameters, "strict": false }))
        });
        request["tools"] = tools.collect::<Result<_, Fault>>()?;
    }
    let wanted = &prompt.options;
    let numbers = [
        ("temperature", wanted.temperature.map(|n| json!(n))),
        ("top_p", wanted.top_p.map(|n| json!(n))),
        ("max_output_tokens", wanted.output_max.map(|n| json!(n))),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            request[key] = value;
        }
    }
    options::apply(Format::Responses, &mut request, &wanted.extra);
    Ok(Request { fields: request, place: INPUT, conversation })
}

/// What was said, as items of the input.
pub(crate) fn items(utterance: &Utterance) -> io::Result<Vec<Value>> {
    match utterance {
        Utterance::User(content) => {
            let content: Vec<Value> = content.iter().map(part).collect();
            Ok(vec![json!({ "role": "user", "content": content })])
        }
        Utterance::Assistant(said) => Ok(said.iter().filter_map(uttered).collect()),
        Utterance::Results(results) => results.iter().map(result).collect(),
    }
}

/// Models that do not think refuse to be asked for their thoughts.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt"].iter().any(|old| name.starts_with(old))
}

fn part(content: &Content) -> Value {
    match piece(content) {
        Piece::Text(text) => json!({ "type": "input_text", "text": text }),
        Piece::Image { mime, base64 } => {
            json!({ "type": "input_image", "image_url": data_url(mime, &base64) })
        }
        Piece::Document { name, base64 } => {
            json!({ "type": "input_file", "filename": name, "file_data": data_url("application/pdf", &base64) })
        }
    }
}

fn uttered(said: &Uttered) -> Option<Value> {
    match said {
        Uttered::Text(text) if text.is_empty() => None,
        Uttered::Text(text) => {
            Some(json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] }))
        }
        Uttered::Reasoning { opaque, .. } => unseal(FORMAT, opaque.as_ref()).cloned(),
        Uttered::Call { id, name, input, .. } => {
            let arguments = Value::Object(arguments(input)).to_string();
            Some(
                json!({ "type": "function_call", "call_id": call_id(id), "name": name, "arguments": arguments }),
            )
        }
    }
}

/// A result that holds only text stays text.
fn result(result: &CallResult) -> io::Result<Value> {
    let content = result.content.read()?;
    let texts: Option<Vec<&str>> = content.iter().map(Content::as_text).collect();
    let output = match texts {
        Some(texts) => json!(texts.join("\n")),
        None => content.iter().map(part).collect(),
    };
    Ok(json!({ "type": "function_call_output", "call_id": call_id(&result.id), "output": output }))
}

/// Reads a stream.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Calls under way, by the place of their item.
    open: BTreeMap<u64, Draft>,
    /// The places of items that have ended.
    ended: Vec<u64>,
    calls: Calls,
    /// Whether the thought under way has said something, so that its next part begins on a new line.
    said: bool,
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), Fault> {
        if event.data.trim() == super::chat::DONE {
            return Ok(());
        }
        let json = parse(event)?;
        let text = || json["delta"].as_str().unwrap_or_default().to_owned();
        match json["type"].as_str().unwrap_or(&event.name) {
            "response.output_item.added" => self.begin(place(&json)?, &json["item"], out),
            "response.output_text.delta" | "response.refusal.delta" => out.push(Delta::Text(text())),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.said = true;
                out.push(Delta::Reasoning(text()));
            }
            "response.reasoning_summary_part.added" if self.said => {
                out.push(Delta::Reasoning("\n\n".to_owned()))
            }
            "response.function_call_arguments.delta" => {
                let draft = self.open.get_mut(&place(&json)?);
                draft
                    .ok_or_else(|| Fault::malformed("a piece of a call that never began"))?
                    .arguments
                    .push_str(&text());
            }
            "response.function_call_arguments.done" => {
                if let Some(draft) = self.open.get_mut(&place(&json)?)
                    && let Some(arguments) = json["arguments"].as_str()
                {
                    draft.arguments = arguments.to_owned();
                }
            }
            "response.output_item.done" => self.end_item(place(&json)?, &json["item"], out),
            "response.completed" | "response.incomplete" | "response.done" => {
                self.finish(&json["response"], out)?
            }
            "response.failed" => return Err(Fault::Reported(Report::of(&json["response"]))),
            "error" => return Err(Fault::Reported(Report::of(&json))),
            _ if json.get("type").is_none() => {
                super::reported(&json)?;
                return Err(Fault::malformed("an event has no type"));
            }
            // Progress that says nothing new, and whatever is added later.
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, answer: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        super::reported(answer)?;
        let items =
            answer["output"].as_array().ok_or_else(|| Fault::malformed("the answer has no output"))?;
        for (at, item) in items.iter().enumerate() {
            for part in item["content"].as_array().into_iter().flatten() {
                let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
                out.extend(
                    text.filter(|_| item["type"] == "message").map(|text| Delta::Text(text.to_owned())),
                );
            }
            for part in item["summary"].as_array().into_iter().flatten() {
                out.extend(part["text"].as_str().map(|text| Delta::Reasoning(text.to_owned())));
            }
            self.begin(at as u64, item, out);
            self.end_item(at as u64, item, out);
        }
        self.finish(answer, out)
    }
}

impl Decoder {
    fn begin(&mut self, at: u64, item: &Value, out: &mut Vec<Delta>) {
        if item["type"] == "function_call" {
            let draft = draft(item);
            out.push(Delta::Calling { name: draft.name.clone() });
            self.open.insert(at, draft);
        }
    }

    fn end_item(&mut self, at: u64, item: &Value, out: &mut Vec<Delta>) {
        if self.ended.contains(&at) {
            return;
        }
        self.ended.push(at);
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => {
                let written = self.open.remove(&at).unwrap_or_default();
                let mut whole = draft(item);
                if whole.arguments.is_empty() {
                    whole.arguments = written.arguments;
                }
                // What the item says of itself counts.
                match item["status"] == "incomplete" {
                    true => self.calls.cut(whole, out),
                    false => self.calls.end(whole, out),
                }
            }
            "reasoning" => {
                self.said = false;
                // Its id names what is stored, and nothing is.
                let mut kept = item.clone();
                kept.as_object_mut().into_iter().for_each(|kept| {
                    kept.shift_remove("id");
                    kept.shift_remove("status");
                });
                let is_kept = item["encrypted_content"].is_string();
                out.push(Delta::ReasoningEnd(is_kept.then(|| seal(FORMAT, kept))));
            }
            _ => {}
        }
    }

    fn finish(&mut self, response: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        super::reported(response)?;
        out.extend(usage(&response["usage"]).map(Delta::Usage));
        let finish = match (response["status"].as_str(), response["incomplete_details"]["reason"].as_str()) {
            (Some("failed" | "cancelled"), _) => {
                return Err(Fault::Cut("the provider gave it up".to_owned()));
            }
            (_, Some("content_filter")) => Finish::Filtered,
            (Some("incomplete"), _) | (_, Some(_)) => Finish::Length,
            _ if self.calls.any() => Finish::Calls,
            _ => Finish::Stop,
        };
        let ran_out = finish == Finish::Length || finish == Finish::Filtered;
        if !ran_out && !self.open.is_empty() {
            return Err(Fault::Cut("it ended within a call".to_owned()));
        }
        // A call that was begun and never ended was cut, too.
        for (_, draft) in std::mem::take(&mut self.open) {
            if finish == Finish::Length {
                self.calls.cut(draft, out);
            }
        }
        self.calls.finish(Rest::of(&finish), out);
        out.push(Delta::Finished(finish));
        Ok(())
    }
}

fn draft(item: &Value) -> Draft {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let id = item["call_id"].as_str().map_or_else(|| text("id"), str::to_owned);
    Draft { id, name: text("name"), arguments: text("arguments"), opaque: None }
}

fn place(json: &Value) -> Result<u64, Fault> {
    json["output_index"].as_u64().ok_or_else(|| Fault::malformed("an item has no place"))
}

fn usage(json: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let cache_read = count(&json["input_tokens_details"]["cached_tokens"]);
    Some(Usage {
        input: json["input_tokens"].as_u64()?.saturating_sub(cache_read),
        output: count(&json["output_tokens"]),
        reasoning: count(&json["output_tokens_details"]["reasoning_tokens"]),
        cache_read,
        cache_write: 0,
    })
}
