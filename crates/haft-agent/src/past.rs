//! The past of a conversation, as far as its future needs it. The rest is on record, and would only take room here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use haft::{CallId, Completed, Content, Ended, History, Interruption, KEPT, Message, Rejection, Settlement};

/// What stands in place of an output that was taken out to make room.
const CLEARED: &str = "[Old tool result content cleared]";
/// What a model is told of a call that did not come to an end.
pub(crate) const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// What was said and done so far.
pub(crate) struct Past {
    /// The messages, oldest first. They are final.
    pub(crate) messages: Vec<Message>,
    /// How the calls in them ended. Those that are missing never began.
    pub(crate) ended: HashMap<CallId, Ending>,
}

/// How a call ended.
pub(crate) struct Ending {
    /// What a model is told of it.
    pub(crate) content: Arc<[Content]>,
    pub(crate) kind: Kind,
}

/// What kind of end a call came to.
pub(crate) enum Kind {
    /// With an output that may be taken out to make room.
    Output,
    /// With an output that stays as it is.
    Lasting,
    /// It was turned away, or failed.
    Rejected(Rejection),
    /// Without a settlement.
    Broken,
}

impl Past {
    /// Takes over what is on record, without the outputs that were taken out.
    pub(crate) fn new(history: History, pruned: &HashSet<CallId>) -> Past {
        let ended = history.ended.into_iter().map(|(call, ended)| (call, Ending::from(ended))).collect();
        let mut past = Past { messages: history.messages, ended };
        past.clear(pruned);
        past
    }

    /// Takes out the outputs of calls.
    pub(crate) fn clear<'a>(&mut self, calls: impl IntoIterator<Item = &'a CallId>) {
        for call in calls {
            if let Some(ending) = self.ended.get_mut(call) {
                *ending = Ending { content: text(CLEARED), kind: Kind::Lasting };
            }
        }
    }
}

impl Ending {
    /// Why it was rejected, if it was.
    pub(crate) fn rejection(&self) -> Option<&Rejection> {
        match &self.kind {
            Kind::Rejected(rejection) => Some(rejection),
            Kind::Output | Kind::Lasting | Kind::Broken => None,
        }
    }

    /// Whether the model is told that it failed.
    pub(crate) fn is_error(&self) -> bool {
        match self.kind {
            Kind::Rejected(_) | Kind::Broken => true,
            Kind::Output | Kind::Lasting => false,
        }
    }
}

impl From<Ended> for Ending {
    fn from(ended: Ended) -> Ending {
        let broken = |told: &str| Ending { content: text(told), kind: Kind::Broken };
        match ended {
            Ended::Settled(settlement) => match *settlement {
                Settlement::Completed(completed) => completed.into(),
                Settlement::Rejected(rejection) => {
                    Ending { content: text(&rejection.to_string()), kind: Kind::Rejected(rejection) }
                }
            },
            Ended::Broken(why) => broken(&format!("Tool execution failed: {why}")),
            Ended::Declined => broken("The user declined this call."),
            Ended::Cancelled => broken(INTERRUPTED),
            Ended::Interrupted(interruption) => {
                let known = match interruption {
                    Interruption::NotStarted => "Nothing was changed.",
                    Interruption::Committed => "What it was to change has been changed.",
                    Interruption::RolledBack => "It had changed some of its files, and these were put back.",
                    Interruption::Unknown => "It is not known what it did; look before you go on.",
                };
                broken(&format!("{INTERRUPTED} {known}"))
            }
        }
    }
}

impl From<Completed> for Ending {
    fn from(completed: Completed) -> Ending {
        let kind = match completed.metadata.get(KEPT).is_some_and(|kept| kept == true) {
            true => Kind::Lasting,
            false => Kind::Output,
        };
        if completed.content.is_empty() {
            return Ending { content: text(&completed.text()), kind };
        }
        let mut content = completed.content;
        // What was written piece by piece has room for as much again.
        for piece in &mut content {
            if let Content::Text(text) = piece {
                text.shrink_to_fit();
            }
        }
        Ending { content: content.into(), kind }
    }
}

/// Content that is one text.
pub(crate) fn text(text: &str) -> Arc<[Content]> {
    Arc::new([Content::Text(text.to_owned())])
}
