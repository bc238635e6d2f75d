//! Questions that are answered in whole lines: for terminals whose lines cannot change, and for screen readers.

use haft::permission::{Inquired, Inquiry, Reply, Request, Scope, Told};
use tokio::sync::oneshot;

use super::news::{Asked, Inquiring};
use super::row::{Paint, Row};
use crate::choice::chosen;

/// A question that waits for lines.
pub(crate) enum LineQuestion {
    Consent { request: Request, step: Step, reply: oneshot::Sender<Reply> },
    Inquiry { inquiry: Inquiry, answers: Vec<Vec<String>>, reply: oneshot::Sender<Told> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Choose,
    Scope,
    Words,
    Input,
}

/// What came of a line.
pub(crate) enum Heard {
    Answered,
    /// It goes on; this is to be said first.
    More(Box<LineQuestion>, Vec<Row>),
}

impl From<Asked> for LineQuestion {
    fn from(Asked { request, reply }: Asked) -> LineQuestion {
        LineQuestion::Consent { request, step: Step::Choose, reply }
    }
}

impl From<Inquiring> for LineQuestion {
    fn from(Inquiring { inquiry, reply }: Inquiring) -> LineQuestion {
        LineQuestion::Inquiry { inquiry, answers: Vec::new(), reply }
    }
}

impl LineQuestion {
    /// Whether somebody still waits for the answer.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            LineQuestion::Consent { reply, .. } => !reply.is_closed(),
            LineQuestion::Inquiry { reply, .. } => !reply.is_closed(),
        }
    }

    /// What is shown before the first line.
    pub(crate) fn intro(&self) -> Vec<Row> {
        match self {
            LineQuestion::Consent { request, .. } => {
                super::approval::Approval::new(request.clone(), std::time::Duration::ZERO).head(true)
            }
            LineQuestion::Inquiry { inquiry, answers, .. } => {
                inquiry.questions.get(answers.len()).map(question_rows).unwrap_or_default()
            }
        }
    }

    /// What stands before the line.
    pub(crate) fn prompt(&self) -> &'static str {
        match self {
            LineQuestion::Consent { step: Step::Choose, request, .. } => {
                match (request.question.save.is_empty(), request.input.is_some()) {
                    (true, false) => "once / reject? ",
                    (true, true) => "once / edit / reject? ",
                    (false, false) => "once / always / reject? ",
                    (false, true) => "once / always / edit / reject? ",
                }
            }
            LineQuestion::Consent { step: Step::Input, .. } => {
                "the call as it is to be, as JSON? (empty: as it is) "
            }
            LineQuestion::Consent { step: Step::Scope, .. } => "for this session, project, or user? ",
            LineQuestion::Consent { step: Step::Words, .. } => "what instead? (empty: just stop) ",
            LineQuestion::Inquiry { .. } => "a number, or your own words? ",
        }
    }

    /// Takes a line. Only a word that says so is consent; an empty line asks again.
    pub(crate) fn hear(self, line: &str) -> Heard {
        let line = line.trim();
        match self {
            LineQuestion::Consent { request, step, reply } => consent(request, step, reply, line),
            LineQuestion::Inquiry { inquiry, mut answers, reply } => {
                let Some(question) = inquiry.questions.get(answers.len()) else { return Heard::Answered };
                let mut problem = Vec::new();
                match chosen(question, line) {
                    Some(answer) => answers.push(answer),
                    None => problem.push(said("Type the number of an answer.")),
                }
                if answers.len() == inquiry.questions.len() {
                    send(reply, Told::Answers(answers));
                    return Heard::Answered;
                }
                let next = LineQuestion::Inquiry { inquiry, answers, reply };
                problem.extend(next.intro());
                Heard::More(Box::new(next), problem)
            }
        }
    }
}

fn consent(request: Request, step: Step, reply: oneshot::Sender<Reply>, line: &str) -> Heard {
    let again = |request, step, reply, rows| {
        Heard::More(Box::new(LineQuestion::Consent { request, step, reply }), rows)
    };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let can_be_saved = !request.question.save.is_empty();
    let answer = match (step, word.to_lowercase().as_str()) {
        (Step::Choose, "o" | "once" | "y" | "yes") => Reply::Once,
        (Step::Choose, "a" | "always") if can_be_saved => {
            let (action, patterns) = (&request.question.action, request.question.save.join(", "));
            let rows = vec![said(&format!("This would allow from now on: {action} {patterns}"))];
            return again(request, Step::Scope, reply, rows);
        }
        (Step::Choose, "a" | "always") => {
            return again(request, step, reply, vec![said("This cannot be allowed for always.")]);
        }
        (Step::Choose, "r" | "reject" | "n" | "no") => match rest.trim() {
            "" => return again(request, Step::Words, reply, Vec::new()),
            words => Reply::Reject(Some(words.to_owned())),
        },
        (Step::Choose, "e" | "edit") => match &request.input {
            Some(input) => {
                let rows = vec![said(&input.to_string())];
                return again(request, Step::Input, reply, rows);
            }
            None => return again(request, step, reply, vec![said("This call can no longer be changed.")]),
        },
        (Step::Input, "") => return again(request, Step::Choose, reply, Vec::new()),
        (Step::Input, _) => match super::approval::changed(line, request.input.as_ref()) {
            Ok(input) => Reply::Edit(input),
            Err(why) => return again(request, step, reply, vec![said(&why)]),
        },
        (Step::Choose, "") => return again(request, step, reply, Vec::new()),
        (Step::Choose, _) => return again(request, step, reply, vec![said("Type o, a, e or r.")]),
        (Step::Scope, "s" | "session") => Reply::Always(Scope::Session),
        (Step::Scope, "p" | "project") => Reply::Always(Scope::Project),
        (Step::Scope, "u" | "user") => Reply::Always(Scope::User),
        (Step::Scope, _) => return again(request, step, reply, vec![said("Type s, p or u.")]),
        (Step::Words, _) => Reply::Reject(Some(line.to_owned()).filter(|words| !words.is_empty())),
    };
    send(reply, answer);
    Heard::Answered
}

fn send<A>(to: oneshot::Sender<A>, answer: A) {
    // Whoever no longer waits needs no answer.
    let _gone = to.send(answer);
}

fn said(text: &str) -> Row {
    Row::new().plain(text)
}

fn question_rows(question: &Inquired) -> Vec<Row> {
    let mut rows = vec![Row::new().with(Paint::Bold, &question.question)];
    for (number, option) in question.options.iter().enumerate() {
        rows.push(said(&format!("  {} {}: {}", number + 1, option.label, option.description)));
    }
    if question.is_multiple {
        rows.push(said("  several can be chosen, separated by commas"));
    }
    rows
}
