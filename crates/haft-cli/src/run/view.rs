//! What a person sees of a run: a state that events change, lines that stay, and lines that change.
//!
//! It knows no terminal and no clock, so what is shown follows from what happened and nothing else.

mod branch;
mod live;
mod running;
mod settled;
#[cfg(test)]
mod tests;

use std::time::Duration;

use haft::permission::{Reply, Request};
use haft::{Event, MessageId, Saying, SessionId};
use haft_agent::{End, Outcome};
use serde_json::Value;

use self::branch::Branches;
use self::running::Running;
pub(crate) use self::settled::diff_rows;
use super::row::{Paint, Row};
use super::words::{counted, elapsed, number};

/// A thought is shown by its end.
const THOUGHT_CHARS_MAX: usize = 200;
/// A call that runs for so long is mentioned where no line can change.
const MENTIONED_AFTER: Duration = Duration::from_secs(3);

/// How things are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// With signs, for a terminal whose lines can change.
    Signs,
    /// In words alone, for logs and screen readers.
    Words,
}

/// A line that stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// What the model says: the data of a run.
    Said(String),
    /// Everything else.
    Told(Row),
}

/// What is shown, and how.
#[derive(Debug, Clone)]
pub(crate) struct Showing {
    pub(crate) manner: Manner,
    pub(crate) verbose: bool,
    pub(crate) quiet: bool,
    /// Whether questions are answered elsewhere, so that it has to be said how.
    pub(crate) is_answered_elsewhere: bool,
    /// Paths below it are shown without it.
    pub(crate) directory: String,
}

/// The state of what is shown.
pub(crate) struct View {
    session: SessionId,
    showing: Showing,
    branches: Branches,
    running: Vec<Running>,
    /// The message that is being said, and what of it is not a whole line yet.
    message: Option<MessageId>,
    partial: String,
    doing: Doing,
    /// When the agent began to work.
    since: Option<Duration>,
    /// What stayed last, so that words and calls stand apart.
    last: Option<Last>,
    refused: Vec<&'static str>,
}

/// What the agent is doing when no call runs.
#[derive(Debug, Default)]
enum Doing {
    #[default]
    Waiting,
    Thinking(String),
    Writing(String),
    Pausing {
        until: Duration,
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Words,
    Calls,
}

impl View {
    pub(crate) fn new(session: SessionId, showing: Showing) -> View {
        View {
            branches: Branches::new(session.clone()),
            session,
            showing,
            running: Vec::new(),
            message: None,
            partial: String::new(),
            doing: Doing::default(),
            since: None,
            last: None,
            refused: Vec::new(),
        }
    }

    /// What was refused, in the words of [`haft::Rejection::kind`].
    pub(crate) fn refused(&self) -> &[&'static str] {
        &self.refused
    }

    /// Takes an event in. Returns the lines that stay.
    pub(crate) fn apply(&mut self, event: &Event, now: Duration) -> Vec<Line> {
        match event {
            Event::Called(call) => {
                let lines = self.end_words();
                self.running.push(Running::new(call, &self.showing.directory, now));
                self.doing = Doing::Waiting;
                lines
            }
            Event::Running(context) => {
                self.running_mut(&context.call, |call| call.is_running = true);
                Vec::new()
            }
            Event::Output { context, delta } => {
                self.running_mut(&context.call, |call| call.hear(delta));
                Vec::new()
            }
            Event::Ended(context, ended) => {
                let at = self.running.iter().position(|call| call.context.call == context.call);
                let Some(at) = at else { return Vec::new() };
                let call = self.running.remove(at);
                self.refused.extend(settled::refused(ended));
                let rows = settled::rows(&call, ended, &self.showing, &self.branches, now);
                self.told(rows)
            }
            Event::Asked(request) => {
                self.running_mut(&request.context.call, |call| call.asks = true);
                match self.showing.is_answered_elsewhere {
                    true => self.told(vec![
                        Row::new().with(Paint::Yellow, &format!("waits for consent: {}", request.wanted())),
                        Row::new().plain(&format!("  haft permission reply {} once", request.id)),
                    ]),
                    false => Vec::new(),
                }
            }
            Event::Replied(request, reply) => {
                self.running_mut(&request.context.call, |call| call.asks = false);
                self.told(vec![replied(request, reply, self.showing.manner)])
            }
            Event::Said { session, message, delta } if *session == self.session => self.hear(message, delta),
            Event::Said { .. } => Vec::new(),
            Event::Session { name, session, body } => self.session(name, session, body, now),
            Event::Reported { name, body, .. } => match *name {
                "todo.updated" => self.told(todos(body, self.showing.manner)),
                "question.asked" if self.showing.is_answered_elsewhere => self.told(waiting(body)),
                _ => Vec::new(),
            },
        }
    }

