//! Searching code by words: passages of the workspace and of what it depends on, the best first.
//!
//! [`packages`] finds the sources, [`query`] the words in a file, [`language`] what is defined on a line, [`passage`] the
//! places of a file where words meet, and [`ranking`] the best of them all. Nothing is kept from one search to the next.

mod language;
mod packages;
mod passage;
mod query;
mod ranking;
mod search;
mod shown;

use crate::search_service::Service;

pub use packages::SourceStores;
pub(crate) use packages::Surroundings;
pub(crate) use query::Query;
pub(crate) use ranking::Found;
pub(crate) use search::{CodeSearch, Extent};
pub(crate) use shown::{Passage, show};

/// How code is searched.
#[derive(Debug, Clone, Default)]
pub struct CodeSearching {
    /// Whether only this machine is searched. The tool is shown to every model then.
    pub is_local: bool,
    /// Where package managers keep sources.
    pub stores: SourceStores,
    /// Who is asked instead, unless only this machine is searched.
    pub service: Option<Service>,
}

#[cfg(test)]
mod tests;
