//! `haft call`: runs one tool, without a model.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft::{Call, CallId, Ended, Event, MessageId, Refusal, Rejection, Seq, Settlement, ToolContext, Turn};

use super::permission::show_rehearsal;
use crate::arguments;
use crate::asked::{self, Asked, Insistence};
use crate::cli::{CallArgs, Globals};
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::plugins::{self, why_missing};
use crate::report::{self, Outcome};
use crate::setting::{Setting, check_plain};
use crate::terminal::Terminal;

/// How long a command that gives up waits for its record.
const CLOSING_MAX: Duration = Duration::from_secs(1);

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: CallArgs) -> Result<Exit, Failure> {
    let setting = Setting::load(globals, terminal)?;
    let mode = if args.dry_run { Mode::Rehearsal } else { Mode::Live };
    let is_foreign = mode == Mode::Live && !plugins::is_off(&setting) && !haft_tools::is_builtin(&args.tool);
    let life = if is_foreign { Life::OneForeignCall } else { Life::OneCall };
    let location = Location::open(&setting, &args.consent, mode, life)?;
    let turn = Arc::new(location.turn().await?);
    let call = make_call(&setting, &turn, args.tool, &args.input, args.key)?;
    // It takes a while, in which the call is put on record.
    if mode == Mode::Live && !location.plugins().expect_one_call(&call.name) {
        location.hosting().ahead.forget();
    }
    let _open = location.enter(&call, &turn);
    let _narration =
        terminal.verbose.then(|| location.subscribe(move |seq, event| narrate(terminal, seq, event)));

    let began = Instant::now();
    let deadline = args.timeout.map(deadline).transpose()?;
    let mut asked = Asked::listen(&asked::of_call())?;
    let insistence = Insistence::begin(asked::of_call());
    let outcome = match settle(&turn, call.clone(), &mut asked, deadline).await {
        Waited::Settled(outcome) => *outcome,
        Waited::GaveUp(exit) => return give_up(&setting, location, &call, exit, began.elapsed()).await,
    };
    insistence.is_over();
    if let Ok(Settlement::Rejected(Rejection::Refused(Refusal::Rehearsed { .. }))) = &outcome {
        return show_rehearsal(terminal, &call.name, &location.rehearsed());
    }
    let recorded = location.recorded_as(call)?;
    let exit = report::report(&setting, &recorded, &outcome, began.elapsed())?;
    if let Ok(Settlement::Rejected(Rejection::Unknown { .. })) = &outcome
        && let Some(why) = why_missing(&setting, location.plugins(), &recorded.name)
    {
        terminal.say(&format!("{} {why}", terminal.err().dim("hint:")));
    }
    location.close().await;
    Ok(exit)
}

/// A call as the command line makes it: in a message of its own.
pub(crate) fn make_call(
    setting: &Setting,
    turn: &Turn,
    tool: String,
    words: &[String],
    key: Option<String>,
) -> Result<Call, Failure> {
    let definition = turn.definitions().iter().find(|definition| definition.name.as_str() == tool);
    let schema = definition.map(|definition| &**definition.input.json());
    let input = arguments::input(words, &setting.directory, schema)?;
    let message = match &key {
        Some(key) => {
            check_plain(&setting.env, "--key", key)?;
            // The key is what makes two calls the same, so the message must not tell them apart.
            MessageId::parse("msg_cli")
        }
        None => Ok(MessageId::mint()),
    };
    Ok(Call {
        context: ToolContext {
            session: setting.session.clone(),
            agent: setting.agent.clone(),
            message: message.map_err(Failure::usage)?,
            call: CallId::mint(),
        },
        provider_id: key,
        name: tool,
        input,
    })
}

enum Waited {
    Settled(Box<Outcome>),
    GaveUp(Exit),
}

/// Waits for the call, for somebody to end it, or for the deadline, whichever comes first. What loses is dropped.
async fn settle(turn: &Turn, call: Call, asked: &mut Asked, deadline: Option<Duration>) -> Waited {
    let too_late = async {
        match deadline {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        outcome = turn.settle(call) => Waited::Settled(Box::new(outcome)),
        exit = asked.next() => Waited::GaveUp(exit),
        () = too_late => Waited::GaveUp(Exit::Deadline),
    }
}

/// Says what happens, as it happens.
fn narrate(terminal: Terminal, seq: Seq, event: &Event) {
    let what = match event {
        Event::Called(call) => format!("called {}", haft::visible(&call.name)),
        Event::Running(_) => "running".to_owned(),
        Event::Ended(_, Ended::Settled(_)) => "settled".to_owned(),
        Event::Ended(_, ended) => crate::history::end(ended),
        Event::Asked(request) => format!("asked: {}", request.wanted()),
        Event::Replied(_, reply) => format!("replied: {}", reply.as_str()),
        Event::Output { delta, .. } => return terminal.say(&haft::visible_lines(delta.trim_end())),
        Event::Reported { name, .. } | Event::Session { name, .. } => (*name).to_owned(),
        Event::Said { .. } => return,
    };
    terminal.say(&terminal.err().dim(&format!("{} {what}", seq.0)));
}

fn deadline(seconds: f64) -> Result<Duration, Failure> {
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| {
        Failure::usage(format_args!("--timeout {seconds} is not a positive number of seconds"))
    })
}

/// The call was dropped. What the record says of it is what is told: it may have ended in the last moment.
async fn give_up(
    setting: &Setting,
    location: Location<'_>,
    call: &Call,
    exit: Exit,
    took: Duration,
) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let closing = tokio::time::timeout(CLOSING_MAX, location.close_record());
    let (closed, ()) = tokio::join!(closing, location.let_stop());
    let mut is_kept = false;
    if closed.is_err() {
        terminal.say("the record is busy; the next start will find the call and say what became of it");
        // Whoever gives up does not wait for the writer either.
        std::mem::forget(location);
    } else if let Some(Ended::Settled(settlement)) = location.ended(call)? {
        return report::report(setting, call, &Ok(*settlement), took);
    } else {
        is_kept = location.has_output(call)?;
    }
    let why = if exit == Exit::Deadline { "the deadline passed" } else { "interrupted" };
    let message = format!("{why}: {} was cancelled", call.name);
    match terminal.json {
        true => terminal.document(&report::cancelled(call, &message, took))?,
        false => terminal.say(&format!("{} ({})", haft::visible(&message), call.context.call)),
    }
    if is_kept {
        terminal.say(&format!("what it printed until then: haft output {}", call.context.call));
    }
    Ok(exit)
}