    /// What the person said, or had waiting to be said.
    pub(crate) fn heard(&mut self, text: &str) -> Vec<Line> {
        let mut lines = self.end_words();
        lines.extend(self.gap(None));
        for (number, line) in text.trim_end().lines().enumerate() {
            let lead = match (number, self.showing.manner) {
                (0, Manner::Signs) => "› ",
                (0, Manner::Words) => "you: ",
                _ => "  ",
            };
            lines.push(Line::Told(Row::new().with(Paint::Bold, lead).text(Paint::Bold, line)));
        }
        self.last = Some(Last::Calls);
        lines
    }

    /// Something beside what happens.
    pub(crate) fn notice(&mut self, paint: Paint, text: &str) -> Vec<Line> {
        let rows = text.lines().map(|line| Row::new().text(paint, line)).collect();
        self.told(rows)
    }

    /// Rows that stay, after whatever is being said.
    pub(crate) fn told(&mut self, rows: Vec<Row>) -> Vec<Line> {
        if rows.is_empty() {
            return Vec::new();
        }
        let mut lines = self.end_words();
        lines.extend(self.gap(Some(Last::Calls)));
        lines.extend(rows.into_iter().map(Line::Told));
        lines
    }

    /// Says how it ended: what it cost, how long it took.
    pub(crate) fn ended(&mut self, outcome: &Outcome, now: Duration) -> Vec<Line> {
        let mut lines = self.end_words();
        let took = self.since.take().map(|since| now.saturating_sub(since)).unwrap_or_default();
        self.doing = Doing::Waiting;
        self.running.clear();
        match &outcome.end {
            End::Done => {}
            End::Declined => lines.extend(self.notice(Paint::Yellow, "stopped: you said no")),
            End::Interrupted => lines.extend(self.notice(Paint::Yellow, "interrupted")),
            End::Stuck => lines.extend(self.notice(
                Paint::Yellow,
                "stopped: the model goes on asking for what it cannot have; tell it what to do instead",
            )),
            End::Failed(error) => {
                lines.extend(self.notice(Paint::Red, &format!("error: {}", haft::causes(error))));
            }
        }
        if self.showing.quiet {
            return lines;
        }
        let usage = &outcome.usage;
        let mut facts = Vec::new();
        if usage.context() > 0 {
            let cached = match usage.cache_read {
                0 => String::new(),
                cached => format!(" (and {} cached)", number(cached)),
            };
            facts.push(format!("{} tokens in{cached}", number(usage.input + usage.cache_write)));
            facts.push(format!("{} out", number(usage.output)));
        }
        facts.push(counted(outcome.steps.into(), "step"));
        facts.push(elapsed(took));
        facts.push(self.session.to_string());
        let separator = if self.showing.manner == Manner::Signs { " · " } else { ", " };
        lines.extend(self.gap(None));
        self.last = Some(Last::Calls);
        lines.push(Line::Told(Row::new().with(Paint::Dim, &facts.join(separator))));
        lines
    }

    /// Calls that have run for long and were not mentioned yet, for where no line can change.
    pub(crate) fn mentioned(&mut self, now: Duration) -> Vec<Line> {
        let mut rows = Vec::new();
        for call in &mut self.running {
            if call.is_running && !call.is_mentioned && now.saturating_sub(call.since) >= MENTIONED_AFTER {
                call.is_mentioned = true;
                rows.push(Row::new().with(Paint::Dim, &format!("{}: still running", call.named())));
            }
        }
        self.told(rows)
    }

    fn hear(&mut self, message: &MessageId, delta: &Saying) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.message.as_ref() != Some(message) {
            lines.extend(self.end_words());
            self.message = Some(message.clone());
        }
        match delta {
            Saying::Text(text) => {
                self.doing = Doing::Waiting;
                if self.partial.is_empty() {
                    lines.extend(self.gap(Some(Last::Words)));
                }
                self.partial.push_str(text);
                while let Some(end) = self.partial.find('\n') {
                    let line = self.partial[..end].to_owned();
                    self.partial.drain(..=end);
                    lines.push(Line::Said(line));
                }
            }
            Saying::Thought(text) => {
                let mut thought = match std::mem::take(&mut self.doing) {
                    Doing::Thinking(thought) => thought,
                    Doing::Waiting | Doing::Writing(_) | Doing::Pausing { .. } => String::new(),
                };
                thought.push_str(&text.replace(['\n', '\r'], " "));
                let length = thought.chars().count();
                if length > THOUGHT_CHARS_MAX {
                    thought = thought.chars().skip(length - THOUGHT_CHARS_MAX).collect();
                }
                self.doing = Doing::Thinking(thought);
            }
            Saying::Calling(name) => {
                lines.extend(self.end_words());
                self.doing = Doing::Writing(name.clone());
            }
            Saying::TakenBack => {
                lines.extend(self.end_words());
                let words = "the answer broke off; what it said does not count, and it begins again";
                lines.extend(self.notice(Paint::Yellow, words));
            }
        }
        lines
    }

