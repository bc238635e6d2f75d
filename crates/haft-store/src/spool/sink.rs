//! Where an output is laid down: without secrets, counted, and in time on the disk.

use std::fs::File;
use std::io::{self, Write};
use std::thread::{self, JoinHandle};

use crate::redact::Redactor;

/// So much is written before the disk is made to take it, so that little is left to wait for at the end.
const UNSYNCED_BYTES_MAX: u64 = 64 << 20;

/// A file that is being written, and what is known of what is in it.
pub(super) struct Sink {
    file: File,
    redactor: Redactor,
    /// The disk at work on what was written so far, in a thread of its own.
    syncing: Option<JoinHandle<io::Result<()>>>,
    unsynced: u64,
    pub(super) bytes: u64,
    newlines: u64,
    ends_with_newline: bool,
    pub(super) redactions: usize,
}

impl Sink {
    pub(super) fn new(file: File, redactor: Redactor) -> Sink {
        Sink {
            file,
            redactor,
            syncing: None,
            unsynced: 0,
            bytes: 0,
            newlines: 0,
            ends_with_newline: true,
            redactions: 0,
        }
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> u64 {
        self.newlines + u64::from(!self.ends_with_newline)
    }

    /// Writes a part, without its secrets.
    pub(super) fn lay(&mut self, part: &[u8]) -> io::Result<()> {
        // Looking for the places that are no text is slow, and most outputs have none.
        let chunks: Box<dyn Iterator<Item = (&str, &[u8])>> = match std::str::from_utf8(part) {
            Ok(text) => Box::new(std::iter::once((text, &[][..]))),
            Err(_) => Box::new(part.utf8_chunks().map(|chunk| (chunk.valid(), chunk.invalid()))),
        };
        for (valid, invalid) in chunks {
            let clean = self.redactor.redact_counting(valid);
            self.redactions += clean.places;
            for piece in [clean.text.as_bytes(), invalid].into_iter().filter(|piece| !piece.is_empty()) {
                self.file.write_all(piece)?;
                self.bytes += piece.len() as u64;
                self.unsynced += piece.len() as u64;
                self.newlines += memchr::memchr_iter(b'\n', piece).count() as u64;
                self.ends_with_newline = piece.ends_with(b"\n");
            }
        }
        self.sync_meanwhile()
    }

    /// Has the disk take what was written while more is heard. What it complains of is told here once, and never again.
    fn sync_meanwhile(&mut self) -> io::Result<()> {
        let is_idle = self.syncing.as_ref().is_none_or(JoinHandle::is_finished);
        if !is_idle || self.unsynced < UNSYNCED_BYTES_MAX {
            return Ok(());
        }
        let file = self.file.try_clone()?;
        self.synced()?;
        self.unsynced = 0;
        self.syncing =
            Some(thread::Builder::new().name("haft-sync".to_owned()).spawn(move || file.sync_data())?);
        Ok(())
    }

    /// Waits until the disk has done what it is at.
    fn synced(&mut self) -> io::Result<()> {
        let Some(syncing) = self.syncing.take() else { return Ok(()) };
        syncing.join().unwrap_or_else(|_| Err(io::Error::other("the disk was not waited for")))
    }

    /// Waits until all of it is on the disk, and hands out the file.
    pub(super) fn settle(&mut self) -> io::Result<&File> {
        self.synced()?;
        self.file.sync_all()?;
        Ok(&self.file)
    }
}
