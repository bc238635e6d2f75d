//! The report: a line per failure, a count per reason of everything that was not judged, and the tally last.

use std::collections::BTreeMap;
use std::process::ExitCode;

use crate::outcome::Outcome;

/// What happened so far.
#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    failed: usize,
    skipped: BTreeMap<String, usize>,
    superseded: usize,
    disputed: usize,
}

impl Report {
    /// Counts the outcome of a case, and prints it unless it simply passed or was skipped.
    pub(crate) fn add(&mut self, id: &str, outcome: &Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(why) => self.fail(id, why),
            Outcome::Skipped(reason) => *self.skipped.entry(reason.clone()).or_default() += 1,
            Outcome::Superseded(reason) => {
                self.superseded += 1;
                println!("superseded {id}: {reason}");
            }
            Outcome::Disputed(why) => {
                self.disputed += 1;
                println!("disputed {id}: {}", one_line(why));
            }
        }
    }

    /// Counts and prints a failure.
    pub(crate) fn fail(&mut self, what: &str, why: &str) {
        self.failed += 1;
        println!("FAIL {what}: {}", one_line(why));
    }

    /// Prints something that the reader should know and that fails nothing.
    pub(crate) fn note(&self, text: &str) {
        println!("note: {text}");
    }

    /// Prints the counts and returns the exit status: a failure if anything failed.
    pub(crate) fn close(&self) -> ExitCode {
        for (reason, count) in &self.skipped {
            println!("skipped {count}: {reason}");
        }
        if self.superseded + self.disputed > 0 {
            println!("{} superseded, {} disputed", self.superseded, self.disputed);
        }
        let skipped: usize = self.skipped.values().sum();
        println!("{} passed, {} failed, {skipped} skipped", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Keeps what the binary printed from looking like lines of the report.
fn one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r")
}
