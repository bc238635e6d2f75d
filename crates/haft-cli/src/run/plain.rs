//! A run in plain lines or as documents: nothing moves, nothing is drawn twice, and nothing waits for a person who is
//! not there.

use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use haft::{Event, Saying};
use haft_agent::Outcome;
use tokio::signal::unix::{SignalKind, signal};

use super::attach::Attacher;
use super::events;
use super::lines::{Heard, LineQuestion};
use super::news::{News, Wire};
use super::row::{Paint, Row};
use super::slash::Typed;
use super::talk::{Talk, broken, exit_of};
use super::view::{Line, View};
use super::words::first_line;
use super::{Format, Stay};
use crate::asked::{self, Asked, Insistence};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// How often is looked whether something takes long.
const TICK: Duration = Duration::from_secs(1);

/// What a plain run is made of.
pub(super) struct Plain {
    pub(super) terminal: Terminal,
    pub(super) format: Format,
    pub(super) view: View,
    pub(super) talk: Talk,
    pub(super) attacher: Attacher,
    pub(super) config: Arc<Config>,
    pub(super) wire: Wire,
    pub(super) stay: Stay,
    /// Whether somebody can type lines.
    pub(super) listens: bool,
    pub(super) began: Instant,
    /// Where nobody reads along, words are held until it is sure that they count.
    pub(super) held: Option<Vec<String>>,
}

/// What is going on.
#[derive(Default)]
struct State {
    asking: Option<LineQuestion>,
    waiting: VecDeque<LineQuestion>,
    /// Nobody will type any more.
    is_closed: bool,
    interrupted: Option<Instant>,
}

