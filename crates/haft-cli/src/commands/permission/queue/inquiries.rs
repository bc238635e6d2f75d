//! Questions of an agent's own in other processes: shown, and answered.

use haft::permission::Inquired;
use haft::{InquiryId, visible};
use haft_store::{Answered, PendingInquiry, written_question};
use serde_json::{Value, json};

use crate::choice::chosen;
use crate::commands::when::{moment, now_ms};
use crate::exit::{Exit, Failure};
use crate::location::open_store;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// Whether an id is that of questions, and not of a request for consent.
pub(crate) fn is_inquiry(id: &str) -> bool {
    id.starts_with("que_")
}

/// Answers questions, or says that there will be no answer.
pub(crate) async fn answer(
    setting: &Setting,
    id: &str,
    word: &str,
    answers: &[String],
) -> Result<Exit, Failure> {
    let id = InquiryId::parse(id).map_err(Failure::usage)?;
    let unknown = || {
        Failure::usage(format_args!("no question {id} is waiting"))
            .hint("`haft permission pending` lists those that are")
    };
    let store = open_store(setting)?;
    let asked = store.pending_inquiries()?.into_iter().find(|asked| asked.id == id).ok_or_else(unknown)?;
    let answers = match word {
        "answer" => Some(read(&asked.questions, answers)?),
        "reject" => None,
        other => {
            return Err(Failure::usage(format_args!("unknown reply {other:?}"))
                .hint("questions take answer, with --answer for each, or reject"));
        }
    };
    let answered = store.answer_inquiry(&id, answers.as_deref()).await?;
    store.close().await;
    if answered != Answered::Answered {
        return Err(unknown());
    }
    match setting.terminal.json {
        true => setting
            .terminal
            .document(&json!({ "v": 1, "request": id.as_str(), "reply": word, "answers": answers }))?,
        false => setting.terminal.note(&format!("{id}: {word}")),
    }
    Ok(Exit::Ok)
}

/// What is meant by the answers, one for each question.
fn read(questions: &[Inquired], answers: &[String]) -> Result<Vec<Vec<String>>, Failure> {
    if questions.len() != answers.len() {
        let (asked, given) = (questions.len(), answers.len());
        return Err(Failure::usage(format_args!("there are {asked} questions and {given} answers"))
            .hint("give --answer once for each question, in their order"));
    }
    let one = |(question, answer): (&Inquired, &String)| {
        chosen(question, answer).ok_or_else(|| {
            Failure::usage(format_args!("{answer:?} is no answer to {:?}", visible(&question.question)))
                .hint("give the number or the label of an option")
        })
    };
    questions.iter().zip(answers).map(one).collect()
}

pub(super) fn print(terminal: Terminal, inquiry: &PendingInquiry) -> Result<(), Failure> {
    let style = terminal.out();
    let age = (now_ms() - inquiry.asked_ms).max(0) / 1000;
    terminal.line(&format!("{}  {}  {}  {age} s", inquiry.id, style.bold("question"), inquiry.session))?;
    for asked in &inquiry.questions {
        terminal.line(&format!("    {}", visible(&asked.question)))?;
        for (number, option) in asked.options.iter().enumerate() {
            let shown = visible(&format!("{}: {}", option.label, option.description));
            terminal.line(&format!("      {} {shown}", number + 1))?;
        }
    }
    Ok(())
}

pub(super) fn document(inquiry: &PendingInquiry) -> Value {
    json!({
        "id": inquiry.id.as_str(),
        "session": inquiry.session,
        "call": inquiry.call,
        "project": inquiry.project,
        "asked": moment(inquiry.asked_ms),
        "questions": inquiry.questions.iter().map(written_question).collect::<Vec<_>>(),
    })
}
