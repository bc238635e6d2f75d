//! The JavaScript that is built into the binary, by name: `web/url` is `js/web/url.js`.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Finds the text of one of our files. A file that is no `.js` keeps its extension in its name.
pub fn file(name: &str) -> Option<&'static str> {
    FILES.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| FILES[at].1)
}

/// Lists the names of our files.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}
