//! A step of a conversation: the model is asked until there is an answer, and the answer is taken to its end.

use std::sync::Arc;
use std::time::Duration;

use haft::{Audience, Event, Finish, Message, Registry, Role, StoreError, Turn, TurnSpec, Viewer};
use serde_json::json;

use crate::answer::{Answer, Unheard};
use crate::conversation::{Conversation, Onward, RunError, Step};
use crate::influence::Compacted;
use crate::interrupt::Interrupt;
use crate::provider::{Options, Prompt, ProviderError, Told};
use crate::wire::merge;

/// What the model is told at its last step.
const LAST_STEP: &str = "Tools are disabled after the maximum agent steps. Answer with words only: say what you have done, what is left to do, and what you recommend to do next.";
/// The first pause before a provider is asked again; each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Whoever wants to be left alone for longer has no answer.
const PATIENCE: Duration = Duration::from_secs(600);
/// The longest pause that nobody asked for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How a pause ended.
pub(crate) enum Pause {
    Over,
    Interrupted,
}

impl Conversation {
    /// Has the model answer for so many times since it was spoken to, and settles the calls it makes.
    pub(crate) async fn step(&mut self, nth: u32, interrupt: &Interrupt) -> Result<Step, RunError> {
        let is_last = self.agent.steps.is_some_and(|steps| nth >= steps.max(1));
        let turn = Arc::new(self.turn(is_last).await?);
        let mut pauses = 0;
        loop {
            let prompt = tokio::select! {
                prompt = self.prompt(&turn, is_last) => prompt?,
                () = interrupt.fired() => return Ok(Step::Interrupted),
            };
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
                Err(Unheard::Influence(error)) => {
                    answer.stop(Finish::Failed(error.to_string())).await?;
                    return Err(RunError::Influence(error));
                }
                Err(Unheard::Provider(error)) => error,
            };
            if answer.has_calls() {
                // What it asked for is under way and cannot be unsaid: the model sees what came of it and goes on.
                let step = answer.settle(interrupt, is_last).await?;
                return self.after_break(step, error, interrupt).await;
            }
            let settings = &answer.conversation.agency.parts().settings;
            let may_compact = settings.compacts && pauses == 0 && matches!(error, ProviderError::TooLong(_));
            answer.take_back();
            if may_compact {
                pauses += 1;
                match self.compact(interrupt, Compacted::Overflowing).await? {
                    Onward::GoesOn => continue,
                    Onward::Stops => return Ok(Step::Stop),
                }
            }
            match self.wait_after(error, &mut pauses, interrupt).await {
                Ok(Pause::Over) => {}
                Ok(Pause::Interrupted) => return Ok(Step::Interrupted),
                Err(error) => {
                    self.keep_failure(&error).await?;
                    return Err(error.into());
                }
            }
        }
    }

    /// Waits until the provider may be asked again. Gives the error back if that is no use, or was done often enough.
    pub(crate) async fn wait_after(
        &self,
        error: ProviderError,
        pauses: &mut u32,
        interrupt: &Interrupt,
    ) -> Result<Pause, ProviderError> {
        let retry = error.retry().filter(|_| *pauses < self.agency.parts().settings.retries);
        let retry = retry.filter(|wanted| wanted.is_none_or(|wanted| wanted <= PATIENCE));
        let Some(wanted) = retry else { return Err(error) };
        let pause = wanted.unwrap_or_else(|| pause_after(*pauses));
        *pauses += 1;
        self.tell_retry(*pauses, pause, &error);
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(Pause::Over),
            () = interrupt.fired() => Ok(Pause::Interrupted),
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

    async fn prompt(&mut self, turn: &Turn, is_last: bool) -> Result<Prompt, RunError> {
        let conversation = self.told().await?;
        let system = self.agency.parts().agents.system(&self.agent, &self.served.model);
        let mut prompt = self.prompt_of(system, conversation, self.options()).await?;
        if is_last {
            prompt.system.push(LAST_STEP.to_owned());
        }
        prompt.tools = turn.definitions().to_vec();
        Ok(prompt)
    }

    /// What the model is told, after those who have a say in it.
    pub(crate) async fn prompt_of(
        &self,
        system: Vec<String>,
        conversation: Vec<Arc<Told>>,
        options: Options,
    ) -> Result<Prompt, RunError> {
        let influence = &self.agency.parts().influence;
        let at = self.moment();
        Ok(Prompt {
            model: self.served.model.id.clone(),
            agent: self.agent.name.clone(),
            system: influence.system(at, system).await.map_err(RunError::Influence)?,
            conversation,
            tools: Vec::new(),
            options: influence.options(at, options).await.map_err(RunError::Influence)?,
            headers: influence.headers(at).await.map_err(RunError::Influence)?,
        })
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
        self.past.messages.push(message);
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
