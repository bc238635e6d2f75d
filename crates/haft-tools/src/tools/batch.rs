//! The tool `batch`: several calls at once, each settled like any other.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft::{
    Call, CallId, Content, Encoded, Executor, Input as CallInput, Issue, OpenTurns, Presented, Refusal,
    Rejection, SettleError, Settlement, ToolContext, ToolError, Turn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::services::ToolServices;

/// The name it is registered under. A batch cannot hold another.
pub(crate) const NAME: &str = "batch";
/// So many calls run; further ones fail.
const CALLS_MAX: usize = 25;

/// Makes several calls at once.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The calls to make, 25 at most.
    #[schemars(length(min = 1))]
    tool_calls: Vec<Wanted>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The name of the tool.
    tool: String,
    /// What the tool is given.
    parameters: Map<String, Value>,
}

/// What came of the calls, in their order.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// What came of each call.
    results: Vec<Outcome>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Outcome {
    /// The name of the tool.
    tool: String,
    /// Whether it did its work.
    success: bool,
    /// What the model is told of it.
    text: String,
    /// Images and documents.
    attachments: Vec<Attachment>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Attachment {
    /// Its media type.
    mime: String,
    /// Its bytes, in base64.
    data: String,
    /// Its file name, if it has one.
    name: Option<String>,
}

pub(crate) struct Batch {
    turns: OpenTurns,
}

impl Batch {
    pub(crate) fn new(services: &ToolServices) -> Batch {
        Batch { turns: services.turns.clone() }
    }
}

impl Executor for Batch {
    type Input = Input;
    type Output = Output;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("batch.txt").into())
    }

    fn explain(issues: &[Issue]) -> Option<String> {
        let path = |issue: &Issue| if issue.path.is_empty() { "root" } else { &issue.path }.to_owned();
        let lines: Vec<String> =
            issues.iter().map(|issue| format!("  - {}: {}", path(issue), issue.problem)).collect();
        Some(format!(
            "Invalid parameters for tool 'batch':\n{}\n\nExpected payload format:\n  [{{\"tool\": \"tool_name\", \"parameters\": {{...}}}}, {{...}}]",
            lines.join("\n")
        ))
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let turn = self.turns.of(context).ok_or_else(|| {
            ToolError::failure("the turn of this call is over; make the calls one by one instead")
        })?;
        let numbered = input.tool_calls.iter().enumerate();
        let results = all(numbered.map(|(at, wanted)| settled(&turn, context, at, wanted)).collect()).await?;
        Ok(Output { results })
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let results = &output.results;
        let (total, successful) = (results.len(), results.iter().filter(|result| result.success).count());
        let failed = total - successful;
        let summary = match failed {
            0 => format!("All {total} tools executed successfully."),
            _ => format!("Executed {successful}/{total} tools successfully. {failed} failed."),
        };
        let shown = results.iter().enumerate().map(|(at, result)| {
            let status = if result.success { "completed" } else { "error" };
            let Outcome { tool, text, .. } = result;
            format!("<result index=\"{}\" tool=\"{tool}\" status=\"{status}\">\n{text}\n</result>", at + 1)
        });
        let text = std::iter::once(summary).chain(shown).collect::<Vec<_>>().join("\n\n");
        let details: Vec<Value> =
            results.iter().map(|result| json!({ "tool": result.tool, "success": result.success })).collect();
        let mut presented = Presented::text(text)
            .titled(format!("Batch execution ({successful}/{total} successful)"))
            .with("totalCalls", total)
            .with("successful", successful)
            .with("failed", failed)
            .with("tools", results.iter().map(|result| result.tool.clone()).collect::<Vec<_>>())
            .with("details", details);
        for Attachment { mime, data, name } in results.iter().flat_map(|result| &result.attachments) {
            // What was encoded here is decoded here.
            if let Ok(bytes) = STANDARD.decode(data) {
                presented = presented.attach(mime.as_str(), bytes, name.clone());
            }
        }
        presented
    }
}

/// Settles one call of a batch, as a call of the same message.
async fn settled(
    turn: &Turn,
    context: &ToolContext,
    at: usize,
    wanted: &Wanted,
) -> Result<Outcome, ToolError> {
    let failed = |text: String| {
        let tool = wanted.tool.chars().take(80).collect();
        Ok(Outcome { tool, success: false, text, attachments: Vec::new() })
    };
    if at >= CALLS_MAX {
        return failed(format!("Maximum of {CALLS_MAX} tools allowed in batch"));
    }
    if wanted.tool == NAME {
        return failed(format!("Tool '{NAME}' is not allowed in batch. Disallowed tools: {NAME}"));
    }
    let call = Call {
        context: ToolContext { call: CallId::mint(), ..context.clone() },
        provider_id: Some(format!("{}/{}", context.call, at + 1)),
        name: wanted.tool.clone(),
        input: CallInput::Json(Value::Object(wanted.parameters.clone())),
    };
    match turn.settle(call).await {
        Ok(Settlement::Completed(done)) => {
            let attachments = done.content.iter().filter_map(attachment).collect();
            Ok(Outcome { tool: wanted.tool.clone(), success: true, text: done.text(), attachments })
        }
        // What was only rehearsed is told as that, so that a dry run shows every question of the batch.
        Ok(Settlement::Rejected(Rejection::Refused(refusal @ Refusal::Rehearsed { .. }))) => {
            Err(refusal.into())
        }
        Ok(Settlement::Rejected(rejection)) => failed(rejection.to_string()),
        Err(SettleError::Declined) => Err(ToolError::Declined),
        Err(error) => Err(ToolError::defect(error)),
    }
}

fn attachment(content: &Content) -> Option<Attachment> {
    match content {
        Content::Text(_) => None,
        Content::Media { mime, data, name } => {
            Some(Attachment { mime: mime.clone(), data: STANDARD.encode(data), name: name.clone() })
        }
    }
}

type Settling<'a> = Pin<Box<dyn Future<Output = Result<Outcome, ToolError>> + Send + 'a>>;

/// Waits for all, side by side. A person's no ends everything at once; any other error is told when all have ended.
async fn all<'a>(
    calls: Vec<impl Future<Output = Result<Outcome, ToolError>> + Send + 'a>,
) -> Result<Vec<Outcome>, ToolError> {
    let mut running: Vec<Settling<'a>> =
        calls.into_iter().map(|call| Box::pin(call) as Settling<'a>).collect();
    let mut ended: Vec<Option<Result<Outcome, ToolError>>> = running.iter().map(|_| None).collect();
    poll_fn(|waker| {
        for (call, end) in running.iter_mut().zip(&mut ended).filter(|(_, end)| end.is_none()) {
            if let Poll::Ready(result) = call.as_mut().poll(waker) {
                if matches!(result, Err(ToolError::Declined)) {
                    return Poll::Ready(Err(ToolError::Declined));
                }
                *end = Some(result);
            }
        }
        if ended.iter().any(Option::is_none) { Poll::Pending } else { Poll::Ready(Ok(())) }
    })
    .await?;
    ended.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
