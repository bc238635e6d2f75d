//! The tool `grep`: lines that match a regular expression, the newest files first.
//!
//! Every file is first searched only until it matches. Then, from the newest on and a few at a time, it is decided which
//! of those that did may be shown, and these are searched for their lines, until there is no more room.

mod engine;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft::permission::{Gate, Question, Resource};
use haft::{ADDRESS, Action, Encoded, Executor, OutputStore, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::blocking;
use crate::retained::Retained;
use crate::searching;
use crate::services::ToolServices;
use crate::workspace::{Candidate, Hidden, Kind, Lead, SearchSpec, Sought, Watch, Workspace};
use engine::{Engine, Read};

const ACTION: &str = "grep";
const LINES_MAX: usize = 100;
const LINE_CHARS_MAX: usize = 2000;
/// So many matching files are weighed, the newest.
const FILES_MAX: usize = 50_000;
/// So many at a time. Each of them has a line to show, so the first are enough unless some may not be shown.
const FILES_AT_ONCE: usize = LINES_MAX + 1;

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
    fn add(&mut self, path: String, read: Read, room: usize) {
        let Read { mut lines, is_partial, .. } = read;
        self.truncated |= lines.len() > room;
        self.partial |= is_partial;
        lines.truncate(room);
        if !lines.is_empty() {
            self.files.push(Matched { path, lines });
        }
    }

    fn join(&mut self, more: Output) {
        self.files.extend(more.files);
        self.truncated |= more.truncated;
        self.binary += more.binary;
        self.unreadable += more.unreadable;
        self.partial |= more.partial;
    }
}

pub(crate) struct Grep {
    workspace: Workspace,
    gate: Gate,
    outputs: Arc<dyn OutputStore>,
    time_max: Duration,
}

impl Grep {
    pub(crate) fn new(services: &ToolServices) -> Grep {
        let ToolServices { workspace, gate, outputs, .. } = services.clone();
        Grep { workspace, gate, outputs, time_max: searching::TIME_MAX }
    }

    async fn retained(&self, id: &str, engine: Engine, cx: &ToolContext) -> Result<Output, ToolError> {
        let also = vec![Question::new(Action::new(ACTION), Resource::new(engine.pattern())).saving("*")];
        let Retained { address, reader } = Retained::open(&*self.outputs, &self.gate, cx, id, also).await?;
        let deadline = Instant::now() + self.time_max;
        let read =
            blocking(move |stop| engine.searcher().lines(reader, &Watch::new(stop, deadline), LINES_MAX + 1));
        let read = read.await;
        let read = read.map_err(|error| ToolError::Failure(format!("could not read {address}: {error}")))?;
        let mut output = Output { binary: usize::from(read.is_binary), ..Output::default() };
        output.add(address, read, LINES_MAX);
        Ok(output)
    }

    /// What may be shown of what was found at a place of this kind.
    async fn show(
        &self,
        found: Sought,
        kind: Kind,
        engine: &Engine,
        context: &ToolContext,
    ) -> Result<Output, ToolError> {
        let workspace = &self.workspace;
        // Whether a file is passed over may depend on whether it matched first, and so tell of its content.
        let binary = self.readable(found.binary(workspace).collect(), kind, context).await?.len();
        let unread = self.readable(found.unread(workspace).collect(), kind, context).await?.len();
        let unreadable = found.unreadable + unread;
        let mut output = Output { binary, unreadable, partial: found.is_partial, ..Output::default() };
        // What was found until the time was over is still shown.
        let deadline = Instant::now() + self.time_max / 4;
        let mut seen = 0;
        while !output.truncated {
            let next: Vec<_> = found.files(workspace, seen).take(FILES_AT_ONCE).collect();
            if next.is_empty() {
                // Files that were not weighed are files that were not seen.
                output.partial |= found.has_more;
                break;
            }
            seen += next.len();
            let next = self.readable(next, kind, context).await?;
            let added = self.lines(next, engine.clone(), LINES_MAX - output.count(), deadline).await;
            let is_over = added.partial;
            output.join(added);
            if is_over {
                break;
            }
        }
        Ok(output)
    }

    async fn readable(
        &self,
        files: Vec<Candidate>,
        kind: Kind,
        context: &ToolContext,
    ) -> Result<Vec<Candidate>, ToolError> {
        match kind {
            // Somebody agreed to have this very file read.
            Kind::File => Ok(files),
            Kind::Directory | Kind::Missing | Kind::Special(_) => {
                searching::readable(&self.gate, context, files).await
            }
        }
    }

    /// The lines of these files, until there is no more room.
    async fn lines(&self, files: Vec<Candidate>, engine: Engine, room: usize, deadline: Instant) -> Output {
        let workspace = self.workspace.clone();
        let lines = blocking(move |stop| {
            let watch = Watch::new(stop, deadline);
            watch.clone().wait_for(move || lines(&workspace, files, &engine, &watch, room))
        });
        lines.await.unwrap_or_else(|| Output { partial: true, ..Output::default() })
    }
}

fn lines(
    workspace: &Workspace,
    files: Vec<Candidate>,
    engine: &Engine,
    watch: &Watch,
    room: usize,
) -> Output {
    let (mut output, mut searcher) = (Output::default(), engine.searcher());
    for file in files {
        if output.truncated || watch.is_over() {
            output.partial |= watch.is_over();
            break;
        }
        let left = room - output.count();
        let opened = file.open(workspace).map_err(std::io::Error::other);
        match opened.and_then(|opened| searcher.lines(opened, watch, left + 1)) {
            Ok(read) => output.add(file.place().spelled_text(), read, left),
            // It was readable a moment ago.
            Err(_) => output.unreadable += 1,
        }
    }
    output
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
        let pattern = input.pattern.clone();
        // A large pattern takes a while to compile.
        let engine = blocking(move |_| Engine::new(&pattern)).await?;
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
        let deadline = Instant::now() + self.time_max;
        let spec = SearchSpec { include, hidden: Hidden::Search, files_max: FILES_MAX, deadline };
        let seeking = engine.clone();
        let found = self.workspace.search(permit, spec, move |watch| {
            let mut seeker = seeking.seeker();
            move |file: &Lead<'_>| seeker.judge(file, &watch)
        });
        let found = found.await?;
        self.show(found, kind, &engine, context).await
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
        // Where something was found, nobody misses what is not text.
        match output.binary {
            1 if count == 0 => text.push_str("\n\n(1 binary file was not searched.)"),
            files if files > 0 && count == 0 => {
                text.push_str(&format!("\n\n({files} binary files were not searched.)"));
            }
            _ => {}
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
