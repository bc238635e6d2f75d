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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    const AT_A_TERMINAL: &str = "HAFT_TEST_AT_A_TERMINAL";

    /// What the next test runs at a terminal; it does nothing elsewhere.
    #[test]
    fn panics_while_keys_come_one_by_one() {
        if std::env::var_os(AT_A_TERMINAL).is_none() {
            return;
        }
        let _raw = Raw::enter().unwrap();
        let modes = tcgetattr(rustix::stdio::stdin()).unwrap();
        assert!(!modes.local_modes.intersects(LocalModes::ECHO | LocalModes::ICANON), "it is as it was");
        panic!("on purpose");
    }

    #[test]
    fn a_panic_puts_the_terminal_back() {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let modes = || {
            let modes = tcgetattr(&theirs).unwrap();
            (modes.local_modes, modes.input_modes, format!("{:?}", modes.special_codes))
        };
        let before = modes();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "run::raw::tests::panics_while_keys_come_one_by_one", "--nocapture"]);
        command.env(AT_A_TERMINAL, "1").stdin(Stdio::from(theirs.try_clone().unwrap()));
        let output = command.output().unwrap();
        let [said, told] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        assert!(!output.status.success() && format!("{said}{told}").contains("on purpose"), "{said}{told}");
        assert!(said.as_bytes().windows(PASTE_OFF.len()).any(|bytes| bytes == PASTE_OFF), "{said:?}");
        assert_eq!(modes(), before);
    }
}
