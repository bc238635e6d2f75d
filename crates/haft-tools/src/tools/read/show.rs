//! How what was read is shown: an envelope with the path, numbered lines, and how to go on.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use haft::{Content, Presented, visible};
use serde_json::{Value, json};

use super::instructions::Instructions;
use super::listing::Listing;
use super::page::{End, Page};
use super::{Body, Output, Scale};

const PREVIEW_LINES: usize = 20;

pub(super) fn present(output: &Output) -> Presented {
    let path = visible(&output.path);
    let shown = match &output.body {
        Body::File(page) => file(&path, page),
        Body::Directory(listing) => directory(&path, listing),
        Body::Media { mime, data, scale } => media(mime, data, scale.as_ref(), output),
    };
    let loaded: Vec<Value> = output.loaded.iter().map(|one| one.path.as_str().into()).collect();
    let mut shown = shown.titled(output.name.as_str()).with("loaded", loaded);
    if let Some(Content::Text(text)) = shown.content.first_mut() {
        output.loaded.iter().for_each(|one| text.push_str(&reminder(one)));
    }
    shown
}

fn file(path: &str, page: &Page) -> Presented {
    let count = (page.line_end + 1).saturating_sub(page.line_start);
    let lines = || page.text.split('\n').take(usize::try_from(count).unwrap_or(usize::MAX));
    let numbered: Vec<String> =
        lines().zip(page.line_start..).map(|(line, number)| format!("{number}: {line}")).collect();
    let text = format!(
        "<path>{path}</path>\n<type>file</type>\n<content>\n{}\n\n{}{}\n</content>",
        numbered.join("\n"),
        footer(page),
        encoding(page),
    );
    let truncated = page.end != End::Text;
    let display = json!({
        "type": "file", "path": path, "text": page.text, "lineStart": page.line_start, "lineEnd": page.line_end,
        "totalLines": page.total_lines, "truncated": truncated,
    });
    let preview: Vec<&str> = lines().take(PREVIEW_LINES).collect();
    let shown = Presented::text(text)
        .with("preview", preview.join("\n"))
        .with("truncated", truncated)
        .with("display", display);
    match &page.encoding {
        Some(encoding) => shown.with("encoding", encoding.as_str()),
        None => shown,
    }
}

/// What there is to know about how the text was decoded.
fn encoding(page: &Page) -> String {
    let decoded = page.encoding.as_ref().map(|name| format!("\n(Decoded from {name}.)"));
    let name = page.encoding.as_deref().unwrap_or("UTF-8");
    let lossy = page.lossy.then(|| format!("\n(Bytes that are not {name} are shown as \u{fffd}.)"));
    [decoded, lossy].into_iter().flatten().collect()
}

fn footer(page: &Page) -> String {
    let Page { line_start: first, line_end: last, total_lines: total, .. } = page;
    let next = last + 1;
    match page.end {
        // The limit was zero.
        End::Lines | End::Uncounted if last < first => {
            format!("(No line is shown, there are {total}. Use a limit above 0.)")
        }
        End::Text => format!("(End of file - total {total} lines)"),
        End::Lines => format!("(Showing lines {first}-{last} of {total}. Use offset={next} to continue.)"),
        End::Uncounted => {
            format!("(Showing lines {first}-{last} of more than {total}. Use offset={next} to continue.)")
        }
        End::Bytes => {
            format!("(Output capped at 50 KB. Showing lines {first}-{last}. Use offset={next} to continue.)")
        }
    }
}

fn directory(path: &str, listing: &Listing) -> Presented {
    let Listing { entries, offset, total_entries: total, truncated, uncounted } = listing;
    let total_text = if *uncounted { format!("more than {total}") } else { total.to_string() };
    let shown = entries.len();
    let footer = match truncated {
        true => format!(
            "(Showing {shown} of {total_text} entries. Use 'offset' parameter to read beyond entry {})",
            offset.saturating_add(shown as u64)
        ),
        false => format!("({total_text} entries)"),
    };
    let text = format!(
        "<path>{path}</path>\n<type>directory</type>\n<entries>\n{}\n\n{footer}\n</entries>",
        entries.join("\n")
    );
    let display = json!({
        "type": "directory", "path": path, "entries": entries, "offset": offset, "totalEntries": total,
        "truncated": truncated,
    });
    let preview = entries[..shown.min(PREVIEW_LINES)].join("\n");
    Presented::text(text).with("preview", preview).with("truncated", *truncated).with("display", display)
}

fn media(mime: &str, data: &str, scale: Option<&Scale>, output: &Output) -> Presented {
    let message =
        if mime.starts_with("image/") { "Image read successfully" } else { "PDF read successfully" };
    let note = scale.and_then(Scale::note);
    let name = output.path.rsplit('/').next().map(str::to_owned);
    // What `execute` encoded can be decoded; an output from elsewhere shows as empty rather than as a panic.
    let bytes = STANDARD.decode(data).unwrap_or_default();
    let text = format!("{message}{}", note.unwrap_or_default());
    let shown = Presented::text(text).attach(mime, bytes, name);
    let shown = shown.with("preview", message).with("truncated", false);
    match scale {
        Some(scale) => shown.with("image", json!(scale)),
        None => shown,
    }
}

fn reminder(instructions: &Instructions) -> String {
    let Instructions { path, content } = instructions;
    format!("\n\n<system-reminder>\nInstructions from: {}\n{content}\n</system-reminder>", visible(path))
}
