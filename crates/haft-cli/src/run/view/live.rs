//! The lines that change while an agent works.

use std::time::Duration;

use super::running::{self, Running};
use super::{Doing, View};
use crate::run::row::{Paint, Row};
use crate::run::words::elapsed;

impl View {
    /// The lines that change: what is being said, what runs, what is waited for.
    pub(crate) fn live(&self, now: Duration, columns: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        if !self.partial.is_empty() {
            rows.extend(Row::new().text(Paint::Plain, &self.partial).wrapped(columns));
        }
        let roots = self.running.iter().filter(|call| self.branches.depth(&call.context.session) == 0);
        for call in roots {
            self.push_running(call, now, columns, &mut rows);
        }
        // Calls of agents whose own call is not known, or is over.
        let is_adopted = |call: &&Running| {
            let of = self.branches.call_of(&call.context.session);
            !of.is_some_and(|of| self.running.iter().any(|call| call.context.call == *of))
        };
        let strays = self.running.iter().filter(|call| self.branches.depth(&call.context.session) > 0);
        for call in strays.filter(is_adopted) {
            rows.push(call.row(1, now, columns));
        }
        if let (Some(since), true) = (self.since, self.running.is_empty()) {
            rows.extend(self.status(now, since, columns));
        }
        rows
    }

    fn push_running(&self, call: &Running, now: Duration, columns: usize, rows: &mut Vec<Row>) {
        let depth = self.branches.depth(&call.context.session);
        rows.push(call.row(depth, now, columns));
        let is_below =
            |other: &&Running| self.branches.call_of(&other.context.session) == Some(&call.context.call);
        for below in self.running.iter().filter(is_below) {
            self.push_running(below, now, columns, rows);
        }
    }

    fn status(&self, now: Duration, since: Duration, columns: usize) -> Option<Row> {
        let spinner = running::spinner(now);
        let row = |text: &str| {
            let row = Row::new().with(Paint::Yellow, spinner).plain(" ").with(Paint::Dim, text);
            row.with(Paint::Dim, &format!("  {}", elapsed(now.saturating_sub(since)))).clipped(columns)
        };
        match &self.doing {
            Doing::Waiting if self.partial.is_empty() => Some(row("waiting for the model")),
            Doing::Waiting => None,
            Doing::Thinking(thought) => {
                let room = columns.saturating_sub(20);
                let end: String = thought.chars().rev().take(room).collect();
                let end: String = end.chars().rev().collect();
                Some(row(&format!("thinking  {}", end.trim())))
            }
            Doing::Writing(name) => Some(row(&format!("writing a call of {name}"))),
            Doing::Pausing { until, why } => {
                let left = until.saturating_sub(now).as_secs() + 1;
                Some(row(&format!("asking again in {left} s: {why}")))
            }
        }
    }
}
