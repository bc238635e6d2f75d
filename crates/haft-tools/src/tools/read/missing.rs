//! What to say when there is no such file: what is there instead.

use haft::visible;

use crate::workspace::Place;

const SUGGESTIONS_MAX: usize = 3;

/// The failure, with up to three neighbours whose names contain the wanted one or are contained in it.
pub(super) fn message(written: &str, place: &Place, neighbours: &[String]) -> String {
    let spelled = place.spelled();
    let mut message = format!("File not found: {}", visible(&place.spelled_text()));
    let wanted = spelled.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_like = |name: &&String| {
        let name = name.to_lowercase();
        name.contains(&wanted) || wanted.contains(&name)
    };
    let mut similar: Vec<&String> = neighbours.iter().filter(is_like).collect();
    similar.sort_unstable();
    if !similar.is_empty() {
        message.push_str("\n\nDid you mean one of these?");
        for name in similar.iter().take(SUGGESTIONS_MAX) {
            message.push('\n');
            message.push_str(&visible(&spelled.with_file_name(name).to_string_lossy()));
        }
    }
    if written.starts_with('~') || written.starts_with("file:") {
        message.push_str("\n\nA leading ~ or file:// is not expanded: give an absolute path or one relative to the working directory.");
    }
    message
}
