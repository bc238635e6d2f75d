//! The person's terminal: whether there is one, and how to speak on it.

mod inquire;
mod prompt;
mod style;

use std::io::{IsTerminal, Write};

use haft::{visible, visible_lines};

use crate::cli::{Color, Globals};
use crate::exit::{Exit, Failure};

pub(crate) use prompt::{TerminalAsker, confirm};
pub(crate) use style::Style;

/// Where to print and how.
#[derive(Clone, Copy)]
pub(crate) struct Terminal {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    color_out: bool,
    color_err: bool,
    out_is_terminal: bool,
}

impl Terminal {
    pub(crate) fn new(globals: &Globals) -> Terminal {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let color = |is_terminal: bool| match globals.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !no_color && (is_terminal && !Terminal::is_dumb() || forced),
        };
        let out_is_terminal = std::io::stdout().is_terminal();
        Terminal {
            json: globals.json,
            quiet: globals.quiet,
            verbose: globals.verbose,
            color_out: color(out_is_terminal),
            color_err: color(std::io::stderr().is_terminal()),
            out_is_terminal,
        }
    }

    /// Whether somebody can be asked: they see what is printed and can type.
    pub(crate) fn is_interactive() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Whether the terminal, if there is one, understands nothing but text.
    pub(crate) fn is_dumb() -> bool {
        std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
    }

    /// Whether what is printed is seen by a person, and not read by a program.
    pub(crate) fn is_seen(self) -> bool {
        self.out_is_terminal
    }

    pub(crate) fn out(self) -> Style {
        Style(self.color_out)
    }

    pub(crate) fn err(self) -> Style {
        Style(self.color_err)
    }

    /// Prints a line of data.
    pub(crate) fn line(self, text: &str) -> Result<(), Failure> {
        self.data(&format!("{text}\n"))
    }

    /// Prints data as it is. A reader that has gone away ends the command without a word.
    pub(crate) fn data(self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// The same for what may be no text.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::unheard()),
            Err(error) => Err(error.into()),
        }
    }

    /// Prints text from a tool: made harmless on a terminal, unchanged into a pipe.
    pub(crate) fn foreign(self, text: &str) -> Result<(), Failure> {
        let newline = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
        match self.out_is_terminal {
            true => self.data(&format!("{}{newline}", visible_lines(text))),
            false => self.data(&format!("{text}{newline}")),
        }
    }

    /// Prints a JSON document.
    pub(crate) fn document(self, document: &serde_json::Value) -> Result<(), Failure> {
        self.line(&document.to_string())
    }

    /// Says something beside the data.
    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says something that must be said.
    pub(crate) fn say(self, text: &str) {
        // Nobody is left to be told that standard error is gone.
        let _gone = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Reports a failure of the command.
    pub(crate) fn failure(self, failure: &Failure) {
        if failure.exit == Exit::Ok {
            return;
        }
        if self.json {
            let error = serde_json::json!({ "v": 1, "error": {
                "code": failure.exit as u8,
                "message": failure.message(),
                "hint": failure.hints.first(),
            }});
            return self.say(&error.to_string());
        }
        self.say(&format!("{} {}", self.err().red("error:"), visible_lines(&failure.message())));
        for hint in &failure.hints {
            self.say(&format!("{} {}", self.err().dim("hint:"), visible(hint)));
        }
    }
}
