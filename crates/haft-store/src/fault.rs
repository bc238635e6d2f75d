//! What can go wrong inside the store, before it is put into the words of a seam.

use std::io;
use std::sync::Arc;

use haft::StoreError;
use rusqlite::ErrorCode;

/// Why a piece of work did not happen.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The database said no.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    /// The transaction that the work was part of did not commit.
    #[error(transparent)]
    NotCommitted(Arc<rusqlite::Error>),
    /// A record cannot be read back, or something cannot be written down.
    #[error("{0} cannot be put into or taken out of its record")]
    Json(&'static str, #[source] serde_json::Error),
    /// A record says something that this version does not understand.
    #[error("the record of {0} makes no sense: {1}")]
    Nonsense(&'static str, String),
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The store said no.
    #[error("{0}")]
    Said(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl Fault {
    /// Whether the database file itself is damaged.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Fault::Sql(error) => is_damage(error),
            Fault::NotCommitted(error) => is_damage(error),
            Fault::Json(..) | Fault::Nonsense(..) | Fault::Io(_) | Fault::Said(_) | Fault::Closed => false,
        }
    }

    /// Puts the fault into a seam's words. `what` says what could not be done, and where.
    pub(crate) fn into_error(self, what: String) -> StoreError {
        match self {
            Fault::Said(why) => StoreError::bare(why),
            damage if damage.is_damage() => StoreError::new(
                format!("{what}: the database is damaged; start haft again to have it set aside"),
                damage,
            ),
            other => StoreError::new(what, other),
        }
    }
}

/// Whether an error means that a file is damaged, or no database at all.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
