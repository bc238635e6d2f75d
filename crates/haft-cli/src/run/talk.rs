//! A conversation that goes on beside whoever shows it.

use std::collections::VecDeque;

use haft::{Inbox, Note, Part, SessionId};
use haft_agent::provider::ProviderError;
use haft_agent::{Conversation, End, Interrupt, Outcome, RunError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::attach::Attacher;
use super::news::{News, Wire};
use super::performing::Performer;
use super::slash::{Invocation, Typed};
use crate::config::Config;
use crate::exit::{Exit, Failure};

/// A conversation. What comes of it is on the wire.
pub(crate) struct Talk {
    session: SessionId,
    inbox: Inbox,
    says: mpsc::Sender<Said>,
    worker: JoinHandle<()>,
    interrupt: Interrupt,
    is_busy: bool,
    queued: Vec<(String, Note)>,
    /// Commands that are performed when the agent has no more to do.
    commands: VecDeque<Invocation>,
    /// The command that was begun last, as it was typed.
    performing: Option<String>,
    /// Whether a command is being prepared: what is queued meanwhile is meant to be said after it.
    is_preparing: bool,
}

/// Something to be said.
enum Said {
    Parts(Vec<Part>),
    Command(Box<Invocation>),
}

impl Talk {
    pub(crate) fn new(
        mut conversation: Conversation,
        inbox: Inbox,
        wire: Wire,
        performer: Performer,
    ) -> Talk {
        let session = conversation.session().clone();
        let interrupt = Interrupt::default();
        // One at a time: nothing is said here before the last is answered.
        let (says, mut said) = mpsc::channel(1);
        let stop = interrupt.clone();
        let worker = tokio::spawn(async move {
            let _notice = Notice(wire.clone());
            while let Some(said) = said.recv().await {
                let outcome = match said {
                    Said::Parts(parts) => Ok(conversation.say(parts, &stop).await),
                    Said::Command(invocation) => {
                        let is_said = || wire.push(News::Said);
                        performer.perform(&mut conversation, &invocation, &stop, is_said).await
                    }
                };
                wire.push(match outcome {
                    Ok(outcome) => News::Ended(Box::new(outcome)),
                    Err(failure) => News::Unsaid(failure),
                });
            }
        });
        Talk {
            session,
            inbox,
            says,
            worker,
            interrupt,
            is_busy: false,
            queued: Vec::new(),
            commands: VecDeque::new(),
            performing: None,
            is_preparing: false,
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Says a line that was typed in the conversation, as [`Talk::utter`] does.
    pub(crate) async fn hear(
        &mut self,
        line: String,
        config: &Config,
        attacher: &Attacher,
    ) -> Result<bool, Failure> {
        let typed = Typed::read(config, &attacher.workspace, line, &[], None)?;
        self.utter(typed, attacher).await
    }

    /// Says what was typed, as [`Talk::say`] and [`Talk::perform`] do.
    pub(crate) async fn utter(&mut self, typed: Typed, attacher: &Attacher) -> Result<bool, Failure> {
        match typed {
            Typed::Prompt(draft) => {
                let line = draft.line.clone();
                Ok(self.say(line, attacher.parts(draft).await?))
            }
            Typed::Command(invocation) => Ok(self.perform(*invocation)),
        }
    }

    /// Says something, or, while the agent works, has it said as soon as that can be. Returns whether it was said.
    pub(crate) fn say(&mut self, text: String, parts: Vec<Part>) -> bool {
        if self.is_busy {
            let note = Note::new(parts);
            if !self.is_preparing {
                self.inbox.deliver(&self.session, note.clone());
            }
            self.queued.push((text, note));
            return false;
        }
        self.begin(Said::Parts(parts));
        true
    }

    /// Performs a command, or, while the agent works, has it performed after that. Returns whether it was begun.
    pub(crate) fn perform(&mut self, invocation: Invocation) -> bool {
        if self.is_busy {
            self.commands.push_back(invocation);
            return false;
        }
        self.performing = Some(invocation.line.clone());
        self.begin(Said::Command(Box::new(invocation)));
        self.is_preparing = self.is_busy;
        true
    }

    /// The words of a command were said, so that others may follow.
    pub(crate) fn prepared(&mut self) {
        self.is_preparing = false;
        for (_, note) in &self.queued {
            self.inbox.deliver(&self.session, note.clone());
        }
    }

    fn begin(&mut self, said: Said) {
        self.interrupt.clear();
        // There is room, because nothing waits unless it is busy.
        self.is_busy = self.says.try_send(said).is_ok();
    }

    /// What waits to be said.
    pub(crate) fn queued(&self) -> impl Iterator<Item = &str> {
        let notes = self.queued.iter().map(|(text, _)| text.as_str());
        notes.chain(self.commands.iter().map(|command| command.line.as_str()))
    }

    /// What has been said since it was queued.
    pub(crate) fn said(&mut self) -> Vec<String> {
        if self.queued.is_empty() || self.is_preparing {
            return Vec::new();
        }
        let waiting = self.inbox.waiting(&self.session);
        let (still, said): (Vec<_>, Vec<_>) =
            self.queued.drain(..).partition(|(_, note)| waiting.contains(note));
        self.queued = still;
        said.into_iter().map(|(text, _)| text).collect()
    }

    /// Has the agent stop.
    pub(crate) fn interrupt(&self) {
        self.interrupt.fire();
    }

    /// The agent has stopped. Returns what it has not been told: it is told at once if it ended well, and is the
    /// person's again if not.
    pub(crate) fn ended(&mut self, outcome: &Outcome) -> Vec<String> {
        self.is_busy = false;
        let (notes, mut unsaid) = self.withdrawn();
        if !matches!(outcome.end, End::Done) {
            unsaid.extend(self.commands.drain(..).map(|command| command.line));
        } else if !notes.is_empty() {
            self.say(String::new(), notes.into_iter().flat_map(|note| note.parts).collect());
        } else if let Some(command) = self.commands.pop_front() {
            unsaid.push(command.line.clone());
            self.perform(command);
        }
        unsaid
    }

    /// A command could not be performed. Returns what is the person's again, and the command first.
    pub(crate) fn gave_up(&mut self) -> Vec<String> {
        self.is_busy = false;
        let (_, unsaid) = self.withdrawn();
        let commands = self.commands.drain(..).map(|command| command.line);
        self.performing.take().into_iter().chain(unsaid).chain(commands).collect()
    }

    /// Takes back what the person has waiting: what would be said, and how it was typed.
    fn withdrawn(&mut self) -> (Vec<Note>, Vec<String>) {
        if std::mem::take(&mut self.is_preparing) {
            let (texts, notes) = std::mem::take(&mut self.queued).into_iter().unzip();
            return (notes, texts);
        }
        let notes = self.inbox.withdraw(&self.session);
        let queued = std::mem::take(&mut self.queued);
        let (mine, others): (Vec<Note>, Vec<Note>) =
            notes.into_iter().partition(|note| queued.iter().any(|(_, queued)| queued == note));
        // What other agents report is for the next time.
        for note in others {
            self.inbox.deliver(&self.session, note);
        }
        let texts = queued.into_iter().filter(|(_, note)| mine.contains(note)).map(|(text, _)| text);
        let texts = texts.collect();
        (mine, texts)
    }

    /// Ends it, whatever it is doing.
    pub(crate) async fn leave(self) {
        self.worker.abort();
        // However it ended, it has.
        let _ended = self.worker.await;
    }
}

/// Says that the conversation is no more, so that nobody waits for it.
struct Notice(Wire);

impl Drop for Notice {
    fn drop(&mut self) {
        self.0.push(News::Broken);
    }
}

/// The failure of a run whose conversation is no more.
pub(crate) fn broken() -> Failure {
    Failure::new(Exit::Defect, anyhow::anyhow!("the conversation broke off by a defect"))
        .hint("haft run -c goes on with it")
}

/// How a run leaves: by how it ended, and by what it was refused.
pub(crate) fn exit_of(outcome: &Outcome, refused: &[&str]) -> Exit {
    match &outcome.end {
        End::Interrupted => Exit::Interrupted,
        End::Declined => Exit::Denied,
        End::Failed(
            RunError::Provider(ProviderError::Unauthorised { .. } | ProviderError::Unopened { .. })
            | RunError::Agent(_)
            | RunError::Influence(_),
        ) => Exit::Usage,
        End::Failed(RunError::Provider(_) | RunError::Turn(_) | RunError::Store(_)) => Exit::Defect,
        // A rejection with words is advice: whoever took it has done what was wanted.
        End::Done | End::Stuck if refused.contains(&"approval_needed") => Exit::Unanswered,
        End::Done | End::Stuck if refused.contains(&"denied") || refused.contains(&"declined") => {
            Exit::Denied
        }
        End::Stuck => Exit::Failed,
        End::Done => Exit::Ok,
    }
}
