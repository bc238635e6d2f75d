//! Attaches to a prompt what it names.
//!
//! A file is read by a call of its own, like any other: permitted, bounded, recorded. Naming it is the person's consent
//! to read this very file, now and for the rest of the session; a rule that denies still holds. What only the template
//! of a custom command names is nobody's consent.

use std::sync::Arc;

use haft::permission::{Ask, Grant, GrantBook, Pattern, Scope};
use haft::{
    Action, AgentId, Call, CallId, Content, GrantId, Input, MessageId, Part, Rejection, SessionId,
    SettleError, Settlement, ToolContext, Turn,
};
use haft_tools::Workspace;
use haft_tools::workspace::ReadTarget;
use serde_json::{Value, json};

use super::draft::{Draft, Named};
use super::naming::{By, NamedCalls};
use crate::exit::{Exit, Failure, of_rejection, of_settle_error};

/// The tool that reads attachments, and the action its rules are filed under.
const READER: &str = "read";
/// Attaches.
#[derive(Clone)]
pub(crate) struct Attacher {
    pub(crate) workspace: Workspace,
    pub(crate) grants: Arc<dyn GrantBook>,
    pub(crate) turn: Arc<Turn>,
    pub(crate) named: NamedCalls,
    pub(crate) session: SessionId,
    /// The agent that is spoken to.
    pub(crate) agent: AgentId,
}

impl Attacher {
    /// Reads what a draft names.
    pub(crate) async fn parts(&self, draft: Draft) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![Part::text(draft.text)];
        for named in &draft.files {
            parts.extend(self.file(named).await?);
        }
        if let Some(text) = draft.stdin {
            parts.push(Part::synthetic(format!("Standard input, attached by the user:\n{text}")));
        }
        Ok(parts)
    }

    /// A call that is made in the person's place, because they or a template want it.
    pub(crate) fn call(&self, tool: &str, input: Value, by: By) -> Call {
        let context = ToolContext {
            session: self.session.clone(),
            agent: self.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        self.named.add(&context.call, by);
        Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) }
    }

    async fn file(&self, Named { path, by }: &Named) -> Result<Vec<Part>, Failure> {
        if *by == By::Person {
            self.consent(path).await?;
        }
        let call = self.call(READER, json!({ "filePath": path }), *by);
        match self.turn.settle(call).await {
            Ok(Settlement::Completed(done)) => {
                let about = format!("The user attached {path}:");
                Ok(done.content.into_iter().map(|content| attached(&about, content)).collect())
            }
            Ok(Settlement::Rejected(rejection)) => Err(refused(path, &rejection)),
            Err(error) => Err(broken(path, error)),
        }
    }

    /// Remembers, for this session, that this very file may be read. What lies outside the project may be read this
    /// once: a rule about leaving it speaks of whole directories.
    async fn consent(&self, path: &str) -> Result<(), Failure> {
        let place = self.workspace.resolve(path).map_err(Failure::usage)?;
        if !place.is_inside() {
            return Ok(());
        }
        let grant = |action: &Action, name: &str| Grant {
            id: GrantId::mint(),
            scope: Scope::Session,
            session: self.session.clone(),
            action: action.clone(),
            resource: Pattern::new(name),
        };
        let questions = ReadTarget::new(place, Action::new(READER)).questions();
        // A name with wildcards in it would allow more than itself.
        let grants: Vec<Grant> = questions
            .iter()
            .flat_map(|question| {
                question.resources.iter().map(|resource| (&question.action, resource.name()))
            })
            .filter(|(_, name)| !name.contains(['*', '?']))
            .map(|(action, name)| grant(action, name))
            .collect();
        Ok(self.grants.keep(&grants).await?)
    }
}

fn attached(about: &str, content: Content) -> Part {
    match content {
        Content::Text(text) => Part::synthetic(format!("{about}\n{text}")),
        Content::Media { mime, data, name } => Part::Media { mime, data, name },
    }
}

fn refused(path: &str, rejection: &Rejection) -> Failure {
    let exit = match of_rejection(rejection) {
        Exit::Failed => Exit::Usage,
        exit => exit,
    };
    Failure::new(exit, anyhow::anyhow!("{path} cannot be attached: {rejection}"))
}

fn broken(path: &str, error: SettleError) -> Failure {
    let exit = of_settle_error(&error);
    Failure::new(exit, anyhow::Error::new(error).context(format!("{path} cannot be attached")))
}
