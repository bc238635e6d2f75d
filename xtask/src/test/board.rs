//! What ran, how it ended, how long it took.

use std::time::{Duration, Instant};

use anyhow::Result;

pub(super) struct Board {
    started: Instant,
    rows: Vec<Row>,
}

struct Row {
    suite: String,
    end: End,
}

enum End {
    Passed(Duration),
    Failed(Duration),
    Skipped,
}

impl Board {
    pub(super) fn new() -> Board {
        Board { started: Instant::now(), rows: Vec::new() }
    }

    /// Runs a suite and notes how it ended; a failure is shown at once, and its value is missing.
    pub(super) fn run<T>(&mut self, suite: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("\n=== {suite}");
        let started = Instant::now();
        let outcome = work();
        let took = started.elapsed();
        let (end, value) = match outcome {
            Ok(value) => (End::Passed(took), Some(value)),
            Err(error) => {
                println!("FAILED {suite}: {error:#}");
                (End::Failed(took), None)
            }
        };
        self.rows.push(Row { suite: suite.to_owned(), end });
        value
    }

    /// Notes a suite that could not run, so that nobody takes its silence for success.
    pub(super) fn skip(&mut self, suite: &str) {
        self.rows.push(Row { suite: suite.to_owned(), end: End::Skipped });
    }

    pub(super) fn has_failed(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.end, End::Failed(_)))
    }

    pub(super) fn print(&self) {
        let width = self.rows.iter().map(|row| row.suite.chars().count()).max().unwrap_or(0).max(5);
        println!("\n{:width$}  {:7}  {:>8}", "suite", "result", "seconds");
        for row in &self.rows {
            let (result, seconds) = match row.end {
                End::Passed(took) => ("ok", format!("{:.2}", took.as_secs_f64())),
                End::Failed(took) => ("FAILED", format!("{:.2}", took.as_secs_f64())),
                End::Skipped => ("SKIPPED", "-".to_owned()),
            };
            println!("{:width$}  {result:7}  {seconds:>8}", row.suite);
        }
        let total = if self.has_failed() { "FAILED" } else { "ok" };
        println!("{:width$}  {total:7}  {:>8.2}", "total", self.started.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_kept_and_the_rest_still_runs() {
        let mut board = Board::new();
        assert_eq!(board.run("first", || anyhow::bail!("no")), None::<()>);
        assert_eq!(board.run("second", || Ok(2)), Some(2));
        assert!(board.has_failed());
    }
}
