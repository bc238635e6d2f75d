//! Directories as they are read: sorted entries, a part at a time.

use haft::visible;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page::{PAGE_BYTES_MAX, Window};
use crate::workspace::{DirectoryEntry, Entries};

/// A part of a directory's entries.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listing {
    /// The names, safe to show, with a slash after those of directories.
    pub(super) entries: Vec<String>,
    /// The first of them, counted from one.
    pub(super) offset: u64,
    /// How many entries the directory has.
    pub(super) total_entries: u64,
    /// Whether there are entries after these.
    pub(super) truncated: bool,
    /// Whether the directory has even more entries than were counted.
    pub(super) uncounted: bool,
}

impl Listing {
    pub(super) fn of(found: &Entries, window: Window) -> Listing {
        let mut names: Vec<String> = found.entries.iter().map(shown).collect();
        // As people sort: without regard to case, unless nothing else differs.
        names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
        let total = names.len() as u64;
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(names.len());
        let start = at(window.offset - 1);
        let wanted = at(window.offset.saturating_sub(1).saturating_add(window.limit));
        // A page of names is no larger than a page of text.
        let mut room = PAGE_BYTES_MAX;
        let fits = |name: &&String| {
            let after = room.checked_sub(name.len() + 1);
            room = after.unwrap_or(0);
            after.is_some()
        };
        let entries: Vec<String> = names[start..wanted].iter().take_while(fits).cloned().collect();
        let end = start + entries.len();
        Listing {
            truncated: (end as u64) < total || found.has_more,
            entries,
            offset: window.offset,
            total_entries: total,
            uncounted: found.has_more,
        }
    }
}

/// A name must not be able to look like two entries.
fn shown(entry: &DirectoryEntry) -> String {
    let slash = if entry.is_directory { "/" } else { "" };
    format!("{}{slash}", visible(&entry.name.to_string_lossy()))
}
