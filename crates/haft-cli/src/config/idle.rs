//! Formatters and language servers that nothing comes of: neither built in, nor with a command and files of their own.
//!
//! They are looked for when everything is joined, because one file may name what another gives a command.

use haft_tools::{built_in_formatters, built_in_servers};

use super::error::Problem;
use super::node::{Entry, Node};
use super::warning::Warnings;

/// What an entry that is not built in has to say.
const NEEDED: [&str; 2] = ["command", "extensions"];

/// Warns of entries that have no effect.
pub(super) fn warn(merged: &Node, warnings: &mut Warnings) {
    let tables = [
        ("formatter", "formatter", built_in_formatters().collect::<Vec<_>>()),
        ("lsp", "language server", built_in_servers().collect()),
    ];
    for (key, kind, built_in) in tables {
        let entries = merged.get(key).map(Node::entries).unwrap_or_default();
        for Entry { key, at, value } in entries.iter().filter(|entry| !built_in.contains(&&*entry.key)) {
            let is_disabled = value.get("disabled").and_then(Node::as_bool) == Some(true);
            // Whoever switches off what has a command knows what it is.
            let is_known = is_disabled && value.get("command").is_some();
            let missing = NEEDED.into_iter().find(|needed| value.get(needed).is_none());
            if let Some(missing) = missing.filter(|_| !is_known) {
                warnings.add(at, || Problem::IdleProgram {
                    name: at.shown(),
                    kind,
                    missing,
                    nearest: haft::nearest(key, built_in.iter().copied()).map(str::to_owned),
                });
            }
        }
    }
}
