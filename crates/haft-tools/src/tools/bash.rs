//! The tool `bash`: runs a script in the shell, confined by the kernel.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Ask, Decision, Effect, Gate, Question, Resource};
use haft::secrets::without_secrets;
use haft::{Action, Encoded, Events, Executor, Hook, Inbox, OutputStore, Presented, ToolContext, ToolError};
use haft_sandbox::{HostGrant, NoHost};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::jobs::{Description, Jobs};
use crate::process::{
    ConfinedCommand, Ending, Lacking, NetworkWish, Processes, ProfileName, Ran, Reached, Retained, RunError,
    Running, Start, Streams, Wishes,
};
use crate::services::ToolServices;
use crate::shell::{CommandTarget, Held};
use crate::tools::jobs::no_jobs;
use crate::workspace::{Kind, Workspace};

mod telling;

use telling::{begun, moved, told};

/// No script is longer: the kernel hands no longer argument to a program.
const SCRIPT_BYTES_MAX: usize = 128 << 10;
/// Nobody waits longer for a command.
const TIMEOUT_MS_MAX: u64 = 24 * 3600 * 1000;
/// So much of the output is repeated in the metadata.
const METADATA_BYTES_MAX: usize = 30_000;

/// Runs a command.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The script to run.
    command: String,
    /// How long it may take, in milliseconds. Two minutes unless given.
    #[serde(default)]
    timeout: Option<i64>,
    /// The directory to run it in: absolute, or relative to the working directory, which it is unless given.
    #[serde(default)]
    workdir: Option<String>,
    /// What it does, in five to ten words.
    #[serde(default)]
    description: Option<String>,
    /// The hosts it needs, as example.com, *.example.com or example.com:8443, which the user is asked for; or true for
    /// the whole network.
    #[serde(default)]
    network: Option<NetworkInput>,
    /// Files and directories outside the workspace that it changes, which the user is asked for.
    #[serde(default)]
    writable: Option<Vec<String>>,
    /// Whether it goes on in the background while other calls are made.
    #[serde(default)]
    background: Option<bool>,
    /// Whether it needs a terminal.
    #[serde(default)]
    pty: Option<bool>,
}

/// All of the network or none of it, or these hosts.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum NetworkInput {
    Whole(bool),
    Hosts(Vec<String>),
}

/// What came of a command.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// What it printed, standard output and standard error as they came; both ends of it if it is long.
    output: String,
    /// Its exit code; nothing if it did not end by itself.
    exit: Option<i32>,
    /// What there is to say about how it ended.
    notes: Vec<String>,
    /// Where the whole output is, if not all of it is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    retained: Option<Retained>,
    /// The job as which it goes on in the background, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<String>,
}

pub(crate) struct Bash {
    workspace: Workspace,
    gate: Gate,
    processes: Arc<Processes>,
    outputs: Arc<dyn OutputStore>,
    events: Events,
    jobs: Option<Arc<Jobs>>,
    hooks: Arc<[Arc<dyn Hook>]>,
    inbox: Inbox,
}

/// How a command is to be run.
struct How<'i> {
    input: &'i Input,
    timeout: Duration,
    /// Where it goes on, if it is to go on in the background.
    jobs: Option<&'i Jobs>,
}

/// What came of a command that was started.
enum Came {
    /// It ended.
    Ran(Ran),
    /// It goes on, and this is told of it.
    Job(Output),
}

impl Bash {
    pub(crate) fn new(services: &ToolServices) -> Bash {
        let ToolServices { workspace, gate, processes, outputs, events, jobs, hooks, inbox, .. } =
            services.clone();
        Bash { workspace, gate, processes, outputs, events, jobs, hooks, inbox }
    }

    fn timeout(&self, input: &Input) -> Result<Duration, ToolError> {
        match input.timeout {
            None => Ok(self.processes.timeout),
            Some(given) => match u64::try_from(given) {
                Ok(ms @ 1..=TIMEOUT_MS_MAX) => Ok(Duration::from_millis(ms)),
                Ok(0) | Err(_) => Err(ToolError::failure(format!(
                    "Invalid timeout value: {given}. Timeout must be a positive number."
                ))),
                Ok(_) => Err(ToolError::failure(format!(
                    "Invalid timeout value: {given}. No command runs longer than {TIMEOUT_MS_MAX} ms."
                ))),
            },
        }
    }

