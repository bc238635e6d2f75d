//! Making room: outputs of tools that nobody needs any more are taken out of the conversation, oldest first.

use std::collections::HashSet;

use haft::{CallId, Memory, Role, SessionId, StoreError, Topic};
use serde_json::json;

use crate::context::since_summary;
use crate::given::Extent;
use crate::past::{Ending, Kind, Past};

/// So many of the newest tokens of output stay.
const KEPT_TOKENS: u64 = 40_000;
/// It is not worth the loss of a cache to take out less.
const WORTHWHILE_TOKENS: u64 = 20_000;
/// The outputs since so many of the person's messages stay.
const KEPT_TURNS: usize = 2;
/// About so many bytes of text are a token.
const BYTES_PER_TOKEN: u64 = 4;
/// What an image or a document is taken to cost.
const MEDIA_TOKENS: u64 = 1_500;

/// Which outputs were taken out of a conversation: they stay out, so that what a provider has cached still fits.
fn topic() -> Topic {
    Topic::new("context", "pruned")
}

/// The calls whose outputs are out.
pub(crate) async fn recall(memory: &dyn Memory, session: &SessionId) -> Result<HashSet<CallId>, StoreError> {
    let known = memory.recall(session, &topic()).await?;
    let ids = known.as_ref().and_then(|ids| ids.as_array()).into_iter().flatten();
    Ok(ids.filter_map(|id| CallId::parse(id.as_str()?).ok()).collect())
}

/// Remembers the calls whose outputs are out.
pub(crate) async fn remember(
    memory: &dyn Memory,
    session: &SessionId,
    pruned: &HashSet<CallId>,
) -> Result<(), StoreError> {
    let ids: Vec<&str> = pruned.iter().map(CallId::as_str).collect();
    memory.remember(session, &topic(), &json!(ids)).await.map(drop)
}

/// The calls whose outputs are to be taken out, beside those that are out already.
pub(crate) fn prunable(past: &Past) -> Vec<CallId> {
    let (mut turns, mut kept, mut freed) = (0, 0, 0);
    let mut out = Vec::new();
    for message in since_summary(&past.messages).iter().rev() {
        if message.role == Role::User {
            turns += 1;
        }
        if turns < KEPT_TURNS {
            continue;
        }
        for call in message.calls().collect::<Vec<_>>().into_iter().rev() {
            let Some(tokens) = past.ended.get(&call.call).and_then(size) else { continue };
            match kept < KEPT_TOKENS {
                true => kept += tokens,
                false => {
                    freed += tokens;
                    out.push(call.call.clone());
                }
            }
        }
    }
    if freed < WORTHWHILE_TOKENS {
        out.clear();
    }
    out
}

/// About how many tokens an output takes, if it may be taken out.
fn size(ending: &Ending) -> Option<u64> {
    match ending.kind {
        Kind::Output => {
            let Extent { text_bytes, media } = ending.content.extent();
            Some(text_bytes as u64 / BYTES_PER_TOKEN + media as u64 * MEDIA_TOKENS)
        }
        Kind::Lasting | Kind::Rejected(_) | Kind::Broken => None,
    }
}
