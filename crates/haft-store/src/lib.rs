//! The store: calls and their ends, events, outputs, grants and memory, in SQLite and local files.
//!
//! A [`Store`] implements six seams of the core ([`haft::Recorder`], [`haft::Journal`],
//! [`haft::OutputStore`], [`haft::permission::GrantBook`], [`haft::Memory`], [`haft::Transcript`]), answers the questions of the command line, and lets several
//! processes share one data directory. A [`Queue`] is somebody to ask who may be in another process.
//!
//! What changes the world is on the disk before it begins and before its end is told; what only looks survives the
//! death of the process and costs no fsync. A call that ended never changes again, and none is ever run twice: calls
//! of processes that died are reconciled when a store is opened, from the [digests](digest) of the files they were
//! about to change.

mod store;
mod open;
mod mark;
mod migrate;
mod connection;
mod writer;
mod process;
mod recorder;
mod calls;
mod end;
mod reconcile;
mod events;
mod wire;
mod redact;
mod outputs;
mod spool;
mod journal;
mod paths;
mod images;
mod kept;
mod seal;
mod shelf;
mod sweep;
mod leftovers;
mod grants;
mod memory;
mod transcript;
mod queue;
mod query;
mod sessions;
mod export;
mod usage;
mod health;
mod canonical;
mod background;
mod files;
mod clock;
mod fault;

pub use events::StoredEvent;
pub use export::Whose;
pub use files::FILE;
pub use grants::SavedGrant;
pub use health::JournalHealth;
pub use open::{Notice, OpenError};
pub use query::{CallDetail, CallFilter, CallRow, Lookup, State};
pub use queue::{Answered, PendingInquiry, PendingRequest, Queue, written_question};
pub use redact::{REDACTED, Redactor, is_secret_variable, key_places};
pub use sessions::{NewSession, Removal, SessionRow};
pub use store::{JournalBounds, Retention, Store, StoreOptions};
pub use sweep::Swept;
pub use usage::Usage;

/// The digest by which contents are compared: BLAKE3, 64 lower-case hexadecimal digits.
///
/// Whoever announces a change in an [`haft::Intent`] must use the same: it is `blake3::hash(bytes).to_hex()` of all
/// the bytes of the file.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
