//! The tool `undo`: takes back what calls changed in files. No model is shown it; people reach it by `haft undo`.

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::Ask;
use haft::{Action, CallId, Encoded, Executor, Journal, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::changing::Changing;
use crate::services::ToolServices;
use crate::undoing::{RefusedFile, UndoPlan, plan_undo};
use crate::workspace::{ChangeSet, FileChange, ReadTarget};

/// What is shown of a file is shown under this action.
const READ_ACTION: &str = "read";

/// Takes back what calls changed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The calls whose changes are to be taken back.
    calls: Vec<String>,
}

/// What was taken back.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// The files that are as they were before.
    restored: Vec<Restored>,
    /// The files that were left as they are.
    refused: Vec<Refused>,
}

/// A file that is as it was before.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Restored {
    /// Its name.
    file: String,
    /// What was done to it: restored, removed or brought back.
    done: String,
    /// What that changed, as a unified diff.
    diff: String,
}

/// A file that was left as it is.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Refused {
    /// Its name.
    file: String,
    /// Why.
    why: String,
    /// What was changed since, as a unified diff.
    diff: String,
}

pub(crate) struct Undo {
    changing: Changing,
    journal: Arc<dyn Journal>,
}

impl Undo {
    pub(crate) fn new(services: &ToolServices) -> Undo {
        Undo { changing: Changing::new(services), journal: services.journal.clone() }
    }

    async fn plan(&self, calls: &[CallId], context: &ToolContext) -> Result<(ChangeSet, Output), ToolError> {
        let UndoPlan { files, refused } = plan_undo(&self.changing.workspace, &*self.journal, calls).await?;
        let mut told = Vec::new();
        for file in refused {
            told.push(self.tell(file, context).await?);
        }
        if files.is_empty() {
            let files: String = told.iter().map(described).collect();
            return Err(ToolError::failure(format!("nothing was undone:{files}")));
        }
        let restored = files.iter().map(restored).collect();
        Ok((ChangeSet::new(self.changing.action(), files), Output { restored, refused: told }))
    }

    /// What a file that stays as it is shows only to those who may change and read it.
    async fn tell(&self, file: RefusedFile, context: &ToolContext) -> Result<Refused, ToolError> {
        let RefusedFile { place, name, why, mut diff } = file;
        if let Some(place) = place {
            let blocked = self.changing.workspace.blocked(place.clone(), self.changing.action());
            drop(self.changing.gate.grant(context, blocked).await?);
            let reading = ReadTarget::new(place, Action::new(READ_ACTION));
            if !self.changing.is_allowed(&reading.questions(), context).await? {
                diff.clear();
            }
        }
        Ok(Refused { file: name, why, diff })
    }
}

impl Executor for Undo {
    type Input = Input;
    type Output = Output;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(
            "Takes back what earlier calls changed in files. A file that was changed since is left as it is."
                .into(),
        )
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let parsed = |id: &String| CallId::parse(id).map_err(|error| ToolError::failure(error.to_string()));
        let calls = input.calls.iter().map(parsed).collect::<Result<Vec<_>, _>>()?;
        self.changing.make(context, || self.plan(&calls, context)).await
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let done = output.restored.iter().map(|file| format!("\n{} {}", file.done, file.file));
        let mut text = format!("Undone:{}", done.collect::<String>());
        if !output.refused.is_empty() {
            text.push_str("\n\nLeft as they are:");
            text.extend(output.refused.iter().map(described));
        }
        let diff: String = output.restored.iter().map(|file| file.diff.as_str()).collect();
        let refused: Vec<&str> = output.refused.iter().map(|file| file.file.as_str()).collect();
        Presented::text(text)
            .titled(match &output.restored[..] {
                [only] => only.file.clone(),
                several => format!("{} files", several.len()),
            })
            .with("diff", diff)
            .with("refused", refused)
    }
}

fn restored(change: &FileChange) -> Restored {
    let done = match (change.before(), change.after()) {
        (Some(_), Some(_)) => "restored",
        (Some(_), None) => "removed",
        (None, _) => "brought back",
    };
    Restored { file: change.place().shown(), done: done.to_owned(), diff: change.diff().to_owned() }
}

fn described(file: &Refused) -> String {
    let diff = file.diff.trim_end();
    let separator = if diff.is_empty() { "" } else { "\n" };
    format!("\n{}: {}{separator}{diff}", file.file, file.why)
}

#[cfg(test)]
mod tests;
