//! The report: a line per failure, a count per reason of everything that was not judged, and the tally last.

use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::io::{self, Write as _};
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
                say(format_args!("superseded {id}: {reason}"));
            }
            Outcome::Disputed(why) => {
                self.disputed += 1;
                say(format_args!("disputed {id}: {}", one_line(why)));
            }
        }
    }

    /// Counts and prints a failure.
    pub(crate) fn fail(&mut self, what: &str, why: &str) {
        self.failed += 1;
        say(format_args!("FAIL {what}: {}", one_line(why)));
    }

    /// Prints something that the reader should know and that fails nothing.
    pub(crate) fn note(&self, text: &str) {
        say(format_args!("note: {text}"));
    }

    /// Prints the counts and returns the exit status: a failure if anything failed.
    pub(crate) fn close(&self) -> ExitCode {
        for (reason, count) in &self.skipped {
            say(format_args!("skipped {count}: {reason}"));
        }
        if self.superseded + self.disputed > 0 {
            say(format_args!("{} superseded, {} disputed", self.superseded, self.disputed));
        }
        let skipped: usize = self.skipped.values().sum();
        say(format_args!("{} passed, {} failed, {skipped} skipped", self.passed, self.failed));
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Prints a line. A reader who went away (`| head`) does not change how the run ends.
pub(crate) fn say(line: Arguments<'_>) {
    writeln!(io::stdout(), "{line}").ok();
}

/// Keeps what the binary printed from looking like lines of the report.
fn one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r")
}
