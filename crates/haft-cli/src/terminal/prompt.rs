//! Asking a person on their terminal, one question at a time, in plain lines.
//!
//! What is shown is exactly what will happen, with everything written out that could hide. Only a typed word is an
//! answer: an empty line asks again, and the end of input is a rejection.

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use haft::permission::{Answer, Asker, Inquiry, Reply, Request, Scope, Told};
use haft::{BoxFuture, visible, visible_lines};

use super::Style;

/// Asks on the terminal.
pub(crate) struct TerminalAsker {
    style: Style,
    /// One question at a time; the others wait.
    turn: Arc<Mutex<()>>,
}

impl TerminalAsker {
    pub(crate) fn new(style: Style) -> TerminalAsker {
        TerminalAsker { style, turn: Arc::default() }
    }
}

impl Asker for TerminalAsker {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        let (style, turn, request) = (self.style, self.turn.clone(), request.clone());
        // Reading a line blocks its thread; the call itself can still be cancelled meanwhile.
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            converse(&request, style)
        });
        Box::pin(async move {
            let reply = asked.await.ok().flatten();
            Answer::Reply(reply.unwrap_or(Reply::Reject(None)))
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        let (style, turn, inquiry) = (self.style, self.turn.clone(), inquiry.clone());
        let asked = tokio::task::spawn_blocking(move || {
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            super::inquire::converse(&inquiry, style)
        });
        Box::pin(async move { asked.await.ok().flatten().map_or(Told::Dismissed, Told::Answers) })
    }
}

/// Shows the question and reads an answer. `None` at the end of input.
fn converse(request: &Request, style: Style) -> Option<Reply> {
    say(&render(request, style));
    loop {
        let line = read_line(&style.bold("once / always / reject? "))?;
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        match word.to_lowercase().as_str() {
            "o" | "once" | "y" | "yes" => return Some(Reply::Once),
            "a" | "always" if request.question.save.is_empty() => say("This cannot be allowed for always."),
            "a" | "always" => return choose_scope(style).map(Reply::Always),
            "r" | "reject" | "n" | "no" => return Some(Reply::Reject(words(rest, style))),
            "" => {}
            _ => say("Type o, a or r."),
        }
    }
}

/// The question as a person sees it.
pub(crate) fn render(request: &Request, style: Style) -> String {
    let mut text = format!("\n{} wants: {}\n", request.context.agent, style.bold(&request.wanted()));
    if !request.showing.title.is_empty() {
        text.push_str(&format!("  {}\n", visible(&request.showing.title)));
    }
    for line in visible_lines(&request.showing.detail).lines() {
        let painted = match line.as_bytes().first() {
            Some(b'+') => style.green(line),
            Some(b'-') => style.red(line),
            _ => line.to_owned(),
        };
        text.push_str(&format!("  {painted}\n"));
    }
    if let [first, rest @ ..] = request.question.save.as_slice() {
        let patterns = rest.iter().fold(visible(first), |all, next| format!("{all}, {}", visible(next)));
        text.push_str(&style.dim(&format!("  always would allow: {} {patterns}\n", request.question.action)));
    }
    text
}

fn choose_scope(style: Style) -> Option<Scope> {
    loop {
        let line = read_line(&style.bold("for this session, project, or user? "))?;
        match line.to_lowercase().as_str() {
            "s" | "session" => return Some(Scope::Session),
            "" | "p" | "project" => return Some(Scope::Project),
            "u" | "user" => return Some(Scope::User),
            _ => say("Type s, p or u."),
        }
    }
}

fn words(given: &str, style: Style) -> Option<String> {
    let words = match given.trim() {
        "" => read_line(&style.bold("what instead? (empty: just stop) "))?,
        given => given.to_owned(),
    };
    Some(words).filter(|words| !words.is_empty())
}

/// Asks a plain question. Anything but yes is no.
pub(crate) fn confirm(question: &str) -> bool {
    let answer = read_line(&format!("{question} [y/N] "));
    answer.is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

pub(super) fn say(text: &str) {
    // If standard error is gone nobody sees the question, and the end of input rejects it.
    let _gone = writeln!(std::io::stderr().lock(), "{text}");
}

pub(super) fn read_line(prompt: &str) -> Option<String> {
    let mut err = std::io::stderr().lock();
    err.write_all(prompt.as_bytes()).and_then(|()| err.flush()).ok()?;
    drop(err);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().to_owned()),
    }
}
