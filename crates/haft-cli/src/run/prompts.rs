//! The questions that wait for a person at the keyboard, one on screen at a time.

use std::collections::VecDeque;
use std::time::Duration;

use haft::permission::{Reply, Told};
use tokio::sync::oneshot;

use super::approval::{Approval, Pressed};
use super::inquiry::Asking;
use super::keys::Key;
use super::news::{Asked, Inquiring};
use super::row::{Paint, Row};

/// The longest time that the next question waits for the last answer to be shown.
const PAUSE: Duration = Duration::from_millis(150);

/// A question that waits for its turn.
pub(crate) enum Waiting {
    Consent(Asked),
    Inquiry(Inquiring),
}

impl Waiting {
    fn is_open(&self) -> bool {
        match self {
            Waiting::Consent(asked) => !asked.reply.is_closed(),
            Waiting::Inquiry(inquiring) => !inquiring.reply.is_closed(),
        }
    }
}

/// The question on screen.
enum Prompt {
    Consent(Approval, oneshot::Sender<Reply>),
    Inquiry(Asking, oneshot::Sender<Told>),
}

/// All of them.
#[derive(Default)]
pub(crate) struct Prompts {
    current: Option<Prompt>,
    waiting: VecDeque<Waiting>,
    /// Until then, the next question waits for the last answer to be shown.
    paused_until: Duration,
}

/// What came of a key.
pub(crate) enum Took {
    /// There is no question, or it cannot have been seen yet.
    Nothing,
    /// These rows stay.
    Rows(Vec<Row>),
}

impl Prompts {
    pub(crate) fn is_empty(&self) -> bool {
        self.current.is_none()
    }

    /// The last answer is shown.
    pub(crate) fn go_on(&mut self) {
        self.paused_until = Duration::ZERO;
    }

    pub(crate) fn add(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    /// Puts the next question on screen if there is room, and takes away what nobody waits for any more. Returns the
    /// rows that stay of a question that appears.
    pub(crate) fn turn(&mut self, now: Duration) -> Vec<Row> {
        let is_over = match &self.current {
            Some(Prompt::Consent(_, reply)) => reply.is_closed(),
            Some(Prompt::Inquiry(_, reply)) => reply.is_closed(),
            None => true,
        };
        self.waiting.retain(Waiting::is_open);
        if !is_over {
            return Vec::new();
        }
        self.current = None;
        if now < self.paused_until {
            return Vec::new();
        }
        match self.waiting.pop_front() {
            Some(Waiting::Consent(Asked { request, reply })) => {
                let approval = Approval::new(request, now);
                let head = approval.head(false);
                self.current = Some(Prompt::Consent(approval, reply));
                head
            }
            Some(Waiting::Inquiry(Inquiring { inquiry, reply })) => {
                self.current = Some(Prompt::Inquiry(Asking::new(inquiry, now), reply));
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    pub(crate) fn press(&mut self, key: &Key, now: Duration) -> Took {
        match self.current.take() {
            None => Took::Nothing,
            Some(Prompt::Consent(mut approval, reply)) => match approval.press(key, now) {
                Pressed::Answered(answer) => {
                    // Whoever no longer waits needs no answer.
                    let _gone = reply.send(answer);
                    self.paused_until = now + PAUSE;
                    Took::Rows(Vec::new())
                }
                pressed => {
                    let rows = match pressed {
                        Pressed::ShowAll => Took::Rows(approval.head(true)),
                        Pressed::TooEarly => Took::Nothing,
                        Pressed::Taken | Pressed::Answered(_) => Took::Rows(Vec::new()),
                    };
                    self.current = Some(Prompt::Consent(approval, reply));
                    rows
                }
            },
            Some(Prompt::Inquiry(mut asking, reply)) => match asking.press(key, now) {
                Pressed::Answered(told) => {
                    let rows = Asking::summary(asking.inquiry(), &told);
                    let _gone = reply.send(told);
                    Took::Rows(rows)
                }
                pressed => {
                    self.current = Some(Prompt::Inquiry(asking, reply));
                    match pressed {
                        Pressed::TooEarly => Took::Nothing,
                        Pressed::ShowAll | Pressed::Taken | Pressed::Answered(_) => Took::Rows(Vec::new()),
                    }
                }
            },
        }
    }

    /// Whether nobody has reacted for so long that it is time to ring.
    pub(crate) fn rings(&mut self, now: Duration) -> bool {
        match &mut self.current {
            Some(Prompt::Consent(approval, _)) => approval.attention().rings(now),
            Some(Prompt::Inquiry(asking, _)) => asking.attention().rings(now),
            None => false,
        }
    }

    /// The question as it stands, and where the cursor is if something is written.
    pub(crate) fn rows(&self, now: Duration, columns: usize) -> (Vec<Row>, Option<(usize, usize)>) {
        let (mut rows, cursor) = match &self.current {
            Some(Prompt::Consent(approval, _)) => approval.rows(now, columns),
            Some(Prompt::Inquiry(asking, _)) => asking.rows(now, columns),
            None => (Vec::new(), None),
        };
        if !self.waiting.is_empty() {
            rows.push(Row::new().with(Paint::Dim, &format!("  {} more waiting", self.waiting.len())));
        }
        (rows, cursor)
    }
}
