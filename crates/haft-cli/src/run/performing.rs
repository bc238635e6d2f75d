//! Performs custom commands: fills the template, runs its shell parts, reads its files, lets plugins have their say,
//! and has the agent answer, or another one do it as a task.
//!
//! Whatever fails before the model is asked is told as that, and nothing is sent.

use std::sync::Arc;

use haft::{AgentId, Call, Event, Events, Part, Rejection, SettleError, Settlement};
use haft_agent::{Bearing, Conversation, End, Interrupt, Outcome};
use haft_plugin::Plugins;
use serde_json::{Value, json};

use super::attach::Attacher;
use super::draft::{Draft, Named, unescaped};
use super::naming::By;
use super::slash::Invocation;
use super::template::{Filled, Piece, fill};
use crate::config::{AgentMode, Config, CustomCommand};
use crate::exit::{Exit, Failure, of_open_error, of_rejection, of_settle_error};
use crate::plugins::{Commanded, before_command};

/// The tool that runs shell parts.
const SHELL: &str = "bash";
/// The tool that gives tasks to agents.
const TASKS: &str = "task";
/// Who does a task that names nobody.
const TASK_AGENT: &str = "general";
/// The event that a command was performed.
const EXECUTED: &str = "command.executed";

/// Performs.
pub(crate) struct Performer {
    pub(crate) attacher: Attacher,
    pub(crate) plugins: Plugins,
    pub(crate) events: Events,
    pub(crate) config: Arc<Config>,
}

/// Who answers a command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answering {
    /// The agent that is spoken to, or this one.
    Agent(Option<AgentId>),
    /// This one does it as a task, and the agent that is spoken to is told what came of it.
    Task(AgentId),
}

impl Performer {
    /// Performs a command to its end, and tells when its words were said.
    pub(crate) async fn perform(
        &self,
        conversation: &mut Conversation,
        invocation: &Invocation,
        interrupt: &Interrupt,
        is_said: impl FnOnce() + Send,
    ) -> Result<Outcome, Failure> {
        let performed: Result<Outcome, Failure> = async {
            let answering = answering(&self.config, &invocation.command)?;
            let agent = match &answering {
                Answering::Agent(agent) => agent.as_ref(),
                Answering::Task(_) => None,
            };
            let bearing = turned_to(conversation, agent, &invocation.command)?;
            let prepared = tokio::select! {
                prepared = self.prepared(conversation, invocation, &answering) => prepared,
                () = interrupt.fired() => Err(interrupted(invocation)),
            };
            let (parts, bearing) = match (prepared, answering) {
                (Err(failure), _) => {
                    conversation.turn_back(bearing);
                    return Err(failure);
                }
                (Ok(parts), Answering::Agent(_)) => (parts, Some(bearing)),
                // What came of a task is told to whom is spoken to.
                (Ok(parts), Answering::Task(_)) => {
                    conversation.turn_back(bearing);
                    (parts, None)
                }
            };
            let outcome = conversation.say_telling(parts, interrupt, is_said).await;
            if matches!(outcome.end, End::Done) {
                self.tell(conversation, invocation).await;
            }
            if let Some(bearing) = bearing {
                conversation.turn_back(bearing);
            }
            Ok(outcome)
        }
        .await;
        // Templates may hold what was put in from elsewhere.
        performed.map_err(|failure| failure.reworded(|message| self.config.as_written(message)))
    }

