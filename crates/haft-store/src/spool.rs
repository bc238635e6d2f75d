//! Outputs that are kept while they are produced: bounded memory, whatever their size, and no secrets.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use haft::{BoxFuture, Output, OutputId, Spool, StoreError, ToolContext};
use memchr::memmem;

use crate::background::off_thread;
use crate::fault::Fault;
use crate::files;
use crate::leftovers;
use crate::outputs::{self, path_of};
use crate::redact::Redactor;
use crate::store::Store;
use crate::writer::Durability;

/// So much is held back before it is gone over and written.
const PENDING_BYTES: usize = 256 << 10;
/// So much of it stays behind: a secret that begins there may go on.
const HELD_BACK_BYTES: usize = 16 << 10;
/// So much is written before the disk is made to take it, so that little is left to wait for at the end.
const UNSYNCED_BYTES_MAX: u64 = 64 << 20;
/// A key that is written over several lines is not longer than this.
const KEY_BYTES_MAX: usize = 64 << 10;

pub(crate) struct FileSpool {
    store: Store,
    maker: ToolContext,
    id: OutputId,
    redactor: Redactor,
    unfinished: PathBuf,
    file: Option<File>,
    /// The disk at work on what was written so far, in a thread of its own.
    syncing: Option<JoinHandle<io::Result<()>>>,
    unsynced: u64,
    pending: Vec<u8>,
    bytes: u64,
    newlines: u64,
    ends_with_newline: bool,
    redactions: usize,
}

impl FileSpool {
    pub(crate) fn begin(store: &Store, maker: &ToolContext) -> Result<FileSpool, StoreError> {
        let id = OutputId::mint();
        let unfinished = leftovers::unfinished(&store.0.places.outputs, store.0.process.id(), &id);
        let file = files::private_file(&unfinished).map_err(|error| failed(&unfinished, error))?;
        Ok(FileSpool {
            store: store.clone(),
            maker: maker.clone(),
            id,
            redactor: store.0.redactor.clone(),
            unfinished,
            file: Some(file),
            syncing: None,
            unsynced: 0,
            pending: Vec::with_capacity(PENDING_BYTES),
            bytes: 0,
            newlines: 0,
            ends_with_newline: true,
            redactions: 0,
        })
    }

    /// Writes the first so many pending bytes, without their secrets.
    fn flush(&mut self, length: usize) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Err(io::Error::other("the output was closed")) };
        let part = &self.pending[..length];
        // Looking for the places that are no text is slow, and most outputs have none.
        let chunks: Box<dyn Iterator<Item = (&str, &[u8])>> = match std::str::from_utf8(part) {
            Ok(text) => Box::new(std::iter::once((text, &[][..]))),
            Err(_) => Box::new(part.utf8_chunks().map(|chunk| (chunk.valid(), chunk.invalid()))),
        };
        for (valid, invalid) in chunks {
            let clean = self.redactor.redact_counting(valid);
            self.redactions += clean.places;
            for piece in [clean.text.as_bytes(), invalid].into_iter().filter(|piece| !piece.is_empty()) {
                file.write_all(piece)?;
                self.bytes += piece.len() as u64;
                self.unsynced += piece.len() as u64;
                self.newlines += memchr::memchr_iter(b'\n', piece).count() as u64;
                self.ends_with_newline = piece.ends_with(b"\n");
            }
        }
        self.pending.drain(..length);
        self.sync_meanwhile()
    }

    /// Has the disk take what was written while more is heard. What it complains of is told here once, and never again.
    fn sync_meanwhile(&mut self) -> io::Result<()> {
        let is_idle = self.syncing.as_ref().is_none_or(JoinHandle::is_finished);
        let Some(file) = self.file.as_ref().filter(|_| is_idle && self.unsynced >= UNSYNCED_BYTES_MAX) else {
            return Ok(());
        };
        let file = file.try_clone()?;
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

    /// How much of what is pending can be gone over: whole lines, and no key that has not ended.
    fn settled(&self) -> usize {
        let limit = self.pending.len().saturating_sub(HELD_BACK_BYTES);
        let newline = memchr::memrchr(b'\n', &self.pending[..limit]);
        let cut = newline.map_or(limit, |at| at + 1);
        // Forwards, though it is the last that counts: backwards takes ten times as long.
        let from = cut.saturating_sub(KEY_BYTES_MAX);
        let begin = memmem::find_iter(&self.pending[from..cut], b"-----BEGIN").last().map(|at| from + at);
        let has_ended = |at: usize| memmem::find(&self.pending[at..cut], b"-----END").is_some();
        begin.filter(|at| !has_ended(*at)).unwrap_or(cut)
    }
}

impl Spool for FileSpool {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PENDING_BYTES {
            let length = self.settled();
            self.flush(length).map_err(|error| failed(&self.unfinished, error))?;
        }
        Ok(())
    }

    fn keep(mut self: Box<Self>) -> BoxFuture<'static, Result<Output, StoreError>> {
        Box::pin(async move {
            let store = self.store.clone();
            let maker = self.maker.clone();
            let kept = off_thread(move || Ok(self.finish()?)).await;
            let (output, redactions) = kept.map_err(|fault: Fault| {
                let outputs = store.0.places.outputs.display();
                fault.into_error(format!("could not retain the output in {outputs}"))
            })?;
            let row = output.clone();
            store
                .write("retain an output", Durability::Brief, move |connection| {
                    outputs::insert(connection, &maker, &row, redactions)
                })
                .await?;
            Ok(output)
        })
    }
}

impl FileSpool {
    fn finish(&mut self) -> io::Result<(Output, usize)> {
        self.flush(self.pending.len())?;
        self.synced()?;
        if let Some(file) = self.file.take() {
            file.sync_all()?;
            // Under its own name it is taken for a leftover if it is old, until its row is there.
            file.set_modified(SystemTime::now())?;
        }
        let outputs = &self.store.0.places.outputs;
        let path = path_of(outputs, self.id.as_str())
            .ok_or_else(|| io::Error::other("a minted id has another shape"))?;
        let shelf = path.parent().unwrap_or(outputs);
        if !shelf.exists() {
            files::private_dir(shelf)?;
            files::sync_dir(outputs)?;
        }
        fs::rename(&self.unfinished, &path)?;
        files::sync_dir(shelf)?;
        let lines = self.newlines + u64::from(!self.ends_with_newline);
        let output = Output { id: self.id.clone(), bytes: self.bytes, lines, path: Some(path) };
        Ok((output, self.redactions))
    }
}

impl Drop for FileSpool {
    fn drop(&mut self) {
        // It has its name already, or nobody wants it. What stays is swept later.
        let _stays = files::remove(&self.unfinished);
    }
}

fn failed(path: &std::path::Path, error: io::Error) -> StoreError {
    StoreError::new(format!("could not write the output to {}", path.display()), error)
}
