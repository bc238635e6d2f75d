//! Text and bytes: encodings as browsers know them, and base64 as Node reads it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::Encoding;
use rquickjs::prelude::Opt;
use rquickjs::{ArrayBuffer, Ctx, Object, Result};

use super::bytes::{Bytes, Nullable, buffer};
use super::errors;

pub(super) fn encode_utf8<'js>(ctx: Ctx<'js>, text: String) -> Result<ArrayBuffer<'js>> {
    buffer(&ctx, text.as_bytes())
}

pub(super) fn decode<'js>(
    ctx: Ctx<'js>,
    label: String,
    bytes: Bytes,
    options: Opt<Object<'js>>,
) -> Result<String> {
    let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
        let message = format!("The \"{label}\" encoding is not supported");
        return Err(errors::range_error(&ctx, "ERR_ENCODING_NOT_SUPPORTED", &message));
    };
    let flag = |name: &str| match &options.0 {
        Some(options) => options.get::<_, Option<bool>>(name).map(|flag| flag.unwrap_or(false)),
        None => Ok(false),
    };
    let (fatal, ignore_bom) = (flag("fatal")?, flag("ignoreBOM")?);
    let bytes = bytes.0;
    let (text, malformed) = if ignore_bom {
        encoding.decode_without_bom_handling(&bytes)
    } else {
        encoding.decode_with_bom_removal(&bytes)
    };
    if fatal && malformed {
        let message =
            format!("The encoded data was not valid for encoding {}", encoding.name().to_lowercase());
        return Err(errors::type_error(&ctx, "ERR_ENCODING_INVALID_ENCODED_DATA", &message));
    }
    Ok(text.into_owned())
}

pub(super) fn encoding_name(label: String) -> Nullable<String> {
    Nullable(Encoding::for_label(label.as_bytes()).map(|encoding| encoding.name().to_lowercase()))
}

pub(super) fn base64_encode(bytes: Bytes) -> String {
    STANDARD.encode(bytes.0)
}

/// Never fails: what is foreign is skipped, what follows `=` is ignored, as Node does.
pub(super) fn base64_decode<'js>(ctx: Ctx<'js>, text: String) -> Result<ArrayBuffer<'js>> {
    if let Ok(bytes) = STANDARD.decode(&text) {
        return buffer(&ctx, &bytes);
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text.bytes().take_while(|byte| *byte != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    buffer(&ctx, &bytes)
}
