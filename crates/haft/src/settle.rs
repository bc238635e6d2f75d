//! The life of a call, from the model's request to its settlement: one way only, read from top to bottom.
//!
//! resolve → record → hooks before → decode → execute → encode → present → bound → hooks after → record → announce
//!
//! Nothing flows back. A call that cannot go on leaves with a [`Rejection`], which the model is told, or with a
//! [`SettleError`], which it is not; neither ever becomes the other. Dropping the future at any point cancels the
//! call, and the record says so.

use serde_json::Value;

use crate::boundary::{BoundError, Boundary, Shortening, bound};
use crate::catch::{caught, caught_now};
use crate::codec;
use crate::content::{Content, Presented};
use crate::error::{Invalid, ToolError, causes};
use crate::events::Event;
use crate::name::{Action, ToolName};
use crate::permission::{Ask, Question, Reach, Resource, Showing};
use crate::recorder::{Ended, Opened, Past, Seq};
use crate::settlement::{Call, Completed, Input, Rejection, SettleError, Settlement};
use crate::tool::{Encoding, Invocation, Produced, Tool, ToolContext};
use crate::turn::{Services, Turn};

/// So many times in a row may a session make the same call before somebody is asked.
const SAME_CALLS_MAX: u32 = 2;
/// So many times may a person change the input of one call.
const EDITS_MAX: u32 = 20;
/// So much of what they wrote is told to the model.
const EDIT_CHARS_MAX: usize = 2_000;

/// Takes a call to its settlement.
pub(crate) async fn settle(turn: &Turn, call: Call) -> Result<Settlement, SettleError> {
    let services = turn.services();
    let resolved = turn.resolve(&call.name);

    let repeats = match record_call(services, &call).await? {
        Opening::New { repeats } => repeats,
        Opening::SettledBefore(settlement) => return Ok(*settlement),
        Opening::Other(past) => return Err(SettleError::Repeated(past)),
    };
    // Only now is the call this one's to cancel: before, the record may be of an earlier attempt.
    let mut in_flight = InFlight { services, context: &call.context, progress: Progress::Running };

    let outcome = match resolved {
        Ok((name, tool)) => run(turn, &name, &tool, &call, repeats).await,
        Err(rejection) => Err(rejection.into()),
    };
    let result = match outcome {
        Ok(completed) => Ok(Settlement::Completed(completed)),
        Err(Stop::Rejected(rejection)) => Ok(Settlement::Rejected(rejection.bounded(services.limits.text))),
        Err(Stop::Error(error)) => Err(error),
        // Before the first attempt there is nothing to change, and whoever wanted something else has not agreed.
        Err(Stop::Edited(_)) => Err(SettleError::Declined),
    };
    in_flight.progress = Progress::Ending;
    let recorded = record_end(services, &call.context, &result).await;
    // An end that could not be recorded is no cancellation: the next process finds the call open and says so.
    in_flight.progress = Progress::Ended;
    recorded.and(result)
}

/// The way of a call whose tool was found.
async fn run(
    turn: &Turn,
    name: &ToolName,
    tool: &Tool,
    call: &Call,
    repeats: u32,
) -> Result<Completed, Stop> {
    let (services, context) = (turn.services(), &call.context);
    if repeats >= SAME_CALLS_MAX && !tool.may_repeat() {
        let again = SameCallAgain { tool: name.clone(), repeats };
        let asked = caught(|| services.gate.grant(context, again)).await.map_err(SettleError::Defect)?;
        drop(asked.map_err(|error| Stop::of(error, name))?);
    }
    let mut given = raw_input(name, &call.input)?;
    for edits in 0..=EDITS_MAX {
        match attempt(turn, name, tool, call, given, edits > 0).await {
            Err(Stop::Edited(input)) => given = input,
            ended => return ended,
        }
    }
    Err(Rejection::Failed(format!("the user changed the input of this call {EDITS_MAX} times")).into())
}

/// The way of a call with the input it was given, by the model or by a person. It never leads back: whoever is asked and
/// gives another input has the call begin anew.
async fn attempt(
    turn: &Turn,
    name: &ToolName,
    tool: &Tool,
    call: &Call,
    given: Value,
    is_edited: bool,
) -> Result<Completed, Stop> {
    let (services, context) = (turn.services(), &call.context);
    let input = before_hooks(services, name, context, given).await?;
    let hooked = if services.hooks.is_empty() { Value::Null } else { input.clone() };
    let changed = (is_edited || !call.input.is(&input)).then(|| input.clone());
    let edited = changed.clone().filter(|_| is_edited);
    let begun = services.gate.begins(&context.call, &input);
    let invocation = decode(tool, name, input).map_err(|stop| stop.of_edited(edited.as_ref()))?;
    record_running(services, context, changed.as_ref()).await?;

    let produced =
        execute(&*invocation, name, context).await.map_err(|stop| stop.of_edited(edited.as_ref()))?;
    drop(begun);
    let encoding = encode(&*invocation, produced)?;
    let mut presented = present(&*invocation, &encoding)?;
    if let Some(input) = &edited {
        tell_edit(&mut presented, &encoding, input);
    }
    let boundary = turn.boundary(context);
    let shortening = Shortening::of(&presented);
    let bounded = bound(&boundary, presented, encoding.into_structured(), shortening).await?;
    after_hooks(services, name, &hooked, &boundary, bounded, shortening).await
}

