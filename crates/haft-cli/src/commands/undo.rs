//! `haft undo`: takes back what calls changed in files. Without `--yes` it shows what that would change.

use std::time::Instant;

use haft::{Call, CallId, Input, Settlement, ToolError, visible, visible_lines};
use haft_store::Store;
use haft_tools::{RefusedFile, UndoPlan};
use serde_json::{Value, json};

use super::log::find;
use crate::cli::{ConsentArgs, Globals, UndoArgs};
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode, open_store};
use crate::report;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// The tool that undoes.
const TOOL: &str = "undo";
/// Why it goes on although what the project denies is not known: who broke the configuration can take that back.
const WITHOUT_RULES: &str = "the project's rules could not be looked at, so what they deny does not stop this; undo goes on \
                             under your own rules, since it only puts back what was there";
/// So many calls of a session are undone at once.
const CALLS_MAX: usize = 10_000;

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: &UndoArgs) -> Result<Exit, Failure> {
    let setting = Setting::load_despite(globals, terminal, WITHOUT_RULES)?;
    let store = open_store(&setting)?;
    let calls = chosen(&store, &setting, globals, args)?;
    store.close().await;
    drop(store);
    match args.yes {
        true => undo(&setting, &calls).await,
        false => show(&setting, &calls).await,
    }
}

/// The calls that are meant.
fn chosen(
    store: &Store,
    setting: &Setting,
    globals: &Globals,
    args: &UndoArgs,
) -> Result<Vec<CallId>, Failure> {
    if args.call.is_some() && globals.session.is_some() {
        return Err(Failure::usage("name either a call or, with --session, a session"));
    }
    if let Some(id) = &args.call {
        return Ok(vec![find(store, id)?.row.id]);
    }
    let (session, limit, where_) = match &globals.session {
        Some(_) => (Some(&setting.session), CALLS_MAX, "this session"),
        None => (None, 1, "this project"),
    };
    let calls = store.undoable(session, limit)?;
    match calls.is_empty() {
        true => Err(Failure::new(
            Exit::Failed,
            anyhow::anyhow!("no call of {where_} changed a file that is not undone already"),
        )
        .hint("`haft log` lists the calls; `haft undo CALL` undoes one")),
        false => Ok(calls),
    }
}

async fn undo(setting: &Setting, calls: &[CallId]) -> Result<Exit, Failure> {
    let consent = ConsentArgs { yes: true, ..ConsentArgs::default() };
    let location = Location::open(setting, &consent, Mode::Live, Life::OneCall)?;
    let turn = location.turn().await?;
    let call = Call {
        context: setting.context(),
        provider_id: None,
        name: TOOL.to_owned(),
        input: Input::Json(json!({ "calls": calls.iter().map(CallId::as_str).collect::<Vec<_>>() })),
    };
    let began = Instant::now();
    let outcome = turn.settle(call.clone()).await;
    let exit = report::report(setting, &call, &outcome, began.elapsed())?;
    location.close().await;
    match &outcome {
        Ok(Settlement::Completed(done)) if done.metadata["refused"] != json!([]) => Ok(Exit::Failed),
        Ok(Settlement::Completed(_)) => {
            setting.terminal.note(&format!("take that back with: haft undo {} --yes", call.context.call));
            Ok(exit)
        }
        Ok(Settlement::Rejected(_)) | Err(_) => Ok(exit),
    }
}

async fn show(setting: &Setting, calls: &[CallId]) -> Result<Exit, Failure> {
    let terminal = setting.terminal;
    let location = Location::open(setting, &ConsentArgs::default(), Mode::Rehearsal, Life::OneCall)?;
    let plan = match location.plan_undo(calls).await {
        Ok(plan) => plan,
        Err(ToolError::Failure(why)) => return Err(Failure::new(Exit::Failed, anyhow::anyhow!(why))),
        Err(error) => return Err(Failure::new(Exit::Defect, error)),
    };
    match terminal.json {
        true => terminal.document(&document(calls, &plan))?,
        false => text(terminal, calls, &plan)?,
    }
    Ok(if plan.refused.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn document(calls: &[CallId], plan: &UndoPlan) -> Value {
    let files = plan.files.iter().map(|file| {
        json!({ "file": file.place().spelled_text(), "name": file.place().name(), "diff": file.diff() })
    });
    let refused = |file: &RefusedFile| json!({ "file": file.name, "why": file.why, "diff": file.diff });
    json!({
        "v": 1,
        "calls": calls.iter().map(CallId::as_str).collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "refused": plan.refused.iter().map(refused).collect::<Vec<_>>(),
        "done": false,
    })
}

fn text(terminal: Terminal, calls: &[CallId], plan: &UndoPlan) -> Result<(), Failure> {
    for file in &plan.files {
        let done = match (file.before(), file.after()) {
            (Some(_), Some(_)) => "would restore",
            (Some(_), None) => "would remove",
            (None, _) => "would bring back",
        };
        terminal.line(&format!("{done} {}", file.place().shown()))?;
        terminal.foreign(&visible_lines(file.diff()))?;
    }
    for file in &plan.refused {
        terminal.line(&format!("would leave {}: {}", visible(&file.name), visible(&file.why)))?;
        terminal.foreign(&visible_lines(&file.diff))?;
    }
    if !plan.files.is_empty() {
        let command = match calls {
            [only] => format!("haft undo {only} --yes"),
            _ => "the same command and --yes".to_owned(),
        };
        terminal.note(&format!("nothing was changed; do it with {command}"));
    }
    Ok(())
}
