//! Freshness: which content of a file a session has seen last, by digest.
//!
//! A file that a session saw and that has changed since is not overwritten; one it never saw may be.

use haft::{Memory, StoreError, ToolContext, ToolError, Topic};
use serde_json::Value;

use crate::workspace::{Digest, Place};

const KIND: &str = "seen";

/// Remembers what the session now knows of a file.
pub(crate) async fn note(
    memory: &dyn Memory,
    context: &ToolContext,
    place: &Place,
    digest: &Digest,
) -> Result<(), StoreError> {
    let value = Value::from(digest.to_string());
    memory.remember(&context.session, &topic(place), &value).await.map(drop)
}

/// Fails if the file is not as the session saw it last or, where that is required, if it never saw it.
pub(crate) async fn check(
    memory: &dyn Memory,
    context: &ToolContext,
    place: &Place,
    digest: &str,
    require_read: bool,
) -> Result<(), ToolError> {
    match memory.recall(&context.session, &topic(place)).await? {
        Some(known) if known != digest => Err(ToolError::failure(format!(
            "{} has been modified since it was last read; read it again before writing",
            place.shown()
        ))),
        None if require_read => Err(ToolError::failure(format!(
            "{} has not been read in this session; read it before changing it",
            place.shown()
        ))),
        Some(_) | None => Ok(()),
    }
}

fn topic(place: &Place) -> Topic {
    Topic::new(KIND, place.real().to_string_lossy())
}
