//! The tool `write`: creates a file or replaces its whole content.

use std::borrow::Cow;

use haft::{Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::after::{self, Remark};
use crate::changing::{Changing, Made};
use crate::services::ToolServices;
use crate::workspace::{ChangeSet, Hold};

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
    /// The encoding that the file no longer has, because it lacks characters of the new content.
    #[serde(skip_serializing_if = "Option::is_none")]
    given_up: Option<String>,
    /// What was done to the file then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<Remark>,
}

pub(crate) struct Write(Changing);

impl Write {
    pub(crate) fn new(services: &ToolServices) -> Write {
        Write(Changing::new(services))
    }

    async fn plan(&self, input: &Input, context: &ToolContext) -> Result<(ChangeSet, Output), ToolError> {
        let place = self.0.workspace.resolve(&input.file_path)?;
        let draft = match self.0.draft(&place, Hold::Enough, context).await {
            Ok(draft) => draft,
            Err(in_the_way) => return Err(self.0.tell(&place, in_the_way, context).await),
        };
        let (change, given_up) = draft.rewrite(&input.content);
        let output = Output {
            filepath: change.place().spelled_text(),
            name: change.place().name().to_owned(),
            exists: change.before().is_some(),
            diff: change.diff().to_owned(),
            given_up: given_up.map(str::to_owned),
            after: Vec::new(),
        };
        Ok((change.alone(self.0.action()), output))
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
        let made = self.0.make_and_follow(context, || self.plan(input, context)).await?;
        let Made { mut outcome, remarks, diffs } = made;
        if let Some((_, diff)) = diffs.into_iter().next() {
            outcome.diff = diff;
        }
        outcome.after = remarks;
        Ok(outcome)
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let mut text = "Wrote file successfully.".to_owned();
        if let Some(encoding) = &output.given_up {
            text.push_str(&format!(
                "\nThe file was in {encoding}, which lacks characters of the new content; it is in UTF-8 now."
            ));
        }
        text.push_str(&after::told(&output.after));
        let presented = Presented::text(text)
            .titled(output.name.as_str())
            .with("filepath", output.filepath.as_str())
            .with("exists", output.exists)
            .with("diff", output.diff.as_str());
        after::shown(presented, &output.after)
    }
}

#[cfg(test)]
mod tests;
