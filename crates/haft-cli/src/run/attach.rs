//! What is attached to a prompt: files it mentions, files named on the command line, standard input.
//!
//! A file is read by a call of its own, like any other: permitted, bounded, recorded. Naming it is the person's consent
//! to read this very file, now and for the rest of the session; a rule that denies still holds. What only the template
//! of a custom command names is nobody's consent.

use std::collections::HashMap;
use std::io::Read;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::permission::{Answer, Ask, Asker, Grant, GrantBook, Inquiry, Pattern, Reply, Request, Scope, Told};
use haft::{
    Action, AgentId, BoxFuture, Call, CallId, Content, GrantId, Input, MessageId, Part, Rejection, SessionId,
    SettleError, Settlement, ToolContext, Turn,
};
use haft_tools::Workspace;
use haft_tools::workspace::{Kind, ReadTarget, ResolveError};
use serde_json::{Value, json};

use super::mentions::mentions;
use crate::exit::{Exit, Failure, of_rejection, of_settle_error};
use crate::terminal::Terminal;

/// The tool that reads attachments, and the action its rules are filed under.
const READER: &str = "read";
/// So much of standard input is attached.
const STDIN_BYTES_MAX: usize = 256 * 1024;

/// The question whether a call is only made again and again. Who makes it by hand knows.
const REPETITION: &str = "doom_loop";

/// Calls that are made in the person's place. Some questions about them are answered already.
#[derive(Clone, Default)]
pub(crate) struct NamedCalls(Arc<Mutex<HashMap<CallId, By>>>);

impl NamedCalls {
    fn add(&self, call: &CallId, by: By) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), by);
    }

    fn is_answered(&self, request: &Request) -> bool {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&request.context.call) {
            Some(By::Person) => true,
            Some(By::Template) => request.question.action.as_str() == REPETITION,
            None => false,
        }
    }
}

/// Answers questions about what the person named, and leaves all others to somebody else.
pub(crate) struct Naming {
    pub(crate) named: NamedCalls,
    pub(crate) otherwise: Arc<dyn Asker>,
}

impl Asker for Naming {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        match self.named.is_answered(request) {
            true => Box::pin(std::future::ready(Answer::Reply(Reply::Once))),
            false => self.otherwise.ask(request),
        }
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        self.otherwise.inquire(inquiry)
    }
}

/// Attaches.
#[derive(Clone)]
pub(crate) struct Attacher {
    pub(crate) workspace: Workspace,
    pub(crate) grants: Arc<dyn GrantBook>,
    pub(crate) turn: Arc<Turn>,
    pub(crate) named: NamedCalls,
    pub(crate) session: SessionId,
    /// The agent that is spoken to.
    pub(crate) agent: AgentId,
}

/// What is to be said, before its files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    /// What was typed.
    pub(crate) line: String,
    /// What is said.
    text: String,
    files: Vec<Named>,
    stdin: Option<String>,
}

/// A file to attach, and whose word it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) path: String,
    pub(crate) by: By,
}

/// Who named a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The person, who thereby agrees that it is read.
    Person,
    /// A template: the rules decide.
    Template,
}

impl Draft {
    /// The same files with another text.
    pub(crate) fn saying(self, text: String) -> Draft {
        Draft { text, ..self }
    }

    /// Takes a prompt apart. A file that is not there is an error before anything is sent.
    pub(crate) fn new(
        workspace: &Workspace,
        text: String,
        files: &[String],
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mentioned = Draft::mentioned(workspace, &text);
        let files = files.iter().cloned().chain(mentioned);
        let draft = Draft::with(workspace, unescaped(&text), files.map(Named::by_person), stdin)?;
        Ok(Draft { line: text, ..draft })
    }

    /// The files that a text mentions.
    pub(crate) fn mentioned(workspace: &Workspace, text: &str) -> Vec<String> {
        mentions(text, |path| exists(workspace, path))
    }

    /// A prompt that was piped in. Whoever wrote it need not be the person, so what it mentions is not consented to.
    pub(crate) fn piped(workspace: &Workspace, text: &str, files: &[String]) -> Result<Draft, Failure> {
        let files = files.iter().cloned().map(Named::by_person);
        Draft::with(workspace, unescaped(text), files, None)
    }

    /// A text with these files. A file that is not there is an error.
    pub(crate) fn with(
        workspace: &Workspace,
        text: String,
        files: impl IntoIterator<Item = Named>,
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mut all: Vec<Named> = Vec::new();
        for Named { path, by } in files {
            if let Err(error @ ResolveError::Withheld { .. }) = workspace.resolve(&path) {
                return Err(Failure::usage(format_args!("{path:?} cannot be attached: {error}")));
            }
            if !exists(workspace, &path) {
                let message = format!("there is no file {path:?} to attach");
                return Err(Failure::usage(message)
                    .hint(r"paths are relative to the working directory; write \@ where no file is meant"));
            }
            if !all.iter().any(|known| known.path == path) {
                all.push(Named { path, by });
            }
        }
        Ok(Draft { line: text.clone(), text, files: all, stdin })
    }
}

impl Named {
    pub(crate) fn by_person(path: String) -> Named {
        Named { path, by: By::Person }
    }
}

