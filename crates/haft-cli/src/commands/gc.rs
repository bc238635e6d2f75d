//! `haft gc`: what haft keeps, where and how large it is, and what of it may go.

mod taken;

use haft::visible;
use serde_json::{Value, json};

use crate::cli::{GcArgs, Globals};
use crate::commands::when::{now_ms, size};
use crate::exit::{Exit, Failure};
use crate::location::open_store;
use crate::setting::Setting;
use crate::terminal::Terminal;
use taken::Taken;

/// So many of the things that were taken away are named.
const TAKEN_NAMED_MAX: usize = 10;

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: &GcArgs) -> Result<Exit, Failure> {
    let GcArgs { yes, unreadable } = *args;
    let setting = Setting::load_anyway(globals, terminal)?;
    let store = open_store(&setting)?;
    let usage = store.usage()?;
    let data = store.data_dir().to_string_lossy().into_owned();
    // What nobody can read any longer; with `yes` it is gone when it is told.
    let given_up = match (unreadable, yes) {
        (false, _) => None,
        (true, true) => Some(store.forget_unreadable_images().await?),
        (true, false) => Some(store.unreadable_images()?),
    };
    let swept = match yes {
        true => Some((store.sweep(now_ms()).await?, store.compact().await?)),
        false => None,
    };
    store.close().await;
    let (days, now) = (setting.config.retention().days, now_ms());
    let mut taken = Taken::all(&setting.paths.custody());
    let old = taken.iter().filter(|taken| taken.is_older_than(days, now)).count();
    if yes {
        taken.retain(|taken| {
            let removed = taken.is_older_than(days, now).then(|| taken.remove());
            if let Some(Err(error)) = &removed {
                let (warning, path) = (terminal.err().yellow("warning:"), taken.path());
                let path = visible(&path.to_string_lossy());
                terminal.say(&format!("{warning} could not remove {path}: {error}"));
            }
            !matches!(removed, Some(Ok(())))
        });
    }
    for (path, why) in swept.iter().flat_map(|(swept, _)| &swept.stuck) {
        let path = visible(&path.to_string_lossy());
        terminal.say(&format!("{} could not remove {path}: {why}", terminal.err().yellow("warning:")));
    }
    if terminal.json {
        let set_aside: Vec<Value> = usage
            .set_aside
            .iter()
            .map(|(path, bytes)| json!({ "path": path.to_string_lossy(), "bytes": bytes }))
            .collect();
        terminal.document(&json!({
            "v": 1,
            "directory": data,
            "database": { "bytes": usage.database_bytes + usage.log_bytes, "media": usage.media_bytes },
            "outputs": { "count": usage.outputs, "bytes": usage.outputs_bytes },
            "journal": { "bytes": usage.journal_bytes },
            "sessions": usage.sessions,
            "calls": usage.calls,
            "events": usage.events,
            "grants": usage.grants,
            "leftovers": { "count": usage.leftovers, "bytes": usage.leftovers_bytes },
            "sweepable": { "count": usage.sweepable, "bytes": usage.sweepable_bytes },
            "setAside": set_aside,
            "takenAway": taken.iter().map(Taken::document).collect::<Vec<_>>(),
            "unreadable": given_up.map(|(count, bytes)| json!({ "count": count, "bytes": bytes, "removed": yes })),
            "removed": swept.map(|(swept, compacted)| {
                json!({
                    "count": swept.outputs.len(),
                    "bytes": swept.bytes,
                    "leftovers": swept.leftovers,
                    "leftoversBytes": swept.leftovers_bytes,
                    "images": swept.images,
                    "imagesBytes": swept.images_bytes,
                    "stuck": swept.stuck.len(),
                    "compacted": compacted,
                })
            }),
        }))?;
        return Ok(Exit::Ok);
    }
    terminal.line(&visible(&data))?;
    let database = size(usage.database_bytes + usage.log_bytes);
    terminal.line(&format!(
        "  record    {database:>10}   {} sessions, {} calls, {} events, {} saved consents",
        usage.sessions, usage.calls, usage.events, usage.grants
    ))?;
    terminal.line(&format!("  outputs   {:>10}   {} retained", size(usage.outputs_bytes), usage.outputs))?;
    let journal = size(usage.journal_bytes);
    terminal.line(&format!("  journal   {journal:>10}   what files held, to undo changes with"))?;
    if usage.leftovers > 0 {
        let (bytes, count) = (size(usage.leftovers_bytes), usage.leftovers);
        terminal.line(&format!("  leftovers {bytes:>10}   {count} unfinished, of processes that died"))?;
    }
    for (path, bytes) in &usage.set_aside {
        terminal.line(&format!("  set aside {:>10}   {}", size(*bytes), visible(&path.to_string_lossy())))?;
    }
    if !taken.is_empty() {
        let bytes = size(taken.iter().map(Taken::bytes).sum());
        let what = format!("{} that appeared at protected paths while commands ran", taken.len());
        terminal.line(&format!("  taken     {bytes:>10}   {what}"))?;
        for taken in taken.iter().rev().take(TAKEN_NAMED_MAX) {
            terminal.line(&format!(
                "            {:>10}   {}",
                size(taken.bytes()),
                visible(&taken.path().to_string_lossy())
            ))?;
        }
    }
    if let Some((count, bytes)) = given_up {
        let what = if yes {
            "given up; what they belong to cannot be undone"
        } else {
            "images that nobody can read"
        };
        terminal.line(&format!("  unreadable {:>9}   {count} {what}", size(bytes)))?;
    }
    match swept {
        Some((swept, compacted)) => {
            let bytes = size(swept.bytes + swept.leftovers_bytes);
            let removed =
                format!("removed {} outputs, {} leftovers, {bytes}", swept.outputs.len(), swept.leftovers);
            terminal.line(&format!("{removed}; the record gave back {}", size(compacted)))?;
        }
        None => {
            let taken = if old > 0 { format!(", {old} things taken away") } else { String::new() };
            let may_go = format!("{} outputs, {}{taken}", usage.sweepable, size(usage.sweepable_bytes));
            terminal
                .line(&format!("may go: {may_go} (older than the retention time, or beyond its size)"))?;
            match given_up {
                Some((1.., _)) => terminal.note("give them up with: haft gc --unreadable --yes"),
                Some((0, _)) | None if usage.sweepable + usage.leftovers + old as u64 > 0 => {
                    terminal.note("remove them with: haft gc --yes");
                }
                Some((0, _)) | None => {}
            }
        }
    }
    Ok(Exit::Ok)
}
