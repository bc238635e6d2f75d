//! What a host is told: written at once while it reads, and by a thread of its own where it does not keep up.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// So much waits to be read by a host, unless it is one letter.
const UNREAD_BYTES_MAX: usize = 256 << 20;

/// Our end of what a host reads.
pub(super) struct Outbox {
    sink: Arc<OwnedFd>,
    letters: mpsc::SyncSender<Vec<u8>>,
    /// How many bytes of letters are not written yet, with those of the one that is being written.
    unwritten: Arc<AtomicUsize>,
}

/// Why a host was not told something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untold {
    /// It has left too much unread.
    Full,
    /// It reads no more.
    Gone,
}

impl Outbox {
    /// Opens one in which so many letters may wait.
    pub(super) fn open(sink: OwnedFd, letters_max: usize) -> io::Result<Outbox> {
        fcntl_setfl(&sink, fcntl_getfl(&sink)? | OFlags::NONBLOCK)?;
        let (letters, waiting) = mpsc::sync_channel::<Vec<u8>>(letters_max);
        let (sink, unwritten) = (Arc::new(sink), Arc::new(AtomicUsize::new(0)));
        std::thread::Builder::new().name("haft-host-say".to_owned()).spawn({
            let (sink, unwritten) = (sink.clone(), unwritten.clone());
            move || {
                for letter in waiting {
                    // One that is gone reads no more, and whoever listens to it notices.
                    if write_all(&sink, &letter).is_err() {
                        return;
                    }
                    unwritten.fetch_sub(letter.len(), Ordering::Release);
                }
            }
        })?;
        Ok(Outbox { sink, letters, unwritten })
    }

    /// Tells it a line. Nobody else may do so meanwhile, which is why this takes all of it.
    pub(super) fn tell(&mut self, line: Vec<u8>) -> Result<(), Untold> {
        let mut rest = line;
        let waiting = self.unwritten.load(Ordering::Acquire);
        // To wake another thread takes longer than to write; but nothing overtakes what waits already.
        if waiting == 0 {
            let written = write_some(&self.sink, &rest).map_err(|_| Untold::Gone)?;
            if written == rest.len() {
                return Ok(());
            }
            rest.drain(..written);
        } else if waiting + rest.len() > UNREAD_BYTES_MAX {
            return Err(Untold::Full);
        }
        self.unwritten.fetch_add(rest.len(), Ordering::Relaxed);
        self.letters.try_send(rest).map_err(|error| match error {
            mpsc::TrySendError::Full(_) => Untold::Full,
            mpsc::TrySendError::Disconnected(_) => Untold::Gone,
        })
    }
}

/// Writes what can be written without waiting.
fn write_some(sink: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    let mut written = 0;
    while written < bytes.len() {
        match rustix::io::write(sink, &bytes[written..]) {
            Ok(more) => written += more,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Writes all of it, however long that takes.
fn write_all(sink: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    loop {
        bytes = &bytes[write_some(sink, bytes)?..];
        if bytes.is_empty() {
            return Ok(());
        }
        match poll(&mut [PollFd::new(sink, PollFlags::OUT)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::{Outbox, Untold};

    #[test]
    fn lines_arrive_in_order_however_slowly_they_are_read() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut outbox = Outbox::open(writer.into(), 1000).unwrap();
        let line = |number: usize| format!("{number} {}\n", "x".repeat(number * 97 % 5_000));
        // More than a pipe holds, so that some of it waits.
        (0..200).for_each(|number| outbox.tell(line(number).into_bytes()).unwrap());
        let mut lines = BufReader::new(reader);
        for number in 0..400 {
            if number >= 200 {
                outbox.tell(line(number).into_bytes()).unwrap();
            }
            let mut read = String::new();
            lines.read_line(&mut read).unwrap();
            assert!(read == line(number), "{number}");
        }
        drop(outbox);
        assert_eq!(lines.read_line(&mut String::new()).unwrap(), 0, "it ends with its outbox");
    }

    #[test]
    fn who_does_not_read_is_told_no_more() {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut outbox = Outbox::open(writer.into(), 4).unwrap();
        let untold = (0..10_000).find_map(|_| outbox.tell(vec![b'x'; 1000]).err());
        assert_eq!(untold, Some(Untold::Full));
        drop(reader);
        let (reader, writer) = std::io::pipe().unwrap();
        let mut outbox = Outbox::open(writer.into(), 4).unwrap();
        drop(reader);
        assert_eq!(outbox.tell(vec![b'x']), Err(Untold::Gone));
    }
}