/// Has the model know that the call was not its own.
fn tell_edit(presented: &mut Presented, encoding: &Encoding, input: &Value) {
    if presented.content.is_empty() {
        let text = serde_json::to_string_pretty(encoding.structured()).unwrap_or_default();
        presented.content.push(Content::Text(text));
    }
    let note =
        format!("The user changed the input of this call before it ran. It ran with: {}", shown(input));
    presented.content.insert(0, Content::Text(note));
}

fn shown(input: &Value) -> String {
    let text = input.to_string();
    match text.char_indices().nth(EDIT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Why a call left its way.
enum Stop {
    Rejected(Rejection),
    Error(SettleError),
    /// A person gave the call another input.
    Edited(Value),
}

impl Stop {
    /// The model must not take for its own what a person wrote. A refusal names what was wanted anyway.
    fn of_edited(self, edited: Option<&Value>) -> Stop {
        match (self, edited) {
            (Stop::Rejected(rejection @ Rejection::InvalidInput(_)), Some(input)) => {
                let note = "The user changed the input of this call, and it does not fit, so nothing was run. Your own input was not at fault. It was changed to";
                Rejection::Failed(format!("{note}: {}\n{rejection}", shown(input))).into()
            }
            (Stop::Rejected(rejection @ Rejection::Failed(_)), Some(input)) => {
                let note = "The user changed the input of this call, and it failed. It was changed to";
                Rejection::Failed(format!("{note}: {}\n{rejection}", shown(input))).into()
            }
            (stop, _) => stop,
        }
    }
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Stop {
        Stop::Rejected(rejection)
    }
}

impl From<SettleError> for Stop {
    fn from(error: SettleError) -> Stop {
        Stop::Error(error)
    }
}

impl Stop {
    /// The one place where a tool's error becomes a rejection or an error of settling.
    fn of(error: ToolError, name: &ToolName) -> Stop {
        match error {
            ToolError::Failure(message) => Rejection::Failed(message).into(),
            ToolError::Refused(refusal) => Rejection::Refused(refusal).into(),
            ToolError::Declined => SettleError::Declined.into(),
            ToolError::Edited(input) => Stop::Edited(input),
            ToolError::Invalid(Invalid { issues, words }) => {
                Rejection::InvalidInput(codec::message(name.as_str(), &issues, words)).into()
            }
            ToolError::Stale => Rejection::Stale { name: name.to_string() }.into(),
            ToolError::Retain(error) => SettleError::Retain(error).into(),
            ToolError::Defect(error) => SettleError::Defect(error).into(),
        }
    }
}

impl From<BoundError> for Stop {
    fn from(error: BoundError) -> Stop {
        match error {
            BoundError::Retain(error) => SettleError::Retain(error).into(),
            BoundError::Media { .. } => Rejection::Failed(error.to_string()).into(),
        }
    }
}

/// Makes the record truthful if the call is dropped before it ended.
struct InFlight<'a> {
    services: &'a Services,
    context: &'a ToolContext,
    progress: Progress,
}

enum Progress {
    Running,
    /// The end is on its way to the record, and may be there already.
    Ending,
    Ended,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        match self.progress {
            Progress::Running => {
                self.services.recorder.cancelled(self.context);
                let event = || Event::Ended(self.context.clone(), Ended::Cancelled);
                self.services.events.announce(Seq::default(), event);
            }
            // The record keeps whichever end comes first; which one it was is not known here.
            Progress::Ending => self.services.recorder.cancelled(self.context),
            Progress::Ended => {}
        }
    }
}

enum Opening {
    New { repeats: u32 },
    SettledBefore(Box<Settlement>),
    Other(Box<Past>),
}

