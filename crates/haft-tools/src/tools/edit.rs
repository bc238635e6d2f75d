//! The tool `edit`: replaces a piece of a file.
//!
//! What the search found is told only to those who may edit the file, and shown only to those who may read it.

mod anchors;
mod endings;
mod lines;
mod matchers;
mod miss;
mod plan;
mod replace;

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::{Ask, Effect, Gate};
use haft::{Action, Encoded, Executor, Memory, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::blocking::blocking;
use crate::seen;
use crate::services::ToolServices;
use crate::workspace::{Place, ReadTarget, Workspace, WorkspaceError, WriteTarget};
use plan::{Planned, Trouble, Wish};
use replace::Extent;

/// Every tool that changes files asks under this action.
const ACTION: &str = "edit";
/// What is shown of a file is shown under this action.
const READ_ACTION: &str = "read";
/// If somebody else changes the file in between, an edit that nobody is asked about is planned anew, so many times.
const ATTEMPTS_MAX: usize = 64;

/// Edits a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The path of the file to edit: absolute, or relative to the working directory.
    file_path: String,
    /// The text to replace, as it is in the file. Empty to create a file.
    old_string: String,
    /// The text to put in its place, which must be different.
    new_string: String,
    /// Whether to replace every occurrence; otherwise there must be exactly one.
    #[serde(default)]
    replace_all: Option<bool>,
}

/// A file that was edited.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The absolute path as it was spelled.
    filepath: String,
    /// The path relative to the root of the project.
    name: String,
    /// What was changed, as a unified diff.
    diff: String,
    /// How many lines were added.
    additions: usize,
    /// How many lines were removed.
    deletions: usize,
    /// How the place was found, if not exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
}

pub(crate) struct Edit {
    workspace: Workspace,
    gate: Gate,
    memory: Arc<dyn Memory>,
}

impl Edit {
    pub(crate) fn new(services: &ToolServices) -> Edit {
        let ToolServices { workspace, gate, memory, .. } = services.clone();
        Edit { workspace, gate, memory }
    }

    /// Plans the change on what stands there now.
    async fn plan(&self, place: &Place, wish: &Arc<Wish>, context: &ToolContext) -> Result<Planned, Trouble> {
        let draft = {
            // What another call of this session is just writing is not yet known to have been seen.
            let _alone = self.workspace.alone().await;
            let draft = self.workspace.draft_whole(place.clone()).await?;
            seen::check(&*self.memory, context, draft.place(), draft.digest()).await?;
            draft
        };
        let wish = wish.clone();
        blocking(move |_| plan::plan(draft, &wish, Action::new(ACTION))).await
    }

    /// Tells what is in the way, after consent: whoever may not edit a file learns nothing of what is in it.
    async fn tell(
        &self,
        place: Place,
        trouble: Trouble,
        context: &ToolContext,
    ) -> Result<ToolError, ToolError> {
        let blocked = self.workspace.blocked(place.clone(), Action::new(ACTION));
        drop(self.gate.grant(context, blocked).await?);
        Ok(match trouble {
            Trouble::Tool(error) => error,
            Trouble::Unfound { message, shown } => {
                let reading = ReadTarget::new(place, Action::new(READ_ACTION));
                match self.is_allowed(&reading, context).await? {
                    true => ToolError::failure(message + &shown),
                    false => ToolError::failure(message),
                }
            }
        })
    }

    /// Whether nobody would have to be asked.
    async fn is_allowed(&self, ask: &impl Ask, context: &ToolContext) -> Result<bool, ToolError> {
        for question in ask.questions() {
            let decisions = self.gate.decisions(context, &question).await?;
            if decisions.iter().any(|decision| decision.effect != Effect::Allow) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks, and writes what was agreed to. `None` if the file changed in between.
    async fn commit(&self, target: WriteTarget, context: &ToolContext) -> Result<Option<()>, ToolError> {
        let permit = self.gate.grant(context, target).await?;
        let _alone = self.workspace.alone().await;
        let written = match self.workspace.write(permit).await {
            Err(WorkspaceError::Changed { .. }) => return Ok(None),
            written => written?,
        };
        seen::note(&*self.memory, context, &written.place, &written.digest).await?;
        Ok(Some(()))
    }
}

impl Executor for Edit {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("path", "filePath"),
        ("file_path", "filePath"),
        ("filepath", "filePath"),
        ("old_string", "oldString"),
        ("old_str", "oldString"),
        ("oldText", "oldString"),
        ("old_text", "oldString"),
        ("new_string", "newString"),
        ("new_str", "newString"),
        ("newText", "newString"),
        ("new_text", "newString"),
        ("replace_all", "replaceAll"),
    ];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("edit.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let extent = if input.replace_all == Some(true) { Extent::All } else { Extent::One };
        let wish = Arc::new(Wish::new(&input.old_string, &input.new_string, extent)?);
        for _attempt in 0..ATTEMPTS_MAX {
            let place = self.workspace.resolve(&input.file_path)?;
            let Planned { target, matcher } = match self.plan(&place, &wish, context).await {
                Ok(planned) => planned,
                Err(trouble) => return Err(self.tell(place, trouble, context).await?),
            };
            let diff = target.diff().to_owned();
            let (additions, deletions) = plan::counted(&diff);
            let output = Output {
                filepath: target.place().spelled_text(),
                name: target.place().name().to_owned(),
                diff,
                additions,
                deletions,
                matcher: matcher.map(|matcher| matcher.name().to_owned()),
            };
            if self.commit(target, context).await?.is_some() {
                return Ok(output);
            }
            // A person agreed to another difference than the one that would be made now.
            if !self.is_allowed(&self.workspace.blocked(place, Action::new(ACTION)), context).await? {
                break;
            }
        }
        let place = self.workspace.resolve(&input.file_path)?;
        Err(WorkspaceError::Changed { path: place.shown() }.into())
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let mut text = "Edit applied successfully.".to_owned();
        if let Some(matcher) = &output.matcher {
            text.push_str(&format!(
                "\noldString was not in the file exactly; the place was found by the matcher {matcher}. Check that it is the one you meant."
            ));
        }
        let filediff = json!({
            "file": output.filepath,
            "patch": output.diff,
            "additions": output.additions,
            "deletions": output.deletions,
        });
        let presented = Presented::text(text)
            .titled(output.name.as_str())
            .with("diff", output.diff.as_str())
            .with("filediff", filediff);
        match &output.matcher {
            Some(matcher) => presented.with("matcher", matcher.as_str()),
            None => presented,
        }
    }
}

#[cfg(test)]
mod tests;
