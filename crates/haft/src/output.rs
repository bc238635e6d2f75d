//! Retained outputs: the whole of what a tool produced, kept where a preview of it was shown.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::BoxFuture;
use crate::id::{OutputId, SessionId};
use crate::recorder::StoreError;
use crate::sync::{Mutex, lock};
use crate::tool::ToolContext;

/// The start of an output's address. What follows is its id.
pub const ADDRESS: &str = "haft://output/";

/// A retained whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its identity.
    pub id: OutputId,
    /// Its size.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
    /// The file that holds it, where outputs are local files.
    pub path: Option<PathBuf>,
}

impl Output {
    /// The address a model can read it by.
    pub fn address(&self) -> Address<'_> {
        Address(&self.id)
    }
}

/// An output's address, as text.
pub struct Address<'a>(&'a OutputId);

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ADDRESS}{}", self.0)
    }
}

/// Something that can be read from any place.
pub trait Readable: io::Read + io::Seek + Send {}
impl<T: io::Read + io::Seek + Send> Readable for T {}

/// An output that was opened for reading.
pub struct OpenOutput {
    /// What it is.
    pub output: Output,
    /// The session that made it.
    pub owner: SessionId,
    /// Whether the reading session belongs to the tree of sessions that made it.
    pub is_own: bool,
    /// Its bytes.
    pub reader: Box<dyn Readable>,
}

/// An output that is kept while it is being produced. Dropping it keeps nothing.
pub trait Spool: Send {
    /// Adds to it. This blocks.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Keeps all of it, durably.
    fn keep(self: Box<Self>) -> BoxFuture<'static, Result<Output, StoreError>>;
}

/// Keeps whole outputs.
pub trait OutputStore: Send + Sync {
    /// Begins to keep an output that is too large to be held in memory.
    fn spool(&self, maker: &ToolContext) -> Result<Box<dyn Spool>, StoreError>;

    /// Keeps a whole, durably. It is all there when this returns, or this fails.
    fn retain<'a>(
        &'a self,
        maker: &'a ToolContext,
        whole: &'a str,
    ) -> BoxFuture<'a, Result<Output, StoreError>>;

    /// Opens an output. `None` if there is none of that id, or no longer.
    fn open<'a>(
        &'a self,
        reader: &'a SessionId,
        id: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>>;
}

/// An output store that forgets when the process ends.
#[derive(Clone, Default)]
pub struct MemoryOutputs(Arc<Mutex<Vec<(Output, SessionId, String)>>>);

struct MemorySpool {
    outputs: MemoryOutputs,
    maker: ToolContext,
    bytes: Vec<u8>,
}

impl Spool for MemorySpool {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn keep(self: Box<Self>) -> BoxFuture<'static, Result<Output, StoreError>> {
        Box::pin(async move {
            let whole = String::from_utf8_lossy(&self.bytes);
            self.outputs.retain(&self.maker, &whole).await
        })
    }
}

impl MemoryOutputs {
    /// The wholes that were retained, in order.
    pub fn wholes(&self) -> Vec<String> {
        lock(&self.0).iter().map(|(_, _, whole)| whole.clone()).collect()
    }
}

impl OutputStore for MemoryOutputs {
    fn spool(&self, maker: &ToolContext) -> Result<Box<dyn Spool>, StoreError> {
        Ok(Box::new(MemorySpool { outputs: self.clone(), maker: maker.clone(), bytes: Vec::new() }))
    }

    fn retain<'a>(
        &'a self,
        maker: &'a ToolContext,
        whole: &'a str,
    ) -> BoxFuture<'a, Result<Output, StoreError>> {
        let output = Output {
            id: OutputId::mint(),
            bytes: whole.len() as u64,
            lines: crate::preview::count_lines(whole),
            path: None,
        };
        lock(&self.0).push((output.clone(), maker.session.clone(), whole.to_owned()));
        Box::pin(std::future::ready(Ok(output)))
    }

    fn open<'a>(
        &'a self,
        reader: &'a SessionId,
        id: &'a OutputId,
    ) -> BoxFuture<'a, Result<Option<OpenOutput>, StoreError>> {
        let kept = lock(&self.0);
        let found =
            kept.iter().find(|(output, _, _)| output.id == *id).map(|(output, owner, whole)| OpenOutput {
                output: output.clone(),
                owner: owner.clone(),
                is_own: owner == reader,
                reader: Box::new(io::Cursor::new(whole.clone().into_bytes())),
            });
        Box::pin(std::future::ready(Ok(found)))
    }
}
