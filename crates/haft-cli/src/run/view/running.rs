//! A call that runs, in one line that changes.

use std::time::Duration;

use haft::{Call, Input, ToolContext};

use crate::run::row::{Paint, Row};
use crate::run::words::{about, elapsed};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_STEP_MS: u128 = 100;
/// With less room than this, output is not shown at all.
const TAIL_COLUMNS_MIN: usize = 8;
/// So much of the output's last line is looked at.
const TAIL_BYTES_MAX: usize = 1024;

/// A call under way.
pub(super) struct Running {
    pub(super) context: ToolContext,
    pub(super) name: String,
    pub(super) about: String,
    pub(super) since: Duration,
    pub(super) is_running: bool,
    /// Whether it waits for somebody's consent.
    pub(super) asks: bool,
    pub(super) is_mentioned: bool,
    /// The last line of its output, and the one that is being written.
    line: String,
    partial: String,
}

impl Running {
    pub(super) fn new(call: &Call, directory: &str, now: Duration) -> Running {
        Running {
            context: call.context.clone(),
            name: call.name.clone(),
            about: match &call.input {
                Input::Json(input) => about(input, directory),
                Input::Malformed { .. } => String::new(),
            },
            since: now,
            is_running: false,
            asks: false,
            is_mentioned: false,
            line: String::new(),
            partial: String::new(),
        }
    }

    /// What it is called, and what it is about.
    pub(super) fn named(&self) -> String {
        match self.about.as_str() {
            "" => self.name.clone(),
            about => format!("{} {about}", self.name),
        }
    }

    /// Takes in what it produces.
    pub(super) fn hear(&mut self, delta: &str) {
        for piece in delta.split_inclusive('\n') {
            self.partial.push_str(piece);
            if self.partial.len() > TAIL_BYTES_MAX {
                let mut at = self.partial.len() - TAIL_BYTES_MAX;
                while !self.partial.is_char_boundary(at) {
                    at += 1;
                }
                self.partial.drain(..at);
            }
            if self.partial.ends_with('\n') {
                let line = std::mem::take(&mut self.partial);
                if !line.trim().is_empty() {
                    line.trim_end().clone_into(&mut self.line);
                }
            }
        }
    }

    fn last_line(&self) -> String {
        // A progress bar writes over its line: what stands there now is what came last.
        let line = if self.partial.trim().is_empty() { &self.line } else { &self.partial };
        let line = line.trim_end();
        let from = line.rfind('\r').map_or(0, |at| at + 1);
        without_sequences(&line[from..]).trim().to_owned()
    }

    /// Its line.
    pub(super) fn row(&self, depth: usize, now: Duration, columns: usize) -> Row {
        let took = elapsed(now.saturating_sub(self.since));
        let (sign, state) = match (self.asks, self.is_running) {
            (true, _) => ("?", "waits for you".to_owned()),
            (false, true) => (spinner(now), took),
            (false, false) => ("·", took),
        };
        let lead =
            Row::new().pad(2 * depth).with(Paint::Yellow, sign).plain(" ").with(Paint::Bold, &self.name);
        // The time is always seen; what the call is about has most of the rest, its output what is left.
        let room = columns.saturating_sub(lead.width() + state.len() + 3);
        let about = Row::new().plain(&self.about).clipped(room);
        let row = lead.plain(" ").joined(about).with(Paint::Dim, &format!("  {state}"));
        match self.last_line() {
            line if !line.is_empty() && row.width() + TAIL_COLUMNS_MIN <= columns => {
                row.with(Paint::Dim, &format!("  {line}")).clipped(columns)
            }
            _ => row.clipped(columns),
        }
    }
}

/// A line without what only colours it or moves the cursor: it is a hint at what happens, not the output itself.
fn without_sequences(line: &str) -> String {
    let mut plain = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
        } else {
            plain.push(c);
        }
    }
    plain
}

pub(super) fn spinner(now: Duration) -> &'static str {
    let step = now.as_millis() / SPINNER_STEP_MS;
    SPINNER[usize::try_from(step % SPINNER.len() as u128).unwrap_or(0)]
}
