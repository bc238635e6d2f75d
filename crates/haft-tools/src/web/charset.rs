//! Which encoding an answer is in: by its first bytes, its header, what the page says of itself, or a guess.

use std::borrow::Cow;

use encoding_rs::Encoding;

use crate::encoding::{Extent, recognize};

/// So far into a page is looked for what it says of itself.
const PROLOGUE_BYTES: usize = 4096;

/// What an answer says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentType {
    /// The media type, in lower case and without parameters; empty if none was named.
    pub(crate) mime: String,
    charset: Option<String>,
}

impl ContentType {
    pub(crate) fn parse(header: Option<&str>) -> ContentType {
        let mut parts = header.unwrap_or_default().split(';').map(str::trim);
        let mime = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset = parts.filter_map(|part| part.split_once('=')).find_map(|(name, value)| {
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        ContentType { mime, charset }
    }

    pub(crate) fn is_html(&self) -> bool {
        matches!(self.mime.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// Decodes a text; what is no character is replaced. A byte order mark is no part of it.
pub(crate) fn decode<'b>(bytes: &'b [u8], kind: &ContentType) -> Cow<'b, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    let named = |label: &str| Encoding::for_label(label.as_bytes());
    let said = kind.charset.as_deref().and_then(named);
    let by_itself = || said_by_itself(bytes, kind).and_then(|label| named(&label)).map(as_readable);
    match said.or_else(by_itself) {
        Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
        None => recognize(bytes, Extent::Whole).show(bytes).0,
    }
}

/// A page that could be read far enough to say that it is UTF-16 is not.
fn as_readable(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE {
        encoding_rs::UTF_8
    } else {
        encoding
    }
}

/// The label in `<meta charset=…>`, `<meta … content="…; charset=…">` or `<?xml … encoding=…?>`.
fn said_by_itself(bytes: &[u8], kind: &ContentType) -> Option<String> {
    let is_xml = kind.mime.ends_with("xml");
    if !kind.is_html() && !is_xml {
        return None;
    }
    let prologue = bytes[..bytes.len().min(PROLOGUE_BYTES)].to_ascii_lowercase();
    let prologue = String::from_utf8_lossy(&prologue);
    if is_xml && prologue.trim_start().starts_with("<?xml") {
        let (declaration, _) = prologue.split_once("?>")?;
        return label_after(declaration, "encoding");
    }
    let metas = prologue.split("<meta").skip(1);
    metas.filter_map(|rest| label_after(rest.split('>').next()?, "charset")).next()
}

fn label_after(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let label: String =
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_.:".contains(*c)).collect();
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::{ContentType, decode};

    #[test]
    fn an_encoding_is_found_in_the_order_of_browsers() {
        let rows: [(&str, &[u8], &str); 14] = [
            ("text/plain; charset=utf-8", "é".as_bytes(), "é"),
            ("text/plain; charset=iso-8859-1", b"caf\xe9 \x80", "café €"),
            ("text/plain; Charset=\"Shift_JIS\"", b"\x93\xfa\x96\x7b", "日本"),
            ("text/plain; charset=utf-16le", b"h\0i\0", "hi"),
            // A mark at the beginning is stronger than the header.
            ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbf\xc3\xa9", "é"),
            ("text/html; charset=utf-8", b"\xff\xfeh\0i\0", "hi"),
            ("text/html", b"<meta charset=windows-1251>\xcf\xf0\xe8", "<meta charset=windows-1251>При"),
            (
                "text/html",
                b"<META http-equiv=content-type content='text/html; charset=koi8-r'>\xf0",
                "<META http-equiv=content-type content='text/html; charset=koi8-r'>П",
            ),
            ("text/html", b"<meta charset=utf-16>caf\xc3\xa9", "<meta charset=utf-16>café"),
            (
                "application/xml",
                b"<?xml version='1.0' encoding='latin1'?>\xe9",
                "<?xml version='1.0' encoding='latin1'?>é",
            ),
            // Plain text says nothing of itself.
            ("text/plain", b"<meta charset=windows-1251>\xc3\xa9", "<meta charset=windows-1251>é"),
            ("text/plain; charset=x-none", b"na\xefve caf\xe9", "naïve café"),
            ("", "grüße".as_bytes(), "grüße"),
            ("text/plain; charset=utf-8", b"a\xffb", "a\u{fffd}b"),
        ];
        for (header, bytes, expected) in rows {
            assert_eq!(decode(bytes, &ContentType::parse(Some(header))), expected, "{header}");
        }
    }
}
