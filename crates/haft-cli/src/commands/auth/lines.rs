//! What a person types, line by line: on a terminal, where secrets do not appear, or from a pipe.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::Failure;

/// The longest line, and the longest key.
const LINE_BYTES_MAX: usize = 16 << 10;
/// A terminal hands over no longer line, and drops the rest of it without a word.
const TYPED_BYTES_MAX: usize = 4095;

/// Whether what is typed appears.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    Shown,
    Hidden,
}

/// Whether somebody types, and can be asked again.
pub(super) fn is_typed() -> bool {
    std::io::stdin().is_terminal()
}

/// The next line, without its end; none at the end of input. Whoever types is asked first.
pub(super) async fn line(question: &str, echo: Echo) -> Result<Option<String>, Failure> {
    let silence = (is_typed() && echo == Echo::Hidden).then(Silence::begin).transpose()?;
    if is_typed() {
        let mut err = std::io::stderr();
        write!(err, "{question} ").and_then(|()| err.flush())?;
    }
    // Reading blocks its thread; whoever interrupts does not wait for that.
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().take(LINE_BYTES_MAX as u64 + 2).read_line(&mut line).map(|_| line)
    });
    let line = read.await.map_err(anyhow::Error::from)??;
    if silence.is_some() {
        writeln!(std::io::stderr())?;
    }
    if is_typed() && line.trim_end_matches('\n').len() >= TYPED_BYTES_MAX {
        let message =
            format!("a terminal takes no more than {TYPED_BYTES_MAX} bytes a line; nothing was stored");
        return Err(Failure::usage(message).hint("pipe it in"));
    }
    Ok(Some(bounded(line)?).filter(|line| !line.is_empty()).map(|line| line.trim().to_owned()))
}

/// A text that is whole: what was cut off would be missed only later.
fn bounded(text: String) -> Result<String, Failure> {
    match text.trim_end_matches(['\n', '\r']).len() > LINE_BYTES_MAX {
        true => Err(Failure::usage(format_args!(
            "that is longer than {LINE_BYTES_MAX} bytes; nothing was stored"
        ))),
        false => Ok(text),
    }
}

/// Everything that is piped in.
pub(super) fn whole() -> Result<String, Failure> {
    let mut text = String::new();
    let mut stdin = std::io::stdin().lock();
    stdin.by_ref().take(LINE_BYTES_MAX as u64 + 2).read_to_string(&mut text)?;
    bounded(text)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Silence(Termios);

impl Silence {
    fn begin() -> Result<Silence, Failure> {
        let before = tcgetattr(std::io::stdin()).map_err(std::io::Error::from)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent).map_err(std::io::Error::from)?;
        Ok(Silence(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        let _gone = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}
