//! `haft permission preview` and `suggest-always`, and dry runs: a call is rehearsed, and nothing is done.

use std::sync::Arc;

use haft::permission::{Effect, Rehearsed, strictest};
use haft::{Refusal, Rejection, Settlement, visible, visible_lines};
use serde_json::{Value, json};

use crate::cli::ConsentArgs;
use crate::commands::call::make_call;
use crate::exit::{Exit, Failure};
use crate::location::{Life, Location, Mode};
use crate::report;
use crate::setting::Setting;
use crate::terminal::Terminal;

pub(super) async fn preview(
    setting: &Setting,
    tool: String,
    input: &[String],
    consent: &ConsentArgs,
) -> Result<Exit, Failure> {
    match rehearse(setting, tool.clone(), input, consent).await? {
        Ok(rehearsed) => {
            show_rehearsal(setting.terminal, &tool, &rehearsed)?;
            Ok(Exit::Ok)
        }
        Err(exit) => Ok(exit),
    }
}

pub(super) async fn suggest(setting: &Setting, tool: String, input: &[String]) -> Result<Exit, Failure> {
    let rehearsed = match rehearse(setting, tool, input, &ConsentArgs::default()).await? {
        Ok(rehearsed) => rehearsed,
        Err(exit) => return Ok(exit),
    };
    let patterns: Vec<&String> = rehearsed.iter().flat_map(|note| &note.question.save).collect();
    if setting.terminal.json {
        setting.terminal.document(&json!({ "v": 1, "always": patterns }))?;
        return Ok(Exit::Ok);
    }
    for pattern in patterns {
        setting.terminal.line(&visible(pattern))?;
    }
    Ok(Exit::Ok)
}

/// Rehearses a call. A call that leaves before it asks anything is reported, and how to leave is returned.
async fn rehearse(
    setting: &Setting,
    tool: String,
    input: &[String],
    consent: &ConsentArgs,
) -> Result<Result<Vec<Rehearsed>, Exit>, Failure> {
    let location = Location::open(setting, consent, Mode::Rehearsal, Life::OneCall)?;
    let turn = Arc::new(location.turn().await?);
    let call = make_call(setting, &turn, tool, input, None)?;
    let _open = location.enter(&call, &turn);
    let outcome = turn.settle(call.clone()).await;
    if let Ok(Settlement::Rejected(Rejection::Refused(Refusal::Rehearsed { .. }))) = &outcome {
        return Ok(Ok(location.rehearsed()));
    }
    let exit = report::report(setting, &call, &outcome, std::time::Duration::ZERO)?;
    Ok(Err(exit))
}

/// Prints what would be decided and what a person would be shown. Leaves as the decision would.
pub(crate) fn show_rehearsal(
    terminal: Terminal,
    tool: &str,
    rehearsed: &[Rehearsed],
) -> Result<Exit, Failure> {
    let effect = rehearsed.iter().map(|note| strictest(&note.decisions)).max().unwrap_or(Effect::Allow);
    let exit = match effect {
        Effect::Allow => Exit::Ok,
        Effect::Ask => Exit::Unanswered,
        Effect::Deny => Exit::Denied,
    };
    if terminal.json {
        let questions: Vec<Value> = rehearsed.iter().map(document).collect();
        terminal
            .document(&json!({ "v": 1, "tool": tool, "action": effect.as_str(), "questions": questions }))?;
        return Ok(exit);
    }
    let style = terminal.out();
    for note in rehearsed {
        for decision in &note.decisions {
            let wanted = visible(&format!("{} {}", note.question.action, decision.resource.name()));
            terminal.line(&format!("{:5}  {wanted}", decision.effect.as_str()))?;
        }
        if !note.question.save.is_empty() {
            let patterns: Vec<String> = note.question.save.iter().map(|pattern| visible(pattern)).collect();
            terminal.line(&style.dim(&format!("       always would allow {}", patterns.join(", "))))?;
        }
    }
    if let Some(note) = rehearsed.last() {
        if !note.showing.title.is_empty() {
            terminal.line(&visible(&note.showing.title))?;
        }
        if !note.showing.detail.is_empty() {
            terminal.line(&visible_lines(&note.showing.detail))?;
        }
    }
    Ok(exit)
}

fn document(note: &Rehearsed) -> Value {
    let decisions: Vec<Value> = note
        .decisions
        .iter()
        .map(|decision| json!({ "pattern": decision.resource.name(), "action": decision.effect.as_str() }))
        .collect();
    json!({
        "permission": note.question.action.as_str(),
        "decisions": decisions,
        "always": note.question.save,
        "title": visible(&note.showing.title),
        "detail": visible_lines(&note.showing.detail),
    })
}