    /// What is asked for beyond the profile.
    fn wishes(&self, input: &Input) -> Result<Wishes, ToolError> {
        let network = match &input.network {
            None | Some(NetworkInput::Whole(false)) => NetworkWish::Nothing,
            Some(NetworkInput::Whole(true)) => NetworkWish::Everything,
            Some(NetworkInput::Hosts(hosts)) if hosts.is_empty() => NetworkWish::Nothing,
            Some(NetworkInput::Hosts(hosts)) => {
                let hosts: Result<Vec<_>, _> = hosts.iter().map(|host| HostGrant::parse(host)).collect();
                let refused = |NoHost(text): NoHost| {
                    ToolError::failure(format!("network: {}", NoHost(without_secrets(&text))))
                };
                NetworkWish::Hosts(hosts.map_err(refused)?)
            }
        };
        let paths = input.writable.iter().flatten().map(|path| self.workspace.resolve(path));
        Ok(Wishes { writable: paths.collect::<Result<_, _>>()?, network })
    }

    /// The script with what the kernel will let it do.
    async fn target(
        &self,
        input: &Input,
        wishes: Wishes,
        context: &ToolContext,
    ) -> Result<ConfinedCommand, ToolError> {
        let home = self.processes.home.clone();
        let command = CommandTarget::new(&self.workspace, &input.command, input.workdir.as_deref(), home)?;
        // What rules deny to file tools they deny to a script that names the file.
        let Held { questions: mut denied, perhaps } =
            command.held(&self.workspace, &self.gate.rules(context));
        for question in wishes.leaving() {
            if self.decides(&question, context, Effect::Deny).await? {
                denied.push(question);
            }
        }
        let profile = self.profile(context).await?;
        let target = ConfinedCommand::new(&self.processes, profile, &self.workspace, command, wishes);
        let target = target.map_err(|error| ToolError::failure(error.to_string()))?;
        Ok(denied.into_iter().rev().fold(target, ConfinedCommand::asking).wondering(perhaps))
    }

    /// How far commands reach: whoever may not edit has commands that change nothing, unless somebody agrees to a path.
    async fn profile(&self, context: &ToolContext) -> Result<ProfileName, ToolError> {
        let edit = Action::new("edit");
        let configured = self.processes.confinement.profile;
        if configured != ProfileName::WorkspaceWrite || !self.gate.rules(context).denies_some(&edit) {
            return Ok(configured);
        }
        let anything = Question::new(edit, Resource::new("a file that no rule names"));
        let decisions = self.gate.decisions(context, &anything).await?;
        let is_denied = decisions.iter().any(Decision::is_denied_by_name);
        Ok(if is_denied { ProfileName::ReadOnly } else { configured })
    }

    /// Whether the rules alone say this of anything in a question.
    async fn decides(
        &self,
        question: &Question,
        context: &ToolContext,
        effect: Effect,
    ) -> Result<bool, ToolError> {
        let decisions = self.gate.decisions(context, question).await?;
        Ok(decisions.iter().any(|decision| decision.effect == effect))
    }

    /// Runs what is consented to.
    async fn run(
        &self,
        target: ConfinedCommand,
        how: &How<'_>,
        context: &ToolContext,
    ) -> Result<Came, ToolError> {
        let permit = self.gate.grant(context, target).await?;
        // Told only now: whoever may not run anything there need not know what is there.
        let directory = permit.target().workdir();
        if directory.kind() != Kind::Directory {
            return Err(ToolError::failure(format!("workdir is no directory: {}", directory.shown())));
        }
        if let Some(path) = permit.target().lost() {
            return Err(ToolError::failure(format!(
                "writable: {} is no file or directory that could be changed; name the directory that it is to be made in",
                path.display()
            )));
        }
        let description = Description {
            session: context.session.clone(),
            command: how.input.command.clone(),
            directory: directory.real().to_owned(),
        };
        let slot = how.jobs.map(Jobs::reserve).transpose()?;
        let start = Start {
            outputs: self.outputs.clone(),
            events: self.events.clone(),
            context: context.clone(),
            streams: match (how.input.pty == Some(true), slot.is_some()) {
                (true, _) => Streams::Terminal,
                (false, true) => Streams::Piped,
                (false, false) => Streams::Deaf,
            },
            added: self.added(context, &description.directory).await?,
        };
        let running = self.processes.start(permit, start)?;
        match slot {
            Some(slot) => {
                let has_timeout = how.input.timeout.is_some();
                Ok(Came::Job(begun(&slot.fill(running, description, &self.inbox), has_timeout)))
            }
            None => self.waited(running, how, description).await,
        }
    }

