//! Google's Gemini.

use std::io;

use haft::{Content, Finish, Usage};
use serde_json::{Map, Value, json};

use super::calls::{Calls, Draft};
use super::fault::Fault;
use super::media::{Piece, arguments, piece, seal, split, unseal};
use super::words::{Request, Stretch};
use super::{Decode, Format, options, parse, reported, schema, sse};
use crate::provider::{CallResult, Delta, ModelInfo, Prompt, Utterance, Uttered};

const FORMAT: &str = "gemini";
const CONTENTS: &str = "contents";
const SIGNATURE: &str = "thoughtSignature";
/// What Google's documentation gives in place of a signature that does not exist.
const UNSIGNED: &str = "skip_thought_signature_validator";
/// What stands before media that a tool returned: not every model takes them within results.
const MEDIA_OF_RESULTS: &str = "Attached media from tool result:";

/// Whether a model wants its calls signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signing {
    Unknown,
    Wanted,
}

impl Signing {
    pub(crate) fn of(model: &str) -> Signing {
        match ["gemini-1", "gemini-2", "gemma"].iter().any(|old| model.contains(old)) {
            true => Signing::Unknown,
            false => Signing::Wanted,
        }
    }
}

/// Makes a request.
pub(crate) fn request(prompt: &Prompt, conversation: Vec<Stretch>) -> Result<Request, Fault> {
    let mut request = json!({ CONTENTS: null });
    if !prompt.system.is_empty() {
        let parts: Vec<Value> = prompt.system.iter().map(|text| json!({ "text": text })).collect();
        request["systemInstruction"] = json!({ "parts": parts });
    }
    if !prompt.tools.is_empty() {
        let declarations = prompt.tools.iter().map(|tool| {
            let mut declaration = json!({ "name": tool.name.as_str(), "description": tool.description });
            if let Some(parameters) = schema::gemini(tool)? {
                declaration["parameters"] = parameters;
            }
            Ok(declaration)
        });
        let declarations = declarations.collect::<Result<Vec<Value>, Fault>>()?;
        request["tools"] = json!([{ "functionDeclarations": declarations }]);
    }
    let wanted = &prompt.options;
    let numbers = [
        ("temperature", wanted.temperature.map(|n| json!(n))),
        ("topP", wanted.top_p.map(|n| json!(n))),
        ("maxOutputTokens", wanted.output_max.map(|n| json!(n))),
    ];
    let numbers: Map<String, Value> =
        numbers.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    if !numbers.is_empty() {
        request["generationConfig"] = Value::Object(numbers);
    }
    options::apply(Format::Gemini, &mut request, &wanted.extra);
    Ok(Request { fields: request, place: CONTENTS, conversation })
}

/// What was said, as parts of contents.
pub(crate) fn parts(utterance: &Utterance, signing: Signing) -> io::Result<Vec<Value>> {
    match utterance {
        Utterance::User(content) => Ok(content.iter().map(part).collect()),
        Utterance::Assistant(said) => Ok(assistant(said, signing)),
        Utterance::Results(results) => told(results),
    }
}

fn part(content: &Content) -> Value {
    let inline = |mime: &str, data: String| json!({ "inlineData": { "mimeType": mime, "data": data } });
    match piece(content) {
        Piece::Text(text) => json!({ "text": text }),
        Piece::Image { mime, base64 } => inline(mime, base64),
        Piece::Document { base64, .. } => inline("application/pdf", base64),
    }
}

/// Newer models want the first call of a message signed. One that another model made has a documented stand-in.
fn assistant(said: &[Uttered], signing: Signing) -> Vec<Value> {
    let mut parts: Vec<Value> = said.iter().filter_map(uttered).collect();
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(first) = first.filter(|first| signing == Signing::Wanted && first.get(SIGNATURE).is_none()) {
        first[SIGNATURE] = json!(UNSIGNED);
    }
    parts
}

fn uttered(said: &Uttered) -> Option<Value> {
    let sign = |mut part: Value, opaque: &Option<Value>| {
        if let Some(signature) = unseal(FORMAT, opaque.as_ref()) {
            part[SIGNATURE] = signature.clone();
        }
        part
    };
    match said {
        Uttered::Text(text) if text.is_empty() => None,
        Uttered::Text(text) => Some(json!({ "text": text })),
        // The words of a thought are not wanted back, only its signature.
        Uttered::Reasoning { opaque, .. } => {
            unseal(FORMAT, opaque.as_ref())?;
            Some(sign(json!({ "text": "" }), opaque))
        }
        Uttered::Call { name, input, opaque, .. } => {
            Some(sign(json!({ "functionCall": { "name": name, "args": arguments(input) } }), opaque))
        }
    }
}

