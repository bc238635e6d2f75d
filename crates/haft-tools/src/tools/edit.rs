//! The tool `edit`: replaces a piece of a file.
//!
//! What the search found is told only to those who may edit the file, and shown only to those who may read it.

mod anchors;
mod endings;
mod matchers;
mod miss;
mod plan;
mod replace;

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::Ask;
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::after::{self, Remark};
use crate::changing::{Changing, Made};
use crate::services::ToolServices;
use crate::text::lines;
use crate::workspace::{ChangeSet, Hold, Kind, Place, ReadTarget, counted};
use plan::{Planned, Trouble, Wish};
use replace::Extent;

/// What is shown of a file is shown under this action.
const READ_ACTION: &str = "read";

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
    /// What was done to the file then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<Remark>,
}

pub(crate) struct Edit(Changing);

impl Edit {
    pub(crate) fn new(services: &ToolServices) -> Edit {
        Edit(Changing::new(services))
    }

    /// Plans the change on what stands there now, or says what is in the way.
    async fn plan(
        &self,
        path: &str,
        wish: &Arc<Wish>,
        context: &ToolContext,
    ) -> Result<(ChangeSet, Output), ToolError> {
        let place = self.0.workspace.resolve(path)?;
        let wish = wish.clone();
        let plan = move |draft| plan::plan(draft, &wish);
        let planned = match self.0.draft_and(&place, Hold::Whole, context, plan).await {
            Ok(planned) => planned,
            Err(_) if place.kind() == Kind::Directory => {
                Err(ToolError::failure(format!("Path is a directory, not a file: {}", place.shown())).into())
            }
            Err(error) => Err(error.into()),
        };
        let Planned { change, matcher } = match planned {
            Ok(planned) => planned,
            Err(trouble) => return Err(self.tell(place, trouble, context).await?),
        };
        let diff = change.diff().to_owned();
        let (additions, deletions) = counted(&diff);
        let output = Output {
            filepath: change.place().spelled_text(),
            name: change.place().name().to_owned(),
            diff,
            additions,
            deletions,
            matcher: matcher.map(|matcher| matcher.name().to_owned()),
            after: Vec::new(),
        };
        Ok((change.alone(self.0.action()), output))
    }

    /// Tells what is in the way, and shows it to those who may read the file.
    async fn tell(
        &self,
        place: Place,
        trouble: Trouble,
        context: &ToolContext,
    ) -> Result<ToolError, ToolError> {
        let error = match trouble {
            Trouble::Tool(error) => error,
            Trouble::Unfound { message, shown } => {
                let reading = ReadTarget::new(place.clone(), Action::new(READ_ACTION));
                match self.0.is_allowed(&reading.questions(), context).await? {
                    true => ToolError::failure(message + &shown),
                    false => ToolError::failure(message),
                }
            }
        };
        Ok(self.0.tell(&place, error, context).await)
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
        let made = self.0.make_and_follow(context, || self.plan(&input.file_path, &wish, context)).await?;
        let Made { mut outcome, remarks, diffs } = made;
        if let Some((_, diff)) = diffs.into_iter().next() {
            (outcome.additions, outcome.deletions) = counted(&diff);
            outcome.diff = diff;
        }
        outcome.after = remarks;
        Ok(outcome)
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let mut text = "Edit applied successfully.".to_owned();
        if let Some(matcher) = &output.matcher {
            text.push_str(&format!(
                "\noldString was not in the file exactly; the place was found by the matcher {matcher}. Check that it is the one you meant."
            ));
        }
        text.push_str(&after::told(&output.after));
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
        let presented = after::shown(presented, &output.after);
        match &output.matcher {
            Some(matcher) => presented.with("matcher", matcher.as_str()),
            None => presented,
        }
    }
}

/// Finds a piece in a text in every way, for fuzzers: what is found is there, and what is left alone keeps its bytes.
pub(crate) fn check_matchers(text: &str, old: &str) {
    let plain = endings::Plain::new(text);
    for extent in [Extent::One, Extent::All] {
        if let Ok(found) = replace::find(plain.text(), old, extent) {
            assert!(!found.places.is_empty() && found.places.iter().all(|place| !place.is_empty()));
            assert!(found.places.is_sorted_by(|a, b| a.end <= b.start), "places overlap");
            assert!(extent == Extent::All || found.places.len() == 1);
            assert_eq!(plain.splice(&[], "x"), text);
            plain.splice(&found.places, "x");
        }
    }
    miss::nearest(plain.text(), old);
}

#[cfg(test)]
mod tests;
