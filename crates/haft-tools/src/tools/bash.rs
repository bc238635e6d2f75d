//! The tool `bash`: runs a script in the shell, confined by the kernel.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use haft::permission::{Ask, Effect, Gate, Question};
use haft::{Encoded, Events, Executor, OutputStore, Presented, ToolContext, ToolError};
use haft_sandbox::HostGrant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::process::{
    Captured, ConfinedCommand, Ending, Lacking, NetworkWish, Processes, Ran, Reached, Run, RunError,
};
use crate::process::{Whole, Wishes};
use crate::services::ToolServices;
use crate::shell::CommandTarget;
use crate::workspace::{Kind, Workspace};

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
}

/// The whole of an output.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Retained {
    /// Its id.
    id: String,
    /// Its size.
    bytes: u64,
    /// Its lines.
    lines: u64,
    /// The file that holds it, where outputs are local files.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

pub(crate) struct Bash {
    workspace: Workspace,
    gate: Gate,
    processes: Arc<Processes>,
    outputs: Arc<dyn OutputStore>,
    events: Events,
}

impl Bash {
    pub(crate) fn new(services: &ToolServices) -> Bash {
        let ToolServices { workspace, gate, processes, outputs, events, .. } = services.clone();
        Bash { workspace, gate, processes, outputs, events }
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
                NetworkWish::Hosts(hosts.map_err(|error| ToolError::failure(format!("network: {error}")))?)
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
        let leaving: Vec<Question> = wishes.leaving().collect();
        let target = ConfinedCommand::new(&self.processes, &self.workspace, command, wishes);
        let mut target = target.map_err(|error| ToolError::failure(error.to_string()))?;
        for question in leaving {
            if self.decides(&question, context, Effect::Deny).await? {
                target = target.asking(question);
            }
        }
        Ok(target)
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
        timeout: Duration,
        context: &ToolContext,
    ) -> Result<Ran, ToolError> {
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
        let run = Run {
            outputs: self.outputs.clone(),
            events: self.events.clone(),
            context: context.clone(),
            timeout,
        };
        match self.processes.run(permit, run).await {
            Ok(ran) => Ok(ran),
            Err(RunError::Output(error)) => Err(error.into()),
            Err(error) => Err(ToolError::failure(error.to_string())),
        }
    }

    /// What a command that failed lacked.
    fn lacking(&self, ran: &Ran, reached: &Reached) -> Lacking {
        match ran.ending {
            Ending::Exited(code) if code != 0 => {
                reached.lacking(&ran.captured.text, &ran.refused, &self.processes, &self.workspace)
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
        Ok(Some(Output { output, exit: Some(exit), notes, retained: None }))
    }
}

impl Executor for Bash {
    type Input = Input;
    type Output = Output;

    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("cmd", "command"), ("script", "command"), ("cwd", "workdir"), ("directory", "workdir")];

    fn description(&self) -> Option<Cow<'_, str>> {
        Some(include_str!("bash.txt").into())
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
        let target = self.target(input, self.wishes(input)?, context).await?;
        if let Some(output) = self.unreadable(&target, context).await? {
            return Ok(output);
        }
        let (reached, agreed) = (target.reached(), target.consented());
        let ran = self.run(target, timeout, context).await?;
        let Lacking { certain, mut notes } = self.lacking(&ran, &reached);
        let Some(wishes) = certain else { return Ok(told(ran, timeout, notes)) };
        let fields = wishes.as_fields();
        let Some(target) = self.widened(input, wishes, agreed, context).await? else {
            return Ok(told(ran, timeout, notes));
        };
        let reached = target.reached();
        match self.run(target, timeout, context).await {
            Ok(again) => {
                let mut notes = self.lacking(&again, &reached).notes;
                notes.insert(
                    0,
                    format!("the command failed at first and was run again, as was agreed, with {fields}"),
                );
                Ok(told(again, timeout, notes))
            }
            // It was run once, whatever is said to more: that is what is told.
            Err(ToolError::Refused(refusal)) => {
                notes.push(refusal.to_string());
                Ok(told(ran, timeout, notes))
            }
            Err(ToolError::Declined) => {
                notes.push(format!("the user was asked for {fields} and did not agree"));
                Ok(told(ran, timeout, notes))
            }
            Err(error @ (ToolError::Failure(_) | ToolError::Defect(_))) => Err(error),
        }
    }

    fn present(input: &Input, output: &Encoded<Output>) -> Presented {
        let mut text =
            if output.output.is_empty() { "(no output)".to_owned() } else { output.output.clone() };
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
        match &output.retained {
            Some(retained) => retaining(presented, retained, output.output.len()),
            None => presented,
        }
    }
}

fn retaining(presented: Presented, retained: &Retained, shown: usize) -> Presented {
    let presented = presented.with("originalSize", retained.bytes).with("truncatedSize", shown);
    let presented = match &retained.path {
        Some(path) => presented.with("outputPath", path.as_str()),
        None => presented,
    };
    match haft::OutputId::parse(&retained.id) {
        Ok(id) => presented.retaining(haft::Output {
            id,
            bytes: retained.bytes,
            lines: retained.lines,
            path: retained.path.as_ref().map(Into::into),
        }),
        Err(_) => presented,
    }
}

/// What the model is told of a command that was run.
fn told(ran: Ran, timeout: Duration, lacking: Vec<String>) -> Output {
    let Ran { ending, captured, removed, refused: _, out_of_memory } = ran;
    let Captured { text, bytes, whole, is_binary } = captured;
    let mut notes = Vec::new();
    let exit = match ending {
        Ending::Exited(code) => Some(code),
        Ending::Signalled(signal) => {
            notes.push(format!("the command was ended by signal {signal}"));
            None
        }
        Ending::TimedOut => {
            notes.push(format!(
                "shell tool terminated command after exceeding timeout {} ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.",
                timeout.as_millis()
            ));
            notes.extend(waits_for_input(&text).then(|| {
                "It seems to have waited for input, which no command gets: pass what it needs as options or through a pipe.".to_owned()
            }));
            None
        }
    };
    notes.extend(
        out_of_memory.then(|| "it wanted more memory than a command may use (sandbox.memory)".to_owned()),
    );
    notes.extend(lacking);
    notes.extend(removed.iter().map(|path| {
        format!(
            "{path} is protected: what the command made there was removed; if it is to be made, call again with writable: [{path:?}], and the user is asked"
        )
    }));
    let output = match is_binary {
        true => described(bytes, &whole),
        false => text,
    };
    let retained = match whole {
        Whole::Shown => None,
        Whole::Retained(output) => Some(Retained {
            id: output.id.to_string(),
            bytes: output.bytes,
            lines: output.lines,
            path: output.path.map(|path| path.to_string_lossy().into_owned()),
        }),
    };
    Output { output, exit, notes, retained }
}

/// Binary output is not shown; where it is too long to be held, it is said where it is.
fn described(bytes: u64, whole: &Whole) -> String {
    match whole {
        Whole::Shown => format!("(binary output, {bytes} bytes)"),
        Whole::Retained(output) => format!("(binary output, {bytes} bytes, saved to: {})", output.address()),
    }
}

/// Whether the last thing that was printed looks like a question.
fn waits_for_input(text: &str) -> bool {
    let last = text.trim_end_matches(' ').rsplit('\n').next().unwrap_or_default();
    !last.is_empty() && last.ends_with([':', '?', ']', ')', '>'])
}
