//! How a case ends. Only a mismatch can be excused: a case that could not be judged always fails.

/// Why a case did not pass.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The binary answered, and the answer is not what the case expects.
    Mismatch(String),
    /// There was nothing to judge: no answer, a time-out, or a case that makes no sense.
    Broken(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Broken(error)
    }
}

impl Failure {
    /// Says where it happened, in front of what happened.
    pub(crate) fn at(self, place: &str) -> Failure {
        match self {
            Failure::Mismatch(why) => Failure::Mismatch(format!("{place}: {why}")),
            Failure::Broken(error) => Failure::Broken(error.context(place.to_owned())),
        }
    }
}

/// Returns a mismatch, in the words of `format!`.
macro_rules! mismatch {
    ($($words:tt)*) => {
        return Err($crate::outcome::Failure::Mismatch(format!($($words)*)))
    };
}
pub(crate) use mismatch;

/// What the report says of a case.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
    /// Failed as written, as `superseded.json` says it must; holds the reason given there.
    Superseded(String),
    /// Failed, but its author marked the expectation as arguable; holds what differed.
    Disputed(String),
}

impl Outcome {
    /// Weighs a verdict against what is known of the case.
    pub(crate) fn judge(
        verdict: Result<(), Failure>,
        superseded: Option<&String>,
        disputed: bool,
    ) -> Outcome {
        match (verdict, superseded) {
            (Ok(()), None) => Outcome::Passed,
            (Ok(()), Some(_)) => Outcome::Failed("listed as superseded but passes".to_owned()),
            (Err(Failure::Mismatch(_)), Some(reason)) => Outcome::Superseded(reason.clone()),
            (Err(Failure::Mismatch(why)), None) if disputed => Outcome::Disputed(why),
            (Err(Failure::Mismatch(why)), None) => Outcome::Failed(why),
            (Err(Failure::Broken(error)), _) => Outcome::Failed(format!("{error:#}")),
        }
    }
}
