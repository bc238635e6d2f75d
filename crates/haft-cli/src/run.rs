//! `haft run`: a conversation with a model, on a terminal, in plain lines, or as events for a program.
//!
//! What happens comes over one queue ([`news`]); a state without a clock or a terminal ([`view`]) says what is shown of
//! it; whoever has a terminal draws it ([`interactive`]), and whoever has none prints it ([`plain`]).

mod approval;
mod arguments;
mod attach;
mod attention;
mod draft;
mod editor;
pub(crate) mod events;
mod inquiry;
mod interactive;
mod keys;
mod lines;
mod mentions;
mod naming;
mod news;
mod performing;
mod plain;
mod prompts;
mod raw;
mod row;
mod shell_part;
mod shell_slots;
mod slash;
mod stage;
mod stdin;
mod talk;
mod template;
mod view;
mod words;

use std::io::IsTerminal;
use std::time::Instant;

use haft::{Inbox, Message, Role};
use haft_agent::Conversation;

pub(crate) use self::attach::Attacher;
pub(crate) use self::draft::Draft;
use self::interactive::{Interactive, Screen};
pub(crate) use self::naming::{NamedCalls, Naming};
pub(crate) use self::news::{Desk, News, Wire};
pub(crate) use self::performing::Performer;
use self::plain::{Plain, can_draw};
use self::row::{Paint, Row};
pub(crate) use self::slash::{Invocation, Typed};
pub(crate) use self::stdin::stdin_text;
use self::talk::Talk;
use self::view::View;
pub(crate) use self::view::{Manner, Showing};
pub(crate) use self::words::subject;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

/// Of what was said before, so many lines are shown.
const RECAP_LINES_MAX: usize = 10;

/// What a run prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// What the model says, on standard output, and what it does, on standard error
    Text,
    /// One document per event
    Json,
}

/// Whether a run ends with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stay {
    /// It ends when the agent has no more to do.
    UntilDone,
    /// It stays for whatever else the person says.
    ForMore,
}

/// How a run is shown, and who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// Lines that change, and keys.
    Drawn,
    /// Lines, and lines in return.
    Spoken,
    /// Lines, and nobody there.
    Mute,
}

impl Face {
    pub(crate) fn of(terminal: Terminal, format: Format, screen_reader: bool) -> Face {
        match () {
            () if !Terminal::is_interactive() => Face::Mute,
            () if format == Format::Text && !screen_reader && !terminal.json && can_draw() => Face::Drawn,
            () => Face::Spoken,
        }
    }
}

/// What a run is made of.
pub(crate) struct Run {
    pub(crate) terminal: Terminal,
    pub(crate) face: Face,
    pub(crate) format: Format,
    pub(crate) stay: Stay,
    pub(crate) showing: Showing,
    pub(crate) conversation: Conversation,
    pub(crate) inbox: Inbox,
    pub(crate) performer: Performer,
    pub(crate) wire: Wire,
}

impl Run {
    /// Holds the conversation, and says how to leave.
    pub(crate) async fn hold(self, first: Option<Typed>) -> Result<Exit, Failure> {
        let Run { terminal, face, format, stay, showing, conversation, inbox, performer, wire } = self;
        let (attacher, config) = (performer.attacher.clone(), performer.config.clone());
        let view = View::new(conversation.session().clone(), showing);
        let recap = recap(conversation.messages());
        let talk = Talk::new(conversation, inbox, wire.clone(), performer);
        let began = Instant::now();
        if face == Face::Drawn {
            let screen = Screen::new(terminal.out());
            let run = Interactive { view, talk, attacher, config, wire, stay, began, screen, recap };
            return run.run(first).await;
        }
        let listens = face == Face::Spoken;
        let held = (!std::io::stdout().is_terminal()).then(Vec::new);
        let run = Plain { terminal, format, view, talk, attacher, config, wire, stay, listens, began, held };
        run.run(first).await
    }
}

/// The end of what was said before.
fn recap(messages: &[Message]) -> Vec<Row> {
    let last = messages.iter().rev().find(|message| message.role == Role::Assistant);
    let Some(text) = last.and_then(Message::last_text) else { return Vec::new() };
    let skipped = text.lines().count().saturating_sub(RECAP_LINES_MAX);
    let mut rows = vec![Row::new().with(Paint::Dim, &format!("… {} messages before this", messages.len()))];
    rows.extend(text.lines().skip(skipped).map(|line| Row::new().text(Paint::Dim, line)));
    rows
}
