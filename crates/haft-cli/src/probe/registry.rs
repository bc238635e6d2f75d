//! Plays registrations, turns and calls against a registry with two placements.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::Ruleset;
use haft::{
    Action, AgentId, Audience, BoxFuture, Call, CallId, Dynamic, Input, MessageId, Offer, Presented,
    Registration, Registry, Services, SessionId, Settlement, Tool, ToolContext, ToolError, Turn, TurnSpec,
    Viewer,
};
use serde_json::{Map, Value, json};

use super::{Answer, list, now, permission, text};
use crate::exit::Failure;

pub(super) fn answer(question: &Value) -> Answer {
    let process = Registry::root();
    let mut play = Play {
        location: process.child(),
        process,
        scopes: HashMap::new(),
        closed: HashSet::new(),
        unscoped: Vec::new(),
        turns: HashMap::new(),
        started: HashMap::new(),
        invocations: Arc::default(),
    };
    let steps: Result<Vec<Value>, Failure> =
        list(question, "steps")?.iter().map(|step| play.step(step)).collect();
    let invocations = play.invocations.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(json!({ "steps": steps?, "invocations": invocations }))
}

struct Play {
    process: Registry,
    location: Registry,
    scopes: HashMap<String, Vec<Registration>>,
    closed: HashSet<String>,
    unscoped: Vec<Registration>,
    turns: HashMap<String, Arc<Turn>>,
    started: HashMap<String, Running>,
    invocations: Arc<Mutex<Vec<Value>>>,
}

type Running = std::pin::Pin<Box<dyn Future<Output = Value>>>;

impl Play {
    fn step(&mut self, step: &Value) -> Answer {
        match text(step, "op")? {
            "register" => self.register(step),
            "close" => {
                let scope = text(step, "scope")?;
                self.scopes.remove(scope);
                self.closed.insert(scope.to_owned());
                Ok(json!({ "ok": true }))
            }
            "materialize" => self.materialize(step),
            "settle" => Ok(now(self.call(step)?)),
            "start" => {
                // Polled once: the call has taken hold of its tool and waits inside it.
                let mut running = self.call(step)?;
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                let name = step["as"].as_str().unwrap_or("started").to_owned();
                match running.as_mut().poll(&mut context) {
                    std::task::Poll::Ready(done) => {
                        self.started.insert(name, Box::pin(std::future::ready(done)));
                    }
                    std::task::Poll::Pending => {
                        self.started.insert(name, running);
                    }
                }
                Ok(json!({ "ok": true }))
            }
            "finish" => {
                let name =
                    ["of", "with", "as"].iter().find_map(|field| step[*field].as_str()).unwrap_or("started");
                let key = if self.started.contains_key(name) { name } else { "started" };
                let running = self.started.remove(key);
                running
                    .map(now)
                    .ok_or_else(|| Failure::usage(format_args!("nothing was started as {name:?}")))
            }
            other => Err(Failure::usage(format_args!("unknown operation {other:?}"))),
        }
    }

    fn register(&mut self, step: &Value) -> Answer {
        let nothing = Map::new();
        let tools = step["tools"].as_object().unwrap_or(&nothing);
        let offers = tools.iter().map(|(name, tool)| (name.as_str(), self.offer(tool)));
        let registry = if step["placement"] == "application" { &self.process } else { &self.location };
        let registration = match registry.register(offers.collect::<Vec<_>>()) {
            Ok(registration) => registration,
            Err(error) => return Ok(json!({ "error": error.to_string() })),
        };
        match step["scope"].as_str() {
            // What is registered into a scope that is closed goes at once.
            Some(scope) if self.closed.contains(scope) => drop(registration),
            Some(scope) => self.scopes.entry(scope.to_owned()).or_default().push(registration),
            None => self.unscoped.push(registration),
        }
        Ok(json!({ "ok": true }))
    }

