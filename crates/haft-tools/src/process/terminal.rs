//! Terminals: a pair of ends, one for us and one that a command takes for a person's.

use std::io;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The size that programs expect where they cannot ask.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A new terminal: our end and the command's. It is nobody's until the command takes control of it.
pub(super) fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    // Not by its name: that is another's where the command has terminals of its own.
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    tcsetwinsize(&ours, SIZE)?;
    Ok((ours, theirs))
}
