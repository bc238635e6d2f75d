//! The past of a conversation, as far as its future needs it. The rest is on record, and would only take room here.

use std::collections::{HashMap, HashSet};

use haft::{CallId, Completed, Content, Ended, History, Interruption, KEPT, Message, Rejection, Settlement};

use crate::beside::beside;
use crate::context::since_summary;
use crate::given::Given;
use crate::shelf::Shelf;

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
    /// Where their outputs lie.
    pub(crate) shelf: Shelf,
}

/// How a call ended.
pub(crate) struct Ending {
    /// What a model is told of it.
    pub(crate) content: Given,
    pub(crate) kind: Kind,
}

/// The same before it is laid down.
pub(crate) type Heard = (Vec<Content>, Kind);

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
    /// Takes over what is on record and still counts, without the outputs that were taken out.
    pub(crate) async fn new(history: History, pruned: &HashSet<CallId>, shelf: Shelf) -> Past {
        let History { messages, mut ended, .. } = history;
        let mut past = Past { messages: Vec::new(), ended: HashMap::new(), shelf };
        let mut known = Vec::new();
        for call in since_summary(&messages).iter().flat_map(Message::calls) {
            let Some(ended) = ended.remove(&call.call) else { continue };
            match pruned.contains(&call.call) {
                true => {
                    past.ended.insert(call.call.clone(), Ending::cleared());
                }
                false => known.push((call.call.clone(), told(ended))),
            }
        }
        past.messages = messages;
        past.take(known).await;
        past
    }

    /// Takes over how calls ended, and lays down what is long in it.
    pub(crate) async fn take(&mut self, ended: Vec<(CallId, Heard)>) {
        if ended.is_empty() {
            return;
        }
        let shelf = self.shelf.clone();
        let lay = move |(call, heard)| (call, Ending::on(&shelf, heard));
        let laid: Vec<(CallId, Ending)> = beside(move || ended.into_iter().map(lay).collect()).await;
        self.ended.extend(laid);
    }

    /// Lets go of what came of all calls: from here on the model is told a summary of them.
    pub(crate) fn forget_outputs(&mut self) {
        self.ended.clear();
        self.shelf = self.shelf.another();
    }

    /// Takes out the outputs of calls.
    pub(crate) fn clear<'a>(&mut self, calls: impl IntoIterator<Item = &'a CallId>) {
        for call in calls {
            if let Some(ending) = self.ended.get_mut(call) {
                *ending = Ending::cleared();
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

    /// What stands in place of an output that was taken out.
    fn cleared() -> Ending {
        Ending { content: Given::text(CLEARED), kind: Kind::Lasting }
    }

    /// Takes over how a call ended. May wait for the disk.
    fn on(shelf: &Shelf, (content, kind): Heard) -> Ending {
        Ending { content: Given::on(shelf, content), kind }
    }
}

impl Kind {
    /// Whether the model is told that it failed.
    pub(crate) fn is_error(&self) -> bool {
        match self {
            Kind::Rejected(_) | Kind::Broken => true,
            Kind::Output | Kind::Lasting => false,
        }
    }
}

/// What a model is told of how a call ended.
pub(crate) fn told(ended: Ended) -> Heard {
    let broken = |told: String| (vec![Content::Text(told)], Kind::Broken);
    match ended {
        Ended::Settled(settlement) => match *settlement {
            Settlement::Completed(completed) => of_completed(completed),
            Settlement::Rejected(rejection) => {
                (vec![Content::Text(rejection.to_string())], Kind::Rejected(rejection))
            }
        },
        Ended::Broken(why) => broken(format!("Tool execution failed: {why}")),
        Ended::Declined => broken("The user declined this call.".to_owned()),
        Ended::Cancelled => broken(INTERRUPTED.to_owned()),
        Ended::Interrupted(interruption) => {
            let known = match interruption {
                Interruption::NotStarted => "Nothing was changed.",
                Interruption::Committed => "What it was to change has been changed.",
                Interruption::RolledBack => "It had changed some of its files, and these were put back.",
                Interruption::Unknown => "It is not known what it did; look before you go on.",
            };
            broken(format!("{INTERRUPTED} {known}"))
        }
    }
}

fn of_completed(completed: Completed) -> Heard {
    let kind = match completed.metadata.get(KEPT).is_some_and(|kept| kept == true) {
        true => Kind::Lasting,
        false => Kind::Output,
    };
    match completed.content.is_empty() {
        true => (vec![Content::Text(completed.text())], kind),
        false => (completed.content, kind),
    }
}

#[cfg(test)]
mod tests {
    use haft::{AgentId, CallPart, Input, Part, Role};
    use serde_json::json;

    use super::*;
    use crate::shelf::tests::lets_others_work;

    #[tokio::test]
    async fn a_past_is_laid_down_beside_everything_else() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::within(Some(directory.path()));
        let call = CallPart {
            call: CallId::mint(),
            provider_id: "c".to_owned(),
            name: "read".to_owned(),
            input: Input::Json(json!({})),
            opaque: None,
        };
        let ended = HashMap::from([(call.call.clone(), Ended::Broken("long ".repeat(100)))]);
        let message = Message::new(Role::Assistant, AgentId::parse("build").unwrap()).with(Part::Call(call));
        let history = History { parent: None, messages: vec![message], ended };
        let taking = async {
            let past = Past::new(history, &HashSet::new(), shelf.clone()).await;
            assert_eq!((past.messages.len(), past.ended.len()), (1, 1));
        };
        assert!(lets_others_work(&shelf, taking).await);
    }
}
