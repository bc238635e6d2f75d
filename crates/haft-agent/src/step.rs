//! One answer of the model: listened to, its calls begun as they come, all of them awaited.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use haft::{
    Audience, Call, CallId, CallPart, Ended, Event, Finish, Input, Message, OpenTurn, Part, Registry, Role,
    Saying, SettleError, Settlement, StoreError, ToolContext, Turn, TurnSpec, Viewer,
};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::context;
use crate::conversation::{Conversation, RunError, Step, slim};
use crate::interrupt::Interrupt;
use crate::provider::{Delta, ModelCall, Options, Prompt, ProviderError};
use crate::reading;
use crate::wire::merge;

/// What the model is told at its last step.
const LAST_STEP: &str = "Tools are disabled after the maximum agent steps. Answer with words only: say what you have done, what is left to do, and what you recommend to do next.";
/// The first pause before a provider is asked again; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Whoever wants to be left alone for longer has no answer.
const PATIENCE: Duration = Duration::from_secs(600);
/// The longest pause that nobody asked for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What became of a call.
type Settled = (CallId, Result<Settlement, SettleError>);

/// An answer that is being listened to.
struct Answer<'c> {
    conversation: &'c mut Conversation,
    turn: Arc<Turn>,
    message: Message,
    /// Lets tools make calls of their own in this message.
    _open: OpenTurn,
    /// The calls under way.
    running: JoinSet<Settled>,
    at_once: Arc<Semaphore>,
    ended: HashMap<CallId, Ended>,
    verdict: Verdict,
}

/// What the calls of an answer mean for the conversation.
#[derive(Default)]
enum Verdict {
    #[default]
    GoOn,
    Declined,
    Unrecorded(StoreError),
}

impl Conversation {
    /// Has the model answer for so many times since it was spoken to, and settles the calls it makes.
    pub(crate) async fn step(&mut self, nth: u32, interrupt: &Interrupt) -> Result<Step, RunError> {
        let is_last = self.agent.steps.is_some_and(|steps| nth >= steps.max(1));
        let turn = Arc::new(self.turn(is_last).await?);
        let mut pauses = 0;
        loop {
            let prompt = self.prompt(&turn, is_last);
            let mut answer = Answer::new(self, turn.clone());
            let heard = tokio::select! {
                heard = answer.listen(&prompt) => heard,
                () = interrupt.fired() => return answer.stop(Finish::Interrupted).await.map(|()| Step::Interrupted),
            };
            let error = match heard {
                Ok(()) => {
                    let step = answer.settle(interrupt, is_last).await;
                    self.broken = 0;
                    return step;
                }
                Err(Unheard::Store(error)) => return Err(error.into()),
                Err(Unheard::Provider(error)) => error,
            };
            if answer.has_calls() {
                // What it asked for is under way and cannot be unsaid: the model sees what came of it and goes on.
                let step = answer.settle(interrupt, is_last).await?;
                return self.after_break(step, error, interrupt).await;
            }
            let settings = &answer.conversation.agency.parts().settings;
            let may_compact = settings.compacts && pauses == 0 && matches!(error, ProviderError::TooLong(_));
            let pause = error.retry().filter(|_| pauses < settings.retries);
            let pause = pause.filter(|wanted| wanted.is_none_or(|wanted| wanted <= PATIENCE));
            answer.take_back();
            if may_compact {
                pauses += 1;
                self.compact(interrupt).await?;
                continue;
            }
            let Some(wanted) = pause else {
                self.keep_failure(&error).await?;
                return Err(error.into());
            };
            let pause = wanted.unwrap_or_else(|| pause_after(pauses));
            pauses += 1;
            self.tell_retry(pauses, pause, &error);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = interrupt.fired() => return Ok(Step::Interrupted),
            }
        }
    }

    /// Goes on after an answer that broke off when its calls had begun; not at once, and not for ever.
    async fn after_break(
        &mut self,
        step: Step,
        error: ProviderError,
        interrupt: &Interrupt,
    ) -> Result<Step, RunError> {
        let pause = pause_after(self.broken);
        self.broken += 1;
        if self.broken > self.agency.parts().settings.retries {
            return Err(error.into());
        }
        self.tell_retry(self.broken, pause, &error);
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(step),
            () = interrupt.fired() => Ok(Step::Interrupted),
        }
    }

    /// What the model is told of tools: at its last step, nothing.
    async fn turn(&self, is_last: bool) -> Result<Turn, RunError> {
        let parts = self.agency.parts();
        let model = Some(self.served.model.clone());
        let rules = match self.agency.under_way(self.session()) {
            Some(under_way) => under_way.rules,
            None => self.agent.rules.clone(),
        };
        let spec = TurnSpec {
            agent: self.agent.name.clone(),
            rules,
            audience: Audience::Model(Viewer { model, ..parts.viewer.clone() }),
            configuration: 0,
        };
        let registry = match is_last {
            true => Registry::root(),
            false => parts.registry.clone(),
        };
        Ok(registry.turn(&spec, parts.services.clone()).await?)
    }

    fn prompt(&self, turn: &Turn, is_last: bool) -> Prompt {
        let parts = self.agency.parts();
        let mut system = parts.agents.system(&self.agent, &self.served.model);
        if is_last {
            system.push(LAST_STEP.to_owned());
        }
        Prompt {
            model: self.served.model.id.clone(),
            agent: self.agent.name.clone(),
            system,
            conversation: context::told(&self.history, &self.pruned, &self.served.model),
            tools: turn.definitions().to_vec(),
            options: self.options(),
        }
    }

    /// How the model is to answer: as is said of it, then of its variant, then of the agent.
    fn options(&self) -> Options {
        let (agent, info) = (&*self.agent, &self.served.info);
        let variant = agent.variant.as_ref().and_then(|name| info.variants.get(name));
        let layers = std::iter::once(&info.options).chain(variant).chain([&agent.options.extra]);
        let mut extra = serde_json::Value::Object(serde_json::Map::new());
        layers.for_each(|layer| merge(&mut extra, serde_json::Value::Object(layer.clone())));
        let extra = extra.as_object().cloned().unwrap_or_default();
        Options { extra, ..agent.options.clone() }
    }

    /// Keeps in the conversation that there was no answer, so that whoever reads it knows.
    async fn keep_failure(&mut self, error: &ProviderError) -> Result<(), StoreError> {
        let mut message = Message::new(Role::Assistant, self.agent.name.clone());
        message.model = Some(self.served.model.clone());
        message.finish = Some(Finish::Failed(error.to_string()));
        self.agency.parts().transcript.save(&self.lease, &message).await?;
        self.history.messages.push(message);
        Ok(())
    }

    fn tell_retry(&self, attempt: u32, pause: Duration, error: &ProviderError) {
        self.agency.parts().services.events.tell(|| Event::Session {
            name: "session.status",
            session: self.session().clone(),
            body: json!({
                "type": "retry",
                "attempt": attempt,
                "message": error.to_string(),
                "waitMs": u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            }),
        });
    }
}

