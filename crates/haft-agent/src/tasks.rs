//! Agents that work for agents: each in a session of its own, with no more rights than whoever gave it its task.

use std::sync::Arc;

use haft::permission::{Effect, Layer, Origin, Rule, Ruleset};
use haft::{Note, Part, SessionId, Task, TaskReport, TaskState, ToolContext, ToolError};

use crate::agency::{Agency, OpenError, Start, UnderWay};
use crate::agent::{AgentSpec, Mode};
use crate::conversation::{Conversation, End, Outcome};
use crate::interrupt::Interrupt;

impl Agency {
    /// Has an agent do a task for the caller, as [`haft::SubAgents::run`] says.
    pub async fn run_task(&self, context: &ToolContext, task: Task) -> Result<TaskReport, ToolError> {
        let caller = self.under_way(&context.session).ok_or_else(|| {
            ToolError::failure("a task needs a conversation, and this session is none; use haft run")
        })?;
        let conversation = self.open_task(context, &task, &caller).await?;
        match task.in_background {
            false => Ok(work(conversation, task.prompt).await),
            true => Ok(self.in_background(context, conversation, task)),
        }
    }

    async fn open_task(
        &self,
        context: &ToolContext,
        task: &Task,
        caller: &UnderWay,
    ) -> Result<Conversation, ToolError> {
        let parts = self.parts();
        let depth_max = parts.settings.subagent_depth;
        if caller.depth >= depth_max {
            return Err(ToolError::failure(format!(
                "Subagent depth limit reached ({depth_max}). Increase \"subagent_depth\" to allow nested subagents."
            )));
        }
        let agent = parts.agents.agent(&task.agent).ok().filter(|agent| agent.mode != Mode::Primary);
        let agent = agent.ok_or_else(|| {
            ToolError::failure(format!(
                "Unknown agent type: {} is not a valid agent type",
                haft::visible(task.agent.as_str())
            ))
        })?;
        let session = self.task_session(context, task).await;
        let outer = Arc::new(without(&parts.settings.not_for_subagents, &caller.rules, &agent));
        let model = agent.model.clone().or_else(|| Some(caller.model.clone()));
        let start = Start {
            session,
            agent: agent.name.clone(),
            model,
            title: format!("{} (@{} subagent)", task.description, agent.name),
            parent: Some(context.session.clone()),
            waits_for_tasks: true,
        };
        self.open_within(start, Some((outer, caller.depth))).await.map_err(|error| match error {
            OpenError::Store(error) => error.into(),
            error @ (OpenError::Agent(_) | OpenError::Model(_) | OpenError::Lease(_)) => {
                ToolError::failure(error.to_string())
            }
        })
    }

    /// The session of the task that is gone on with, if it is the caller's own, or a new one.
    async fn task_session(&self, context: &ToolContext, task: &Task) -> SessionId {
        let Some(wanted) = &task.resume else { return SessionId::mint() };
        match self.parts().transcript.history(wanted).await {
            Ok(history) if history.parent.as_ref() == Some(&context.session) => wanted.clone(),
            Ok(_) | Err(_) => SessionId::mint(),
        }
    }

    /// Lets a task go on by itself. What comes of it is said in the caller's conversation.
    fn in_background(&self, context: &ToolContext, conversation: Conversation, task: Task) -> TaskReport {
        let report = TaskReport {
            session: conversation.session().clone(),
            model: Some(conversation.model().clone()),
            state: TaskState::Running,
            text: "The task goes on in the background. You are told when it has ended: do not wait, sleep or ask for it, and do not do its work yourself.".to_owned(),
        };
        let caller = context.session.clone();
        self.expect_background(&caller);
        let lost = TaskReport {
            state: TaskState::Failed,
            text: "The process that ran it ended before the task did. What it did until then stays done; give it again with this task_id to have it go on.".to_owned(),
            ..report.clone()
        };
        let lost = lost.envelope(Some(&format!("Background task lost: {}", task.description)));
        let note = Note::new(vec![Part::synthetic(lost)]);
        self.parts().inbox.foresee(&caller, &note);
        let mut telling = Telling {
            agency: self.clone(),
            caller: caller.clone(),
            note,
            report: None,
            task: task.description,
        };
        let running = tokio::spawn(async move {
            telling.report = Some(work(conversation, task.prompt).await);
            drop(telling);
        });
        self.add_background(&caller, running.abort_handle());
        report
    }
}

/// Tells the caller what came of a task in the background, however it ended.
struct Telling {
    agency: Agency,
    caller: SessionId,
    /// What is told if nothing else can be.
    note: Note,
    task: String,
    report: Option<TaskReport>,
}

impl Drop for Telling {
    fn drop(&mut self) {
        let text = match self.report.take() {
            Some(report) => {
                let how = if report.state == TaskState::Failed { "failed" } else { "completed" };
                report.envelope(Some(&format!("Background task {how}: {}", self.task)))
            }
            None => format!("Background task failed: {}. It broke off.", self.task),
        };
        let note = Note { parts: vec![Part::synthetic(text)], ..self.note.clone() };
        self.agency.tell_background(&self.caller, note);
    }
}

/// Has an agent do what it is told, to the end.
async fn work(mut conversation: Conversation, prompt: String) -> TaskReport {
    // Whoever waits interrupts it by no longer waiting.
    let outcome = conversation.say(vec![Part::text(prompt)], &Interrupt::default()).await;
    let Outcome { end, text, .. } = outcome;
    let (state, text) = match end {
        End::Done => (TaskState::Completed, text),
        End::Declined => {
            (TaskState::Failed, format!("The user declined something the agent wanted to do.\n{text}"))
        }
        End::Interrupted => (TaskState::Failed, format!("The agent was interrupted.\n{text}")),
        End::Stuck => {
            let why = "The agent was stopped, because it went on asking for what it cannot have.";
            (TaskState::Failed, format!("{why}\n{text}"))
        }
        End::Failed(error) => (TaskState::Failed, haft::causes(&error)),
    };
    TaskReport {
        session: conversation.session().clone(),
        model: Some(conversation.model().clone()),
        state,
        text,
    }
}

/// The caller's rules, less what an agent that works for another does not do unless its own rules speak of it.
fn without(actions: &[String], caller: &Ruleset, agent: &AgentSpec) -> Ruleset {
    let speaks_of = |action: &String| {
        agent.rules.rules().any(|rule| rule.origin.layer == Layer::Agent && rule.action.as_str() == action)
    };
    let origin = || Origin::named(Layer::Session, "an agent that works for another");
    let mut rules = caller.clone();
    let unspoken = actions.iter().filter(|action| !speaks_of(action));
    rules.extend(unspoken.map(|action| Rule::new(action, "*", Effect::Deny, origin())));
    rules
}
