//! Where plans are written, and how a session changes between planning and doing.

use std::path::{Path, PathBuf};

use haft::permission::{Ask, Choice, Gate, Inquired, Question, Reach, Resource, Showing};
use haft::{Action, AgentId, Inbox, Note, Part, SessionId, ToolContext, ToolError};

use crate::asking::Asking;
use crate::services::ToolServices;

const YES: &str = "Yes";

/// The file that a session's plan is written to, in the root of its project.
pub fn plan_file(base: &Path, session: &SessionId) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
    let name: String = session.as_str().chars().map(plain).collect();
    base.join(".opencode").join("plans").join(format!("{name}.md"))
}

/// A change of agents that the person has to agree to.
pub(crate) struct Switch {
    gate: Gate,
    asking: Asking,
    inbox: Inbox,
    base: PathBuf,
}

/// What a change is about.
pub(crate) struct SwitchTo {
    /// The action its rules are filed under.
    pub(crate) action: &'static str,
    /// The agent that goes on.
    pub(crate) agent: &'static str,
    /// A word or two for the question.
    pub(crate) header: &'static str,
    /// What the person is asked; `{plan}` is the file of the plan.
    pub(crate) question: &'static str,
    /// What yes and no mean.
    pub(crate) choices: [&'static str; 2],
    /// What the agent is told.
    pub(crate) told: &'static str,
}

impl Switch {
    pub(crate) fn new(services: &ToolServices) -> Switch {
        Switch {
            gate: services.gate.clone(),
            asking: Asking::new(services),
            inbox: services.inbox.clone(),
            base: services.workspace.base().to_owned(),
        }
    }

    /// Asks the person, and has the other agent go on if they agree. A no ends the turn.
    pub(crate) async fn to(&self, to: &SwitchTo, context: &ToolContext) -> Result<String, ToolError> {
        drop(self.gate.grant(context, Switching(to.action)).await?);
        let plan = plan_file(&self.base, &context.session);
        let plan = plan.strip_prefix(&self.base).unwrap_or(&plan).to_string_lossy().into_owned();
        let choice =
            |label: &str, means: &str| Choice { label: label.to_owned(), description: means.to_owned() };
        let question = Inquired {
            question: to.question.replace("{plan}", &plan),
            header: to.header.to_owned(),
            options: vec![choice(YES, to.choices[0]), choice("No", to.choices[1])],
            is_multiple: false,
            takes_words: false,
        };
        let answers = self.asking.ask(context, vec![question]).await?;
        if answers.first().is_none_or(|chosen| chosen.len() != 1 || chosen[0] != YES) {
            return Err(ToolError::Declined);
        }
        let agent = AgentId::parse(to.agent).map_err(ToolError::defect)?;
        let part = Part::synthetic(to.told.replace("{plan}", &plan));
        self.inbox.deliver(&context.session, Note::new(vec![part]).to(agent));
        Ok(plan)
    }
}

/// Changing the agent, as something that consent is needed for.
struct Switching(&'static str);

impl Ask for Switching {
    fn questions(&self) -> Vec<Question> {
        vec![Question::new(Action::new(self.0), Resource::new("*"))]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        Showing { title: "change the agent of this session".to_owned(), detail: String::new() }
    }
}
