//! Instructions at an address, which the rules for fetching decide about.

use std::time::Duration;

use haft::permission::{Ask, Effect, Gate, Question, strictest};
use haft::{ToolContext, ToolError};

use super::FILE_BYTES_MAX;
use crate::tools::webfetch::plain_target;
use crate::web::{Address, ContentType, Web, WebError, decode};

const TIME: Duration = Duration::from_secs(5);

/// The text at an address, or why there is none.
pub(super) async fn text_at(
    web: &Web,
    gate: &Gate,
    context: &ToolContext,
    url: &str,
) -> Result<Result<String, String>, ToolError> {
    let target = Address::parse(url).map_err(|error| error.to_string()).and_then(|address| {
        plain_target(&address, url, TIME, FILE_BYTES_MAX as usize).map_err(|error| error.to_string())
    });
    let target = match target {
        Ok(target) => target,
        Err(problem) => return Ok(Err(problem)),
    };
    for question in target.questions() {
        if !is_allowed(gate, context, &question).await? {
            return Ok(Err(format!("the rules do not let it be fetched ({})", question.action)));
        }
    }
    let permit = gate.grant(context, target).await?;
    let read = async {
        let reply = web.exchange(permit, gate, context).await?;
        let kind = ContentType::parse(reply.header("content-type"));
        match reply.is_success() {
            true => Ok(Ok(decode(&reply.whole(|_| {}).await?, &kind).into_owned())),
            false => Ok(Err(format!("it answered {} {}", reply.status(), reply.reason()))),
        }
    };
    match read.await {
        Ok(read) => Ok(read),
        // A person who says no to this says nothing about the conversation.
        Err(error @ WebError::Consent(ToolError::Defect(_))) => Err(error.into()),
        Err(error) => Ok(Err(error.to_string())),
    }
}

async fn is_allowed(gate: &Gate, context: &ToolContext, question: &Question) -> Result<bool, ToolError> {
    Ok(strictest(&gate.decisions(context, question).await?) == Effect::Allow)
}
