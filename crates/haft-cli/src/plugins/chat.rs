//! What plugins have to say about conversations: opencode's hooks behind the agent's seam.
//!
//! A hook that fails ends the step with an error that names it. Where nobody has a hook, nothing is made for it.

use haft::{AgentId, BoxError, CallId, Message, MessageId, Part, SessionId, ToolContext};
use haft_agent::provider::{Headers, Options};
use haft_agent::{Compacted, Influence, Influenced, Moment, Recalled, Summarising, TextPlace};
use haft_plugin::Plugins;
use serde_json::{Map, Value, json};

use super::messages::{changed_messages, changed_parts, info, part_id, parts};

const MESSAGE: &str = "chat.message";
const PARAMS: &str = "chat.params";
const HEADERS: &str = "chat.headers";
const SYSTEM: &str = "experimental.chat.system.transform";
const MESSAGES: &str = "experimental.chat.messages.transform";
const COMPACTING: &str = "experimental.session.compacting";
const AUTOCONTINUE: &str = "experimental.compaction.autocontinue";
const TEXT: &str = "experimental.text.complete";

/// Headers that belong to the connection, which is nobody's but haft's.
const OURS: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];
/// What opencode calls a choice that has no place of its own in haft's options.
const TOP_K: &str = "topK";

/// Plugins, as conversations know them.
pub(crate) struct ChatPlugins(pub(crate) Plugins);

impl ChatPlugins {
    /// Runs a hook of a conversation; without any, there is nothing to be changed.
    async fn run(&self, name: &str, at: Moment<'_>, input: Value, output: Value) -> Result<Value, BoxError> {
        let message = at.asked.map_or_else(MessageId::mint, |asked| asked.id.clone());
        let context = in_conversation(at.session, at.agent, message);
        Ok(self.0.run_hooks(name, input, output, Some(&context)).await?)
    }
}

/// Where a hook of a conversation runs: what it asks for is decided by the rules of its session, as for a call.
pub(super) fn in_conversation(session: &SessionId, agent: &AgentId, message: MessageId) -> ToolContext {
    ToolContext { session: session.clone(), agent: agent.clone(), message, call: CallId::mint() }
}

/// The parts of a message that a hook left.
pub(super) fn left_parts(hook: &str, message: &Message, output: &Value) -> Result<Vec<Part>, BoxError> {
    let told = output.get("parts").and_then(Value::as_array);
    let told = told.ok_or_else(|| nonsense(hook, "parts", "a list"))?;
    Ok(changed_parts(message, told))
}

/// What a hook left that is not of the kind it was.
fn nonsense(hook: &str, field: &str, wanted: &str) -> BoxError {
    format!("a plugin's hook {hook} left `{field}` as something else than {wanted}").into()
}

fn model(at: Moment<'_>) -> Value {
    let (model, known) = (&at.served.model, &at.served.info);
    json!({
        "id": model.id,
        "modelID": model.id,
        "providerID": model.provider,
        "name": known.name.as_ref().unwrap_or(&model.id),
        "api": { "id": model.id },
        "limit": { "context": known.context, "output": known.output },
        "options": known.options,
    })
}

/// What hooks about a request are told.
fn request(at: Moment<'_>) -> Value {
    let provider = &at.served.model.provider;
    json!({
        "sessionID": at.session.as_str(),
        "agent": at.agent.as_str(),
        "model": model(at),
        "provider": { "id": provider, "info": { "id": provider }, "options": {} },
        "message": at.asked.map(|asked| info(asked, at.session)),
    })
}

impl Influence for ChatPlugins {
    fn said<'a>(&'a self, at: Moment<'a>, message: Message) -> Influenced<'a, Message> {
        Box::pin(async move {
            if !self.0.has_hook(MESSAGE) {
                return Ok(message);
            }
            let model = &at.served.model;
            let input = json!({
                "sessionID": at.session.as_str(),
                "agent": at.agent.as_str(),
                "model": { "providerID": model.provider, "modelID": model.id },
                "messageID": message.id.as_str(),
            });
            let output =
                json!({ "message": info(&message, at.session), "parts": parts(&message, &[], at.session) });
            let output = self.run(MESSAGE, at, input, output).await?;
            let parts = left_parts(MESSAGE, &message, &output)?;
            Ok(Message { parts, ..message })
        })
    }

    fn options<'a>(&'a self, at: Moment<'a>, options: Options) -> Influenced<'a, Options> {
        Box::pin(async move {
            if !self.0.has_hook(PARAMS) {
                return Ok(options);
            }
            let output = self.run(PARAMS, at, request(at), params(&options)).await?;
            Ok(changed_options(&options, &output))
        })
    }

