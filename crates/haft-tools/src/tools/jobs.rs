//! The tool `jobs`: lists, reads, waits for, writes to and ends commands that run in the background.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use haft::permission::Gate;
use haft::{Encoded, Executor, Presented, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::jobs::{Job, JobError, JobState, Jobs, Typed};
use crate::process::{Retained, Shown, Traces, besides, taken_away};
use crate::services::ToolServices;

/// How long is waited unless it is said.
const WAIT_MS: u64 = 30_000;
/// Nobody waits longer at a time.
const WAIT_MS_MAX: u64 = 600_000;
/// So much of a script is shown in a list.
const COMMAND_CHARS_MAX: usize = 200;

/// Looks after commands in the background.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to do.
    action: Action,
    /// The job; every action but list needs it.
    #[serde(default)]
    id: Option<String>,
    /// With write: what to send.
    #[serde(default)]
    input: Option<String>,
    /// With write: whether the job's input ends there.
    #[serde(default)]
    close: Option<bool>,
    /// With wait: how long at most, in milliseconds.
    #[serde(default)]
    timeout: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Read,
    Wait,
    Write,
    Kill,
}

/// How jobs stand, and what one of them printed.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// The jobs: all of the session, or the one that was named.
    jobs: Vec<Row>,
    /// What it printed since it was last read; both ends of it if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// What else there is to say.
    notes: Vec<String>,
    /// Where all that it printed since then is, if not all of it is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    retained: Option<Retained>,
}

/// How a job stands.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Row {
    /// Its id.
    id: String,
    /// The script it runs.
    command: String,
    /// The directory it runs in.
    directory: String,
    /// How long ago it was started, in milliseconds.
    age: u64,
    /// Whether it still runs.
    running: bool,
    /// How it stands, in words.
    state: String,
    /// Its exit code, if it ended by itself.
    exit: Option<i32>,
}

pub(crate) struct JobsTool {
    gate: Gate,
    jobs: Option<Arc<Jobs>>,
}

impl JobsTool {
    pub(crate) fn new(services: &ToolServices) -> JobsTool {
        JobsTool { gate: services.gate.clone(), jobs: services.jobs.clone() }
    }

    async fn write(&self, job: &Arc<Job>, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let closes = input.close == Some(true);
        let text = match &input.input {
            Some(text) => text.clone(),
            None if closes => String::new(),
            None => return Err(ToolError::failure("input is missing; give the text to send")),
        };
        check_writable(job)?;
        let length = text.len();
        let permit = self.gate.grant(context, Typed::new(job.clone(), text, closes)).await?;
        let sent = Typed::send(permit)
            .await
            .map_err(|error| ToolError::failure(format!("{} takes no input any more: {error}", job.id())))?;
        let mut notes = vec![format!("sent {} bytes; read or wait shows what comes of it", sent.bytes)];
        if sent.bytes < length {
            notes[0] = format!(
                "only the first {} of {length} bytes were sent: the job does not read; send the rest when it does",
                sent.bytes
            );
        }
        Ok(Output { jobs: vec![row(job)], output: None, notes, retained: None })
    }
}

impl Executor for JobsTool {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("job", "id"), ("job_id", "id"), ("text", "input"), ("chars", "input")];

    // Whoever waits for something asks the same time and again.
    const MAY_REPEAT: bool = true;

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("jobs.txt").into())
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        let Some(jobs) = &self.jobs else { return Err(no_jobs()) };
        if input.action == Action::List {
            let rows = jobs.of(&context.session).iter().map(|job| row(job)).collect();
            return Ok(Output { jobs: rows, output: None, notes: Vec::new(), retained: None });
        }
        let id = input
            .id
            .as_deref()
            .ok_or_else(|| ToolError::failure("id is missing; the action list shows the jobs there are"))?;
        let job = jobs.find(&context.session, id)?;
        match input.action {
            Action::List | Action::Read => {}
            Action::Write => return self.write(&job, input, context).await,
            Action::Wait => job.wait(patience(input)).await,
            Action::Kill => job.kill().await,
        }
        read(&job).await.map_err(ToolError::Retain)
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let title = match (input.action, &input.id) {
            (Action::List, _) | (_, None) => "jobs".to_owned(),
            (Action::Read, Some(id)) => format!("read {id}"),
            (Action::Wait, Some(id)) => format!("wait for {id}"),
            (Action::Write, Some(id)) => format!("write to {id}"),
            (Action::Kill, Some(id)) => format!("kill {id}"),
        };
        let lines: Vec<String> = output.jobs.iter().map(line).collect();
        let Some(printed) = &output.output else {
            let none = "there are no jobs in this session".to_owned();
            let lines = if lines.is_empty() { vec![none] } else { lines };
            return Presented::text(
                lines.iter().chain(&output.notes).cloned().collect::<Vec<_>>().join("\n"),
            )
            .titled(title.as_str());
        };
        let shown = if printed.is_empty() { "(no new output)" } else { printed };
        let notes = lines.iter().chain(&output.notes).cloned().collect::<Vec<_>>().join("\n");
        let text = format!("{shown}\n\n<shell_metadata>\n{notes}\n</shell_metadata>");
        let presented =
            Presented::text(text).titled(title.as_str()).with("truncated", output.retained.is_some());
        match &output.retained {
            Some(retained) => retained.present(presented, printed.len()),
            None => presented,
        }
    }
}

