//! The tool `glob`: files by their names, the newest first.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use haft::permission::Gate;
use haft::{Action, Encoded, Executor, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::searching;
use crate::services::ToolServices;
use crate::workspace::{Hidden, Judged, Kind, Lead, SearchSpec, Workspace};

const ACTION: &str = "glob";
const FILES_MAX: usize = 100;

/// Finds files by a pattern of their names.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The glob pattern to match files against.
    pattern: String,
    /// The directory to search: absolute, or relative to the working directory. Leave it out for the working directory.
    path: Option<String>,
}

/// The files that were found.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The path of the directory, relative to the root of the project.
    name: String,
    /// The absolute paths, the newest first.
    files: Vec<String>,
    /// Whether there are more files than these.
    truncated: bool,
    /// So many directories could not be read.
    unreadable: usize,
    /// Whether time ran out before everything was seen.
    partial: bool,
}

pub(crate) struct Glob {
    workspace: Workspace,
    gate: Gate,
    time_max: Duration,
}

impl Glob {
    pub(crate) fn new(services: &ToolServices) -> Glob {
        let (workspace, gate) = (services.workspace.clone(), services.gate.clone());
        Glob { workspace, gate, time_max: searching::TIME_MAX }
    }
}

impl Executor for Glob {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("dirPath", "path"), ("dir_path", "path"), ("directory", "path")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("glob.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        if input.pattern.is_empty() {
            return Err(ToolError::failure("pattern is required"));
        }
        searching::check_glob(&input.pattern)?;
        let place = self.workspace.resolve(input.path.as_deref().unwrap_or("."))?;
        let (shown, name, kind) = (visible(&place.spelled_text()), place.name().to_owned(), place.kind());
        let action = Action::new(ACTION);
        let target = searching::target(&self.gate, context, place, action, &input.pattern).await?;
        let permit = self.gate.grant(context, target).await?;
        match kind {
            Kind::Directory | Kind::Missing => {}
            Kind::File | Kind::Special(_) => {
                return Err(ToolError::Failure(format!("glob path must be a directory: {shown}")));
            }
        }
        let hidden = if names_hidden(&input.pattern) { Hidden::Search } else { Hidden::Skip };
        let include = Some(input.pattern.clone());
        let deadline = Instant::now() + self.time_max;
        let spec = SearchSpec { include, hidden, files_max: FILES_MAX, deadline };
        let found = self.workspace.search(permit, spec, |_| |_: &Lead<'_>| Judged::Match).await?;
        let files = found.files(&self.workspace, 0).filter(|file| file.is_there(&self.workspace));
        Ok(Output {
            name,
            files: files.map(|file| file.place().spelled_text()).collect(),
            truncated: found.has_more,
            unreadable: found.unreadable,
            partial: found.is_partial,
        })
    }

    fn present(_: &Input, output: &Encoded<Output>) -> Presented {
        let mut text = match output.files.as_slice() {
            [] => "No files found".to_owned(),
            files => files.iter().map(|file| visible(file)).collect::<Vec<_>>().join("\n"),
        };
        if output.truncated {
            text.push_str(&format!(
                "\n\n(Results are truncated: showing first {FILES_MAX} results. Consider using a more specific path or \
                 pattern.)"
            ));
        }
        text.push_str(&searching::caveats(output.unreadable, output.partial));
        Presented::text(text)
            .titled(output.name.as_str())
            .with("count", output.files.len())
            .with("truncated", output.truncated)
    }
}

/// Whether a component of the pattern begins with a dot, also within braces.
fn names_hidden(pattern: &str) -> bool {
    let mut begins = true;
    let mut braces = Vec::new();
    let mut rest = pattern.trim_start_matches('!').chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' => begins = true,
            '{' => braces.push(begins),
            ',' if !braces.is_empty() => begins = braces.last().copied().unwrap_or(false),
            '}' => {
                braces.pop();
                begins = false;
            }
            '\\' => {}
            // `.` and `..` name no hidden file.
            '.' if begins => match rest.peek() {
                None | Some('/' | '.') => begins = false,
                Some(_) => return true,
            },
            _ => begins = false,
        }
    }
    false
}

#[cfg(test)]
mod tests;
