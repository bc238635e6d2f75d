//! A conversation: what the person says, what the model answers, until it has no more to do.

use std::collections::HashSet;
use std::sync::Arc;

use haft::{
    AgentId, BoxError, CallId, CallPart, Event, Finish, Lease, Message, Model, Note, Part, Rejection, Role,
    SessionId, StoreError, TurnError, Usage,
};
use serde_json::json;

use crate::agency::Agency;
use crate::agent::{AgentSpec, Served};
use crate::context::{self, Context};
use crate::influence::{Compacted, Moment};
use crate::interrupt::Interrupt;
use crate::past::{Ending, Past};
use crate::provider::{ProviderError, Told};
use crate::pruning;

/// A conversation that this process holds. Dropping it stops whatever it does and lets others go on with it.
pub struct Conversation {
    pub(crate) agency: Agency,
    pub(crate) lease: Lease,
    pub(crate) agent: Arc<AgentSpec>,
    pub(crate) served: Served,
    pub(crate) past: Past,
    pub(crate) pruned: HashSet<CallId>,
    pub(crate) context: Context,
    waits_for_tasks: bool,
    /// How many answers in a row broke off after their calls had begun.
    pub(crate) broken: u32,
}

/// How it ended that somebody said something.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub end: End,
    /// What the model said last.
    pub text: String,
    /// What was counted.
    pub usage: Usage,
    /// How often the model answered.
    pub steps: u32,
    /// What was refused to it, in the words for programs of [`Rejection::kind`].
    pub refused: Vec<&'static str>,
}

/// Why an agent stopped.
#[derive(Debug)]
pub enum End {
    /// It had no more to do.
    Done,
    /// The person said no.
    Declined,
    /// Somebody interrupted it.
    Interrupted,
    /// It went on asking for what it cannot have.
    Stuck,
    /// There was no answer.
    Failed(RunError),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its provider has none.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The tools cannot be offered.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The record cannot be written, so nothing may happen.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no agent to go on.
    #[error(transparent)]
    Agent(BoxError),
    /// Somebody who has a say in it failed.
    #[error(transparent)]
    Influence(BoxError),
}

/// What a model is told that was interrupted.
const GO_ON: &str = "Go on where you were interrupted.";
/// What a model is told whose answer ran out of room.
const CUT_OFF: &str =
    "Your answer was cut off at its length limit. Go on from there, with less in each answer.";
/// So often an answer may run out of room before the person is asked to help.
const CUTS_MAX: u32 = 3;
/// So many answers in a row may ask for nothing but what is refused or does not exist. Each one costs.
const FRUITLESS_MAX: u32 = 12;

fn in_place_of_the_person(text: &str) -> Note {
    Note::new(vec![Part::synthetic(text)])
}

/// Whether the agent works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Onward {
    GoesOn,
    /// Somebody who has a say in it wants it to wait for the person.
    Stops,
}

/// What a step of the conversation came to.
pub(crate) enum Step {
    /// The model waits for what came of its calls.
    GoOn,
    /// It has said what it had to say.
    Stop,
    /// It ran out of room, and had more to say.
    Cut {
        /// It was writing a call, and sees what came of that.
        in_call: bool,
    },
    Declined,
    Interrupted,
}

impl Conversation {
    pub(crate) fn new(
        agency: Agency,
        lease: Lease,
        agent: Arc<AgentSpec>,
        served: Served,
        past: Past,
        pruned: HashSet<CallId>,
        waits_for_tasks: bool,
    ) -> Conversation {
        let context = Context::new(past.shelf.another());
        Conversation { agency, lease, agent, served, past, pruned, context, waits_for_tasks, broken: 0 }
    }

    /// The session it is held in.
    pub fn session(&self) -> &SessionId {
        self.lease.session()
    }

    /// The agent that is spoken to.
    pub fn agent(&self) -> &AgentId {
        &self.agent.name
    }

    /// The model that answers.
    pub fn model(&self) -> &Model {
        &self.served.model
    }

    /// What was said so far.
    pub fn messages(&self) -> &[Message] {
        &self.past.messages
    }

    /// Says something, and has the agent work until it has no more to do. What arrives meanwhile is said, too. Saying
    /// nothing has it go on where it was interrupted.
    pub async fn say(&mut self, parts: Vec<Part>, interrupt: &Interrupt) -> Outcome {
        self.say_telling(parts, interrupt, || {}).await
    }