/// What was written, without the signs that no file is meant.
pub(crate) fn unescaped(text: &str) -> String {
    text.replace(r"\@", "@")
}

impl Attacher {
    /// Reads what a draft names.
    pub(crate) async fn parts(&self, draft: Draft) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![Part::text(draft.text)];
        for named in &draft.files {
            parts.extend(self.file(named).await?);
        }
        if let Some(text) = draft.stdin {
            parts.push(Part::synthetic(format!("Standard input, attached by the user:\n{text}")));
        }
        Ok(parts)
    }

    /// A call that is made in the person's place, because they or a template want it.
    pub(crate) fn call(&self, tool: &str, input: Value, by: By) -> Call {
        let context = ToolContext {
            session: self.session.clone(),
            agent: self.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        self.named.add(&context.call, by);
        Call { context, provider_id: None, name: tool.to_owned(), input: Input::Json(input) }
    }

    async fn file(&self, Named { path, by }: &Named) -> Result<Vec<Part>, Failure> {
        if *by == By::Person {
            self.consent(path).await?;
        }
        let call = self.call(READER, json!({ "filePath": path }), *by);
        match self.turn.settle(call).await {
            Ok(Settlement::Completed(done)) => {
                let about = format!("The user attached {path}:");
                Ok(done.content.into_iter().map(|content| attached(&about, content)).collect())
            }
            Ok(Settlement::Rejected(rejection)) => Err(refused(path, &rejection)),
            Err(error) => Err(broken(path, error)),
        }
    }

    /// Remembers, for this session, that this very file may be read. What lies outside the project may be read this
    /// once: a rule about leaving it speaks of whole directories.
    async fn consent(&self, path: &str) -> Result<(), Failure> {
        let place = self.workspace.resolve(path).map_err(Failure::usage)?;
        if !place.is_inside() {
            return Ok(());
        }
        let grant = |action: &Action, name: &str| Grant {
            id: GrantId::mint(),
            scope: Scope::Session,
            session: self.session.clone(),
            action: action.clone(),
            resource: Pattern::new(name),
        };
        let questions = ReadTarget::new(place, Action::new(READER)).questions();
        // A name with wildcards in it would allow more than itself.
        let grants: Vec<Grant> = questions
            .iter()
            .flat_map(|question| {
                question.resources.iter().map(|resource| (&question.action, resource.name()))
            })
            .filter(|(_, name)| !name.contains(['*', '?']))
            .map(|(action, name)| grant(action, name))
            .collect();
        Ok(self.grants.keep(&grants).await?)
    }
}

fn attached(about: &str, content: Content) -> Part {
    match content {
        Content::Text(text) => Part::synthetic(format!("{about}\n{text}")),
        Content::Media { mime, data, name } => Part::Media { mime, data, name },
    }
}

fn refused(path: &str, rejection: &Rejection) -> Failure {
    let exit = match of_rejection(rejection) {
        Exit::Failed => Exit::Usage,
        exit => exit,
    };
    Failure::new(exit, anyhow::anyhow!("{path} cannot be attached: {rejection}"))
}

fn broken(path: &str, error: SettleError) -> Failure {
    let exit = of_settle_error(&error);
    Failure::new(exit, anyhow::Error::new(error).context(format!("{path} cannot be attached")))
}

fn exists(workspace: &Workspace, path: &str) -> bool {
    match workspace.resolve(path) {
        Ok(place) => !matches!(place.kind(), Kind::Missing),
        // Whether it is there is not told, but that it is meant is plain.
        Err(ResolveError::Withheld { .. }) => true,
        Err(_) => false,
    }
}

/// Whoever waits for longer than this for input is told what for.
const SILENCE: Duration = Duration::from_secs(3);

/// Reads standard input to its end, as far as it is attached.
pub(crate) fn stdin_text(terminal: Terminal) -> Result<String, Failure> {
    let (ended, silent) = std::sync::mpsc::channel::<()>();
    // The thread ends with the reading, or with the process.
    std::thread::spawn(move || {
        if silent.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
            terminal.note("waiting for standard input to end; where there is none, give </dev/null");
        }
    });
    let read = read_stdin();
    drop(ended);
    read
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock();
    stdin.by_ref().take(STDIN_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    let left_out = std::io::copy(&mut stdin, &mut std::io::sink())?;
    bounded_text(bytes, left_out)
}

fn bounded_text(mut bytes: Vec<u8>, left_out: u64) -> Result<String, Failure> {
    let mut cut = 0;
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
        && left_out > 0
    {
        // The last character was cut in two.
        cut = bytes.len() - error.valid_up_to();
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("standard input is not UTF-8 text").hint("attach images and documents with --file")
    })?;
    Ok(match left_out + cut as u64 {
        0 => text,
        bytes => format!("{text}\n\n({bytes} more bytes of standard input are left out)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_text_and_says_what_is_left_out() {
        assert_eq!(bounded_text("é".into(), 0).unwrap(), "é");
        assert_eq!(
            bounded_text(vec![b'a', 0xc3], 1).unwrap(),
            "a\n\n(2 more bytes of standard input are left out)"
        );
        let failure = bounded_text(vec![b'a', 0xff], 0).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
    }
}
