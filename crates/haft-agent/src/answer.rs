//! An answer as it comes: listened to, its calls begun as soon as they are on record, all of them awaited.

use std::collections::HashMap;
use std::sync::Arc;

use haft::{
    BoxError, Call, CallId, CallPart, Ended, Event, Finish, Input, Message, OpenTurn, Part, Role, Saying,
    SettleError, Settlement, StoreError, ToolContext, Turn,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::conversation::{Conversation, RunError, Step};
use crate::influence::TextPlace;
use crate::interrupt::Interrupt;
use crate::past::{self, Heard};
use crate::provider::{Delta, ModelCall, Prompt, ProviderError};
use crate::reading;

/// What became of a call.
type Settled = (CallId, Result<Settlement, SettleError>);

/// An answer that is being listened to.
pub(crate) struct Answer<'c> {
    pub(crate) conversation: &'c mut Conversation,
    turn: Arc<Turn>,
    message: Message,
    /// Lets tools make calls of their own in this message.
    _open: OpenTurn,
    /// The calls under way.
    running: JoinSet<Settled>,
    at_once: Arc<Semaphore>,
    ended: HashMap<CallId, Heard>,
    verdict: Verdict,
    /// Whether somebody edits texts when they are complete. They are shown then, and not before.
    is_edited: bool,
    /// So many parts have been edited.
    edited: usize,
}

/// What the calls of an answer mean for the conversation.
#[derive(Default)]
enum Verdict {
    #[default]
    GoOn,
    Declined,
    Unrecorded(StoreError),
}

/// Why an answer was not heard to its end.
pub(crate) enum Unheard {
    Provider(ProviderError),
    Store(StoreError),
    Influence(BoxError),
}

impl From<ProviderError> for Unheard {
    fn from(error: ProviderError) -> Unheard {
        Unheard::Provider(error)
    }
}

impl From<StoreError> for Unheard {
    fn from(error: StoreError) -> Unheard {
        Unheard::Store(error)
    }
}

