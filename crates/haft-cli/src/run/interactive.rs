//! A run on a terminal whose lines can change: what happens is shown as it happens, keys are read all the while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use haft::Event;
use haft_agent::Outcome;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Stay;
use super::attach::Attacher;
use super::editor::Editor;
use super::keys::{Key, Keys};
use super::news::{News, Wire};
use super::prompts::{Prompts, Took, Waiting};
use super::raw::{self, Raw};
use super::row::{Paint, Row};
use super::slash::Typed;
use super::stage::{Live, Stage};
use super::talk::{Talk, broken, exit_of};
use super::view::{Line, View};
use super::words::first_line;
use crate::asked::{self, Asked};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::terminal::Style;

/// How often what moves is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// A lone Escape is one if nothing follows it for so long.
const ESCAPE: Duration = Duration::from_millis(50);
/// A second Ctrl-C within this time leaves.
const TWICE: Duration = Duration::from_secs(2);

/// What a run on a terminal is made of.
pub(super) struct Interactive {
    pub(super) view: View,
    pub(super) talk: Talk,
    pub(super) attacher: Attacher,
    pub(super) config: Arc<Config>,
    pub(super) wire: Wire,
    pub(super) stay: Stay,
    pub(super) began: Instant,
    pub(super) screen: Screen,
    /// What happened before, in a session that is gone on with.
    pub(super) recap: Vec<Row>,
}

/// What the person sees and types on.
pub(super) struct Screen {
    stage: Stage,
    keys: Keys,
    editor: Editor,
    prompts: Prompts,
    /// Lines that stay and are not drawn yet.
    lines: Vec<Line>,
    interrupted: Option<Duration>,
}

impl Screen {
    pub(super) fn new(style: Style) -> Screen {
        Screen {
            stage: Stage::new(style, raw::size()),
            keys: Keys::default(),
            editor: Editor::default(),
            prompts: Prompts::default(),
            lines: Vec::new(),
            interrupted: None,
        }
    }
}

/// What the system says.
struct Signals {
    interrupt: Signal,
    ending: Asked,
    resized: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Failure> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            ending: Asked::listen(&asked::of_conversation())?,
            resized: signal(SignalKind::window_change())?,
        })
    }
}

impl Interactive {
    pub(super) async fn run(mut self, first: Option<Typed>) -> Result<Exit, Failure> {
        let mut signals = Signals::new()?;
        let raw = Raw::enter()?;
        listen(self.wire.clone());
        let left = self.shown(first, &mut signals).await;
        // However it ends, what was shown stays, and the terminal is as it was.
        self.leave(raw).await?;
        left
    }

