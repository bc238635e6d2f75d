//! What is attached to a prompt: files it mentions, files named on the command line, standard input.
//!
//! A file is read by a call of its own, like any other: permitted, bounded, recorded. Naming it is the person's consent
//! to read this very file, now and for the rest of the session; a rule that denies still holds.

use std::collections::HashSet;
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
use serde_json::json;

use super::mentions::mentions;
use crate::exit::{Exit, Failure, of_rejection, of_settle_error};
use crate::terminal::Terminal;

/// The tool that reads attachments, and the action its rules are filed under.
const READER: &str = "read";
/// So much of standard input is attached.
const STDIN_BYTES_MAX: usize = 256 * 1024;

/// Calls that read what the person named. Questions about them are answered already.
#[derive(Clone, Default)]
pub(crate) struct NamedCalls(Arc<Mutex<HashSet<CallId>>>);

impl NamedCalls {
    fn add(&self, call: &CallId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone());
    }

    fn has(&self, call: &CallId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(call)
    }
}

/// Answers questions about what the person named, and leaves all others to somebody else.
pub(crate) struct Naming {
    pub(crate) named: NamedCalls,
    pub(crate) otherwise: Arc<dyn Asker>,
}

impl Asker for Naming {
    fn ask<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Answer> {
        match self.named.has(&request.context.call) {
            true => Box::pin(std::future::ready(Answer::Reply(Reply::Once))),
            false => self.otherwise.ask(request),
        }
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Told> {
        self.otherwise.inquire(inquiry)
    }
}

/// Attaches.
pub(crate) struct Attacher {
    pub(crate) workspace: Workspace,
    pub(crate) grants: Arc<dyn GrantBook>,
    pub(crate) turn: Turn,
    pub(crate) named: NamedCalls,
    pub(crate) session: SessionId,
    pub(crate) agent: AgentId,
}

/// What is to be said, before its files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) text: String,
    files: Vec<String>,
    stdin: Option<String>,
}

impl Draft {
    /// Takes a prompt apart. A file that is not there is an error before anything is sent.
    pub(crate) fn new(
        workspace: &Workspace,
        text: String,
        files: &[String],
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mentioned = mentions(&text, |path| exists(workspace, path));
        Draft::with(workspace, text, files.iter().cloned().chain(mentioned), stdin)
    }

    /// A prompt that was piped in. Whoever wrote it need not be the person, so what it mentions is not consented to.
    pub(crate) fn piped(workspace: &Workspace, text: String, files: &[String]) -> Result<Draft, Failure> {
        Draft::with(workspace, text, files.iter().cloned(), None)
    }

    fn with(
        workspace: &Workspace,
        text: String,
        files: impl IntoIterator<Item = String>,
        stdin: Option<String>,
    ) -> Result<Draft, Failure> {
        let mut all: Vec<String> = Vec::new();
        for path in files {
            if let Err(error @ ResolveError::Withheld { .. }) = workspace.resolve(&path) {
                return Err(Failure::usage(format_args!("{path:?} cannot be attached: {error}")));
            }
            if !exists(workspace, &path) {
                let message = format!("there is no file {path:?} to attach");
                return Err(Failure::usage(message)
                    .hint(r"paths are relative to the working directory; write \@ where no file is meant"));
            }
            if !all.contains(&path) {
                all.push(path);
            }
        }
        Ok(Draft { text, files: all, stdin })
    }
}

impl Attacher {
    /// Reads what a draft names.
    pub(crate) async fn parts(&self, draft: Draft) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![Part::text(draft.text.replace(r"\@", "@"))];
        for path in &draft.files {
            parts.extend(self.file(path).await?);
        }
        if let Some(text) = draft.stdin {
            parts.push(Part::synthetic(format!("Standard input, attached by the user:\n{text}")));
        }
        Ok(parts)
    }

    async fn file(&self, path: &str) -> Result<Vec<Part>, Failure> {
        self.consent(path).await?;
        let context = ToolContext {
            session: self.session.clone(),
            agent: self.agent.clone(),
            message: MessageId::mint(),
            call: CallId::mint(),
        };
        self.named.add(&context.call);
        let input = Input::Json(json!({ "filePath": path }));
        let call = Call { context, provider_id: None, name: READER.to_owned(), input };
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