    fn offer(&self, tool: &Value) -> Offer {
        let tag = tool["tag"].as_str().unwrap_or_default().to_owned();
        let behavior = tool["behavior"].as_str().unwrap_or("echo").to_owned();
        let message = tool["message"].as_str().unwrap_or("failed").to_owned();
        let invocations = self.invocations.clone();
        let execute =
            move |input: Value, context: ToolContext| -> BoxFuture<'static, Result<Value, ToolError>> {
                let called = json!({ "tag": tag, "context": {
                    "sessionID": context.session.as_str(), "agent": context.agent.as_str(),
                    "messageID": context.message.as_str(), "callID": context.call.as_str(),
                }});
                invocations.lock().unwrap_or_else(PoisonError::into_inner).push(called);
                let result = match behavior.as_str() {
                    "fail" => Err(ToolError::failure(message.clone())),
                    "defect" => Err(ToolError::defect(message.clone())),
                    "invalid_output" => Ok(json!(42)),
                    "string" => Ok(json!(tag)),
                    _ => Ok(json!(format!("{tag}:{}", input["text"].as_str().unwrap_or_default()))),
                };
                // Waits once, so that a call can be started in one step and finished in another.
                Box::pin(async move {
                    pause().await;
                    result
                })
            };
        let dynamic = Dynamic {
            description: "A tool of a behaviour case.".to_owned(),
            input: input_schema(&tool["input"]),
            output: json!({ "type": "string" }),
            execute: Arc::new(execute),
            present: |_, output| Presented::text(output.as_str().unwrap_or_default()),
        };
        let offer = Offer::new(Tool::dynamic(dynamic));
        match tool["permission"].as_str() {
            Some(action) => offer.under(Action::new(action)),
            None => offer,
        }
    }

    fn materialize(&mut self, step: &Value) -> Answer {
        let rules = match &step["permissions"] {
            Value::Null => Ruleset::default(),
            rules => Ruleset::new(permission::read(rules)?),
        };
        let spec = TurnSpec {
            agent: AgentId::parse("build").map_err(Failure::usage)?,
            rules: Arc::new(rules),
            audience: Audience::Model(Viewer::default()),
            configuration: 0,
        };
        let services = Services::in_memory(Ruleset::default());
        let turn = now(self.location.turn(&spec, services)).map_err(Failure::usage)?;
        let tools: Vec<String> = turn.definitions().iter().map(|tool| tool.name.to_string()).collect();
        self.turns.insert(text(step, "as")?.to_owned(), Arc::new(turn));
        Ok(json!({ "tools": tools }))
    }

    fn call(&self, step: &Value) -> Result<Running, Failure> {
        let with = text(step, "with")?;
        let turn = self.turns.get(with).cloned();
        let turn = turn.ok_or_else(|| Failure::usage(format_args!("there is no turn {with:?}")))?;
        let call = Call {
            context: context(&step["context"])?,
            provider_id: None,
            name: text(step, "call")?.to_owned(),
            input: Input::Json(step["input"].clone()),
        };
        Ok(Box::pin(async move {
            match turn.settle(call).await {
                Ok(Settlement::Completed(done)) => json!({ "status": "completed", "output": done.text() }),
                Ok(Settlement::Rejected(why)) => json!({ "status": "error", "error": why.to_string() }),
                Err(error) => json!({ "status": "defect", "error": error.to_string() }),
            }
        }))
    }
}

fn context(given: &Value) -> Result<ToolContext, Failure> {
    let invalid = |error: haft::InvalidId| Failure::usage(error);
    let part = |field: &str| given[field].as_str();
    Ok(ToolContext {
        session: part("sessionID")
            .map_or_else(|| Ok(SessionId::mint()), SessionId::parse)
            .map_err(invalid)?,
        agent: AgentId::parse(part("agent").unwrap_or("build")).map_err(invalid)?,
        message: part("messageID")
            .map_or_else(|| Ok(MessageId::mint()), MessageId::parse)
            .map_err(invalid)?,
        call: part("callID").map_or_else(|| Ok(CallId::mint()), CallId::parse).map_err(invalid)?,
    })
}

fn input_schema(fields: &Value) -> Value {
    let nothing = Map::new();
    let fields = fields.as_object().unwrap_or(&nothing);
    let properties: Map<String, Value> =
        fields.iter().map(|(name, kind)| (name.clone(), json!({ "type": kind }))).collect();
    let required: Vec<&String> = fields.keys().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Gives way once.
async fn pause() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