    /// What is being said stays as it is.
    fn end_words(&mut self) -> Vec<Line> {
        match self.partial.is_empty() {
            true => Vec::new(),
            false => vec![Line::Said(std::mem::take(&mut self.partial))],
        }
    }

    /// An empty line between what the model says and everything else, where there are signs.
    fn gap(&mut self, next: Option<Last>) -> Option<Line> {
        let last = self.last;
        self.last = next.or(last);
        let is_gap = last.is_some() && (last != next) && self.showing.manner == Manner::Signs;
        is_gap.then(|| Line::Told(Row::new()))
    }

    fn session(&mut self, name: &str, session: &SessionId, body: &Value, now: Duration) -> Vec<Line> {
        match (name, *session == self.session) {
            ("session.created", false) => self.branches.add(session, body, &self.running),
            ("session.status", true) => {
                self.since.get_or_insert(now);
                return self.status_told(body, now);
            }
            ("session.compacted", true) => {
                return self.notice(Paint::Dim, "the conversation was summarised to make room");
            }
            _ => {}
        }
        Vec::new()
    }

    fn status_told(&mut self, body: &Value, now: Duration) -> Vec<Line> {
        if body["type"] != "retry" {
            return Vec::new();
        }
        let wait = Duration::from_millis(body["waitMs"].as_u64().unwrap_or_default());
        let why = body["message"].as_str().unwrap_or_default().to_owned();
        let line = format!("{why}; asking again in {}", elapsed(wait));
        self.doing = Doing::Pausing { until: now + wait, why };
        self.notice(Paint::Yellow, &line)
    }

    fn running_mut(&mut self, call: &haft::CallId, change: impl FnOnce(&mut Running)) {
        if let Some(known) = self.running.iter_mut().find(|known| known.context.call == *call) {
            change(known);
        }
    }
}

fn replied(request: &Request, reply: &Reply, manner: Manner) -> Row {
    let (paint, sign, said) = match reply {
        Reply::Once => (Paint::Green, "✔ ", "allowed once".to_owned()),
        Reply::Always(scope) => (
            Paint::Green,
            "✔ ",
            format!(
                "allowed always ({scope}) {}: {}",
                request.question.action,
                request.question.save.join(", ")
            ),
        ),
        Reply::Edit(_) => (Paint::Yellow, "✎ ", "changed".to_owned()),
        Reply::Reject(None) => (Paint::Red, "✘ ", "rejected".to_owned()),
        Reply::Reject(Some(words)) => (Paint::Red, "✘ ", format!("rejected ({words})")),
    };
    let row = match manner {
        Manner::Signs => Row::new().with(paint, sign),
        Manner::Words => Row::new(),
    };
    row.plain(&said).with(Paint::Dim, &format!("  {}", request.wanted()))
}

/// A list of todos as it is now.
fn todos(body: &Value, manner: Manner) -> Vec<Row> {
    let row = |todo: &Value| {
        let text = todo["content"].as_str().unwrap_or_default();
        let (sign, word, paint) = match todo["status"].as_str().unwrap_or_default() {
            "completed" => ("[x] ", "done: ", Paint::Dim),
            "in_progress" => ("[>] ", "under way: ", Paint::Bold),
            "cancelled" => ("[-] ", "dropped: ", Paint::Dim),
            _ => ("[ ] ", "to do: ", Paint::Plain),
        };
        let lead = if manner == Manner::Signs { sign } else { word };
        Row::new().plain("  ").with(paint, lead).with(paint, text)
    };
    body["todos"].as_array().into_iter().flatten().map(row).collect()
}

/// Questions that somebody elsewhere is to answer, and how.
fn waiting(body: &Value) -> Vec<Row> {
    let questions = body["questions"].as_array().into_iter().flatten();
    let mut rows: Vec<Row> = questions
        .filter_map(|asked| asked["question"].as_str())
        .map(|question| Row::new().with(Paint::Yellow, &format!("waits for an answer: {question}")))
        .collect();
    let id = body["id"].as_str().unwrap_or_default();
    rows.push(Row::new().plain(&format!("  haft permission reply {id} answer --answer …")));
    rows
}
