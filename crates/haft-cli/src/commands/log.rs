//! `haft log`: what was called, when, and how it ended.

use haft::{Ended, Input, Settlement, visible, visible_lines};
use haft_store::{CallDetail, CallFilter, CallRow, Lookup, State, Store};
use serde_json::{Value, json};

use crate::cli::{Globals, LogArgs, LogCommand};
use crate::commands::when::{moment, now_ms, since};
use crate::exit::{Exit, Failure};
use crate::history;
use crate::location::open_store;
use crate::run::subject;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// How often a log that is followed looks for more.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(200);
/// How many events are looked at in one go.
const EVENTS_AT_ONCE: u32 = 1000;

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: LogArgs) -> Result<Exit, Failure> {
    let setting = Setting::load_anyway(globals, terminal)?;
    let store = open_store(&setting)?;
    match args.command {
        Some(LogCommand::Show { call }) => show(&store, terminal, &call),
        Some(LogCommand::Verify) => verify(&store, terminal),
        None => list(&setting, &store, terminal, globals, &args).await,
    }
}

async fn list(
    setting: &Setting,
    store: &Store,
    terminal: Terminal,
    globals: &Globals,
    args: &LogArgs,
) -> Result<Exit, Failure> {
    let filter = CallFilter {
        session: globals.session.is_some().then(|| setting.session.clone()),
        tool: args.tool.clone(),
        status: args.status.clone(),
        since_ms: args.since.as_deref().map(|age| since(age, now_ms())).transpose()?,
        after: None,
        limit: Some(u32::try_from(args.limit).unwrap_or(u32::MAX)),
    };
    // Taken first: what ends while the list is printed is rather shown twice than not at all.
    let seen = store.last_event()?;
    store.calls(&filter)?.iter().try_for_each(|call| print(store, terminal, call))?;
    match args.follow {
        true => follow(store, terminal, &filter, seen).await,
        false => Ok(Exit::Ok),
    }
}

