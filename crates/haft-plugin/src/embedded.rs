//! The JavaScript that is built into the binary, by name: `web/url` is `js/web/url.js`. Most of it is the engine's
//! bytecode; what other runtimes have to read is text.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// One of our modules, as the engine's loader takes it: a table with one row.
pub(crate) fn module(specifier: &str) -> Option<&'static [(&'static str, &'static [u8])]> {
    MODULES.binary_search_by(|(known, _)| (*known).cmp(specifier)).ok().map(|at| &MODULES[at..=at])
}

/// Whether there is a module of ours by this name.
pub(crate) fn has(name: &str) -> bool {
    module(&format!("haft:{name}")).is_some()
}

/// The texts in a folder, by name.
pub(crate) fn texts_in(folder: &str) -> impl Iterator<Item = (String, serde_json::Value)> {
    let within = move |name: &str| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let found = TEXTS.iter().filter(move |(name, _)| within(name));
    found.map(|(name, text)| ((*name).to_owned(), (*text).into()))
}

/// The text of a file that hosts outside this engine need: `host/contract`, `host/node/serve.mjs`.
pub(crate) fn text(name: &str) -> Option<&'static str> {
    TEXTS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| TEXTS[at].1)
}
