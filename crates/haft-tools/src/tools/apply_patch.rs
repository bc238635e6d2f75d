//! The tool `apply_patch`: changes several files by one patch.
//!
//! `parse` reads the patch, `apply` makes the new text of a file from its old one, `plan` does so for every section of
//! the patch; none of them touches a file.

pub(crate) mod patch;
pub(crate) mod parse;
pub(crate) mod error;
pub(crate) mod locate;
pub(crate) mod apply;
pub(crate) mod miss;
mod plan;

use std::borrow::Cow;

use haft::{Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::after::{self, Remark};
use crate::changing::Changing;
use crate::services::ToolServices;
use crate::workspace::ChangeSet;
use patch::Patch;

/// A parsed patch is much larger than its text.
const PATCH_BYTES_MAX: usize = 8 << 20;

/// Applies a patch.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    patch_text: String,
}

/// The files that were changed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// What was done, in the order of the patch.
    files: Vec<FileDone>,
    /// What was not quite as the patch said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What was done to the files then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<Remark>,
}

/// A file that was changed.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileDone {
    /// The absolute path as it was spelled.
    file_path: String,
    /// The path relative to the root of the project; for a file that was moved, the new one.
    relative_path: String,
    /// What was done: add, update, delete or move.
    #[serde(rename = "type")]
    kind: Kind,
    /// What was changed, as a unified diff.
    patch: String,
    /// How many lines were added.
    additions: usize,
    /// How many lines were removed.
    deletions: usize,
    /// The absolute path a file was moved to.
    #[serde(skip_serializing_if = "Option::is_none")]
    move_path: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Add,
    Update,
    Delete,
    Move,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Kind::Add => 'A',
            Kind::Update | Kind::Move => 'M',
            Kind::Delete => 'D',
        }
    }
}

pub(crate) struct ApplyPatch(Changing);

impl ApplyPatch {
    pub(crate) fn new(services: &ToolServices) -> ApplyPatch {
        ApplyPatch(Changing::new(services))
    }

    async fn plan(&self, patch: &Patch, context: &ToolContext) -> Result<(ChangeSet, Output), ToolError> {
        match plan::plan(&self.0, patch, context).await {
            Ok((files, output)) => Ok((ChangeSet::new(self.0.action(), files), output)),
            Err(trouble) => Err(trouble.told(&self.0, context).await?),
        }
    }
}

impl Executor for ApplyPatch {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("patch", "patchText"), ("patch_text", "patchText"), ("input", "patchText")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("apply_patch.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let bytes = input.patch_text.len();
        if bytes > PATCH_BYTES_MAX {
            return Err(ToolError::failure(format!(
                "the patch has {bytes} bytes, more than {PATCH_BYTES_MAX}; split it into several"
            )));
        }
        let patch = parse::parse(&input.patch_text).map_err(|error| ToolError::failure(error.told()))?;
        let made = self.0.make_and_follow(context, || self.plan(&patch, context)).await?;
        Ok(Output { after: made.remarks, ..made.outcome })
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let line = |file: &FileDone| format!("\n{} {}", file.kind.letter(), file.relative_path);
        let done = output.files.iter().map(line).collect::<String>();
        let success = format!("Success. Updated the following files:{done}");
        let notes = output.notes.iter().map(|note| format!("\n\n{note}")).collect::<String>();
        let diff = output.files.iter().map(|file| file.patch.as_str()).collect::<Vec<_>>().join("\n");
        let after = after::told(&output.after);
        let presented = Presented::text(format!("{success}{notes}{after}"))
            .titled(success)
            .with("diff", diff)
            .with("files", json!(output.files));
        after::shown_by_file(presented, &output.after)
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
