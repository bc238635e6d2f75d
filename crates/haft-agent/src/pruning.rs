//! Making room: outputs of tools that nobody needs any more are taken out of the conversation, oldest first.

use std::collections::HashSet;

use haft::{CallId, Content, Ended, History, KEPT, Role, Settlement};

use crate::context::since_summary;

/// So many of the newest tokens of output stay.
const KEPT_TOKENS: u64 = 40_000;
/// It is not worth the loss of a cache to take out less.
const WORTHWHILE_TOKENS: u64 = 20_000;
/// The outputs since so many of the person's messages stay.
const KEPT_TURNS: usize = 2;
/// What an image or a document is taken to cost.
const MEDIA_TOKENS: u64 = 1_500;

/// The calls whose outputs are to be taken out, beside those that are out already.
pub(crate) fn prunable(history: &History, pruned: &HashSet<CallId>) -> Vec<CallId> {
    let (mut turns, mut kept, mut freed) = (0, 0, 0);
    let mut out = Vec::new();
    for message in since_summary(&history.messages).iter().rev() {
        if message.role == Role::User {
            turns += 1;
        }
        if turns < KEPT_TURNS {
            continue;
        }
        for call in message.calls().collect::<Vec<_>>().into_iter().rev() {
            if pruned.contains(&call.call) {
                continue;
            }
            let Some(tokens) = history.ended.get(&call.call).and_then(size) else { continue };
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
fn size(ended: &Ended) -> Option<u64> {
    let Ended::Settled(settlement) = ended else { return None };
    let Settlement::Completed(completed) = &**settlement else { return None };
    if completed.metadata.get(KEPT).is_some_and(|kept| kept == true) {
        return None;
    }
    let tokens = |content: &Content| match content {
        Content::Text(text) => estimate(text),
        Content::Media { .. } => MEDIA_TOKENS,
    };
    Some(match completed.content.is_empty() {
        true => estimate(&completed.text()),
        false => completed.content.iter().map(tokens).sum(),
    })
}

/// About how many tokens a text is.
pub(crate) fn estimate(text: &str) -> u64 {
    text.len() as u64 / 4
}
