//! Hearing a server until its end: its messages, its complaints, and why it is gone.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::framing::Decoder;
use super::shared::{GRACE, Shared};

/// So much of what a server complains of is remembered: the end.
const WORDS_BYTES_MAX: usize = 4 << 10;
/// It is looked at the clock at least so often.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A server that closes its output is usually about to end; how it does is worth knowing.
const ENDING: Duration = Duration::from_millis(300);

/// Hears one server.
pub(super) struct Listener {
    shared: Arc<Shared>,
    child: Child,
    output: PipeReader,
    words: PipeReader,
    decoder: Decoder,
    said: Vec<u8>,
}

impl Listener {
    pub(super) fn new(
        shared: Arc<Shared>,
        child: Child,
        output: PipeReader,
        words: PipeReader,
    ) -> io::Result<Listener> {
        without_blocking(&output)?;
        without_blocking(&words)?;
        Ok(Listener { shared, child, output, words, decoder: Decoder::default(), said: Vec::new() })
    }

    /// Listens until the server is gone, and says so.
    pub(super) fn listen(mut self) {
        let nonsense = self.hear_out();
        let status = self.end();
        // What it said last may still be on its way.
        let _rest = self.hear_words();
        let why = self.why(nonsense, status);
        self.shared.part(why);
    }

    /// Hears messages until there are no more; returns what was wrong with the last.
    fn hear_out(&mut self) -> Option<String> {
        let mut is_heard = true;
        loop {
            let patience = self.shared.patience().min(LOOK_EVERY);
            let (can_read, can_hear) = match self.wait(patience, is_heard) {
                Ok(ready) => ready,
                Err(error) => return Some(error.to_string()),
            };
            if can_hear {
                is_heard = self.hear_words();
            }
            if can_read {
                match self.hear_messages() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(nonsense) => return Some(nonsense),
                }
            }
            if self.shared.patience().is_zero() {
                self.shared.grow_impatient();
            }
        }
    }

    /// Waits until there is something to read: of its messages, of its words.
    fn wait(&self, limit: Duration, is_heard: bool) -> io::Result<(bool, bool)> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let mut fds = [PollFd::new(&self.output, PollFlags::IN), PollFd::new(&self.words, PollFlags::IN)];
        let watched = if is_heard { &mut fds[..] } else { &mut fds[..1] };
        match poll(watched, Some(&limit)) {
            Ok(_) => {}
            Err(error) if error == rustix::io::Errno::INTR => return Ok((false, false)),
            Err(error) => return Err(error.into()),
        }
        Ok((!fds[0].revents().is_empty(), is_heard && !fds[1].revents().is_empty()))
    }

    /// Takes what has arrived; `false` when nothing more will.
    fn hear_messages(&mut self) -> Result<bool, String> {
        let mut buffer = [0; 64 << 10];
        match self.output.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(read) => self.decoder.push(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error.to_string()),
        }
        while let Some(message) = self.decoder.next().map_err(|nonsense| nonsense.to_string())? {
            self.shared.hear(&message);
        }
        Ok(true)
    }

    /// Takes what it complains of; `false` when it will say no more.
    fn hear_words(&mut self) -> bool {
        let mut buffer = [0; 8 << 10];
        loop {
            match self.words.read(&mut buffer) {
                Ok(0) => return false,
                Ok(read) => {
                    self.said.extend_from_slice(&buffer[..read]);
                    let surplus = self.said.len().saturating_sub(WORDS_BYTES_MAX);
                    self.said.drain(..surplus);
                }
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Waits for the end of the process, and brings it about.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.ended_within(ENDING)? {
            return Ok(status);
        }
        self.shared.kill();
        if let Some(status) = self.ended_within(GRACE)? {
            return Ok(status);
        }
        self.child.kill()?;
        self.child.wait()
    }

    fn ended_within(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + limit;
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn why(&self, nonsense: Option<String>, status: io::Result<ExitStatus>) -> String {
        let watch = self.shared.holds.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(never_ran)) = watch.map(haft_sandbox::Watch::finish) {
            return never_ran.to_string();
        }
        let complaint = self.shared.state().complaint.take();
        let how = complaint.or(nonsense).unwrap_or_else(|| match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        });
        let said = String::from_utf8_lossy(&self.said);
        // Stack traces follow what they are about.
        let telling = |line: &&str| !line.trim().is_empty() && !line.starts_with(char::is_whitespace);
        let line = said
            .lines()
            .find(|line| line.to_lowercase().contains("error"))
            .or_else(|| said.lines().rfind(telling));
        match line {
            Some(line) => {
                format!("{how}: {}", haft::visible(line.trim()).chars().take(300).collect::<String>())
            }
            None => how,
        }
    }
}

fn without_blocking(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}