/// Prints calls as they end, until interrupted.
async fn follow(
    store: &Store,
    terminal: Terminal,
    filter: &CallFilter,
    mut seen: u64,
) -> Result<Exit, Failure> {
    loop {
        for event in store.events_after(seen, EVENTS_AT_ONCE)? {
            seen = event.seq;
            let ended = matches!(event.name.as_str(), "call.completed" | "call.error");
            let Some(id) = event.call.filter(|_| ended) else { continue };
            let Lookup::One(call) = store.call(&id)? else { continue };
            if filter.takes(&call.row) {
                print(store, terminal, &call.row)?;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = tokio::signal::ctrl_c() => return Ok(Exit::Interrupted),
        }
    }
}

fn print(store: &Store, terminal: Terminal, call: &CallRow) -> Result<(), Failure> {
    match terminal.json {
        true => terminal.document(&document(call)),
        false => terminal.line(&line(store, terminal, call)?),
    }
}

/// One call in one line.
pub(super) fn line(store: &Store, terminal: Terminal, call: &CallRow) -> Result<String, Failure> {
    let style = terminal.out();
    let state = match &call.state {
        State::Completed => style.green("completed"),
        State::Error { reason } => style.red(reason),
        State::Pending | State::Running => style.yellow(call.state.as_str()),
    };
    let took =
        call.ended_ms.map(|ended| format!("{} ms", (ended - call.called_ms).max(0))).unwrap_or_default();
    let wanted = visible(&format!("{} {}", call.tool, first_line(&wanted(store, call)?)));
    let (when, took) = (style.dim(&moment(call.called_ms)), style.dim(&took));
    Ok(format!("{when}  {}  {state}  {wanted}  {took}", call.id))
}

/// What a call is about: only those that completed have a title.
fn wanted(store: &Store, call: &CallRow) -> Result<String, Failure> {
    if !call.title.is_empty() {
        return Ok(call.title.clone());
    }
    Ok(match store.call(call.id.as_str())? {
        Lookup::One(call) => subject(&call.effective_input()),
        Lookup::Nothing | Lookup::Several(_) => String::new(),
    })
}

/// The first line of a text, which says if there is more.
fn first_line(text: &str) -> String {
    let text = text.trim();
    match text.split_once(['\n', '\r']) {
        Some((first, _)) => format!("{} …", first.trim_end()),
        None => text.to_owned(),
    }
}

/// One call as a document.
pub(super) fn document(call: &CallRow) -> Value {
    let reason = match &call.state {
        State::Error { reason } => Some(reason),
        State::Pending | State::Running | State::Completed => None,
    };
    json!({
        "v": 1,
        "seq": call.seq,
        "call": call.id.as_str(),
        "session": call.session.as_str(),
        "message": call.message.as_str(),
        "key": call.provider_id,
        "agent": call.agent,
        "tool": call.tool,
        "status": call.state.as_str(),
        "reason": reason,
        "changed": call.acted,
        "title": call.title,
        "time": { "called": call.called_ms, "started": call.started_ms, "ended": call.ended_ms },
    })
}

fn show(store: &Store, terminal: Terminal, id: &str) -> Result<Exit, Failure> {
    let call = find(store, id)?;
    if terminal.json {
        let mut shown = document(&call.row);
        shown["input"] = input(&call.input);
        shown["changedInput"] = call.changed_input.clone().unwrap_or(Value::Null);
        shown["output"] = told(&call).into();
        shown["files"] =
            call.intents.iter().map(|intent| intent.path.to_string_lossy().into_owned()).collect();
        shown["retained"] = call.output.as_ref().map_or(
            Value::Null,
            |output| json!({ "id": output.id.as_str(), "bytes": output.bytes, "lines": output.lines }),
        );
        terminal.document(&shown)?;
        return Ok(Exit::Ok);
    }
    let style = terminal.out();
    terminal.line(&line(store, terminal, &call.row)?)?;
    terminal.line(&format!(
        "{} {}  {} {}",
        style.dim("session"),
        call.row.session,
        style.dim("agent"),
        visible(&call.row.agent)
    ))?;
    terminal.line(&style.dim("input"))?;
    terminal.foreign(&format!("{:#}", input(&call.input)))?;
    if let Some(changed) = &call.changed_input {
        terminal.line(&style.dim("input as a hook changed it"))?;
        terminal.foreign(&format!("{changed:#}"))?;
    }
    for intent in &call.intents {
        terminal.line(&format!("{} {}", style.dim("file"), visible(&intent.path.to_string_lossy())))?;
    }
    // What is recorded as a change and names no file was done by a command or by somebody else's code.
    if call.row.acted && call.intents.is_empty() {
        terminal.line(&style.dim("what it did to files cannot be undone by haft"))?;
    }
    terminal.line(&style.dim("told"))?;
    terminal.foreign(&told(&call))?;
    if let Some(output) = &call.output {
        terminal.note(&format!("the whole output ({} lines): haft output {}", output.lines, call.row.id));
    }
    Ok(Exit::Ok)
}

/// The one call whose id begins like this.
pub(super) fn find(store: &Store, id: &str) -> Result<CallDetail, Failure> {
    match store.call(id)? {
        Lookup::One(call) => Ok(*call),
        Lookup::Nothing => {
            Err(Failure::usage(format_args!("there is no call {id:?}")).hint("`haft log` lists them"))
        }
        Lookup::Several(ids) => {
            let ids: Vec<&str> = ids.iter().map(haft::CallId::as_str).collect();
            Err(Failure::usage(format_args!("{id:?} is the beginning of several calls: {}", ids.join(", "))))
        }
    }
}

/// What was told of a call's end.
pub(super) fn told(call: &CallDetail) -> String {
    match &call.ended {
        None => format!("the call is {}", call.row.state.as_str()),
        Some(Ended::Settled(settlement)) => match &**settlement {
            Settlement::Completed(done) => done.text(),
            Settlement::Rejected(why) => why.to_string(),
        },
        Some(other) => format!("the call {}", history::end(other)),
    }
}

fn input(input: &Input) -> Value {
    match input {
        Input::Json(value) => value.clone(),
        Input::Malformed { text, .. } => Value::from(text.as_str()),
    }
}

fn verify(store: &Store, terminal: Terminal) -> Result<Exit, Failure> {
    let problems = store.check()?;
    match terminal.json {
        true => terminal.document(&json!({ "v": 1, "ok": problems.is_empty(), "problems": problems }))?,
        false if problems.is_empty() => terminal.line("the record is whole")?,
        false => terminal.line(&visible_lines(&problems.join("\n")))?,
    }
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Defect })
}