    /// What a command that failed lacked.
    fn lacking(&self, ran: &Ran, reached: &Reached) -> Lacking {
        match ran.ending {
            Ending::Exited(code) if code != 0 => {
                reached.lacking(&ran.captured.text, &ran.traces.refused, &self.processes, &self.workspace)
            }
            Ending::Exited(_) | Ending::Signalled(_) | Ending::TimedOut => Lacking::default(),
        }
    }

    /// The script with what it lacked besides, where a rule grants that or somebody can be asked.
    async fn widened(
        &self,
        input: &Input,
        wishes: Wishes,
        agreed: Vec<Question>,
        context: &ToolContext,
    ) -> Result<Option<ConfinedCommand>, ToolError> {
        let target = match self.target(input, wishes, context).await {
            Ok(target) => target.again(agreed),
            // It cannot be had at all, which is no reason to take back what was run.
            Err(ToolError::Failure(_) | ToolError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        for question in target.questions() {
            let is_denied = self.decides(&question, context, Effect::Deny).await?;
            let is_asked = self.decides(&question, context, Effect::Ask).await?;
            if is_denied || is_asked && !self.processes.asks_again {
                return Ok(None);
            }
        }
        Ok(Some(target))
    }

    /// What the shell itself says of a script that it cannot read, so that nobody is asked about nothing. Rules that
    /// deny come first.
    async fn unreadable(
        &self,
        target: &ConfinedCommand,
        context: &ToolContext,
    ) -> Result<Option<Output>, ToolError> {
        if target.is_parsed() {
            return Ok(None);
        }
        for question in target.questions() {
            if self.decides(&question, context, Effect::Deny).await? {
                return Ok(None);
            }
        }
        let Some((exit, output)) = self.processes.syntax_error(target).await else { return Ok(None) };
        let notes = vec!["the shell could not read the script, so nothing of it was run".to_owned()];
        Ok(Some(Output { output, exit: Some(exit), notes, retained: None, job: None }))
    }

    /// What hooks add to a command's environment.
    async fn added(
        &self,
        context: &ToolContext,
        directory: &Path,
    ) -> Result<Vec<(OsString, OsString)>, ToolError> {
        let mut added = Vec::new();
        for hook in self.hooks.iter() {
            let more = hook.environment(context, directory).await;
            added.extend(more.map_err(|error| {
                ToolError::failure(format!("the command was not run: a hook failed: {error}"))
            })?);
        }
        Ok(added)
    }

    /// Waits for a command. One that takes long goes on in the background if that is configured and the call does not
    /// say otherwise, and is stopped if not.
    async fn waited(
        &self,
        running: Running,
        how: &How<'_>,
        description: Description,
    ) -> Result<Came, ToolError> {
        let timeout = how.timeout;
        let mut left = timeout;
        let background_after = self.processes.background_after.filter(|_| how.input.background.is_none());
        if let (Some(after), Some(jobs)) = (background_after, &self.jobs)
            && after < timeout
        {
            if let Some(fate) = running.ended_within(after).await {
                return Ok(Came::Ran(running.finish(fate).await?));
            }
            // Where there are too many jobs already, it is waited for to the end of its time.
            if let Ok(slot) = jobs.reserve() {
                return moved(&slot.fill(running, description, &self.inbox), after).await.map(Came::Job);
            }
            left = timeout.saturating_sub(after);
        }
        Ok(Came::Ran(match running.ended_within(left).await {
            Some(fate) => running.finish(fate).await?,
            None => running.time_out().await?,
        }))
    }
}

impl Executor for Bash {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("cmd", "command"), ("script", "command"), ("cwd", "workdir"), ("directory", "workdir")];

    fn description(&self) -> Option<Cow<'_, str>> {
        let always = include_str!("bash.txt");
        Some(match &self.jobs {
            Some(_) => [always, include_str!("bash_background.txt")].concat().into(),
            None => always.into(),
        })
    }

