//! What happens to the engine, in the order it came: what haft says, and what threads that wait for programs have heard.
//!
//! The engine's own thread reads what haft says: when it waits, and now and then while JavaScript runs, so that aborts
//! are heard. No other thread has to be woken for a message.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::protocol::{Incoming, Order};
use super::turn::Event;
use super::watch::Watch;

/// How often haft is listened to while code runs.
const LISTENING: Duration = Duration::from_millis(5);
/// So much is read at once.
const READ_BYTES: usize = 64 << 10;
/// The longest line that is taken from haft.
const LINE_BYTES_MAX: usize = 256 << 20;

pub(super) struct Inbox {
    input: BorrowedFd<'static>,
    lines: RefCell<Lines>,
    post: Post,
    posted: Receiver<Event>,
    rung: PipeReader,
    /// What has arrived while code ran, or waited for something else.
    kept: RefCell<VecDeque<Event>>,
    listened: Cell<Instant>,
    watch: Rc<Watch>,
}

/// The way to the inbox for other threads.
#[derive(Clone)]
pub(super) struct Post {
    sender: Sender<Event>,
    bell: Arc<Bell>,
}

/// Wakes the engine. It is rung once until somebody comes.
struct Bell {
    is_rung: AtomicBool,
    pipe: PipeWriter,
}

/// Nobody takes events any more.
pub(super) struct Gone;

impl Post {
    pub(super) fn send(&self, event: Event) -> Result<(), Gone> {
        if self.sender.send(event).is_err() {
            return Err(Gone);
        }
        if !self.bell.is_rung.swap(true, Ordering::AcqRel) {
            // The other end is as old as this process, and goes with it.
            let _gone = (&self.bell.pipe).write(&[0]);
        }
        Ok(())
    }
}

impl Inbox {
    pub(super) fn new(input: BorrowedFd<'static>, watch: Rc<Watch>) -> std::io::Result<Inbox> {
        let (rung, pipe) = std::io::pipe()?;
        let (sender, posted) = channel();
        let bell = Arc::new(Bell { is_rung: AtomicBool::new(false), pipe });
        Ok(Inbox {
            input,
            lines: RefCell::default(),
            post: Post { sender, bell },
            posted,
            rung,
            kept: RefCell::default(),
            listened: Cell::new(Instant::now()),
            watch,
        })
    }

    pub(super) fn post(&self) -> Post {
        self.post.clone()
    }

    /// Takes the next event, waiting no longer than `wait`.
    pub(super) fn next(&self, wait: Option<Duration>) -> Option<Event> {
        let next = || self.kept.borrow_mut().pop_front();
        next().or_else(|| {
            let arrived = self.arrived(wait);
            self.kept.borrow_mut().extend(arrived);
            next()
        })
    }

    /// Waits for an event that `wanted` takes, and keeps the others for later.
    pub(super) fn wait_for<T>(&self, mut wanted: impl FnMut(Event) -> Result<T, Box<Event>>) -> T {
        // An abort may have been heard already.
        let mut next: Vec<Event> = self.kept.take().into();
        loop {
            let mut events = next.into_iter();
            while let Some(event) = events.next() {
                match wanted(event) {
                    Ok(found) => {
                        self.kept.borrow_mut().extend(events);
                        return found;
                    }
                    Err(event) => self.keep(*event),
                }
            }
            next = self.arrived(None);
        }
    }

    /// Keeps an event until those before it were taken.
    pub(super) fn keep(&self, event: Event) {
        self.kept.borrow_mut().push_back(event);
    }

    /// Takes the aborts that have arrived, out of turn.
    pub(super) fn aborts(&self) -> Vec<u64> {
        let arrived = self.arrived(Some(Duration::ZERO));
        let mut kept = self.kept.borrow_mut();
        kept.extend(arrived);
        let mut aborts = Vec::new();
        kept.retain(|event| match event.aborts() {
            Some(id) => {
                aborts.push(id);
                false
            }
            None => true,
        });
        aborts
    }

    /// Takes the questions whether anybody still listens that have been heard, out of turn.
    pub(super) fn pings(&self) -> Vec<u64> {
        let mut pings = Vec::new();
        self.kept.borrow_mut().retain(|event| match event {
            Event::Incoming(Ok(Incoming::Order(Order::Ping { id }))) => {
                pings.push(*id);
                false
            }
            Event::Incoming(_) | Event::Closed | Event::Child(_) => true,
        });
        pings
    }

    /// Hears what haft has said, if that was not done just now. Called by the engine while it runs code.
    pub(super) fn listen(&self) {
        if self.listened.get().elapsed() >= LISTENING {
            let arrived = self.arrived(Some(Duration::ZERO));
            self.kept.borrow_mut().extend(arrived);
        }
    }

