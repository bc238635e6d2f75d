//! Outputs that are kept while they are produced: bounded memory, whatever their size, and no secrets.

mod apart;
mod sink;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use haft::{BoxFuture, Output, OutputId, Spool, StoreError, ToolContext};
use memchr::memmem;

use crate::background::off_thread;
use crate::fault::Fault;
use crate::files;
use crate::leftovers;
use crate::outputs::{self, path_of};
use crate::store::Store;
use crate::writer::Durability;
use apart::Apart;
use sink::Sink;

/// So much is held back before it is gone over and written.
const PENDING_BYTES: usize = 256 << 10;
/// So much of it stays behind: a secret that begins there may go on.
const HELD_BACK_BYTES: usize = 16 << 10;
/// Whoever prints more than this is heard on one thread, and what they print is laid down on another.
const FLOOD_BYTES: u64 = 4 << 20;
/// A key that is written over several lines is not longer than this.
const KEY_BYTES_MAX: usize = 64 << 10;

pub(crate) struct FileSpool {
    store: Store,
    maker: ToolContext,
    id: OutputId,
    unfinished: PathBuf,
    place: Place,
    pending: Vec<u8>,
    /// Room for what is pending next, which was used before.
    spare: Vec<u8>,
    /// How much of it is laid down, or on its way.
    printed: u64,
}

/// Where it is laid down.
enum Place {
    /// On the thread of whoever writes, as long as it is little.
    Here(Sink),
    Apart(Apart),
    /// It is finished, or something went wrong.
    Closed,
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
            place: Place::Here(Sink::new(file, store.0.redactor.clone())),
            unfinished,
            pending: Vec::with_capacity(PENDING_BYTES),
            spare: Vec::new(),
            printed: 0,
        })
    }

    /// Lays the first so many pending bytes down.
    fn flush(&mut self, length: usize) -> io::Result<()> {
        let mut part = std::mem::replace(&mut self.pending, std::mem::take(&mut self.spare));
        self.pending.extend_from_slice(&part[length..]);
        part.truncate(length);
        self.printed += length as u64;
        self.place = match std::mem::replace(&mut self.place, Place::Closed) {
            Place::Here(mut sink) => {
                sink.lay(&part)?;
                part.clear();
                self.spare = part;
                match self.printed < FLOOD_BYTES {
                    true => Place::Here(sink),
                    false => Place::Apart(Apart::begin(sink)?),
                }
            }
            Place::Apart(mut apart) => {
                self.spare = apart.spare();
                Place::Apart(apart.lay(part)?)
            }
            Place::Closed => return Err(closed()),
        };
        Ok(())
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
        let mut sink = match std::mem::replace(&mut self.place, Place::Closed) {
            Place::Here(sink) => sink,
            Place::Apart(apart) => apart.end()?,
            Place::Closed => return Err(closed()),
        };
        // Under its own name it is taken for a leftover if it is old, until its row is there.
        sink.settle()?.set_modified(SystemTime::now())?;
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
        let output = Output { id: self.id.clone(), bytes: sink.bytes, lines: sink.lines(), path: Some(path) };
        Ok((output, sink.redactions))
    }
}

impl Drop for FileSpool {
    fn drop(&mut self) {
        // It has its name already, or nobody wants it. What stays is swept later.
        let _stays = files::remove(&self.unfinished);
    }
}

fn closed() -> io::Error {
    io::Error::other("the output was closed")
}

fn failed(path: &std::path::Path, error: io::Error) -> StoreError {
    StoreError::new(format!("could not write the output to {}", path.display()), error)
}
