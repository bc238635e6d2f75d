//! Merges sources as opencode does: objects key by key, everything else by the later word.
//!
//! `instructions` and `plugin` are lists that grow instead. Rules are not merged here: their order is their meaning,
//! so they stay apart, source by source.

use std::collections::{HashMap, HashSet};

use super::node::{Entry, Kind, Node};

/// The lists at the top that grow.
const GROWING: &[&str] = &["instructions", "plugin"];

/// Puts a later source over what was merged so far.
pub(crate) fn merge(base: &mut Node, later: Node) {
    merge_by(base, later, GROWING);
}

fn merge_by(base: &mut Node, later: Node, growing: &[&str]) {
    match (&mut base.kind, later.kind) {
        (Kind::Object(entries), Kind::Object(later_entries)) => {
            let mut known: HashMap<String, usize> =
                entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
            for entry in later_entries {
                match known.get(&entry.key) {
                    Some(&at) => put_over(&mut entries[at], entry, growing),
                    None => {
                        known.insert(entry.key.clone(), entries.len());
                        entries.push(entry);
                    }
                }
            }
            base.span = later.span;
        }
        (_, kind) => *base = Node { kind, span: later.span },
    }
}

fn put_over(entry: &mut Entry, later: Entry, growing: &[&str]) {
    entry.at = later.at;
    match (&mut entry.value.kind, later.value) {
        (Kind::List(items), Node { kind: Kind::List(more), span })
            if growing.contains(&later.key.as_str()) =>
        {
            let said = |item: &Node| item.json().to_string();
            let mut known: HashSet<String> = items.iter().map(said).collect();
            items.extend(more.into_iter().filter(|item| known.insert(said(item))));
            entry.value.span = span;
        }
        (_, value) => merge_by(&mut entry.value, value, &[]),
    }
}
