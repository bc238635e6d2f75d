//! What `haft doctor` says of the journal: whether all that is kept to undo changes with can be given back.

use haft::CallId;
use haft_store::JournalHealth;
use serde_json::{Value, json};

use crate::commands::when::size;

/// So many calls are named; `--json` has them all.
const CALLS_NAMED_MAX: usize = 5;

/// What was found, in words.
pub(super) fn text(health: &JournalHealth) -> String {
    match health.is_whole() {
        true => format!("whole, {}", looked_at(health)),
        false => [troubles(health), calls(&health.calls), advice(health)].concat(),
    }
}

/// What was found, in numbers.
pub(super) fn facts(health: &JournalHealth) -> Value {
    json!({
        "images": health.images,
        "bytes": health.bytes,
        "read": { "images": health.read, "bytes": health.read_bytes },
        "damaged": health.damaged,
        "missing": health.missing,
        "keyLost": health.key_lost,
        "pathsLost": health.paths_lost,
        "unreadable": health.unreadable,
        "calls": health.calls.iter().map(CallId::as_str).collect::<Vec<_>>(),
    })
}

fn looked_at(health: &JournalHealth) -> String {
    let all = format!("{} of what files held in {} images", size(health.bytes), health.images);
    let read = size(health.read_bytes);
    match (health.read == health.images, health.is_whole()) {
        (true, _) => format!("{all}, all of it read"),
        (false, true) => format!("{all}; the newest {read} were read, of the others only the sizes"),
        (false, false) => format!("{all}, {read} of it read"),
    }
}

fn troubles(health: &JournalHealth) -> String {
    let kinds = [
        (health.damaged, "damaged"),
        (health.missing, "missing"),
        (health.key_lost, "sealed with a key that is gone"),
        (health.paths_lost, "under a path that is sealed with such a key"),
        (health.unreadable, "not readable"),
    ];
    let kinds = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    format!("what files held cannot be given back: {kinds} ({})", looked_at(health))
}

fn calls(calls: &[CallId]) -> String {
    let named: Vec<&str> = calls.iter().take(CALLS_NAMED_MAX).map(CallId::as_str).collect();
    let more = match calls.len().saturating_sub(CALLS_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match calls {
        [] => "; every call can be undone all the same".to_owned(),
        [_] => format!("; {} can no longer be undone", named.join("")),
        _ => format!("; these calls can no longer be undone: {}{more}", named.join(", ")),
    }
}

fn advice(health: &JournalHealth) -> String {
    let mut advice = String::new();
    if let Some(why) = &health.first_unreadable {
        advice += &format!("; {why}");
    }
    if health.needs_key() {
        advice += &format!("; {}", health.put_back());
    }
    if health.troubled() + health.paths_lost > health.unreadable {
        advice += "; `haft gc --unreadable` shows what may be given up, and with --yes gives it up";
    }
    advice
}
