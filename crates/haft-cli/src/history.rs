//! What became of earlier calls, in words.

use haft::{Ended, Interruption, Past};

/// What became of a call that was made before.
pub(crate) fn past(past: &Past) -> String {
    match past {
        Past::Running(call) => format!("{call} is still under way"),
        Past::Ended(call, ended) => format!("{call} {}", end(ended)),
    }
}

/// How a call ended.
pub(crate) fn end(ended: &Ended) -> String {
    match ended {
        Ended::Settled(_) => "was settled".to_owned(),
        Ended::Declined => "was declined".to_owned(),
        Ended::Broken(why) => format!("broke: {why}"),
        Ended::Cancelled => "was cancelled".to_owned(),
        Ended::Interrupted(Interruption::NotStarted) => "died before it changed anything".to_owned(),
        Ended::Interrupted(Interruption::Committed) => "died after its change was made".to_owned(),
        Ended::Interrupted(Interruption::RolledBack) => {
            "died while changing files; those it had changed were put back".to_owned()
        }
        Ended::Interrupted(Interruption::Unknown) => {
            "died, and whether its change was made is unknown: look before you repeat it".to_owned()
        }
    }
}
