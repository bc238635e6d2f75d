//! What the configuration says of how a model is to answer, put into the words of each format.
//!
//! opencode's configuration has the names of the packages it uses, such as `reasoningEffort`; providers have their own.
//! What has no other name is passed on as it is.

use serde_json::{Map, Value};

use super::Format;

/// What a conversation is made of is never a matter of configuration.
const OURS: [&str; 10] = [
    "contents",
    "input",
    "instructions",
    "messages",
    "model",
    "stream",
    "stream_options",
    "system",
    "systemInstruction",
    "tools",
];

/// Where a field of the configuration stands in a request, from the outside in.
fn place(format: Format, name: &str) -> Option<&'static [&'static str]> {
    Some(match (format, name) {
        (Format::Chat, "reasoningEffort") => &["reasoning_effort"],
        (Format::Chat, "textVerbosity") => &["verbosity"],
        (Format::Responses, "reasoningEffort") => &["reasoning", "effort"],
        (Format::Responses, "reasoningSummary") => &["reasoning", "summary"],
        (Format::Responses, "textVerbosity") => &["text", "verbosity"],
        (Format::Chat | Format::Responses, "parallelToolCalls") => &["parallel_tool_calls"],
        (Format::Chat | Format::Responses, "promptCacheKey") => &["prompt_cache_key"],
        (Format::Chat | Format::Responses, "serviceTier") => &["service_tier"],
        (Format::Anthropic, "effort") => &["output_config", "effort"],
        (Format::Gemini, "thinkingConfig") => &["generationConfig", "thinkingConfig"],
        (Format::Chat | Format::Anthropic, "topK") => &["top_k"],
        (Format::Gemini, "topK") => &["generationConfig", "topK"],
        _ => return None,
    })
}

/// Puts what the configuration says into a request.
pub(crate) fn apply(format: Format, request: &mut Value, extra: &Map<String, Value>) {
    // OpenAI's responses have no such choice, and refuse what they do not know.
    let is_unknown = |name: &str| format == Format::Responses && name == "topK";
    let theirs = |name: &str| !OURS.contains(&name) && !is_unknown(name);
    for (name, value) in extra.iter().filter(|(name, _)| theirs(name)) {
        let mut value = value.clone();
        // Anthropic's own name for what the package calls `budgetTokens`.
        if let (Format::Anthropic, "thinking", Value::Object(thinking)) = (format, name.as_str(), &mut value)
            && let Some(tokens) = thinking.shift_remove("budgetTokens")
        {
            thinking.insert("budget_tokens".to_owned(), tokens);
        }
        let own = [name.as_str()];
        let path = place(format, name).unwrap_or(&own);
        let nested = path
            .iter()
            .rev()
            .fold(value, |inner, name| Value::Object(Map::from_iter([((*name).to_owned(), inner)])));
        merge(request, nested);
    }
}

/// Lays one value over another: objects are joined, anything else takes the place of what was there.
pub(crate) fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in above {
                match below.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => drop(below.insert(name, value)),
                }
            }
        }
        (below, above) => *below = above,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(format: Format, extra: &Value) -> Value {
        let mut request = json!({ "model": "m", "reasoning": { "summary": "auto" } });
        apply(format, &mut request, extra.as_object().unwrap());
        request
    }

    #[test]
    fn the_names_of_packages_become_those_of_formats() {
        let effort = json!({ "reasoningEffort": "high", "textVerbosity": "low", "x_own": [1] });
        let chat = applied(Format::Chat, &effort);
        assert_eq!((&chat["reasoning_effort"], &chat["verbosity"]), (&json!("high"), &json!("low")));
        assert_eq!(chat["x_own"], json!([1]));
        let responses = applied(Format::Responses, &effort);
        assert_eq!(responses["reasoning"], json!({ "summary": "auto", "effort": "high" }));
        assert_eq!(responses["text"], json!({ "verbosity": "low" }));
        let thinking = json!({ "thinking": { "type": "enabled", "budgetTokens": 9000 }, "effort": "max" });
        let anthropic = applied(Format::Anthropic, &thinking);
        assert_eq!(anthropic["thinking"], json!({ "type": "enabled", "budget_tokens": 9000 }));
        assert_eq!(anthropic["output_config"], json!({ "effort": "max" }));
        let gemini = applied(Format::Gemini, &json!({ "thinkingConfig": { "thinkingBudget": 5 } }));
        assert_eq!(gemini["generationConfig"], json!({ "thinkingConfig": { "thinkingBudget": 5 } }));
    }

    #[test]
    fn the_conversation_is_not_a_matter_of_configuration() {
        let request = applied(Format::Chat, &json!({ "model": "other", "messages": [], "tools": [] }));
        assert_eq!(request, json!({ "model": "m", "reasoning": { "summary": "auto" } }));
    }
}