async fn record_call(services: &Services, call: &Call) -> Result<Opening, SettleError> {
    match services.recorder.called(call).await.map_err(SettleError::Record)? {
        Opened::New { seq, repeats } => {
            services.events.announce(seq, || Event::Called(call.clone()));
            Ok(Opening::New { repeats })
        }
        Opened::Before(past) => match *past {
            Past::Ended(_, Ended::Settled(settlement)) => Ok(Opening::SettledBefore(settlement)),
            past => Ok(Opening::Other(Box::new(past))),
        },
    }
}

async fn record_running(
    services: &Services,
    context: &ToolContext,
    changed_input: Option<&Value>,
) -> Result<(), SettleError> {
    let seq = services.recorder.running(context, changed_input).await.map_err(SettleError::Record)?;
    services.events.announce(seq, || Event::Running(context.clone()));
    Ok(())
}

async fn record_end(
    services: &Services,
    context: &ToolContext,
    result: &Result<Settlement, SettleError>,
) -> Result<(), SettleError> {
    let ended = match result {
        Ok(settlement) => Ended::Settled(Box::new(settlement.clone())),
        Err(SettleError::Declined) => Ended::Declined,
        Err(error) => Ended::Broken(causes(error)),
    };
    let seq = services.recorder.ended(context, &ended).await.map_err(SettleError::Record)?;
    services.events.announce(seq, || Event::Ended(context.clone(), ended));
    Ok(())
}

fn raw_input(name: &ToolName, input: &Input) -> Result<Value, Rejection> {
    match input {
        Input::Json(value) => Ok(value.clone()),
        Input::Malformed { problem, .. } => {
            let issue = codec::Issue {
                path: String::new(),
                problem: format!("the input is not valid JSON: {problem}"),
            };
            Err(Rejection::InvalidInput(codec::message(name.as_str(), &[issue], None)))
        }
    }
}

async fn before_hooks(
    services: &Services,
    name: &ToolName,
    context: &ToolContext,
    mut input: Value,
) -> Result<Value, Stop> {
    for hook in services.hooks.iter() {
        let changed = caught(|| hook.before(name, context, input)).await.map_err(SettleError::Defect)?;
        input = changed.map_err(|error| Rejection::Failed(format!("a hook stopped the call: {error}")))?;
    }
    Ok(input)
}

fn decode(tool: &Tool, name: &ToolName, input: Value) -> Result<Box<dyn Invocation>, Stop> {
    let result = guarded(|| tool.decode(name.as_str(), input))?;
    Ok(result.map_err(Rejection::InvalidInput)?)
}

async fn execute(
    invocation: &dyn Invocation,
    name: &ToolName,
    context: &ToolContext,
) -> Result<Produced, Stop> {
    let result = caught(|| invocation.execute(context)).await.map_err(SettleError::Defect)?;
    result.map_err(|error| Stop::of(error, name))
}

fn encode(invocation: &dyn Invocation, produced: Produced) -> Result<Encoding, Stop> {
    let result = guarded(|| invocation.encode(produced))?;
    Ok(result.map_err(Rejection::InvalidOutput)?)
}

fn present(invocation: &dyn Invocation, encoding: &Encoding) -> Result<Presented, Stop> {
    Ok(guarded(|| invocation.present(encoding))?)
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, SettleError> {
    caught_now(work).map_err(SettleError::Defect)
}

/// Hooks see the bounded output. What one enlarged is bounded again, so no hook can push it over the limit.
async fn after_hooks(
    services: &Services,
    name: &ToolName,
    input: &Value,
    boundary: &Boundary<'_>,
    mut completed: Completed,
    shortening: Shortening,
) -> Result<Completed, Stop> {
    for hook in services.hooks.iter() {
        let Completed { title, content, structured, metadata, retained } = completed;
        let shown = Presented { content, title, metadata, retained: retained.clone() };
        let changed =
            caught(|| hook.after(name, boundary.context, input, shown)).await.map_err(SettleError::Defect)?;
        let shown = changed.map_err(|error| {
            Rejection::Failed(format!("the tool ran, but a hook rejected its result: {error}"))
        })?;
        let bounded = bound(boundary, shown, structured, shortening).await?;
        completed = Completed { retained: bounded.retained.clone().or(retained), ..bounded };
    }
    Ok(completed)
}

/// The same call, made again and again.
struct SameCallAgain {
    tool: ToolName,
    repeats: u32,
}

impl Ask for SameCallAgain {
    fn questions(&self) -> Vec<Question> {
        let tool = self.tool.as_str();
        vec![Question::new(Action::new("doom_loop"), Resource::new(tool)).saving(tool)]
    }

    fn reach(&self) -> Reach {
        Reach::Looks
    }

    fn show(&self) -> Showing {
        let title =
            format!("{} was called {} times in a row with the same input", self.tool, self.repeats + 1);
        Showing { title, detail: String::new() }
    }
}