    /// What has arrived since the last question. Waits for it, no longer than `wait`.
    fn arrived(&self, wait: Option<Duration>) -> Vec<Event> {
        let until = wait.map(|wait| Instant::now() + wait);
        let mut events = Vec::new();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let (is_said, is_rung) = self.waited(left);
            if is_said {
                self.hear(&mut events);
            }
            if is_rung {
                // What is posted from here on rings again.
                let _one = (&self.rung).read(&mut [0]);
                self.post.bell.is_rung.swap(false, Ordering::AcqRel);
                events.extend(self.posted.try_iter());
            }
            self.listened.set(Instant::now());
            if !events.is_empty() || left.is_some_and(|left| left.is_zero()) {
                return events;
            }
        }
    }

    /// Waits until haft says something, or the bell rings.
    fn waited(&self, wait: Option<Duration>) -> (bool, bool) {
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        let mut sources = [PollFd::new(&self.rung, PollFlags::IN), PollFd::new(&self.input, PollFlags::IN)];
        // An end that was heard is heard again and again.
        let sources = if self.lines.borrow().is_over { &mut sources[..1] } else { &mut sources[..] };
        // Interrupted by a signal, nothing has happened yet.
        let _interrupted = poll(sources, wait.as_ref());
        let happened = |at: usize| sources.get(at).is_some_and(|source| !source.revents().is_empty());
        (happened(1), happened(0))
    }

    /// Reads what haft has said so far.
    fn hear(&self, events: &mut Vec<Event>) {
        for line in self.lines.borrow_mut().read(self.input) {
            let event = match line {
                Line::Said(incoming) => {
                    if let Ok(Incoming::Order(Order::Abort { id, .. })) = incoming {
                        self.watch.wants_to_stop(id);
                    }
                    Event::Incoming(incoming)
                }
                Line::End => {
                    self.watch.closed();
                    Event::Closed
                }
            };
            events.push(event);
        }
    }
}

/// What is read, cut into lines.
#[derive(Default)]
struct Lines {
    unfinished: Vec<u8>,
    is_over: bool,
}

enum Line {
    Said(Result<Incoming, (Option<u64>, String)>),
    End,
}

impl Lines {
    /// Reads once, which does not wait where something is there to be read.
    fn read(&mut self, input: BorrowedFd<'_>) -> Vec<Line> {
        let searched = self.unfinished.len();
        self.unfinished.reserve(READ_BYTES);
        let read = rustix::io::read(input, rustix::buffer::spare_capacity(&mut self.unfinished));
        let is_end = match read {
            Ok(read) => read == 0,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => false,
            Err(_) => true,
        };
        let mut lines = Vec::new();
        let mut begin = 0;
        let newlines = self.unfinished[searched..].iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        for end in newlines.map(|(at, _)| searched + at) {
            lines.extend(line(&self.unfinished[begin..end]));
            begin = end + 1;
        }
        self.unfinished.drain(..begin);
        if self.unfinished.is_empty() {
            // What one long line took is not held until the next.
            self.unfinished.shrink_to(READ_BYTES);
        }
        if is_end || self.unfinished.len() > LINE_BYTES_MAX {
            lines.extend(line(&self.unfinished));
            lines.push(Line::End);
            self.is_over = true;
        }
        lines
    }
}

fn line(bytes: &[u8]) -> Option<Line> {
    let text = String::from_utf8_lossy(bytes);
    (!text.trim().is_empty()).then(|| Line::Said(Incoming::parse(&text)))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut lines = Lines::default();
        let mut said = |bytes: &[u8]| {
            writer.write_all(bytes).unwrap();
            lines.read(reader.as_fd()).len()
        };
        assert_eq!(said(b"{\"do\":\"ping\",\"id\":1}\n{\"do\":"), 1);
        assert_eq!(said(b"\"ping\",\"id\""), 0);
        assert_eq!(said(b":2}\n\n  \n{\"do\":\"ping\",\"id\":3}\n"), 2);
        writer.write_all(b"the rest").unwrap();
        drop(writer);
        assert!(lines.read(reader.as_fd()).is_empty());
        let last = lines.read(reader.as_fd());
        assert!(matches!(last[..], [Line::Said(Err(_)), Line::End]) && lines.is_over);
    }

    #[test]
    fn what_other_threads_post_wakes_whoever_waits() {
        let (reader, writer) = std::io::pipe().unwrap();
        let reader: &'static PipeReader = Box::leak(Box::new(reader));
        let input = reader.as_fd();
        let inbox = Inbox::new(input, Rc::default()).unwrap();
        assert!(inbox.next(Some(Duration::from_millis(1))).is_none());
        for _ in 0..3 {
            let post = inbox.post();
            let posting =
                std::thread::spawn(move || (0..100).for_each(|_| assert!(post.send(Event::Closed).is_ok())));
            (0..100).for_each(|_| assert!(matches!(inbox.next(None), Some(Event::Closed))));
            posting.join().unwrap();
        }
        drop(writer);
        assert!(matches!(inbox.next(None), Some(Event::Closed)));
        assert!(inbox.next(Some(Duration::ZERO)).is_none(), "the end is heard once");
    }
}