    /// What is to be said.
    async fn prepared(
        &self,
        conversation: &Conversation,
        invocation: &Invocation,
        answering: &Answering,
    ) -> Result<Vec<Part>, Failure> {
        let attacher = Attacher { agent: conversation.agent().clone(), ..self.attacher.clone() };
        let filled = fill(&invocation.command.template, &invocation.arguments);
        let filled = filled.map_err(|error| Failure::new(Exit::Usage, error))?;
        // What is missing is told before anything is run.
        let draft = drafted(&attacher, &filled, invocation)?;
        let mut text = String::new();
        for piece in &filled.pieces {
            match piece {
                Piece::Text(words) => text.push_str(&unescaped(words)),
                Piece::Shell(script) => text.push_str(&self.printed(&attacher, script).await?),
            }
        }
        if text.trim().is_empty() {
            let message =
                format!("the command {} says nothing if nothing is given to it", invocation.command.name);
            return Err(Failure::usage(message).hint("write what it is to be given after its name"));
        }
        let parts = attacher.parts(draft.saying(text)).await?;
        let commanded = Commanded {
            name: &invocation.command.name,
            arguments: &invocation.arguments.typed,
            session: conversation.session(),
            agent: conversation.agent(),
        };
        let parts = before_command(&self.plugins, &commanded, parts).await;
        let parts = parts.map_err(Failure::usage)?;
        match answering {
            Answering::Agent(_) => Ok(parts),
            Answering::Task(agent) => reported(&attacher, agent, invocation, &parts).await,
        }
    }

    /// What a shell part prints, as a model would be shown it.
    async fn printed(&self, attacher: &Attacher, script: &str) -> Result<String, Failure> {
        let about = format!("`{}`", haft::visible(&self.config.without_secrets(script)));
        let call = attacher.call(SHELL, json!({ "command": script, "background": false }), By::Template);
        settled(attacher, call, &about).await
    }

    /// Says that a command was performed. That it cannot be recorded changes nothing about it.
    async fn tell(&self, conversation: &Conversation, invocation: &Invocation) {
        let message = conversation.messages().last().map(|message| message.id.as_str().to_owned());
        let body = json!({
            "name": invocation.command.name,
            "arguments": invocation.arguments.typed,
            "messageID": message,
        });
        let event = Event::Session { name: EXECUTED, session: conversation.session().clone(), body };
        let _unrecorded = self.events.publish(event).await;
    }
}

/// Who answers a command: the agent that it names, as a task if that one works for other agents.
fn answering(config: &Config, command: &CustomCommand) -> Result<Answering, Failure> {
    let whose = || format!("the command {} ({})", command.name, command.place);
    let agent = command.agent.as_deref().map(|name| config.agent(name)).transpose();
    let agent =
        agent.map_err(|error| Failure::new(Exit::Usage, anyhow::Error::new(error).context(whose())))?;
    let is_task = config.is_task(command);
    if is_task && agent.as_ref().is_some_and(|agent| agent.mode == AgentMode::Primary) {
        let message = format!("{} is a task, and its agent takes none: it works for people", whose());
        return Err(
            Failure::usage(message).hint("name an agent that works for agents; haft agents lists them")
        );
    }
    let name = agent.map(|agent| agent.name);
    let parsed = |name: &str| AgentId::parse(name).map_err(Failure::usage);
    match is_task {
        true => parsed(name.as_deref().unwrap_or(TASK_AGENT)).map(Answering::Task),
        false => name.as_deref().map(parsed).transpose().map(Answering::Agent),
    }
}

fn turned_to(
    conversation: &mut Conversation,
    agent: Option<&AgentId>,
    command: &CustomCommand,
) -> Result<Bearing, Failure> {
    conversation.turn_to(agent, command.model.as_deref()).map_err(|error| {
        let whose = format!("the command {} ({})", command.name, command.place);
        Failure::new(of_open_error(&error), anyhow::Error::new(error).context(whose))
    })
}

/// What is said, without what commands print, and its files. Only those count that the template or the person names:
/// where a command's output will stand, there is nothing yet that could be part of a name.
/// The person's are those that were typed as such, and those that the template leaves to the person by `@$1`; a word
/// that happens to be the name of one is not.
fn drafted(attacher: &Attacher, filled: &Filled, invocation: &Invocation) -> Result<Draft, Failure> {
    let words = |piece: &Piece| match piece {
        Piece::Text(words) => words.clone(),
        Piece::Shell(_) => " ".to_owned(),
    };
    let written: String = filled.pieces.iter().map(words).collect();
    let own = std::iter::once(&invocation.arguments.typed).chain(&filled.pointed);
    let own: Vec<String> = own.flat_map(|text| Draft::mentioned(&attacher.workspace, text)).collect();
    let mentioned = Draft::mentioned(&attacher.workspace, &written).into_iter().map(|path| {
        let by = if own.contains(&path) { By::Person } else { By::Template };
        Named { path, by }
    });
    let files = invocation.files.iter().cloned().map(Named::by_person).chain(mentioned);
    Draft::with(&attacher.workspace, written, files, invocation.stdin.clone())
}

