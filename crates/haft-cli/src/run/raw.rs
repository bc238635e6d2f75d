//! The terminal as it is while a person is shown lines that change: keys come one by one and are not echoed.

use std::io::{self, Write};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

use super::stage::Size;

const PASTE_ON: &[u8] = b"\x1b[?2004h";
const PASTE_OFF: &[u8] = b"\x1b[?2004l\x1b[?25h";
/// What is assumed of a terminal that does not say how large it is.
const UNKNOWN: Size = Size { columns: 80, rows: 24 };

/// Keys one by one. Dropping it puts the terminal back as it was, also while a panic unwinds.
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    pub(crate) fn enter() -> io::Result<Raw> {
        let stdin = rustix::stdio::stdin();
        let before = tcgetattr(stdin)?;
        let mut modes = before.clone();
        // Ctrl-C stays a signal; what would stop or kill the process with the terminal as it is does not.
        modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN);
        modes.input_modes.remove(InputModes::ICRNL | InputModes::INLCR | InputModes::IXON);
        modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
        modes.special_codes[SpecialCodeIndex::VQUIT] = 0;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin, OptionalActions::Now, &modes)?;
        let raw = Raw { before };
        write(PASTE_ON)?;
        Ok(raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // What was typed and not read is not for whoever comes next. If the terminal is gone, so is its state.
        let stdin = rustix::stdio::stdin();
        let _gone = write(PASTE_OFF);
        let _gone = tcflush(stdin, QueueSelector::IFlush);
        let _gone = tcsetattr(stdin, OptionalActions::Now, &self.before);
    }
}

/// How large the terminal is.
pub(crate) fn size() -> Size {
    match tcgetwinsize(rustix::stdio::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { columns: size.ws_col.into(), rows: size.ws_row.into() }
        }
        Ok(_) | Err(_) => UNKNOWN,
    }
}

pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
