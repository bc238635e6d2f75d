//! Instructions at an address, which the rules for fetching decide about.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use haft::permission::{Ask, Effect, Gate, Question, strictest};
use haft::{ToolContext, ToolError};

use super::FILE_BYTES_MAX;
use crate::tools::webfetch::plain_target;
use crate::web::{Address, ContentType, Web, WebError, decode};

const TIME: Duration = Duration::from_secs(5);

/// What is at each address, or why nothing is.
pub(super) type Texts = HashMap<String, Result<String, String>>;

/// Asks all addresses at once, so that those that do not answer take no longer than one of them.
pub(super) async fn texts_at(
    web: &Web,
    gate: &Gate,
    context: &ToolContext,
    urls: &[&str],
) -> Result<Texts, ToolError> {
    let mut waiting: Vec<_> =
        urls.iter().map(|url| (*url, Box::pin(text_at(web, gate, context, url)))).collect();
    let mut texts = Texts::new();
    poll_fn(|cx| {
        let mut failed = None;
        waiting.retain_mut(|(url, text)| match Pin::as_mut(text).poll(cx) {
            Poll::Pending => true,
            Poll::Ready(Ok(text)) => {
                texts.insert((*url).to_owned(), text);
                false
            }
            Poll::Ready(Err(error)) => {
                failed = Some(error);
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if waiting.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await?;
    Ok(texts)
}

/// The text at an address, or why there is none.
async fn text_at(
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
