//! Small words for a person: durations, counts, what a call is about.

use std::time::Duration;

use serde_json::Value;

/// So much of what a call is about is ever looked at.
const ABOUT_CHARS_MAX: usize = 300;

/// How long something took, in as many digits as matter.
pub(crate) fn elapsed(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0..10 => format!("{}.{}s", seconds, took.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// A number with its thousands set apart.
pub(crate) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of something.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", number(count), if count == 1 { "" } else { "s" })
}

/// A size in bytes.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => counted(bytes, "byte"),
        1024..1_048_576 => format!("{} kB", bytes / 1024),
        _ => format!("{} MB", bytes / 1_048_576),
    }
}

/// What a call is about, before it has a title: the first text in its input, with paths as seen from the project.
pub(crate) fn about(input: &Value, directory: &str) -> String {
    let text = first_text(input);
    match text.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !rest.is_empty() => first_line(rest),
        _ => first_line(text),
    }
}

/// What a call is about, as it was written.
pub(crate) fn subject(input: &Value) -> String {
    first_line(first_text(input))
}

fn first_text(input: &Value) -> &str {
    let fields = input.as_object().into_iter().flat_map(|fields| fields.values());
    fields.into_iter().find_map(Value::as_str).unwrap_or_default()
}

/// The first line of a text, and a sign if there is more.
pub(crate) fn first_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let mut first: String = line.chars().take(ABOUT_CHARS_MAX).collect();
    if first.len() < text.len() {
        first.push_str(" …");
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn durations_and_numbers() {
        let shown = |ms| elapsed(Duration::from_millis(ms));
        assert_eq!([shown(0), shown(9_950), shown(59_999)], ["0.0s", "9.9s", "59s"]);
        assert_eq!([shown(61_000), shown(3_660_000)], ["1m01s", "1h01m"]);
        assert_eq!([number(7), number(1234), number(1_234_567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([counted(1, "line"), counted(2, "line")], ["1 line", "2 lines"]);
    }

    #[test]
    fn a_call_is_about_the_first_text_in_its_input() {
        assert_eq!(about(&json!({ "limit": 1, "filePath": "/ws/src/a.rs" }), "/ws"), "src/a.rs");
        assert_eq!(about(&json!({ "filePath": "/wsx/a.rs" }), "/ws"), "/wsx/a.rs");
        assert_eq!(about(&json!({ "command": "\nmake\nmake test" }), "/ws"), "make …");
        assert_eq!(about(&json!([1]), "/ws"), "");
        assert_eq!(subject(&json!({ "limit": 1, "filePath": "/ws/src/a.rs" })), "/ws/src/a.rs");
    }
}