impl Plain {
    pub(super) async fn run(mut self, first: Option<Typed>) -> Result<Exit, Failure> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut asked = Asked::listen(&asked::of_conversation())?;
        let _insistence = Insistence::begin(asked::of_conversation());
        let mut state = State::default();
        if self.listens {
            listen(self.wire.clone());
        }
        let mut tick = tokio::time::interval(TICK);
        let mut first = Some(first);
        let left = loop {
            let exit = match first.take() {
                Some(first) => self.begin(first).await,
                None => tokio::select! {
                    news = self.wire.next() => self.take(news, &mut state).await,
                    _ = interrupt.recv() => Ok(self.interrupt(&mut state)),
                    exit = asked.next() => Ok(Some(exit)),
                    _ = tick.tick() => {
                        let lines = self.view.mentioned(self.began.elapsed());
                        self.print(&lines).map(|()| None)
                    }
                },
            };
            if let Some(exit) = exit.transpose() {
                break exit;
            }
        };
        if let (Err(failure), Format::Json) = (&left, self.format) {
            let ms = self.began.elapsed().as_millis();
            let document = events::failed(self.attacher.session.as_str(), failure, ms);
            // Where nobody reads it, nobody misses it.
            let _unheard = self.terminal.document(&document);
        }
        self.talk.leave().await;
        left
    }

    async fn begin(&mut self, first: Option<Typed>) -> Result<Option<Exit>, Failure> {
        match first {
            Some(typed) => drop(self.talk.utter(typed, &self.attacher).await?),
            None if self.stay == Stay::ForMore => self.prompt("> "),
            // Nothing is said: it goes on where it was.
            None => drop(self.talk.say(String::new(), Vec::new())),
        }
        Ok(None)
    }

    async fn take(&mut self, news: News, state: &mut State) -> Result<Option<Exit>, Failure> {
        match news {
            News::Event(seq, event) => {
                if self.format == Format::Json {
                    self.terminal.document(&events::document(seq, &event))?;
                }
                let lines = self.view.apply(&event, self.began.elapsed());
                self.print(&lines)?;
                self.release(&event)?;
                for text in self.talk.said() {
                    let lines = self.view.heard(&text);
                    self.print(&lines)?;
                }
            }
            News::Ask(asked) => {
                state.waiting.push_back(asked.into());
                self.ask_next(state);
            }
            News::Inquire(inquiring) => {
                state.waiting.push_back(inquiring.into());
                self.ask_next(state);
            }
            News::Withdrawn => {
                state.asking = state.asking.take().filter(LineQuestion::is_open);
                self.ask_next(state);
            }
            News::Line(line) => return self.line(&line, state).await,
            News::Closed => {
                state.is_closed = true;
                // Whoever left has not agreed: what they were asked is dropped, and so rejected.
                state.asking = None;
                state.waiting.clear();
                if !self.talk.is_busy() {
                    // Whatever comes next begins below the prompt.
                    self.tell(&[Row::new()]);
                    return Ok(Some(Exit::Ok));
                }
            }
            News::Ended(outcome) => return self.ended(&outcome, state),
            News::Said => self.talk.prepared(),
            News::Unsaid(failure) => return self.unsaid(failure, state),
            News::Broken => return Err(broken()),
            News::Typed(_) => {}
        }
        Ok(None)
    }

    fn ended(&mut self, outcome: &Outcome, state: &mut State) -> Result<Option<Exit>, Failure> {
        let unsaid = self.talk.ended(outcome);
        state.interrupted = None;
        let lines = self.view.ended(outcome, self.began.elapsed());
        self.print(&lines)?;
        self.say_held()?;
        let refused: Vec<&str> = self.view.refused().iter().chain(&outcome.refused).copied().collect();
        let exit = exit_of(outcome, &refused);
        if self.talk.is_busy() {
            for text in unsaid {
                let lines = self.view.heard(&text);
                self.print(&lines)?;
            }
            return Ok(None);
        }
        self.tell_unsaid(&unsaid);
        if self.format == Format::Json {
            let ms = self.began.elapsed().as_millis();
            self.terminal.document(&events::finished(self.attacher.session.as_str(), outcome, exit, ms))?;
        }
        match (self.stay, state.is_closed) {
            (Stay::ForMore, false) => {
                self.prompt("> ");
                Ok(None)
            }
            (Stay::ForMore, true) => Ok(Some(Exit::Ok)),
            (Stay::UntilDone, _) => Ok(Some(exit)),
        }
    }

    /// A line is an answer if something is asked, and otherwise something to say.
    async fn line(&mut self, line: &str, state: &mut State) -> Result<Option<Exit>, Failure> {
        if let Some(question) = state.asking.take() {
            if let Heard::More(question, rows) = question.hear(line) {
                self.tell(&rows);
                self.prompt(question.prompt());
                state.asking = Some(*question);
            }
            self.ask_next(state);
            return Ok(None);
        }
        if line.trim().is_empty() {
            if !self.talk.is_busy() {
                self.prompt("> ");
            }
            return Ok(None);
        }
        match self.talk.hear(line.to_owned(), &self.config, &self.attacher).await {
            Ok(true) => {}
            Ok(false) => self.tell(&[Row::new().with(Paint::Dim, "queued")]),
            Err(failure) => {
                self.terminal.failure(&failure);
                self.prompt("> ");
            }
        }
        Ok(None)
    }

    /// A command could not be performed, and whatever was to follow it is not said either.
    fn unsaid(&mut self, failure: Failure, state: &mut State) -> Result<Option<Exit>, Failure> {
        let unsaid = self.talk.gave_up();
        state.interrupted = None;
        self.tell_unsaid(unsaid.get(1..).unwrap_or_default());
        match (self.stay, state.is_closed) {
            // It is told by whoever ends.
            (Stay::UntilDone, _) | (Stay::ForMore, true) => Err(failure),
            (Stay::ForMore, false) => {
                self.terminal.failure(&failure);
                self.prompt("> ");
                Ok(None)
            }
        }
    }

    /// Tells what waited to be said and will not be.
    fn tell_unsaid(&self, unsaid: &[String]) {
        for text in unsaid {
            self.tell(&[Row::new().with(Paint::Dim, "not said  ").with(Paint::Dim, &first_line(text))]);
        }
    }

    fn ask_next(&mut self, state: &mut State) {
        if state.asking.is_some() {
            return;
        }
        state.waiting.retain(LineQuestion::is_open);
        let Some(question) = state.waiting.pop_front() else { return };
        if state.is_closed {
            return;
        }
        self.tell(&question.intro());
        if !state.waiting.is_empty() {
            self.tell(&[Row::new().with(Paint::Dim, &format!("{} more waiting", state.waiting.len()))]);
        }
        self.prompt(question.prompt());
        state.asking = Some(question);
    }

    /// The first time the agent is stopped; the second time, or if it is not working, everything is.
    fn interrupt(&mut self, state: &mut State) -> Option<Exit> {
        if state.interrupted.is_some() || !self.talk.is_busy() {
            let exit = if self.talk.is_busy() || self.stay == Stay::UntilDone {
                Exit::Interrupted
            } else {
                Exit::Ok
            };
            return Some(exit);
        }
        state.interrupted = Some(Instant::now());
        self.talk.interrupt();
        None
    }

    /// Prints held words once they count, and forgets those that do not. As soon as a call was made, an answer is not
    /// asked for again.
    fn release(&mut self, event: &Event) -> Result<(), Failure> {
        match event {
            Event::Said { session, delta: Saying::TakenBack, .. } if *session == self.attacher.session => {
                self.held.iter_mut().for_each(Vec::clear);
                Ok(())
            }
            Event::Called(call) if call.context.session == self.attacher.session => self.say_held(),
            _ => Ok(()),
        }
    }

    fn say_held(&mut self) -> Result<(), Failure> {
        for text in self.held.iter_mut().flat_map(std::mem::take) {
            self.terminal.foreign(&format!("{text}\n"))?;
        }
        Ok(())
    }

    fn print(&mut self, lines: &[Line]) -> Result<(), Failure> {
        for line in lines {
            match (line, self.format) {
                (Line::Said(text), Format::Text) => match &mut self.held {
                    Some(held) => held.push(text.clone()),
                    None => self.terminal.foreign(&format!("{text}\n"))?,
                },
                (Line::Told(row), Format::Text) => self.tell(std::slice::from_ref(row)),
                (Line::Said(_) | Line::Told(_), Format::Json) => {}
            }
        }
        Ok(())
    }

    fn tell(&self, rows: &[Row]) {
        for row in rows {
            self.terminal.say(&row.painted(self.terminal.err()));
        }
    }

    fn prompt(&self, text: &str) {
        let mut err = std::io::stderr().lock();
        // Whoever cannot see the prompt does not answer it either.
        let _gone = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

/// Reads lines until there are no more.
fn listen(wire: Wire) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            match line {
                Ok(line) => wire.push(News::Line(line)),
                Err(_) => break,
            }
        }
        wire.push(News::Closed);
    });
}

/// Whether lines can be drawn again here.
pub(super) fn can_draw() -> bool {
    let streams = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    streams && std::io::stderr().is_terminal() && !Terminal::is_dumb()
}
