//! JSON between Rust and JavaScript, by the engine's own functions and not by what `JSON` is by now.

use rquickjs::{Ctx, IntoJs, Result, Value};

pub(in super::super) fn parse<'js>(ctx: &Ctx<'js>, value: &serde_json::Value) -> Result<Value<'js>> {
    match value {
        serde_json::Value::Null => Ok(Value::new_null(ctx.clone())),
        value => ctx.json_parse(value.to_string()),
    }
}

/// The JSON of a value, or nothing for what has none: `undefined`, functions. It has no line breaks.
pub(in super::super) fn stringify<'js>(ctx: &Ctx<'js>, value: impl IntoJs<'js>) -> Result<Option<String>> {
    let text = ctx.json_stringify(value)?.map(|text| text.to_string()).transpose()?;
    Ok(text.map(well_formed))
}

/// Halves of surrogate pairs are JSON to JavaScript and to nobody else.
fn well_formed(json: String) -> String {
    if !json.contains("\\ud") {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        let length = if escape.as_bytes().get(1) == Some(&b'u') { 6 } else { 2 };
        let (own, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        // The engine writes pairs as characters: an escape in this range stands alone.
        let is_half = own.starts_with("\\ud") && own.as_bytes().get(3).is_some_and(|digit| *digit >= b'8');
        out.push_str(if is_half { "\\ufffd" } else { own });
        rest = after;
    }
    out.push_str(rest);
    out
}
