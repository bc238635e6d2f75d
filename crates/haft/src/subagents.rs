//! The seam to other agents: a call may have one work in a session of its own.

use crate::BoxFuture;
use crate::audience::Model;
use crate::error::ToolError;
use crate::id::{AgentId, SessionId};
use crate::tool::ToolContext;

/// An agent that can be given a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    /// Its name.
    pub name: AgentId,
    /// What it is good for.
    pub description: Option<String>,
}

/// What an agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Which agent.
    pub agent: AgentId,
    /// A few words for a person.
    pub description: String,
    /// What it is told.
    pub prompt: String,
    /// The session to go on with, if there is one.
    pub resume: Option<SessionId>,
    /// Whether to return at once; what comes of it is told later.
    pub in_background: bool,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskState {
    /// It goes on in the background.
    Running,
    /// It is done.
    Completed,
    /// It ended without a result.
    Failed,
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReport {
    /// The session it was done in, by which it can be gone on with.
    pub session: SessionId,
    /// The model that did it.
    pub model: Option<Model>,
    /// How far it is.
    pub state: TaskState,
    /// What the agent said last, or why it failed.
    pub text: String,
}

impl TaskReport {
    /// The report as a model reads it, with a sentence about it if one is needed.
    pub fn envelope(&self, summary: Option<&str>) -> String {
        let (state, tag) = match self.state {
            TaskState::Running => ("running", "task_result"),
            TaskState::Completed => ("completed", "task_result"),
            TaskState::Failed => ("error", "task_error"),
        };
        let summary = summary.map(|summary| format!("<summary>{summary}</summary>\n")).unwrap_or_default();
        let (session, text) = (&self.session, &self.text);
        format!("<task id=\"{session}\" state=\"{state}\">\n{summary}<{tag}>\n{text}\n</{tag}>\n</task>")
    }
}

/// Runs other agents.
pub trait SubAgents: Send + Sync {
    /// Those that an agent can give tasks to, sorted by name.
    fn available(&self, caller: &AgentId) -> Vec<SubAgent>;

    /// Has an agent do a task, with no more rights than the caller has. Dropping the future cancels it, unless it
    /// went to the background.
    fn run<'a>(
        &'a self,
        context: &'a ToolContext,
        task: Task,
    ) -> BoxFuture<'a, Result<TaskReport, ToolError>>;
}