/// Results in the order of their calls, by which they are told apart, and then what they hold besides text.
fn told(results: &[CallResult]) -> io::Result<Vec<Value>> {
    let mut media = Vec::new();
    let mut parts = Vec::new();
    for result in results {
        let content = result.content.read()?;
        let (text, attached) = split(&content);
        media.extend(attached.into_iter().map(part));
        let key = if result.is_error { "error" } else { "output" };
        parts.push(json!({ "functionResponse": { "name": result.name, "response": { key: text } } }));
    }
    if !media.is_empty() {
        parts.push(json!({ "text": MEDIA_OF_RESULTS }));
        parts.extend(media);
    }
    Ok(parts)
}

/// The models that can be talked to.
pub(crate) fn models(list: &Value) -> Vec<ModelInfo> {
    let talks = |row: &&Value| {
        let methods = row["supportedGenerationMethods"].as_array();
        methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
    };
    let model = |row: &Value| {
        Some(ModelInfo {
            id: row["name"].as_str()?.trim_start_matches("models/").to_owned(),
            name: row["displayName"].as_str().map(str::to_owned),
            context: row["inputTokenLimit"].as_u64(),
            output: row["outputTokenLimit"].as_u64(),
            ..ModelInfo::default()
        })
    };
    list["models"].as_array().into_iter().flatten().filter(talks).filter_map(model).collect()
}

/// Reads a stream. It has no marker at its end, but a reason to finish.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    calls: Calls,
    thinking: bool,
    finish: Option<Finish>,
}

impl Decode for Decoder {
    fn event(&mut self, event: &sse::Event, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let chunk = parse(event)?;
        self.chunk(&chunk, out)
    }

    fn whole(&mut self, answer: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        match answer.as_array() {
            Some(chunks) => chunks.iter().try_for_each(|chunk| self.chunk(chunk, out))?,
            None => self.chunk(answer, out)?,
        }
        self.end(out)
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let finish =
            self.finish.take().ok_or_else(|| Fault::Cut("it ended without a reason to finish".to_owned()))?;
        self.end_thought(None, out);
        let finish = if finish == Finish::Stop && self.calls.any() { Finish::Calls } else { finish };
        out.push(Delta::Finished(finish));
        Ok(())
    }
}

impl Decoder {
    fn chunk(&mut self, chunk: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        reported(chunk)?;
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, out)?;
        }
        out.extend(usage(&chunk["usageMetadata"]).map(Delta::Usage));
        if chunk["promptFeedback"]["blockReason"].is_string() {
            self.finish = Some(Finish::Filtered);
        }
        match candidate["finishReason"].as_str() {
            None | Some("" | "FINISH_REASON_UNSPECIFIED") => {}
            Some("STOP") => self.finish = Some(Finish::Stop),
            Some("MAX_TOKENS") => self.finish = Some(Finish::Length),
            Some(
                reason @ ("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MISSING_THOUGHT_SIGNATURE"),
            ) => {
                return Err(Fault::Malformed(format!("the model wrote no call that can be read ({reason})")));
            }
            // Safety, recitation, prohibited content and their relatives.
            Some(_) => self.finish = Some(Finish::Filtered),
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, out: &mut Vec<Delta>) -> Result<(), Fault> {
        let signature = part[SIGNATURE].as_str().map(|text| seal(FORMAT, json!(text)));
        let text = part["text"].as_str().unwrap_or_default();
        if part["thought"] == true {
            self.thinking = true;
            out.push(Delta::Reasoning(text.to_owned()));
            if signature.is_some() {
                self.end_thought(signature, out);
            }
            return Ok(());
        }
        if let Some(call) = part.get("functionCall") {
            self.end_thought(None, out);
            let name = call["name"].as_str().filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| Fault::malformed("a call has no tool"))?.to_owned();
            out.push(Delta::Calling { name: name.clone() });
            // Calls come whole here, so one without arguments wants none.
            let arguments = if call["args"].is_object() { call["args"].to_string() } else { "{}".to_owned() };
            let id = call["id"].as_str().unwrap_or_default().to_owned();
            self.calls.end(Draft { id, name, arguments, opaque: signature }, out);
            return Ok(());
        }
        if !text.is_empty() {
            self.end_thought(None, out);
            out.push(Delta::Text(text.to_owned()));
        }
        // A signature of plain text stands for the thoughts before it.
        if signature.is_some() {
            self.thinking = true;
            self.end_thought(signature, out);
        }
        Ok(())
    }

    fn end_thought(&mut self, signature: Option<Value>, out: &mut Vec<Delta>) {
        if std::mem::take(&mut self.thinking) {
            out.push(Delta::ReasoningEnd(signature));
        }
    }
}

fn usage(json: &Value) -> Option<Usage> {
    let count = |key: &str| json[key].as_u64().unwrap_or_default();
    let (cache_read, reasoning) = (count("cachedContentTokenCount"), count("thoughtsTokenCount"));
    Some(Usage {
        input: (json["promptTokenCount"].as_u64()? + count("toolUsePromptTokenCount"))
            .saturating_sub(cache_read),
        output: count("candidatesTokenCount") + reasoning,
        reasoning,
        cache_read,
        cache_write: 0,
    })
}
