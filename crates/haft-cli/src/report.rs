//! How a call is reported: as one JSON document, or as text for a person.

use std::time::Duration;

use base64::Engine;
use haft::{Call, Content, Refusal, Rejection, SettleError, Settlement};
use serde_json::{Map, Value, json};

use crate::exit::{self, Exit, Failure};
use crate::setting::Setting;

/// What came of settling a call.
pub(crate) type Outcome = Result<Settlement, SettleError>;

/// Prints what came of a call and says how to leave.
pub(crate) fn report(
    setting: &Setting,
    call: &Call,
    outcome: &Outcome,
    took: Duration,
) -> Result<Exit, Failure> {
    let exit = exit_of(outcome);
    match setting.terminal.json {
        true => setting.terminal.document(&document(setting, call, outcome, took))?,
        false => text(setting, call, outcome, took)?,
    }
    Ok(exit)
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Ok(Settlement::Completed(_)) => Exit::Ok,
        Ok(Settlement::Rejected(rejection)) => exit::of_rejection(rejection),
        Err(error) => exit::of_settle_error(error),
    }
}

fn document(setting: &Setting, call: &Call, outcome: &Outcome, took: Duration) -> Value {
    let mut document = Map::new();
    document.insert("v".to_owned(), 1.into());
    document.insert("call".to_owned(), call.context.call.as_str().into());
    document.insert("tool".to_owned(), call.name.as_str().into());
    document.insert("session".to_owned(), call.context.session.as_str().into());
    match outcome {
        Ok(Settlement::Completed(done)) => {
            document.insert("status".to_owned(), "completed".into());
            document.insert("title".to_owned(), done.title.as_str().into());
            document.insert("output".to_owned(), done.text().into());
            document.insert("metadata".to_owned(), Value::Object(done.metadata.clone()));
            document.insert("structured".to_owned(), done.structured.clone());
            document.insert("attachments".to_owned(), attachments(call, &done.content));
            if let Some(output) = &done.retained {
                let retained =
                    json!({ "id": output.id.as_str(), "bytes": output.bytes, "lines": output.lines });
                document.insert("retained".to_owned(), retained);
            }
        }
        Ok(Settlement::Rejected(rejection)) => {
            document.insert("status".to_owned(), "error".into());
            document.insert("error".to_owned(), rejected(setting, rejection));
        }
        Err(error) => {
            document.insert("status".to_owned(), "error".into());
            let mut told = json!({ "kind": kind(error), "message": told(setting, error) });
            if let Some(hint) = hint(error) {
                told["hint"] = hint.into();
            }
            document.insert("error".to_owned(), told);
        }
    }
    document.insert("ms".to_owned(), (took.as_millis() as u64).into());
    Value::Object(document)
}

/// The document of a call that was given up.
pub(crate) fn cancelled(call: &Call, message: &str, took: Duration) -> Value {
    json!({
        "v": 1,
        "call": call.context.call.as_str(),
        "tool": call.name,
        "session": call.context.session.as_str(),
        "status": "error",
        "error": { "kind": "cancelled", "message": message },
        "ms": took.as_millis() as u64,
    })
}

fn attachments(call: &Call, content: &[Content]) -> Value {
    let media = content.iter().filter(|part| part.as_text().is_none());
    media.enumerate().filter_map(|(number, part)| attachment(call, number, part)).collect()
}

fn attachment(call: &Call, number: usize, part: &Content) -> Option<Value> {
    let Content::Media { mime, data, name } = part else { return None };
    let data = base64::engine::general_purpose::STANDARD.encode(data);
    let mut attachment = json!({
        "id": format!("{}/{number}", call.context.call),
        "type": "file",
        "mime": mime,
        "url": format!("data:{mime};base64,{data}"),
    });
    if let Some(name) = name {
        attachment["filename"] = name.as_str().into();
    }
    Some(attachment)
}

fn rejected(setting: &Setting, rejection: &Rejection) -> Value {
    let message = setting.config.as_written(&rejection.to_string());
    let mut error = json!({ "kind": rejection.kind(), "message": message });
    let rule = match rejection {
        Rejection::Refused(Refusal::Denied { rule, .. }) => Some(rule),
        Rejection::Refused(Refusal::Unanswered { rule, .. }) => rule.as_ref(),
        _ => None,
    };
    if let Some(rule) = rule {
        error["rule"] = json!({
            "permission": rule.action.as_str(),
            "pattern": setting.config.as_written(&rule.told_resource()),
            "action": rule.effect.as_str(),
            "layer": rule.origin.layer.to_string(),
            "source": rule.origin.to_string(),
        });
    }
    if let Rejection::Refused(Refusal::Unanswered { hint, .. }) = rejection {
        error["hint"] = hint.as_str().into();
    }
    error
}

/// A word for an error of settling, for programs.
pub(crate) fn kind(error: &SettleError) -> &'static str {
    match error {
        SettleError::Declined => "declined",
        SettleError::Retain(_) => "not_retained",
        SettleError::Record(_) => "not_recorded",
        SettleError::Repeated(_) => "repeated",
        SettleError::Defect(_) => "defect",
    }
}

/// What can be done about an error of settling.
fn hint(error: &SettleError) -> Option<&'static str> {
    match error {
        SettleError::Retain(_) => Some(
            "less than the whole would be a lie, so nothing was told; make room (`haft gc` shows what can be removed), or have it print less",
        ),
        SettleError::Declined
        | SettleError::Record(_)
        | SettleError::Repeated(_)
        | SettleError::Defect(_) => None,
    }
}

/// What went wrong, without what the configuration took from elsewhere.
fn told(setting: &Setting, error: &SettleError) -> String {
    setting.config.as_written(&match error {
        SettleError::Repeated(past) => format!("{error}: {}", crate::history::past(past)),
        SettleError::Declined | SettleError::Retain(_) | SettleError::Record(_) | SettleError::Defect(_) => {
            haft::causes(error)
        }
    })
}

fn text(setting: &Setting, call: &Call, outcome: &Outcome, took: Duration) -> Result<(), Failure> {
    let terminal = setting.terminal;
    let style = terminal.err();
    let trail = style.dim(&format!("{} · {} ms", call.context.call, took.as_millis()));
    match outcome {
        Ok(Settlement::Completed(done)) => {
            terminal.foreign(&done.text())?;
            for part in &done.content {
                if let Content::Media { mime, data, .. } = part {
                    terminal.note(&format!("attached: {mime}, {} bytes (use --json to get it)", data.len()));
                }
            }
            let title = done.title.lines().collect::<Vec<_>>().join(" ");
            terminal.note(&format!("{} {}  {trail}", call.name, haft::visible(&title)));
        }
        Ok(Settlement::Rejected(rejection)) => {
            let label = if exit::of_rejection(rejection) == Exit::Denied { "denied:" } else { "error:" };
            terminal.say(&format!(
                "{} {}",
                style.red(label),
                haft::visible_lines(&setting.config.as_written(&rejection.to_string()))
            ));
            terminal.note(&trail);
        }
        Err(error) => {
            terminal.say(&format!("{} {}", style.red("error:"), haft::visible_lines(&told(setting, error))));
            if let Some(hint) = hint(error) {
                terminal.say(&format!("{} {hint}", style.dim("hint:")));
            }
            terminal.note(&trail);
        }
    }
    Ok(())
}
