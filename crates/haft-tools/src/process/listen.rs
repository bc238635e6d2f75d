//! Hearing a command: every byte goes to its capture, and whoever listens is told.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use haft::{Event, Events, ToolContext};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often, at most, listeners are told what a command prints.
const TELL_EVERY: Duration = Duration::from_millis(100);
/// So much of it they are told at once.
const TOLD_BYTES_MAX: usize = 16 << 10;

/// So much is read at once, and so much from those that print a lot.
const READ_BYTES: usize = 64 << 10;
const FLOOD_BYTES: usize = 512 << 10;

/// Hands on everything that comes until nobody is left to print, or until what comes cannot be taken.
pub(super) fn listen(source: &OwnedFd, teller: &mut Teller, mut take: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match rustix::io::read(source, &mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                if !take(&buffer[..read]) {
                    break;
                }
                teller.push(&buffer[..read]);
                if read == READ_BYTES {
                    prepare_for_a_flood(source);
                    buffer.resize(FLOOD_BYTES, 0);
                }
            }
            Err(error) if error == rustix::io::Errno::AGAIN => await_more(source, teller),
            Err(error) if error == rustix::io::Errno::INTR => {}
            // A terminal that nobody has open any more says so by an error.
            Err(_) => break,
        }
    }
    teller.tell();
}

/// Lets more be under way at a time, where the system allows it: most commands print little, and need no more than they
/// have.
fn prepare_for_a_flood(source: &OwnedFd) {
    #[cfg(target_os = "linux")]
    let _as_it_is = rustix::pipe::fcntl_setpipe_size(source, FLOOD_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = source;
}

/// Waits until there is something to read. What listeners were not told yet they are told meanwhile.
fn await_more(source: &OwnedFd, teller: &mut Teller) {
    let mut fds = [PollFd::new(source, PollFlags::IN)];
    if !teller.untold.is_empty() {
        let soon = Timespec { tv_sec: 0, tv_nsec: i64::from(TELL_EVERY.subsec_nanos()) };
        if poll(&mut fds, Some(&soon)) != Ok(0) {
            return;
        }
        teller.tell();
    }
    // Whatever ends the waiting, reading again says what it was.
    let _ready = poll(&mut fds, None);
}

/// Sends all of a text to a command that may be slow to read it, and returns how much it took in time.
pub(super) fn send(sink: &OwnedFd, bytes: &[u8], patience: Duration) -> io::Result<usize> {
    let deadline = Instant::now() + patience;
    let mut sent = 0;
    while sent < bytes.len() {
        match rustix::io::write(sink, &bytes[sent..]) {
            Ok(written) => sent += written,
            Err(error) if error == rustix::io::Errno::INTR => {}
            Err(error) if error == rustix::io::Errno::AGAIN => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let left = Timespec::try_from(left).map_err(io::Error::other)?;
                let mut fds = [PollFd::new(sink, PollFlags::OUT)];
                let _ready = poll(&mut fds, Some(&left));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sent)
}

/// Tells listeners what a command prints, in pieces that are neither too many nor too large.
pub(super) struct Teller {
    events: Events,
    context: ToolContext,
    untold: Vec<u8>,
    told: Instant,
}

impl Teller {
    pub(super) fn new(events: Events, context: ToolContext) -> Teller {
        Teller { events, context, untold: Vec::new(), told: Instant::now() }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Whoever watches a flood sees its end; all of it is retained.
        let last = &bytes[bytes.len().saturating_sub(TOLD_BYTES_MAX)..];
        if last.len() < bytes.len() || self.untold.len() > 4 * TOLD_BYTES_MAX {
            let kept = TOLD_BYTES_MAX - last.len();
            let surplus = self.untold.len().saturating_sub(kept);
            self.untold.drain(..surplus);
        }
        self.untold.extend_from_slice(last);
        if self.told.elapsed() >= TELL_EVERY {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let untold = std::mem::take(&mut self.untold);
        if untold.is_empty() {
            return;
        }
        self.told = Instant::now();
        let last = &untold[untold.len().saturating_sub(TOLD_BYTES_MAX)..];
        self.events.tell(|| Event::Output {
            context: self.context.clone(),
            delta: String::from_utf8_lossy(last).into_owned(),
        });
    }
}
