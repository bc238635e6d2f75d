//! What a server streams in chat completions, made into deltas.

use haft::{Finish, Usage};
use serde_json::{Value, json};

use super::{DETAILS, FORMAT};
use crate::provider::Delta;
use crate::wire::calls::{Calls, Draft, Rest};
use crate::wire::fault::Fault;
use crate::wire::media::seal;
use crate::wire::{Decode, parse, reported, sse};

/// The end of a stream.
pub(crate) const DONE: &str = "[DONE]";
/// Where servers put thoughts.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

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
