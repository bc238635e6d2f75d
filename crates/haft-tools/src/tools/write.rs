//! The tool `write`: creates a file or replaces its whole content.

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Memory, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seen;
use crate::services::ToolServices;
use crate::workspace::Workspace;

/// Every tool that changes files asks under this action.
const ACTION: &str = "edit";

/// Writes a file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The whole content of the file, exactly as it is to be.
    content: String,
    /// The path of the file to write: absolute, or relative to the working directory.
    file_path: String,
}

/// A file that was written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The absolute path as it was spelled.
    filepath: String,
    /// The path relative to the root of the project.
    name: String,
    /// Whether there was a file before.
    exists: bool,
    /// What was changed, as a unified diff.
    diff: String,
}

pub(crate) struct Write {
    workspace: Workspace,
    gate: Gate,
    memory: Arc<dyn Memory>,
}

impl Write {
    pub(crate) fn new(services: &ToolServices) -> Write {
        let ToolServices { workspace, gate, memory, .. } = services.clone();
        Write { workspace, gate, memory }
    }
}

impl Executor for Write {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("path", "filePath"),
        ("file_path", "filePath"),
        ("filepath", "filePath"),
        ("contents", "content"),
        ("file_text", "content"),
    ];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("write.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let place = self.workspace.resolve(&input.file_path)?;
        let draft = match self.workspace.draft(place.clone()).await {
            Ok(draft) => draft,
            Err(in_the_way) => {
                let blocked = self.workspace.blocked(place, Action::new(ACTION));
                drop(self.gate.grant(context, blocked).await?);
                return Err(in_the_way.into());
            }
        };
        seen::check(&*self.memory, context, draft.place(), draft.digest()).await?;
        let target = draft.replace(Action::new(ACTION), &input.content);
        let output = Output {
            filepath: target.place().spelled_text(),
            name: target.place().name().to_owned(),
            exists: target.expected().is_some(),
            diff: target.diff().to_owned(),
        };
        let permit = self.gate.grant(context, target).await?;
        let written = self.workspace.write(permit).await?;
        seen::note(&*self.memory, context, &written.place, &written.digest).await?;
        Ok(output)
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        Presented::text("Wrote file successfully.")
            .titled(output.name.as_str())
            .with("filepath", output.filepath.as_str())
            .with("exists", output.exists)
            .with("diff", output.diff.as_str())
    }
}

#[cfg(test)]
mod tests;