    /// The same, and tells as soon as it is said: what is left in the inbox from then on comes after it.
    pub async fn say_telling(
        &mut self,
        parts: Vec<Part>,
        interrupt: &Interrupt,
        is_said: impl FnOnce() + Send,
    ) -> Outcome {
        let mut outcome = Outcome {
            end: End::Done,
            text: String::new(),
            usage: Usage::default(),
            steps: 0,
            refused: Vec::new(),
        };
        self.status("busy");
        outcome.end = match self.work(parts, interrupt, is_said, &mut outcome).await {
            Ok(end) => end,
            Err(error) => {
                let message = haft::causes(&error);
                self.tell("session.error", json!({ "message": message })).await;
                End::Failed(error)
            }
        };
        self.tell("session.idle", json!({})).await;
        outcome
    }

    async fn work(
        &mut self,
        parts: Vec<Part>,
        interrupt: &Interrupt,
        is_said: impl FnOnce() + Send,
        outcome: &mut Outcome,
    ) -> Result<End, RunError> {
        // What waited until now was meant to be said before this.
        while let Some(note) = self.agency.parts().inbox.take(self.session()) {
            self.add(note).await?;
        }
        match parts.is_empty() {
            true if !self.is_open() => return Ok(End::Done),
            true if self.ends_with_words() => self.add(in_place_of_the_person(GO_ON)).await?,
            true => {}
            false => self.add(Note::new(parts)).await?,
        }
        is_said();
        let (mut cuts, mut steps, mut fruitless) = (0, 0, 0);
        loop {
            if interrupt.is_fired() {
                return Ok(End::Interrupted);
            }
            if self.make_room(interrupt).await? == Onward::Stops {
                return Ok(End::Done);
            }
            steps += 1;
            outcome.steps += 1;
            let step = self.step(steps, interrupt).await?;
            self.count(outcome);
            fruitless = if self.is_fruitless() { fruitless + 1 } else { 0 };
            match step {
                Step::GoOn if fruitless >= FRUITLESS_MAX => return Ok(End::Stuck),
                Step::Declined if !self.agency.parts().settings.continues_on_decline => {
                    return Ok(End::Declined);
                }
                Step::Interrupted => return Ok(End::Interrupted),
                Step::GoOn | Step::Declined => {
                    cuts = 0;
                    while let Some(note) = self.agency.parts().inbox.take(self.session()) {
                        self.add(note).await?;
                    }
                }
                Step::Cut { in_call } if cuts < CUTS_MAX => {
                    cuts += 1;
                    if !in_call {
                        self.add(in_place_of_the_person(CUT_OFF)).await?;
                    }
                }
                Step::Stop | Step::Cut { .. } => {
                    let note = tokio::select! {
                        note = self.next_note() => note,
                        () = interrupt.fired() => return Ok(End::Interrupted),
                    };
                    let Some(note) = note else { return Ok(End::Done) };
                    while let Some(aside) = self.agency.parts().inbox.take_aside(self.session()) {
                        self.add(aside).await?;
                    }
                    self.add(note).await?;
                    // A new question deserves as many steps as the first.
                    steps = 0;
                }
            }
        }
    }

    /// Whether the model has something to answer to.
    fn is_open(&self) -> bool {
        self.past.messages.last().is_some_and(|last| {
            last.role == Role::User || last.calls().next().is_some() || last.finish != Some(Finish::Stop)
        })
    }

    /// Whether nothing came of the last answer: every call in it was turned away before it began.
    fn is_fruitless(&self) -> bool {
        let turned_away = |call: &CallPart| {
            let rejection = self.past.ended.get(&call.call).and_then(Ending::rejection);
            rejection.is_some_and(|rejection| !matches!(rejection, Rejection::Failed(_)))
        };
        let last = self.past.messages.last();
        last.is_some_and(|last| last.calls().next().is_some() && last.calls().all(turned_away))
    }

    /// Whether the model spoke last and called nothing: providers want to be told to go on.
    fn ends_with_words(&self) -> bool {
        let last = self.past.messages.last();
        last.is_some_and(|last| last.role == Role::Assistant && last.calls().next().is_none())
    }

    async fn next_note(&self) -> Option<Note> {
        match self.waits_for_tasks {
            true => self.agency.next_note(self.session()).await,
            false => self.agency.parts().inbox.take_question(self.session()),
        }
    }