impl<'c> Answer<'c> {
    pub(crate) fn new(conversation: &'c mut Conversation, turn: Arc<Turn>) -> Answer<'c> {
        let mut message = Message::new(Role::Assistant, conversation.agent.name.clone());
        message.model = Some(conversation.served.model.clone());
        let at_once = conversation.agency.parts().settings.calls_at_once.max(1);
        let is_edited = conversation.agency.parts().influence.edits_text();
        let open_turns = &conversation.agency.parts().open_turns;
        let open = open_turns.enter(conversation.lease.session(), &message.id, &turn);
        Answer {
            conversation,
            turn,
            message,
            _open: open,
            running: JoinSet::new(),
            at_once: Arc::new(Semaphore::new(at_once)),
            ended: HashMap::new(),
            verdict: Verdict::default(),
            is_edited,
            edited: 0,
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.message.calls().next().is_some()
    }

    /// Listens to the end. Calls begin as soon as they are complete and on record.
    pub(crate) async fn listen(&mut self, prompt: &Prompt) -> Result<(), Unheard> {
        let provider = self.conversation.served.provider.clone();
        let mut deltas = provider.answer(prompt).await?;
        loop {
            // Half a piece that was waited for must not be lost when a call ends meanwhile.
            let mut next = deltas.next();
            let delta = loop {
                tokio::select! {
                    delta = &mut next => break delta,
                    Some(settled) = self.running.join_next() => self.note(settled),
                }
                // Whoever says no, means the rest of the answer, too.
                if !matches!(self.verdict, Verdict::GoOn) {
                    return Ok(());
                }
            };
            drop(next);
            match delta {
                Some(delta) => {
                    if self.hear(delta?).await? {
                        return Ok(());
                    }
                }
                None => {
                    let provider = self.conversation.served.model.provider.clone();
                    let message = "it ended before the model had finished".to_owned();
                    return Err(ProviderError::Broken { provider, message }.into());
                }
            }
        }
    }

    /// Takes a piece in. Returns whether it was the last.
    async fn hear(&mut self, delta: Delta) -> Result<bool, Unheard> {
        match delta {
            // Whoever counts may do so in the middle of a text.
            Delta::Text(_) | Delta::Usage(_) => {}
            _ => self.edit().await?,
        }
        match delta {
            Delta::Text(text) => {
                if !self.is_edited {
                    self.say(|| Saying::Text(text.clone()));
                }
                match self.message.parts.last_mut() {
                    Some(Part::Text { text: said, .. }) => said.push_str(&text),
                    _ => self.message.parts.push(Part::text(text)),
                }
            }
            Delta::Reasoning(text) => {
                self.say(|| Saying::Thought(text.clone()));
                match self.message.parts.last_mut() {
                    Some(Part::Reasoning { text: said, opaque: None }) => said.push_str(&text),
                    _ => self.message.parts.push(Part::Reasoning { text, opaque: None }),
                }
            }
            Delta::ReasoningEnd(opaque) => match self.message.parts.last_mut() {
                Some(Part::Reasoning { opaque: known @ None, .. }) => *known = opaque,
                _ => self.message.parts.push(Part::Reasoning { text: String::new(), opaque }),
            },
            Delta::Calling { name } => self.say(|| Saying::Calling(name)),
            Delta::Call(call) => self.begin(call).await?,
            Delta::Usage(usage) => self.message.usage = usage,
            Delta::Finished(finish) => {
                self.message.finish = Some(finish);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Has texts edited that are complete, and shows them.
    async fn edit(&mut self) -> Result<(), Unheard> {
        while self.is_edited && self.edited < self.message.parts.len() {
            let part = self.edited;
            if let Part::Text { text, .. } = &mut self.message.parts[part] {
                let said = std::mem::take(text);
                // It counts as said even if nobody can be asked about it.
                let given = said.clone();
                let influence = &self.conversation.agency.parts().influence;
                let place = TextPlace { message: &self.message.id, part };
                let edited = influence.text(self.conversation.moment(), place, given).await;
                *text = edited.as_ref().unwrap_or(&said).clone();
                let shown = text.clone();
                self.say(|| Saying::Text(shown));
                self.edited = part + 1;
                edited.map_err(Unheard::Influence)?;
            }
            self.edited = part + 1;
        }
        Ok(())
    }

    /// Shows the text that waited for an end which never came.
    fn show_rest(&self) {
        for part in self.message.parts.iter().skip(self.edited).filter(|_| self.is_edited) {
            if let Part::Text { text, .. } = part {
                self.say(|| Saying::Text(text.clone()));
            }
        }
    }

    fn say(&self, delta: impl FnOnce() -> Saying) {
        let (session, message) = (self.conversation.session(), &self.message.id);
        self.conversation.agency.parts().services.events.tell(|| Event::Said {
            session: session.clone(),
            message: message.clone(),
            delta: delta(),
        });
    }

    /// Nothing of it counts: whoever heard some of it is told so.
    pub(crate) fn take_back(self) {
        if !self.message.parts.is_empty() {
            self.say(|| Saying::TakenBack);
        }
    }

    /// Puts a call on record and begins it.
    async fn begin(&mut self, call: ModelCall) -> Result<(), StoreError> {
        let input = reading::input(&call);
        let name = reading::name(&call.name, self.turn.definitions()).to_owned();
        let is_same = |earlier: &CallPart| {
            (&earlier.provider_id, &earlier.name, &earlier.input) == (&call.id, &name, &input)
        };
        if self.message.calls().any(is_same) {
            return Ok(()); // The provider repeats itself.
        }
        let provider_id = reading::unique_id(call.id, &self.message);
        let part = CallPart { call: CallId::mint(), provider_id, name, input, opaque: call.opaque };
        self.message.parts.push(Part::Call(part.clone()));
        let transcript = &self.conversation.agency.parts().transcript;
        transcript.save(&self.conversation.lease, &self.message).await?;
        self.start(part);
        Ok(())
    }

    fn start(&mut self, part: CallPart) {
        let conversation = &*self.conversation;
        let context = ToolContext {
            session: conversation.session().clone(),
            agent: conversation.agent.name.clone(),
            message: self.message.id.clone(),
            call: part.call.clone(),
        };
        let call = Call { context, provider_id: Some(part.provider_id), name: part.name, input: part.input };
        let (turn, at_once) = (self.turn.clone(), self.at_once.clone());
        self.running.spawn(async move {
            // Never closed, so a place is always found.
            let _place = at_once.acquire_owned().await;
            (part.call, turn.settle(call).await)
        });
    }

    /// Takes down how a call ended.
    fn note(&mut self, settled: Result<Settled, tokio::task::JoinError>) {
        let Ok((call, result)) = settled else { return };
        let ended = match result {
            Ok(settlement) => Ended::Settled(Box::new(settlement)),
            Err(SettleError::Declined) => {
                self.verdict = Verdict::Declined;
                Ended::Declined
            }
            Err(SettleError::Record(error)) => {
                self.verdict = Verdict::Unrecorded(error);
                return;
            }
            Err(error) => Ended::Broken(haft::causes(&error)),
        };
        self.ended.insert(call, past::told(ended));
    }

    /// Awaits the calls, and puts the answer into the conversation.
    pub(crate) async fn settle(mut self, interrupt: &Interrupt, is_last: bool) -> Result<Step, RunError> {
        loop {
            if !matches!(self.verdict, Verdict::GoOn) {
                self.stop_calls().await;
            }
            tokio::select! {
                settled = self.running.join_next() => match settled {
                    Some(settled) => self.note(settled),
                    None => break,
                },
                () = interrupt.fired() => {
                    self.stop(Finish::Interrupted).await?;
                    return Ok(Step::Interrupted);
                }
            }
        }
        let has_calls = self.has_calls();
        let finish = self.message.finish.take().unwrap_or(Finish::Interrupted);
        let is_cut = finish == Finish::Length;
        let gets_on = self.message.calls().any(|call| matches!(call.input, Input::Json(_)));
        let verdict = std::mem::take(&mut self.verdict);
        self.keep(finish).await?;
        match verdict {
            Verdict::Unrecorded(error) => Err(error.into()),
            Verdict::Declined => Ok(Step::Declined),
            Verdict::GoOn if is_cut && !gets_on && !is_last => Ok(Step::Cut { in_call: has_calls }),
            Verdict::GoOn if has_calls && !is_last => Ok(Step::GoOn),
            Verdict::GoOn => Ok(Step::Stop),
        }
    }

    /// Stops the calls under way. Those that had just ended are told as they ended.
    async fn stop_calls(&mut self) {
        self.running.abort_all();
        while let Some(settled) = self.running.join_next().await {
            self.note(settled);
        }
    }

    /// Stops the calls under way, and keeps what was said and done until now.
    pub(crate) async fn stop(mut self, finish: Finish) -> Result<(), RunError> {
        self.stop_calls().await;
        for call in self.message.calls() {
            self.ended.entry(call.call.clone()).or_insert_with(|| past::told(Ended::Cancelled));
        }
        self.keep(finish).await
    }

    async fn keep(self, finish: Finish) -> Result<(), RunError> {
        self.show_rest();
        let Answer { conversation, mut message, ended, .. } = self;
        message.finish = Some(finish);
        // It stays for as long as the conversation.
        message.parts.shrink_to_fit();
        let saved = conversation.agency.parts().transcript.save(&conversation.lease, &message).await;
        conversation.past.take(ended.into_iter().collect()).await;
        conversation.past.messages.push(message);
        Ok(saved?)
    }
}
