//! Events as documents for programs, under opencode's names.

use haft::permission::{Reply, Request};
use haft::{Call, Ended, Event, Input, Saying, Seq, Settlement, ToolContext, Usage};
use haft_agent::{End, Outcome};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure};

/// An event as a document. What can be read again later has its place in the order.
pub(crate) fn document(seq: Seq, event: &Event) -> Value {
    let (name, session, body) = match event {
        Event::Called(call) => ("call.pending", &call.context.session, called(call)),
        Event::Running(context) => ("call.running", &context.session, about(context, json!({}))),
        Event::Ended(context, ended) => {
            let (name, body) = end(ended);
            (name, &context.session, about(context, body))
        }
        Event::Asked(request) => ("permission.asked", &request.context.session, asked(request)),
        Event::Replied(request, reply) => {
            ("permission.replied", &request.context.session, replied(request, reply))
        }
        Event::Output { context, delta } => {
            ("call.output", &context.session, about(context, json!({ "delta": delta })))
        }
        Event::Said { session, message, delta } => {
            let piece = |kind: &str, delta: &str| {
                let body = json!({ "messageID": message.as_str(), "type": kind, "delta": delta });
                ("message.part.delta", session, body)
            };
            match delta {
                Saying::Text(text) => piece("text", text),
                Saying::Thought(text) => piece("reasoning", text),
                Saying::Calling(tool) => piece("tool", tool),
                Saying::TakenBack => ("message.removed", session, json!({ "messageID": message.as_str() })),
            }
        }
        Event::Session { name, session, body } => (*name, session, body.clone()),
        Event::Reported { name, context, body } => (*name, &context.session, about(context, body.clone())),
    };
    let mut document = Map::new();
    document.insert("v".to_owned(), 1.into());
    document.insert("type".to_owned(), name.into());
    if seq != Seq::default() {
        document.insert("seq".to_owned(), seq.0.into());
    }
    document.insert("sessionID".to_owned(), session.as_str().into());
    document.insert("properties".to_owned(), body);
    Value::Object(document)
}

/// The last document of a run.
pub(crate) fn finished(session: &str, outcome: &Outcome, exit: Exit, ms: u128) -> Value {
    let (end, error) = match &outcome.end {
        End::Done => ("done", Value::Null),
        End::Declined => ("declined", Value::Null),
        End::Interrupted => ("interrupted", Value::Null),
        End::Stuck => ("stuck", Value::Null),
        End::Failed(error) => ("failed", haft::causes(error).into()),
    };
    let usage = &outcome.usage;
    json!({
        "v": 1,
        "type": "run.finished",
        "sessionID": session,
        "properties": {
            "end": end,
            "error": error,
            "text": outcome.text,
            "usage": {
                "input": usage.input,
                "output": usage.output,
                "reasoning": usage.reasoning,
                "cache": { "read": usage.cache_read, "write": usage.cache_write },
            },
            "steps": outcome.steps,
            "refused": outcome.refused,
            "exit": exit as u8,
            "ms": u64::try_from(ms).unwrap_or(u64::MAX),
        },
    })
}

/// How a run ended in which nothing was said, or that broke off.
pub(crate) fn failed(session: &str, failure: &Failure, ms: u128) -> Value {
    let outcome = Outcome {
        end: End::Interrupted,
        text: String::new(),
        usage: Usage::default(),
        steps: 0,
        refused: Vec::new(),
    };
    let mut document = finished(session, &outcome, failure.exit, ms);
    if failure.exit != Exit::Interrupted {
        document["properties"]["end"] = "failed".into();
        document["properties"]["error"] = failure.message().into();
    }
    document
}

fn about(context: &ToolContext, mut body: Value) -> Value {
    body["callID"] = context.call.as_str().into();
    body["messageID"] = context.message.as_str().into();
    body["agent"] = context.agent.as_str().into();
    body
}

fn called(call: &Call) -> Value {
    let input = match &call.input {
        Input::Json(input) => input.clone(),
        Input::Malformed { text, .. } => text.as_str().into(),
    };
    about(&call.context, json!({ "tool": call.name, "input": input }))
}

fn end(ended: &Ended) -> (&'static str, Value) {
    let error = |kind: &str, message: String| json!({ "error": { "kind": kind, "message": message } });
    match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Completed(done) => (
                "call.completed",
                json!({ "title": done.title, "output": done.text(), "metadata": done.metadata }),
            ),
            Settlement::Rejected(rejection) => ("call.error", error(rejection.kind(), rejection.to_string())),
        },
        Ended::Declined => ("call.error", error("declined", crate::history::end(ended))),
        Ended::Broken(_) => ("call.error", error("defect", crate::history::end(ended))),
        Ended::Cancelled => ("call.error", error("cancelled", crate::history::end(ended))),
        Ended::Interrupted(_) => ("call.error", error("interrupted", crate::history::end(ended))),
    }
}

fn asked(request: &Request) -> Value {
    let names: Vec<&str> = request.question.resources.iter().map(|resource| resource.name()).collect();
    let body = json!({
        "id": request.id.as_str(),
        "permission": request.question.action.as_str(),
        "patterns": names,
        "always": request.question.save,
        "metadata": { "title": request.showing.title, "detail": request.showing.detail },
    });
    about(&request.context, body)
}

fn replied(request: &Request, reply: &Reply) -> Value {
    let mut body = json!({ "requestID": request.id.as_str(), "reply": reply.as_str() });
    match reply {
        Reply::Once | Reply::Reject(None) => {}
        Reply::Always(scope) => body["scope"] = scope.as_str().into(),
        Reply::Reject(Some(words)) => body["message"] = words.as_str().into(),
        Reply::Edit(input) => body["input"] = input.clone(),
    }
    about(&request.context, body)
}
