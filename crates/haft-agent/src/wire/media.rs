//! Texts, images and documents, and what a format can take of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::{Content, Input};
use serde_json::{Map, Value, json};

/// Content in the terms that all formats share.
pub(crate) enum Piece<'a> {
    /// Text.
    Text(String),
    /// An image of a kind that models see.
    Image { mime: &'a str, base64: String },
    /// A PDF.
    Document { name: &'a str, base64: String },
}

/// Sorts content. What no model can read becomes a note, so that it is not silently missing.
pub(crate) fn piece(content: &Content) -> Piece<'_> {
    let Content::Media { mime, data, name } = content else {
        return Piece::Text(content.as_text().unwrap_or_default().to_owned());
    };
    let kind = mime.split(';').next().unwrap_or_default().trim();
    match kind {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            Piece::Image { mime: kind, base64: STANDARD.encode(data) }
        }
        "application/pdf" => {
            let name = name.as_deref().unwrap_or("document.pdf");
            Piece::Document { name, base64: STANDARD.encode(data) }
        }
        _ => match (kind.starts_with("text/") || kind == "application/json", std::str::from_utf8(data)) {
            (true, Ok(text)) => Piece::Text(text.to_owned()),
            _ => Piece::Text(left_out(kind, name.as_deref())),
        },
    }
}

/// What stands in the place of media that a format cannot carry.
pub(crate) fn left_out(mime: &str, name: Option<&str>) -> String {
    let name = name.map(|name| format!("{name}, ")).unwrap_or_default();
    format!("[attachment left out: {name}{mime} cannot be sent to this model]")
}

/// The texts of content, joined, and the rest.
pub(crate) fn split(content: &[Content]) -> (String, Vec<&Content>) {
    let texts: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    (texts.join("\n"), content.iter().filter(|content| content.as_text().is_none()).collect())
}

/// A `data:` address.
pub(crate) fn data_url(mime: &str, base64: &str) -> String {
    format!("data:{mime};base64,{base64}")
}

/// Arguments as an object, which is all that formats can carry back. What was none is kept under one key.
pub(crate) fn arguments(input: &Input) -> Map<String, Value> {
    match input {
        Input::Json(Value::Object(object)) => object.clone(),
        Input::Json(other) => Map::from_iter([("input".to_owned(), other.clone())]),
        Input::Malformed { text, .. } => Map::from_iter([("input".to_owned(), json!(text))]),
    }
}

/// A call's id with nothing but what every provider accepts in one. The same id always becomes the same.
pub(crate) fn call_id(id: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Wraps what a provider wants back, so that another format never gets it.
pub(crate) fn seal(format: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([("format".to_owned(), json!(format)), ("value".to_owned(), value)]))
}

/// What was sealed for this format.
pub(crate) fn unseal<'a>(format: &str, opaque: Option<&'a Value>) -> Option<&'a Value> {
    let opaque = opaque?;
    (opaque["format"] == format).then(|| &opaque["value"])
}

/// Puts the caller's own fields over a request.
pub(crate) fn put_over(request: &mut Value, extra: &Map<String, Value>) {
    for (key, value) in extra {
        request[key] = value.clone();
    }
}