    async fn execute(&self, input: &Input, context: &ToolContext) -> Result<Output, ToolError> {
        if input.command.trim().is_empty() {
            return Err(ToolError::failure("command is empty; give the script to run"));
        }
        if input.command.len() >= SCRIPT_BYTES_MAX || input.command.contains('\0') {
            return Err(ToolError::failure(format!(
                "command has a NUL character or more than {SCRIPT_BYTES_MAX} bytes, which no shell takes; write it to a file and run that"
            )));
        }
        let timeout = self.timeout(input)?;
        let jobs = match (input.background == Some(true), &self.jobs) {
            (false, _) => None,
            (true, Some(jobs)) => Some(&**jobs),
            (true, None) => return Err(no_jobs()),
        };
        let how = How { input, timeout, jobs };
        let target = self.target(input, self.wishes(input)?, context).await?;
        if let Some(output) = self.unreadable(&target, context).await? {
            return Ok(output);
        }
        let (reached, agreed) = (target.reached(), target.consented());
        let ran = match self.run(target, &how, context).await? {
            Came::Ran(ran) => ran,
            Came::Job(output) => return Ok(output),
        };
        let Lacking { certain, mut notes } = self.lacking(&ran, &reached);
        let Some(wishes) = certain else { return Ok(told(ran, timeout, notes)) };
        let fields = wishes.as_fields();
        let Some(target) = self.widened(input, wishes, agreed, context).await? else {
            return Ok(told(ran, timeout, notes));
        };
        let again = format!("the command failed at first and was run again, as was agreed, with {fields}");
        let reached = target.reached();
        match self.run(target, &how, context).await {
            Ok(Came::Ran(ran)) => {
                let mut notes = self.lacking(&ran, &reached).notes;
                notes.insert(0, again);
                Ok(told(ran, timeout, notes))
            }
            Ok(Came::Job(mut output)) => {
                output.notes.insert(0, again);
                Ok(output)
            }
            // It was run once, whatever is said to more: that is what is told.
            Err(ToolError::Refused(refusal)) => {
                notes.push(refusal.to_string());
                Ok(told(ran, timeout, notes))
            }
            Err(ToolError::Declined | ToolError::Edited(_)) => {
                notes.push(format!("the user was asked for {fields} and did not agree"));
                Ok(told(ran, timeout, notes))
            }
            Err(
                error @ (ToolError::Failure(_)
                | ToolError::Invalid(_)
                | ToolError::Stale
                | ToolError::Retain(_)
                | ToolError::Defect(_)),
            ) => Err(error),
        }
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let mut text = match (output.output.as_str(), &output.job) {
            ("", None) => "(no output)".to_owned(),
            ("", Some(_)) => "(no output so far)".to_owned(),
            (printed, _) => printed.to_owned(),
        };
        if !output.notes.is_empty() {
            let notes = output.notes.join("\n");
            text.push_str(&format!("\n\n<shell_metadata>\n{notes}\n</shell_metadata>"));
        }
        let title = input.description.as_ref().filter(|words| !words.trim().is_empty());
        let repeated = haft::preview::preview(
            &output.output,
            haft::preview::Budget { lines: usize::MAX, bytes: METADATA_BYTES_MAX },
            haft::preview::Shape::Tail,
        );
        let presented = Presented::text(text)
            .titled(title.unwrap_or(&input.command).as_str())
            .with("output", repeated.tail)
            .with("exit", output.exit.map_or(Value::Null, Value::from))
            .with("description", input.description.as_deref().unwrap_or_default())
            .with("truncated", output.retained.is_some());
        let presented = match &output.job {
            Some(job) => presented.with("job", job.as_str()),
            None => presented,
        };
        match &output.retained {
            Some(retained) => retained.present(presented, output.output.len()),
            None => presented,
        }
    }
}

impl From<RunError> for ToolError {
    fn from(error: RunError) -> ToolError {
        match error {
            RunError::Output(error) => ToolError::Retain(error),
            RunError::NoShell | RunError::Sandbox(_) | RunError::Start(_) | RunError::Failed(_) => {
                ToolError::failure(error.to_string())
            }
        }
    }
}
