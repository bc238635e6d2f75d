//! A call that ended, in the line that stays of it, with its diff.

use std::time::Duration;

use haft::{Completed, Content, Ended, Rejection, Settlement};

use super::branch::Branches;
use super::running::Running;
use super::{Manner, Showing};
use crate::run::row::{Paint, Row};
use crate::run::words::{counted, elapsed, first_line, size};

/// So much of a diff is shown; the rest is counted.
const DIFF_LINES_MAX: usize = 40;

/// What of a call's end is a refusal, in the words of [`Rejection::kind`].
pub(super) fn refused(ended: &Ended) -> Option<&'static str> {
    match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Rejected(rejection @ Rejection::Refused(_)) => Some(rejection.kind()),
            Settlement::Rejected(_) | Settlement::Completed(_) => None,
        },
        Ended::Declined => Some("declined"),
        Ended::Broken(_) | Ended::Cancelled | Ended::Interrupted(_) => None,
    }
}

/// The rows that stay of a call.
pub(super) fn rows(
    call: &Running,
    ended: &Ended,
    showing: &Showing,
    branches: &Branches,
    now: Duration,
) -> Vec<Row> {
    let (sign, facts, paint) = match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Completed(done) => match facts(done) {
                (facts, true) => (Some(true), facts, Paint::Dim),
                (facts, false) => (None, facts, Paint::Yellow),
            },
            Settlement::Rejected(rejection) => (Some(false), reason(rejection, showing.verbose), Paint::Red),
        },
        Ended::Declined => (Some(false), "rejected".to_owned(), Paint::Red),
        Ended::Cancelled => (None, "cancelled".to_owned(), Paint::Yellow),
        Ended::Broken(_) | Ended::Interrupted(_) => (Some(false), crate::history::end(ended), Paint::Red),
    };
    if showing.quiet && sign == Some(true) {
        return Vec::new();
    }
    let completed = match ended {
        Ended::Settled(settlement) => match &**settlement {
            Settlement::Completed(done) => Some(done),
            Settlement::Rejected(_) => None,
        },
        Ended::Declined | Ended::Cancelled | Ended::Broken(_) | Ended::Interrupted(_) => None,
    };
    let about = completed.map(|done| done.title.as_str()).filter(|title| !title.is_empty());
    let about = about.map_or_else(|| call.about.clone(), first_line);
    let took = elapsed(now.saturating_sub(call.since));
    let depth = branches.depth(&call.context.session);
    let mut row = Row::new().pad(2 * depth);
    if let Some(agent) = branches.agent(&call.context.session) {
        row.push(Paint::Dim, &format!("{agent} › "));
    }
    let row = match (showing.manner, sign) {
        (Manner::Signs, Some(true)) => row.with(Paint::Green, "✓ "),
        (Manner::Signs, Some(false)) => row.with(Paint::Red, "✗ "),
        (Manner::Signs, None) => row.with(Paint::Yellow, "! "),
        (Manner::Words, _) => row,
    };
    let row = row.with(Paint::Bold, &call.name);
    let row = if about.is_empty() { row } else { row.plain(&format!(" {about}")) };
    let row = match showing.manner {
        Manner::Signs => row.with(paint, &format!("  {facts}")).with(Paint::Dim, &format!("  {took}")),
        Manner::Words => row.with(paint, &format!(": {facts}, {took}")),
    };
    let mut rows = vec![row];
    if let Some(done) = completed
        && !showing.quiet
    {
        rows.extend(more(done, showing, 2 * depth + 2));
    }
    rows
}

/// The size of a result, and whether it is a plain success.
fn facts(done: &Completed) -> (String, bool) {
    let mut facts = Vec::new();
    let failed = done.metadata.get("exit").and_then(serde_json::Value::as_i64).filter(|code| *code != 0);
    facts.extend(failed.map(|code| format!("exit {code}")));
    let lines = match &done.retained {
        Some(output) => output.lines,
        None => done.text().lines().count() as u64,
    };
    for part in &done.content {
        if let Content::Media { mime, data, .. } = part {
            facts.push(format!("{mime}, {}", size(data.len() as u64)));
        }
    }
    if facts.is_empty() || done.retained.is_some() {
        facts.push(counted(lines, "line"));
    }
    (facts.join(", "), failed.is_none())
}

fn reason(rejection: &Rejection, whole: bool) -> String {
    let text = rejection.to_string();
    match whole {
        true => text,
        false => text.lines().next().unwrap_or_default().to_owned(),
    }
}

/// The diff of a change; if everything is wanted, the output, too.
fn more(done: &Completed, showing: &Showing, indent: usize) -> Vec<Row> {
    let (mut rows, verbose) = (Vec::new(), showing.verbose);
    let diff = done.metadata.get("diff").and_then(serde_json::Value::as_str).unwrap_or_default();
    let diff = &shortened(diff, &showing.directory);
    rows.extend(diff_rows(diff, if verbose { usize::MAX } else { DIFF_LINES_MAX }, indent, "-v shows them"));
    if verbose && diff.is_empty() {
        rows.extend(done.text().lines().map(|line| Row::new().pad(indent).text(Paint::Dim, line)));
    }
    rows
}

/// A diff whose files are named as seen from a directory.
fn shortened(diff: &str, directory: &str) -> String {
    let short = |line: &str| {
        let header = ["--- ", "+++ "].into_iter().find_map(|sign| Some((sign, line.strip_prefix(sign)?)));
        match header.and_then(|(sign, path)| Some((sign, path.strip_prefix(directory)?.strip_prefix('/')?))) {
            Some((sign, path)) => format!("{sign}{path}\n"),
            None => format!("{line}\n"),
        }
    };
    diff.lines().map(short).collect()
}

/// A diff in colours, as far as so many lines; what is left out is counted.
pub(crate) fn diff_rows(diff: &str, lines_max: usize, indent: usize, way_out: &str) -> Vec<Row> {
    let row = |line: &str| {
        let paint = match line.as_bytes() {
            [b'+', ..] => Paint::Green,
            [b'-', ..] => Paint::Red,
            [b'@', ..] => Paint::Dim,
            _ => Paint::Plain,
        };
        Row::new().pad(indent).text(paint, line)
    };
    let mut rows: Vec<Row> = diff.lines().take(lines_max).map(row).collect();
    let left = diff.lines().count() - rows.len();
    if left > 0 {
        let left = counted(left as u64, "more line");
        rows.push(Row::new().pad(indent).with(Paint::Dim, &format!("… {left} ({way_out})")));
    }
    rows
}
