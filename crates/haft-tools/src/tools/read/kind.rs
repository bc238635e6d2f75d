//! What kind of content a file has, by its first bytes and, for some binary formats, its name.

use std::path::Path;

use crate::encoding::{is_binary, is_utf_16};

/// Formats that are text by no accident of their bytes.
#[rustfmt::skip]
const BINARY_EXTENSIONS: &[&str] = &[
    "zip", "tar", "gz", "exe", "dll", "so", "class", "jar", "war", "7z", "doc", "docx", "xls", "xlsx", "ppt", "pptx",
    "odt", "ods", "odp", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo",
];

/// The kind of a content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Binary,
    /// An image or a document that models take as it is.
    Media(&'static str),
}

pub(super) fn kind_of(path: &Path, sample: &[u8]) -> Kind {
    match media_type(sample) {
        Some(mime) => Kind::Media(mime),
        None if has_binary_extension(path) => Kind::Binary,
        None if is_binary(sample) && !is_utf_16(sample) => Kind::Binary,
        None => Kind::Text,
    }
}

/// The type of an image or a document that models take, by its first bytes.
pub(crate) fn media_type(sample: &[u8]) -> Option<&'static str> {
    match sample {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some("application/pdf"),
        _ => None,
    }
}

fn has_binary_extension(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| BINARY_EXTENSIONS.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide_before_names() {
        let kind = |path: &str, sample: &[u8]| kind_of(Path::new(path), sample);
        assert_eq!(kind("x.dat", b"GIF89a"), Kind::Media("image/gif"));
        assert_eq!(kind("x.txt", b"RIFF\0\0\0\0WEBPVP8 "), Kind::Media("image/webp"));
        assert_eq!(kind("x.png", b"no image"), Kind::Text);
        assert_eq!(kind("lib.SO", b"text"), Kind::Binary);
        assert_eq!(kind("x.txt", b"a\0b"), Kind::Binary);
        assert_eq!(kind("x.log", b"\x1b[31mred\x1b[0m and words"), Kind::Text);
        assert_eq!(kind("x.log", b"\x01\x02\x03ab"), Kind::Binary);
        assert_eq!(kind("x", b"\xff\xfea\0"), Kind::Text);
        assert_eq!(kind("x.bin", b"\xff\xfea\0"), Kind::Binary);
        assert_eq!(kind("x", b"\xff\xfea\0\0\0"), Kind::Binary);
        assert_eq!(kind("x", b""), Kind::Text);
        assert_eq!(kind("x.md", "äöü €".as_bytes()), Kind::Text);
    }
}
