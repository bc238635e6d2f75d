//! The tool `grep`: lines that match a regular expression, the newest files first.
//!
//! Every file is first searched only until it matches. Which of those that did may be shown is decided then, and only
//! the newest of these, as many as there is room for, are searched for their lines.

mod engine;

use std::borrow::Cow;
use std::sync::Arc;

use haft::permission::{Gate, Question, Resource};
use haft::{ADDRESS, Action, Encoded, Executor, OutputStore, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::retained::Retained;
use crate::searching;
use crate::services::ToolServices;
use crate::workspace::{Candidate, Hidden, Kind, SearchSpec, Watch, Workspace};
use engine::{Engine, Read};

const ACTION: &str = "grep";
const LINES_MAX: usize = 100;
const LINE_CHARS_MAX: usize = 2000;
/// So many matching files are weighed, the newest.
const FILES_MAX: usize = 50_000;

/// Searches what files contain.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The regular expression to search for.
    pattern: String,
    /// The directory or file to search: absolute, or relative to the working directory. Leave it out for the working
    /// directory.
    path: Option<String>,
    /// A glob that names of files must match, such as `*.rs` or `*.{ts,tsx}`.
    include: Option<String>,
}

/// The lines that were found.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// The files, the newest first.
    files: Vec<Matched>,
    /// Whether there are more matches than these.
    truncated: bool,
    /// So many files were passed over because they are not text.
    binary: usize,
    /// So many files and directories could not be read.
    unreadable: usize,
    /// Whether time ran out before everything was seen.
    partial: bool,
}

/// A file and its lines that match.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Matched {
    /// The absolute path of the file, or the address of a retained output.
    path: String,
    /// The lines.
    lines: Vec<Line>,
}

/// A line that matches.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Line {
    /// Its number; the first is 1.
    number: u64,
    /// Its text, without the line ending, cut if it is very long.
    text: String,
}

impl Output {
    fn count(&self) -> usize {
        self.files.iter().map(|file| file.lines.len()).sum()
    }

    /// Takes the lines of one more file, as many as there is room for.
    fn add(&mut self, path: String, read: Read) {
        let room = LINES_MAX - self.count();
        let Read { mut lines, is_partial, .. } = read;
        self.truncated |= lines.len() > room;
        self.partial |= is_partial;
        lines.truncate(room);
        if !lines.is_empty() {
            self.files.push(Matched { path, lines });
        }
    }
}

pub(crate) struct Grep {
    workspace: Workspace,
    gate: Gate,
    outputs: Arc<dyn OutputStore>,
}

impl Grep {
    pub(crate) fn new(services: &ToolServices) -> Grep {
        let ToolServices { workspace, gate, outputs, .. } = services.clone();
        Grep { workspace, gate, outputs }
    }

    async fn retained(&self, id: &str, engine: Engine, cx: &ToolContext) -> Result<Output, ToolError> {
        let also = vec![Question::new(Action::new(ACTION), Resource::new(engine.pattern())).saving("*")];
        let Retained { address, reader } = Retained::open(&*self.outputs, &self.gate, cx, id, also).await?;
        let read =
            blocking(move |stop| engine.searcher().lines(reader, &Watch::new(stop), LINES_MAX + 1)).await;
        let read = read.map_err(|error| ToolError::Failure(format!("could not read {address}: {error}")))?;
        let mut output = Output { binary: usize::from(read.is_binary), ..Output::default() };
        output.add(address, read);
        Ok(output)
    }

    /// The lines of the newest files, until there are enough.
    async fn lines(&self, files: Vec<Candidate>, engine: Engine, mut output: Output) -> Output {
        let workspace = self.workspace.clone();
        blocking(move |stop| {
            let (watch, mut searcher) = (Watch::new(stop), engine.searcher());
            for file in files {
                if output.truncated || watch.is_over() {
                    output.partial |= watch.is_over();
                    break;
                }
                let room = LINES_MAX - output.count();
                let opened = file.open(&workspace).map_err(std::io::Error::other);
                match opened.and_then(|opened| searcher.lines(opened, &watch, room + 1)) {
                    Ok(read) => output.add(file.place().spelled_text(), read),
                    // It was readable a moment ago.
                    Err(_) => output.unreadable += 1,
                }
            }
            output
        })
        .await
    }
}

impl Executor for Grep {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("filePath", "path"),
        ("file_path", "path"),
        ("dirPath", "path"),
        ("dir_path", "path"),
        ("glob", "include"),
    ];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("grep.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let engine = Engine::new(&input.pattern)?;
        input.include.as_deref().map_or(Ok(()), searching::check_glob)?;
        let path = input.path.as_deref().unwrap_or(".");
        if let Some(id) = path.strip_prefix(ADDRESS) {
            return self.retained(id, engine, context).await;
        }
        let place = self.workspace.resolve(path)?;
        let kind = place.kind();
        let target =
            searching::target(&self.gate, context, place, Action::new(ACTION), &input.pattern).await?;
        let permit = self.gate.grant(context, target).await?;
        let include = input.include.clone().filter(|glob| !glob.is_empty());
        let spec = SearchSpec { include, hidden: Hidden::Search, files_max: FILES_MAX };
        let seeking = engine.clone();
        let found = self.workspace.search(permit, spec, move |workspace, watch| {
            let mut searcher = seeking.searcher();
            move |file: &Candidate| searcher.judge(file, &workspace, &watch)
        });
        let found = found.await?;
        let output = Output {
            truncated: false,
            binary: found.binary,
            unreadable: found.unreadable,
            // Files that were not weighed are files that were not seen.
            partial: found.is_partial || found.has_more,
            ..Output::default()
        };
        let files = match kind {
            // Somebody agreed to have this very file read.
            Kind::File => found.files,
            Kind::Directory | Kind::Missing | Kind::Special(_) => {
                searching::readable(&self.gate, context, found.files).await?
            }
        };
        Ok(self.lines(files, engine, output).await)
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let (count, truncated) = (output.count(), output.truncated);
        let mut text = match count {
            0 => "No files found".to_owned(),
            count => {
                let more = if truncated { " (more matches available)" } else { "" };
                let files: Vec<String> = output.files.iter().map(shown).collect();
                format!("Found {count} matches{more}\n{}", files.join("\n\n"))
            }
        };
        if truncated {
            text.push_str("\n\n(Results truncated. Consider using a more specific path or pattern.)");
        }
        text.push_str(&searching::caveats(output.unreadable, output.partial));
        Presented::text(text).titled(&input.pattern).with("matches", count).with("truncated", truncated)
    }
}

fn shown(file: &Matched) -> String {
    let lines = file.lines.iter().map(|line| format!("\n  Line {}: {}", line.number, line.text));
    format!("{}:{}", visible(&file.path), lines.collect::<String>())
}

#[cfg(test)]
mod tests;