    fn headers<'a>(&'a self, at: Moment<'a>) -> Influenced<'a, Headers> {
        Box::pin(async move {
            if !self.0.has_hook(HEADERS) {
                return Ok(Headers::default());
            }
            let output = self.run(HEADERS, at, request(at), json!({ "headers": {} })).await?;
            let given = output.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
            let given =
                given.into_iter().filter(|(name, _)| !OURS.contains(&name.to_ascii_lowercase().as_str()));
            let header = |(name, value): (String, Value)| match value {
                Value::String(text) => Some((name, text)),
                Value::Number(_) | Value::Bool(_) => Some((name, value.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            Ok(Headers(given.filter_map(header).collect()))
        })
    }

    fn system<'a>(&'a self, at: Moment<'a>, system: Vec<String>) -> Influenced<'a, Vec<String>> {
        Box::pin(async move {
            if !self.0.has_hook(SYSTEM) {
                return Ok(system);
            }
            let input = json!({ "sessionID": at.session.as_str(), "model": model(at) });
            let output = self.run(SYSTEM, at, input, json!({ "system": system })).await?;
            let told = output.get("system").and_then(Value::as_array);
            let told = told.ok_or_else(|| nonsense(SYSTEM, "system", "a list"))?;
            let told: Vec<String> = told.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            // As in opencode, nobody makes a model behave in no way at all.
            Ok(if told.is_empty() { system } else { told })
        })
    }

    fn sees_conversation(&self) -> bool {
        self.0.has_hook(MESSAGES)
    }

    fn conversation<'a>(&'a self, at: Moment<'a>, messages: Vec<Recalled>) -> Influenced<'a, Vec<Recalled>> {
        Box::pin(async move {
            let tell = |Recalled { message, results }: &Recalled| json!({ "info": info(message, at.session), "parts": parts(message, results, at.session) });
            let told: Vec<Value> = messages.iter().map(tell).collect();
            let output = self.run(MESSAGES, at, json!({}), json!({ "messages": told })).await?;
            let told = output.get("messages").and_then(Value::as_array);
            let told = told.ok_or_else(|| nonsense(MESSAGES, "messages", "a list"))?;
            Ok(changed_messages(&messages, told, &at.served.model, at.agent))
        })
    }

    fn summary<'a>(&'a self, at: Moment<'a>) -> Influenced<'a, Summarising> {
        Box::pin(async move {
            if !self.0.has_hook(COMPACTING) {
                return Ok(Summarising::default());
            }
            let input = json!({ "sessionID": at.session.as_str() });
            let output = self.run(COMPACTING, at, input, json!({ "context": [] })).await?;
            let context = output.get("context").and_then(Value::as_array).cloned().unwrap_or_default();
            Ok(Summarising {
                request: output.get("prompt").and_then(Value::as_str).map(str::to_owned),
                context: context.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            })
        })
    }

    fn goes_on<'a>(&'a self, at: Moment<'a>, why: Compacted) -> Influenced<'a, bool> {
        Box::pin(async move {
            if !self.0.has_hook(AUTOCONTINUE) {
                return Ok(true);
            }
            let mut input = request(at);
            input["overflow"] = (why == Compacted::Overflowing).into();
            let output = self.run(AUTOCONTINUE, at, input, json!({ "enabled": true })).await?;
            Ok(output.get("enabled").and_then(Value::as_bool).unwrap_or(true))
        })
    }

    fn edits_text(&self) -> bool {
        self.0.has_hook(TEXT)
    }

    fn text<'a>(&'a self, at: Moment<'a>, place: TextPlace<'a>, text: String) -> Influenced<'a, String> {
        Box::pin(async move {
            let TextPlace { message, part } = place;
            let input = json!({
                "sessionID": at.session.as_str(),
                "messageID": message.as_str(),
                "partID": part_id(message, part),
            });
            let output = self.run(TEXT, at, input, json!({ "text": text })).await?;
            Ok(output.get("text").and_then(Value::as_str).map_or(text, str::to_owned))
        })
    }
}

/// How a model is to answer, in opencode's names. What is not set is not there.
fn params(options: &Options) -> Value {
    let mut extra = options.extra.clone();
    let numbers = [
        ("temperature", options.temperature.map(Value::from)),
        ("topP", options.top_p.map(Value::from)),
        (TOP_K, extra.shift_remove(TOP_K)),
        ("maxOutputTokens", options.output_max.map(Value::from)),
    ];
    let set = numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut params: Map<String, Value> = set.collect();
    params.insert("options".to_owned(), Value::Object(extra));
    Value::Object(params)
}

/// The same after plugins had their say. What they took out is left to the provider; what makes no sense counts not.
fn changed_options(before: &Options, output: &Value) -> Options {
    let number = |name: &str, before: Option<f64>| match output.get(name) {
        None | Some(Value::Null) => None,
        Some(given) => given.as_f64().or(before),
    };
    let options = output.get("options").and_then(Value::as_object).cloned();
    let mut extra = options.unwrap_or_else(|| before.extra.clone());
    extra.shift_remove(TOP_K);
    if let Some(top_k) = output.get(TOP_K).filter(|top_k| top_k.is_u64()) {
        extra.insert(TOP_K.to_owned(), top_k.clone());
    }
    let output_max = match output.get("maxOutputTokens") {
        None | Some(Value::Null) => None,
        Some(given) => given.as_u64().filter(|tokens| *tokens > 0).or(before.output_max),
    };
    Options {
        temperature: number("temperature", before.temperature),
        top_p: number("topP", before.top_p),
        output_max,
        extra,
    }
}
