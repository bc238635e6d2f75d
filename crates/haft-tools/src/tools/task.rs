//! The tool `task`: has another agent do something in a session of its own.

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::{Ask, Effect, Gate, Question, Reach, Resource, Showing, strictest};
use haft::{
    Action, AgentId, Encoded, Executor, Factory, InitContext, Presented, SessionId, SubAgent, SubAgents,
    Task, TaskState, Tool, ToolContext, ToolError, nearest,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::services::ToolServices;

const ACTION: &str = "task";
/// What is told of an agent that does not say what it is good for.
const UNDESCRIBED: &str = "This subagent should only be called manually by the user.";

/// Has another agent do something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What is to be done, in three to five words.
    description: String,
    /// The task. The agent knows nothing but this: say all that it needs, and what it is to report.
    prompt: String,
    /// The name of the agent.
    subagent_type: String,
    /// The command that led to this task.
    #[expect(dead_code, reason = "it is part of the transcript")]
    command: Option<String>,
    /// The id of an earlier task, to go on with it instead of beginning anew.
    task_id: Option<String>,
    /// Whether to go on at once; what comes of the task is told later.
    background: Option<bool>,
}

/// What came of a task.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The session it was done in, by which it can be gone on with.
    session: String,
    /// The session that gave it.
    parent: String,
    /// How far it is: running, completed or error.
    state: String,
    /// What the agent said last, or why it failed, as a model reads it.
    text: String,
    /// Who serves the model that did it, and its id there.
    model: Option<(String, String)>,
}

/// Makes the tool for each agent, which is told whom it can give tasks to.
pub(crate) fn factory(services: &ToolServices) -> Factory {
    let (gate, subagents) = (services.gate.clone(), services.subagents.clone());
    Arc::new(move |init: InitContext| {
        let (gate, subagents) = (gate.clone(), subagents.clone());
        let mut agents = subagents.as_ref().map(|all| all.available(&init.agent)).unwrap_or_default();
        let action = Action::new(ACTION);
        agents
            .retain(|agent| init.rules.effect(&action, &Resource::new(agent.name.as_str())) != Effect::Deny);
        let tool = Tool::new(TaskTool { gate, subagents, agents });
        Box::pin(std::future::ready(Ok(tool)))
    })
}

struct TaskTool {
    gate: Gate,
    subagents: Option<Arc<dyn SubAgents>>,
    /// Those that the model is told of.
    agents: Vec<SubAgent>,
}

impl Executor for TaskTool {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[("session_id", "task_id")];

    fn description(&self) -> Option<Cow<'_, str>> {
        let line = |agent: &SubAgent| {
            format!("- {}: {}", agent.name, agent.description.as_deref().unwrap_or(UNDESCRIBED))
        };
        let agents: Vec<String> = self.agents.iter().map(line).collect();
        let agents = if agents.is_empty() { "(none is available)".to_owned() } else { agents.join("\n") };
        Some(include_str!("task.txt").replace("{agents}", &agents).into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let Some(subagents) = &self.subagents else {
            let message =
                "a task needs a conversation with a model, and there is none here; start one with `haft run`";
            return Err(ToolError::failure(message));
        };
        let name = input.subagent_type.trim();
        let target = Delegated { agent: name.to_owned(), description: input.description.clone() };
        let known = subagents.available(&context.agent);
        if !known.iter().any(|agent| agent.name.as_str() == name) {
            // One that is denied is refused by its rule; any other is nobody.
            for question in target.questions() {
                if strictest(&self.gate.decisions(context, &question).await?) == Effect::Deny {
                    drop(self.gate.grant(context, target).await?);
                    break;
                }
            }
            return Err(unknown(name, &known));
        }
        let agent = AgentId::parse(name).map_err(|_| unknown(name, &known))?;
        let resume = match input.task_id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
            Some(id) => Some(SessionId::parse(id).map_err(|error| {
                ToolError::failure(format!(
                    "task_id is not the id of a task: {error}; leave it out to begin a new one"
                ))
            })?),
            None => None,
        };
        drop(self.gate.grant(context, target).await?);
        let task = Task {
            agent,
            description: input.description.clone(),
            prompt: input.prompt.clone(),
            resume,
            in_background: input.background == Some(true),
        };
        let report = subagents.run(context, task).await?;
        let text = report.envelope(None);
        let state = match report.state {
            TaskState::Running => "running",
            TaskState::Completed => "completed",
            TaskState::Failed => "error",
        };
        Ok(Output {
            session: report.session.as_str().to_owned(),
            parent: context.session.as_str().to_owned(),
            state: state.to_owned(),
            text,
            model: report.model.map(|model| (model.provider, model.id)),
        })
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let Output { session, parent, state: _, text, model } = &**output;
        let mut presented = Presented::text(text.as_str())
            .titled(input.description.as_str())
            .with("sessionId", session.as_str())
            .with("parentSessionId", parent.as_str());
        if let Some((provider, id)) = model {
            presented = presented.with("model", json!({ "providerID": provider, "modelID": id }));
        }
        presented
    }
}

fn unknown(name: &str, known: &[SubAgent]) -> ToolError {
    let names = || known.iter().map(|agent| agent.name.as_str());
    let shown: String = name.chars().take(80).collect();
    let hint = match nearest(name, names()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "no agents are available".to_owned(),
        None => format!("available are {}", names().collect::<Vec<_>>().join(", ")),
    };
    ToolError::Failure(format!("Unknown agent type: {shown} is not a valid agent type; {hint}"))
}

/// An agent that is to be given a task.
struct Delegated {
    agent: String,
    description: String,
}

impl Ask for Delegated {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(Action::new(ACTION), Resource::new(self.agent.as_str())).saving("*")]
    }

    /// What the agent does is not known yet.
    fn reach(&self) -> Reach {
        Reach::Changes
    }

    fn show(&self) -> Showing {
        Showing { title: format!("give the agent {} a task", self.agent), detail: self.description.clone() }
    }
}

#[cfg(test)]
mod tests;