/// How long to wait after so many failures.
fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2u32.saturating_pow(failures)).min(LONGEST_PAUSE)
}

enum Unheard {
    Provider(ProviderError),
    Store(StoreError),
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
    fn new(conversation: &'c mut Conversation, turn: Arc<Turn>) -> Answer<'c> {
        let mut message = Message::new(Role::Assistant, conversation.agent.name.clone());
        message.model = Some(conversation.served.model.clone());
        let at_once = conversation.agency.parts().settings.calls_at_once.max(1);
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
        }
    }

    fn has_calls(&self) -> bool {
        self.message.calls().next().is_some()
    }

    /// Listens to the end. Calls begin as soon as they are complete and on record.
    async fn listen(&mut self, prompt: &Prompt) -> Result<(), Unheard> {
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
    async fn hear(&mut self, delta: Delta) -> Result<bool, StoreError> {
        match delta {
            Delta::Text(text) => {
                self.say(|| Saying::Text(text.clone()));
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

    fn say(&self, delta: impl FnOnce() -> Saying) {
        let (session, message) = (self.conversation.session(), &self.message.id);
        self.conversation.agency.parts().services.events.tell(|| Event::Said {
            session: session.clone(),
            message: message.clone(),
            delta: delta(),
        });
    }

    /// Nothing of it counts: whoever heard some of it is told so.
    fn take_back(self) {
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
        let mut ended = match result {
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
        slim(&mut ended);
        self.ended.insert(call, ended);
    }

    /// Awaits the calls, and puts the answer into the conversation.
    async fn settle(mut self, interrupt: &Interrupt, is_last: bool) -> Result<Step, RunError> {
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
    async fn stop(mut self, finish: Finish) -> Result<(), RunError> {
        self.stop_calls().await;
        for call in self.message.calls() {
            self.ended.entry(call.call.clone()).or_insert(Ended::Cancelled);
        }
        self.keep(finish).await
    }

    async fn keep(self, finish: Finish) -> Result<(), RunError> {
        let Answer { conversation, mut message, ended, .. } = self;
        message.finish = Some(finish);
        let saved = conversation.agency.parts().transcript.save(&conversation.lease, &message).await;
        conversation.history.messages.push(message);
        conversation.history.ended.extend(ended);
        Ok(saved?)
    }
}
