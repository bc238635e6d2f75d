//! Exit codes, and the errors that carry them. Which failure leaves with which code is decided here alone.

use std::fmt;

use haft::{Ended, Interruption, Past, Refusal, Rejection, SettleError};
use haft_agent::OpenError;

/// How the command leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// Something is broken, or could not be retained or recorded.
    Defect = 1,
    /// The command line, the configuration or a tool file is wrong.
    Usage = 2,
    /// The tool failed in an expected way.
    Failed = 3,
    /// Input or output does not fit the schema.
    Invalid = 4,
    /// A rule or a person said no.
    Denied = 5,
    /// Consent is needed, and there is nobody to ask.
    Unanswered = 6,
    /// There is no such tool, or no longer.
    Unknown = 7,
    /// A call died, and what it did is unknown.
    OutcomeUnknown = 8,
    /// haft's own deadline passed.
    Deadline = 124,
    /// Interrupted by Ctrl-C.
    Interrupted = 130,
    /// Terminated.
    Terminated = 143,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> std::process::ExitCode {
        std::process::ExitCode::from(exit as u8)
    }
}

/// A failure of the command itself: what went wrong, what to do about it, and how to leave.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
    pub(crate) hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit, error: error.into(), hints: Vec::new() }
    }

    /// Nobody reads what is printed any longer. There is nothing to report, and nobody to report it to.
    pub(crate) fn unheard() -> Failure {
        Failure::new(Exit::Ok, anyhow::anyhow!("nobody reads the output"))
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Failure {
        Failure::new(Exit::Usage, anyhow::anyhow!("{message}"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The same, with the error and its causes told in other words.
    pub(crate) fn reworded(self, words: impl Fn(&str) -> String) -> Failure {
        let message = self.message();
        match words(&message) {
            same if same == message => self,
            other => Failure { error: anyhow::anyhow!("{other}"), ..self },
        }
    }

    /// The error and its causes.
    pub(crate) fn message(&self) -> String {
        haft::causes(self.error.as_ref())
    }
}

/// An error nobody sorted is a defect.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::new(Exit::Defect, error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::new(Exit::Defect, error)
    }
}

impl From<haft::StoreError> for Failure {
    fn from(error: haft::StoreError) -> Failure {
        Failure::new(Exit::Defect, error)
    }
}

/// How a rejected call leaves.
pub(crate) fn of_rejection(rejection: &Rejection) -> Exit {
    match rejection {
        Rejection::Unknown { .. } | Rejection::Stale { .. } => Exit::Unknown,
        Rejection::InvalidInput(_) | Rejection::InvalidOutput(_) => Exit::Invalid,
        Rejection::Failed(_) => Exit::Failed,
        Rejection::Refused(Refusal::Denied { .. } | Refusal::Corrected { .. }) => Exit::Denied,
        Rejection::Refused(Refusal::Unanswered { .. }) => Exit::Unanswered,
        Rejection::Refused(Refusal::Rehearsed { .. }) => Exit::Ok,
    }
}

/// How a conversation leaves that cannot begin, or not go on with somebody else.
pub(crate) fn of_open_error(error: &OpenError) -> Exit {
    match error {
        OpenError::Agent(_) | OpenError::Model(_) | OpenError::Lease(_) => Exit::Usage,
        OpenError::Store(_) => Exit::Defect,
    }
}

/// How a call without a settlement leaves.
pub(crate) fn of_settle_error(error: &SettleError) -> Exit {
    match error {
        SettleError::Declined => Exit::Denied,
        SettleError::Retain(_) | SettleError::Record(_) | SettleError::Defect(_) => Exit::Defect,
        SettleError::Repeated(past) => of_past(past),
    }
}

fn of_past(past: &Past) -> Exit {
    match past {
        Past::Running(_) => Exit::OutcomeUnknown,
        Past::Ended(_, ended) => match ended {
            Ended::Settled(_) => Exit::Ok,
            Ended::Declined => Exit::Denied,
            Ended::Broken(_) => Exit::Defect,
            Ended::Cancelled => Exit::Interrupted,
            Ended::Interrupted(Interruption::Unknown) => Exit::OutcomeUnknown,
            Ended::Interrupted(
                Interruption::NotStarted | Interruption::Committed | Interruption::RolledBack,
            ) => Exit::Failed,
        },
    }
}