    async fn shown(&mut self, first: Option<Typed>, signals: &mut Signals) -> Result<Exit, Failure> {
        let recap = std::mem::take(&mut self.recap);
        let lines = self.view.told(recap);
        self.screen.lines.extend(lines);
        if let Some(typed) = first {
            self.talk.utter(typed, &self.attacher).await?;
        }
        loop {
            self.draw()?;
            let pause = self.pause();
            let sleeps = async {
                match pause {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            let mut left = tokio::select! {
                news = self.wire.next() => self.take(news).await?,
                _ = signals.interrupt.recv() => self.interrupt(),
                exit = signals.ending.next() => Some(exit),
                _ = signals.resized.recv() => {
                    self.screen.stage.resize(raw::size());
                    None
                }
                () = sleeps => self.tick().await?,
            };
            while let (None, Some(news)) = (left, self.wire.take()) {
                left = self.take(news).await?;
            }
            if let Some(exit) = left {
                return Ok(exit);
            }
        }
    }

    /// Leaves the terminal as it was, with everything that stays.
    async fn leave(mut self, raw: Raw) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.screen.lines);
        let mut bytes = self.screen.stage.frame(&lines, &Live::default());
        bytes.push_str(&self.screen.stage.leave());
        raw::write(bytes.as_bytes())?;
        drop(raw);
        self.talk.leave().await;
        Ok(())
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long until something moves by itself.
    fn pause(&self) -> Option<Duration> {
        match (self.screen.keys.is_waiting(), self.talk.is_busy() || !self.screen.prompts.is_empty()) {
            (true, _) => Some(ESCAPE),
            (false, true) => Some(FRAME),
            (false, false) => None,
        }
    }

    async fn tick(&mut self) -> Result<Option<Exit>, Failure> {
        let now = self.now();
        if self.screen.prompts.rings(now) {
            raw::write(b"\x07")?;
        }
        self.turn();
        let keys = self.screen.keys.flush();
        self.press_all(keys).await
    }

    async fn take(&mut self, news: News) -> Result<Option<Exit>, Failure> {
        let now = self.now();
        match news {
            News::Event(_, event) => {
                if matches!(event, Event::Replied(..)) {
                    self.screen.prompts.go_on();
                }
                let lines = self.view.apply(&event, now);
                self.screen.lines.extend(lines);
                for text in self.talk.said() {
                    let lines = self.view.heard(&text);
                    self.screen.lines.extend(lines);
                }
            }
            News::Ask(asked) => self.screen.prompts.add(Waiting::Consent(asked)),
            News::Inquire(inquiring) => self.screen.prompts.add(Waiting::Inquiry(inquiring)),
            News::Typed(bytes) => {
                let keys = self.screen.keys.feed(&bytes);
                return self.press_all(keys).await;
            }
            News::Ended(outcome) => return Ok(self.ended(&outcome)),
            News::Said => self.talk.prepared(),
            News::Unsaid(failure) => self.unsaid(failure)?,
            News::Broken => return Err(broken()),
            News::Closed => return Ok(Some(Exit::Terminated)),
            News::Withdrawn | News::Line(_) => {}
        }
        self.turn();
        Ok(None)
    }

    /// Shows the next question, if it is its turn.
    fn turn(&mut self) {
        let rows = self.screen.prompts.turn(self.now());
        let lines = self.view.told(rows);
        self.screen.lines.extend(lines);
    }

    fn ended(&mut self, outcome: &Outcome) -> Option<Exit> {
        let now = self.now();
        self.turn();
        let unsaid = self.talk.ended(outcome);
        self.screen.interrupted = None;
        let lines = self.view.ended(outcome, now);
        self.screen.lines.extend(lines);
        if self.talk.is_busy() {
            for text in unsaid {
                let lines = self.view.heard(&text);
                self.screen.lines.extend(lines);
            }
            return None;
        }
        // What was not said is the person's again.
        for text in unsaid.iter().rev() {
            self.screen.editor.put_back(text);
        }
        let refused: Vec<&str> = self.view.refused().iter().chain(&outcome.refused).copied().collect();
        match self.stay {
            Stay::UntilDone => Some(exit_of(outcome, &refused)),
            Stay::ForMore => None,
        }
    }

    async fn press_all(&mut self, keys: Vec<Key>) -> Result<Option<Exit>, Failure> {
        for key in keys {
            if let Some(exit) = self.press(&key).await? {
                return Ok(Some(exit));
            }
        }
        Ok(None)
    }

    async fn press(&mut self, key: &Key) -> Result<Option<Exit>, Failure> {
        if *key == Key::Redraw {
            let live = self.live();
            let bytes = self.screen.stage.redraw(&live);
            raw::write(bytes.as_bytes())?;
            return Ok(None);
        }
        let has_question = !self.screen.prompts.is_empty();
        if let Took::Rows(rows) = self.screen.prompts.press(key, self.now()) {
            let lines = self.view.told(rows);
            self.screen.lines.extend(lines);
            self.turn();
            return Ok(None);
        }
        match key {
            // Typed before the question could be seen: it neither answers nor sends anything.
            Key::Enter | Key::Escape if has_question => {}
            Key::Enter => self.submit().await,
            Key::EndOfInput if self.screen.editor.is_empty() && !self.talk.is_busy() => {
                return Ok(Some(Exit::Ok));
            }
            key => self.screen.editor.press(key),
        }
        Ok(None)
    }

    /// Says what was written. What cannot be said, because a file is missing, stays to be mended.
    async fn submit(&mut self) {
        if self.screen.editor.text().trim().is_empty() {
            return;
        }
        let text = self.screen.editor.take();
        match self.talk.hear(text.clone(), &self.config, &self.attacher).await {
            Ok(true) => {
                let lines = self.view.heard(&text);
                self.screen.lines.extend(lines);
            }
            Ok(false) => {}
            Err(failure) => {
                self.complain(&failure);
                self.screen.editor.put_back(&text);
            }
        }
    }

    fn complain(&mut self, failure: &Failure) {
        let lines = self.view.notice(Paint::Red, &format!("error: {}", failure.message()));
        self.screen.lines.extend(lines);
        for hint in &failure.hints {
            let lines = self.view.notice(Paint::Dim, hint);
            self.screen.lines.extend(lines);
        }
    }

    /// A command could not be performed. Whoever stays has it back, to be mended.
    fn unsaid(&mut self, failure: Failure) -> Result<(), Failure> {
        let unsaid = self.talk.gave_up();
        self.screen.interrupted = None;
        if self.stay == Stay::UntilDone {
            return Err(failure);
        }
        self.complain(&failure);
        for text in unsaid.iter().rev() {
            self.screen.editor.put_back(text);
        }
        Ok(())
    }

    /// Ctrl-C: stops the agent; a second one, or one while nothing happens, leaves.
    fn interrupt(&mut self) -> Option<Exit> {
        let now = self.now();
        if !self.talk.is_busy() {
            if self.screen.editor.is_empty() {
                return Some(Exit::Ok);
            }
            self.screen.editor.clear();
            return None;
        }
        if self.screen.interrupted.is_some_and(|first| now.saturating_sub(first) <= TWICE) {
            return Some(Exit::Interrupted);
        }
        self.screen.interrupted = Some(now);
        self.talk.interrupt();
        None
    }

    fn live(&self) -> Live {
        let (now, columns) = (self.now(), self.screen.stage.size().columns.saturating_sub(1));
        let mut live = Live::default();
        live.add(self.view.live(now, columns), None);
        let is_asked = !self.screen.prompts.is_empty();
        if is_asked {
            let (rows, cursor) = self.screen.prompts.rows(now, columns);
            live.add(rows, cursor);
        }
        for text in self.talk.queued() {
            let row = Row::new().with(Paint::Dim, "queued  ").with(Paint::Dim, &first_line(text));
            live.add(vec![row.clipped(columns)], None);
        }
        if self.screen.interrupted.is_some() {
            live.add(vec![Row::new().with(Paint::Yellow, "stopping; Ctrl-C again leaves")], None);
        }
        if !is_asked || !self.screen.editor.is_empty() {
            let (rows, cursor) = self.screen.editor.rows("> ", columns);
            live.add(rows, Some(cursor).filter(|_| !is_asked));
        }
        live
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let live = self.live();
        let lines = std::mem::take(&mut self.screen.lines);
        let bytes = self.screen.stage.frame(&lines, &live);
        match bytes.is_empty() {
            true => Ok(()),
            false => Ok(raw::write(bytes.as_bytes())?),
        }
    }
}

/// Reads keys until there are no more.
fn listen(wire: Wire) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
                Ok(count) if count > 0 => wire.push(News::Typed(bytes[..count].to_vec())),
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => break,
            }
        }
        wire.push(News::Closed);
    });
}