/// What came of a command that another agent did as a task, as the agent is told it that is spoken to.
async fn reported(
    attacher: &Attacher,
    agent: &AgentId,
    invocation: &Invocation,
    parts: &[Part],
) -> Result<Vec<Part>, Failure> {
    let mut prompt = Vec::new();
    for part in parts {
        match part {
            Part::Text { text, .. } => prompt.push(text.as_str()),
            Part::Media { .. } | Part::Reasoning { .. } | Part::Call(_) => {
                let message = format!(
                    "the command {} is a task, which takes nothing but text",
                    invocation.command.name
                );
                return Err(Failure::usage(message).hint("attach no images and no documents to it"));
            }
        }
    }
    let name = &invocation.command.name;
    let description = invocation.command.description.clone().unwrap_or_else(|| format!("/{name}"));
    let input: Value = json!({
        "description": description,
        "prompt": prompt.join("\n\n"),
        "subagent_type": agent.as_str(),
        "command": name,
    });
    let report = settled(
        attacher,
        attacher.call(TASKS, input, By::Template),
        &format!("the task of the command {name}"),
    )
    .await?;
    let told = format!(
        "The user had the agent {agent} do this as a task. Tell the user what came of it, and go on with whatever that \
         asks for.\n{report}"
    );
    Ok(vec![Part::text(invocation.line.clone()), Part::synthetic(told)])
}

/// What a call came to, if it was done.
async fn settled(attacher: &Attacher, call: Call, about: &str) -> Result<String, Failure> {
    match attacher.turn.settle(call).await {
        Ok(Settlement::Completed(done)) => Ok(done.text()),
        Ok(Settlement::Rejected(rejection)) => {
            let what = of_what_was_rejected(&rejection);
            let error = anyhow::anyhow!("nothing was sent, because {about} {what}: {rejection}");
            Err(Failure::new(of_rejection(&rejection), error))
        }
        Err(error) => {
            let exit = of_settle_error(&error);
            let context = format!("nothing was sent, because {about} {}", of_what_broke(&error));
            Err(Failure::new(exit, anyhow::Error::new(error).context(context)))
        }
    }
}

/// Of what was not even begun.
const NOT_RUN: &str = "was not run";
/// Of what may well have had its effects.
const NOT_DONE: &str = "did not succeed";

fn of_what_was_rejected(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::Unknown { .. } | Rejection::Stale { .. } => NOT_RUN,
        Rejection::InvalidInput(_) | Rejection::Refused(_) => NOT_RUN,
        Rejection::InvalidOutput(_) | Rejection::Failed(_) => NOT_DONE,
    }
}

fn of_what_broke(error: &SettleError) -> &'static str {
    match error {
        SettleError::Declined | SettleError::Repeated(_) => NOT_RUN,
        SettleError::Retain(_) | SettleError::Record(_) | SettleError::Defect(_) => NOT_DONE,
    }
}

fn interrupted(invocation: &Invocation) -> Failure {
    let message = format!("the command {} was interrupted before anything was sent", invocation.command.name);
    Failure::new(Exit::Interrupted, anyhow::anyhow!(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_run_is_not_said_to_have_been_refused() {
        let stale = Rejection::Stale { name: SHELL.to_owned() };
        let rejected = [(stale, NOT_RUN), (Rejection::Failed("it ended".to_owned()), NOT_DONE)];
        for (rejection, expected) in rejected {
            assert_eq!(of_what_was_rejected(&rejection), expected, "{rejection}");
        }
        for (error, expected) in
            [(SettleError::Declined, NOT_RUN), (SettleError::Defect("broken".into()), NOT_DONE)]
        {
            assert_eq!(of_what_broke(&error), expected, "{error}");
        }
    }
}
