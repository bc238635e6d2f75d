//! Answers of the web that are still arriving, kept for the plugins that read them piece by piece.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft::ToolError;
use haft_tools::hosting::Arriving;

/// So many are kept; whoever leaves answers unread loses the oldest.
const STREAMS_MAX: usize = 64;

/// The answers that are arriving.
#[derive(Default)]
pub(super) struct Streams(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    next: u64,
    streams: VecDeque<Stream>,
}

struct Stream {
    id: u64,
    /// Whose it is: no other file reads it.
    file: PathBuf,
    arriving: Arc<tokio::sync::Mutex<Arriving>>,
}

impl Streams {
    /// Keeps one, and says by what it is known.
    pub(super) fn keep(&self, file: &Path, arriving: Arriving) -> u64 {
        let mut kept = self.kept();
        kept.next += 1;
        let (id, arriving) = (kept.next, Arc::new(tokio::sync::Mutex::new(arriving)));
        kept.streams.push_back(Stream { id, file: file.to_owned(), arriving });
        if kept.streams.len() > STREAMS_MAX {
            kept.streams.pop_front();
        }
        id
    }

    /// The next bytes of one; none at its end.
    pub(super) async fn next(&self, file: &Path, id: u64) -> Result<Option<Vec<u8>>, ToolError> {
        let found = self.kept().streams.iter().find(|one| one.is(file, id)).map(|one| one.arriving.clone());
        let found = found.ok_or_else(|| ToolError::failure("this answer is gone, or was read to its end"))?;
        let read = found.lock().await.chunk().await;
        if !matches!(read, Ok(Some(_))) {
            self.forget(file, id);
        }
        read
    }

    /// Ends one.
    pub(super) fn forget(&self, file: &Path, id: u64) {
        self.kept().streams.retain(|one| !one.is(file, id));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    fn is(&self, file: &Path, id: u64) -> bool {
        self.id == id && self.file == file
    }
}