    /// Adds to the conversation what the person, or haft in their place, says.
    async fn add(&mut self, note: Note) -> Result<(), RunError> {
        if let Some(name) = note.agent.filter(|name| *name != self.agent.name) {
            self.switch(&name)?;
        }
        let mut message = Message::new(Role::User, self.agent.name.clone());
        message.model = Some(self.served.model.clone());
        message.id = note.id;
        message.parts = note.parts;
        message.finish = Some(Finish::Stop);
        let message = self.influenced(message).await?;
        self.agency.parts().transcript.save(&self.lease, &message).await?;
        self.past.messages.push(message);
        Ok(())
    }

    /// What was said, after those who have a say in it. What haft says in somebody's place is its own.
    async fn influenced(&self, message: Message) -> Result<Message, RunError> {
        let is_own = |part: &Part| matches!(part, Part::Text { is_synthetic: true, .. });
        if message.parts.iter().all(is_own) {
            return Ok(message);
        }
        let influence = &self.agency.parts().influence;
        let Message { parts, .. } =
            influence.said(self.moment(), message.clone()).await.map_err(RunError::Influence)?;
        Ok(Message { parts, ..message })
    }

    /// Where the conversation is, for those who have a say in it.
    pub(crate) fn moment(&self) -> Moment<'_> {
        let (session, agent, served) = (self.session(), &self.agent.name, &self.served);
        let asked = self.past.messages.iter().rfind(|message| message.role == Role::User);
        Moment { session, agent, served, asked }
    }

    /// Has another agent go on, with its own rules and no more than those of whoever began the session.
    fn switch(&mut self, name: &AgentId) -> Result<(), RunError> {
        let agent = self.agency.parts().agents.agent(name).map_err(RunError::Agent)?;
        self.speak_to(agent);
        Ok(())
    }

    /// Takes out of the conversation what nobody needs any more, or summarises it if it is too long.
    async fn make_room(&mut self, interrupt: &Interrupt) -> Result<Onward, RunError> {
        let parts = self.agency.parts();
        if parts.settings.compacts && self.is_too_long() {
            return self.compact(interrupt, Compacted::Long).await;
        }
        if !parts.settings.prunes {
            return Ok(Onward::GoesOn);
        }
        let prunable = pruning::prunable(&self.past);
        if prunable.is_empty() {
            return Ok(Onward::GoesOn);
        }
        self.past.clear(&prunable);
        self.pruned.extend(prunable);
        self.context.forget();
        pruning::remember(&*parts.memory, self.lease.session(), &self.pruned).await?;
        Ok(Onward::GoesOn)
    }

    /// The conversation as its model is told it.
    pub(crate) async fn told(&mut self) -> Result<Vec<Arc<Told>>, RunError> {
        let influence = self.agency.parts().influence.clone();
        if !influence.sees_conversation() {
            self.context.catch_up(&self.past, &self.served.model);
            return Ok(self.context.told().to_vec());
        }
        let recalled = context::recalled(&self.past).await.map_err(|error| ProviderError::lost(&error))?;
        let recalled = influence.conversation(self.moment(), recalled).await.map_err(RunError::Influence)?;
        Ok(context::retold(&recalled, &self.past, &self.served.model))
    }

    /// Adds up what the last answer cost, and what it was refused.
    fn count(&self, outcome: &mut Outcome) {
        let Some(message) = self.past.messages.iter().rfind(|message| message.role == Role::Assistant) else {
            return;
        };
        outcome.usage += message.usage;
        if let Some(text) = message.last_text() {
            text.clone_into(&mut outcome.text);
        }
        for call in message.calls() {
            let rejection = self.past.ended.get(&call.call).and_then(Ending::rejection);
            if let Some(rejection @ Rejection::Refused(_)) = rejection {
                outcome.refused.push(rejection.kind());
            }
        }
    }

    /// Says what the session is doing, to whoever listens.
    pub(crate) fn status(&self, status: &str) {
        self.agency.parts().services.events.tell(|| Event::Session {
            name: "session.status",
            session: self.session().clone(),
            body: json!({ "type": status }),
        });
    }

    /// Says what happened to the session. That it cannot be recorded changes nothing about it.
    pub(crate) async fn tell(&self, name: &'static str, body: serde_json::Value) {
        let event = Event::Session { name, session: self.session().clone(), body };
        let _unrecorded = self.agency.parts().services.events.publish(event).await;
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.agency.leave(self.lease.session());
    }
}
