//! Plays questions and replies against a gate, one step after the other.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use haft::permission::{
    Answer as Said, Ask, Asker, Gate, GateParts, MemoryGrants, Permit, Question, Reach, Reply, Request,
    Resource, Ruleset, Scope,
};
use haft::{
    Action, AgentId, BoxFuture, CallId, Events, MemoryRecorder, MessageId, RequestId, SessionId, ToolContext,
};
use haft::{Refusal, ToolError};
use serde_json::{Value, json};

use super::{Answer, list, now, text};
use crate::exit::Failure;

/// Plays the steps. Each ask is polled after every step, as a runner would.
pub(super) fn answer(rules: Ruleset, steps: &[Value]) -> Answer {
    let mut play = Play { gate: gate(rules), waiting: Vec::new(), ids: HashMap::new(), resolved: Vec::new() };
    let mut results = Vec::new();
    for step in steps {
        results.push(match (step.get("ask"), step.get("reply")) {
            (Some(ask), _) => play.ask(ask)?,
            (None, Some(reply)) => play.reply(reply)?,
            (None, None) => return Err(Failure::usage("a step is an ask or a reply")),
        });
    }
    let pending: Vec<&str> = play.waiting.iter().map(|(id, _)| id.as_str()).collect();
    Ok(json!({ "steps": results, "resolved": play.resolved, "pending": pending }))
}

type Grant = Pin<Box<dyn Future<Output = Result<Permit<Plain>, ToolError>>>>;

struct Play {
    gate: Gate,
    waiting: Vec<(String, Grant)>,
    /// The names the steps use, and the ids the gate gave.
    ids: HashMap<String, RequestId>,
    resolved: Vec<(String, &'static str)>,
}

impl Play {
    fn ask(&mut self, ask: &Value) -> Result<&'static str, Failure> {
        let name = text(ask, "id")?.to_owned();
        let context = ToolContext {
            session: SessionId::parse(text(ask, "session")?).map_err(Failure::usage)?,
            agent: AgentId::parse("build").map_err(Failure::usage)?,
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        let texts = |field| -> Result<Vec<&str>, Failure> {
            Ok(list(ask, field)?.iter().filter_map(Value::as_str).collect())
        };
        let plain = Plain(Question {
            action: Action::new(text(ask, "permission")?),
            resources: texts("patterns")?.into_iter().map(Resource::new).collect(),
            save: texts("always")?.into_iter().map(str::to_owned).collect(),
        });
        let gate = self.gate.clone();
        let mut grant: Grant = Box::pin(async move { gate.grant(&context, plain).await });
        match poll(&mut grant) {
            Poll::Ready(Ok(_)) => Ok("allowed"),
            Poll::Ready(Err(_)) => Ok("denied"),
            Poll::Pending => {
                if let Some(request) = self.gate.pending().last() {
                    self.ids.insert(name.clone(), request.id.clone());
                }
                self.waiting.push((name, grant));
                Ok("pending")
            }
        }
    }

    fn reply(&mut self, reply: &Value) -> Result<&'static str, Failure> {
        let words = reply["message"].as_str().map(str::to_owned);
        let word = text(reply, "reply")?;
        let parsed = Reply::parse(word, Scope::Project, words)
            .ok_or_else(|| Failure::usage(format_args!("unknown reply {word:?}")))?;
        let Some(id) = self.ids.get(text(reply, "id")?) else { return Ok("not_found") };
        let result = now(self.gate.reply(id, parsed));
        self.collect();
        Ok(if result.is_ok() { "ok" } else { "not_found" })
    }

    /// Takes down who has been answered meanwhile.
    fn collect(&mut self) {
        let mut still = Vec::new();
        for (name, mut grant) in self.waiting.drain(..) {
            match poll(&mut grant) {
                Poll::Pending => still.push((name, grant)),
                Poll::Ready(Ok(_)) => self.resolved.push((name, "allowed")),
                Poll::Ready(Err(ToolError::Refused(Refusal::Corrected { .. }))) => {
                    self.resolved.push((name, "corrected"));
                }
                Poll::Ready(Err(_)) => self.resolved.push((name, "rejected")),
            }
        }
        self.waiting = still;
    }
}

fn poll(grant: &mut Grant) -> Poll<Result<Permit<Plain>, ToolError>> {
    grant.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn gate(rules: Ruleset) -> Gate {
    let recorder = Arc::new(MemoryRecorder::default());
    Gate::new(GateParts {
        policy: Box::new(Arc::new(rules)),
        grants: Arc::new(MemoryGrants::default()),
        asker: Arc::new(Silent),
        events: Events::new(recorder.clone()),
        recorder,
    })
}

/// Somebody who never answers by themselves.
struct Silent;

impl Asker for Silent {
    fn ask<'a>(&'a self, _request: &'a Request) -> BoxFuture<'a, Said> {
        Box::pin(std::future::pending())
    }
}

/// A question without anything behind it.
struct Plain(Question);

impl Ask for Plain {
    fn questions(&self) -> Vec<Question> {
        vec![self.0.clone()]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }
}