/// Where the process ends with the call, nothing could go on.
pub(crate) fn no_jobs() -> ToolError {
    ToolError::failure(
        "nothing can run in the background here, because this haft ends with the call: \
         run the command in the foreground with a timeout that is long enough, or in a conversation (haft run)",
    )
}

impl From<JobError> for ToolError {
    fn from(error: JobError) -> ToolError {
        ToolError::failure(error.to_string())
    }
}

fn check_writable(job: &Job) -> Result<(), ToolError> {
    let why = match (job.is_running(), job.has_input()) {
        (true, true) => return Ok(()),
        (true, false) => {
            "has no input: it was begun in the foreground, or its input was closed; start it with background set"
        }
        (false, _) => "has ended",
    };
    Err(ToolError::failure(format!("nothing was sent: {} {why}", job.id())))
}

fn patience(input: &Input) -> Duration {
    Duration::from_millis(input.timeout.unwrap_or(WAIT_MS).min(WAIT_MS_MAX))
}

async fn read(job: &Job) -> Result<Output, haft::StoreError> {
    // First how it stands: what is read then is all of it, if it has ended.
    let row = row(job);
    let Shown { output, retained } = job.read().await?;
    let mut notes: Vec<String> = Vec::new();
    if row.running && job.waits_for_input() {
        notes.push("it waits for input: send it some with the action write, or kill it".to_owned());
    }
    let traces = job.traces();
    notes.extend(traces.about_memory());
    notes.extend(traces.about_left());
    let Traces { removed, removed_besides, refused, out_of_memory: _, left: _ } = traces;
    notes.extend((!refused.is_empty()).then(|| {
        format!(
            "it asked for what it may not reach; start it with network: {refused:?}, and the user is asked"
        )
    }));
    notes.extend(removed.iter().map(|removed| taken_away(removed, "the job")));
    notes.extend(besides(removed_besides));
    Ok(Output { jobs: vec![row], output: Some(output), notes, retained })
}

fn row(job: &Job) -> Row {
    let state = job.state();
    job.was_told(&state);
    let (words, exit) = match &state {
        JobState::Running => ("runs".to_owned(), None),
        JobState::Exited(code) => (format!("exited with code {code}"), Some(*code)),
        JobState::Signalled(signal) => (format!("was ended by signal {signal}"), None),
        JobState::Killed => ("was killed".to_owned(), None),
        JobState::Failed(why) => (format!("failed: {why}"), None),
    };
    Row {
        id: job.id().to_string(),
        command: job.command().to_owned(),
        directory: job.directory().to_string_lossy().into_owned(),
        age: u64::try_from(job.age().as_millis()).unwrap_or(u64::MAX),
        running: state == JobState::Running,
        state: words,
        exit,
    }
}

fn line(row: &Row) -> String {
    let command: String = row.command.chars().take(COMMAND_CHARS_MAX).collect();
    let rest = if command.len() < row.command.len() { "…" } else { "" };
    format!(
        "{} {} (started {} s ago in {}): {}{rest}",
        row.id,
        row.state,
        row.age / 1000,
        visible(&row.directory),
        visible(&command)
    )
}
