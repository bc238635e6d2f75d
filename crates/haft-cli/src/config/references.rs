//! Finds `{env:X}` and `{file:p}` in a text, in strings and between them but not in comments.

use std::ops::Range;

/// A reference to a text that stands elsewhere.
pub(super) struct Reference {
    /// Where it is written.
    pub(super) at: Range<usize>,
    /// What it refers to.
    pub(super) to: Target,
    /// Whether it stands outside of a string, where only a value can stand.
    pub(super) bare: bool,
}

/// What a reference refers to.
pub(super) enum Target {
    /// An environment variable.
    Variable(String),
    /// A file, whose path may hold variables.
    File(Vec<Part>),
}

/// A part of a path.
pub(super) enum Part {
    /// As written.
    Text(String),
    /// An environment variable.
    Variable(String),
}

/// The references in a text, outside of comments.
pub(super) fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut in_string = false;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let rest = &text.as_bytes()[at..];
        let step = match byte {
            b'{' => match reference(&text[at..]) {
                Some((length, to)) => {
                    found.push(Reference { at: at..at + length, to, bare: !in_string });
                    length
                }
                None => 1,
            },
            b'\\' if in_string => 2,
            b'"' => {
                in_string = !in_string;
                1
            }
            b'/' if !in_string && rest.starts_with(b"//") => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            b'/' if !in_string && rest.starts_with(b"/*") => {
                text[at + 2..].find("*/").map_or(rest.len(), |end| end + 4)
            }
            _ => 1,
        };
        at += step;
    }
    found
}

/// The reference that a text begins with, and its length.
fn reference(text: &str) -> Option<(usize, Target)> {
    if let Some((length, name)) = variable(text) {
        return Some((length, Target::Variable(name.to_owned())));
    }
    let mut at = "{file:".len();
    text.starts_with("{file:").then_some(())?;
    let mut parts = Vec::new();
    loop {
        let rest = &text[at..];
        if let Some((length, name)) = variable(rest) {
            parts.push(Part::Variable(name.to_owned()));
            at += length;
            continue;
        }
        let next = rest.chars().next().filter(|c| !matches!(c, '\n' | '"'))?;
        if next == '}' {
            return (!parts.is_empty()).then_some((at + 1, Target::File(parts)));
        }
        match parts.last_mut() {
            Some(Part::Text(part)) => part.push(next),
            Some(Part::Variable(_)) | None => parts.push(Part::Text(next.to_string())),
        }
        at += next.len_utf8();
    }
}

/// The `{env:X}` that a text begins with.
fn variable(text: &str) -> Option<(usize, &str)> {
    let rest = text.strip_prefix("{env:")?;
    let end = rest.find(['}', '\n', '"']).filter(|end| *end > 0 && rest[*end..].starts_with('}'))?;
    Some(("{env:".len() + end + 1, &rest[..end]))
}

/// A text as it is written within a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
