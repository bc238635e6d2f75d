//! A sink in a thread of its own: what prints a lot is heard on one processor and laid down on another.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use super::sink::Sink;

/// So many parts wait to be laid down; whoever prints faster waits.
const PARTS_MAX: usize = 2;

/// Parts on their way to a sink. Dropping this leaves the rest undone.
pub(super) struct Apart {
    parts: SyncSender<Vec<u8>>,
    /// Parts that were laid down, to be filled again: room that is new has to be fetched from the system.
    used: Receiver<Vec<u8>>,
    thread: JoinHandle<(Sink, io::Result<()>)>,
}

impl Apart {
    /// Moves a sink there. It is lost where there is no thread to be had.
    pub(super) fn begin(mut sink: Sink) -> io::Result<Apart> {
        let (parts, coming) = sync_channel::<Vec<u8>>(PARTS_MAX);
        let (back, used) = channel::<Vec<u8>>();
        let lay = move || {
            let laid = coming.iter().try_for_each(|mut part| {
                sink.lay(&part)?;
                part.clear();
                // Nobody may want it any more.
                let _unused = back.send(part);
                Ok(())
            });
            (sink, laid)
        };
        let thread = thread::Builder::new().name("haft-spool".to_owned()).spawn(lay)?;
        Ok(Apart { parts, used, thread })
    }

    /// Room for another part.
    pub(super) fn spare(&mut self) -> Vec<u8> {
        self.used.try_recv().unwrap_or_default()
    }

    /// Hands a part over, or gives back why nothing more is taken.
    pub(super) fn lay(self, part: Vec<u8>) -> Result<Apart, io::Error> {
        match self.parts.send(part) {
            Ok(()) => Ok(self),
            // It ends before its time only because of an error.
            Err(_) => Err(self.end().err().unwrap_or_else(|| io::Error::other("the output was closed"))),
        }
    }

    /// Waits until everything is laid down.
    pub(super) fn end(self) -> io::Result<Sink> {
        drop(self.parts);
        match self.thread.join() {
            Ok((sink, laid)) => laid.map(|()| sink),
            Err(_) => Err(io::Error::other("the output could not be laid down")),
        }
    }
}
