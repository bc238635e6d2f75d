//! What is recognised, what survives, what is refused.

use encoding_rs::{EUC_JP, GBK, SHIFT_JIS, WINDOWS_1252};
use proptest::prelude::*;

use super::samples::SAMPLES;
use super::*;

const SENTENCE: &str = "Übung macht den Meister 𝄞.\r\nzwei\n";

fn units(text: &str, from: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(from).collect()
}

fn check(bytes: &[u8], name: &str, has_bom: bool, text: &str) {
    let decoded = decode(bytes).unwrap();
    assert_eq!((decoded.encoding.name(), decoded.encoding.has_bom()), (name, has_bom), "{text}");
    assert_eq!(decoded.text, text);
    assert_eq!(decoded.encoding.encode(text).unwrap(), bytes);
}

#[test]
fn unicode_is_recognised() {
    check(b"", "UTF-8", false, "");
    check(SENTENCE.as_bytes(), "UTF-8", false, SENTENCE);
    check(format!("\u{feff}{SENTENCE}").as_bytes(), "UTF-8", true, SENTENCE);
    check(b"\xef\xbb\xbf", "UTF-8", true, "");
    check("\u{feff}\u{feff}twice".as_bytes(), "UTF-8", true, "\u{feff}twice");
    check("a NUL\0 is valid, if odd".as_bytes(), "UTF-8", false, "a NUL\0 is valid, if odd");
    let marked = format!("\u{feff}{SENTENCE}");
    check(&units(&marked, u16::to_le_bytes), "UTF-16LE", true, SENTENCE);
    check(&units(&marked, u16::to_be_bytes), "UTF-16BE", true, SENTENCE);
    check(&units(SENTENCE, u16::to_le_bytes), "UTF-16LE", false, SENTENCE);
    check(&units(SENTENCE, u16::to_be_bytes), "UTF-16BE", false, SENTENCE);
    let chinese = "\u{feff}没有空格的中文";
    check(&units(chinese, u16::to_le_bytes), "UTF-16LE", true, "没有空格的中文");
    check(b"\xff\xfe", "UTF-16LE", true, "");
}

#[test]
fn what_could_be_numbers_is_not_taken_for_utf_16() {
    for bytes in [
        b"a\0b\0".as_slice(),
        b"h\0e\0l\0l\0o\0 \0y\0o\0u\0!",
        b"a\0b\0c\0d\0e\0f\0g\0h\0i\0\x01\0",
        b"a\0b\0c\0d\0\0\0f\0g\0h\0",
        b"\xff\xfe\0\0a\0\0\0",
    ] {
        assert!(!is_utf_16(bytes), "{bytes:?}");
        assert!(is_binary(bytes));
    }
}

#[test]
fn legacy_encodings_are_recognised_and_written_back() {
    for (name, text, bytes) in SAMPLES {
        check(bytes, name, false, text);
        assert_eq!(recognize(bytes, Extent::Start).name(), *name);
    }
}

#[test]
fn gb18030_is_taken_where_gbk_falls_short() {
    let text = "这是一个中文句子，带有 𝄞 音乐符号。\n";
    let (bytes, ..) = GB18030.encode(text);
    check(&bytes, "gb18030", false, text);
}

#[test]
fn what_is_mostly_utf_8_is_damaged_utf_8() {
    let mut bytes = "größer, schöner\nälter\n".as_bytes().to_vec();
    bytes.extend(b"caf\xe9\n");
    assert_eq!(decode(&bytes), Err(NotText::Damaged { encoding: Encoding::UTF_8, line: 3 }));
    assert!(recognize(&bytes, Extent::Whole).is_utf_8());
}

#[test]
fn halves_of_characters_are_refused() {
    let mut half = units("\u{feff}one\ntwo\n", u16::to_le_bytes);
    half.extend(0xd83d_u16.to_le_bytes());
    half.extend(units("x", u16::to_le_bytes));
    // Further on than what decides that it is text.
    let mut long = units(&format!("\u{feff}{}", "line\n".repeat(1000)), u16::to_le_bytes);
    long.extend(0xdc00_u16.to_le_bytes());
    assert_eq!(decode(&half), Err(NotText::Binary));
    let damaged = decode(&long).unwrap_err();
    assert_eq!(damaged.to_string(), "line 1001 holds bytes that are not valid UTF-16LE");
    let odd = [units("\u{feff}odd", u16::to_le_bytes).as_slice(), b"x"].concat();
    assert_eq!(decode(&odd).unwrap_err().to_string(), "line 1 holds bytes that are not valid UTF-16LE");
}

#[test]
fn what_would_be_written_otherwise_is_refused() {
    // Two byte sequences of Shift_JIS stand for the same character; only one of them is written.
    let bytes =
        [SHIFT_JIS.encode("これは日本語の文章です。\n漢字とかな").0.as_ref(), b"\n\xfa\x4a\n"].concat();
    let refused = decode(&bytes).unwrap_err();
    assert_eq!(refused.to_string(), "it looks like Shift_JIS, but line 3 would not be written back as it is");
}

#[test]
fn binary_is_no_text() {
    for bytes in [b"\x7fELF\x02\x01\x01\0\xff\xfe".as_slice(), b"\x01\x02\x03\x80", b"\xff\xd8\xff\0"] {
        assert_eq!(decode(bytes), Err(NotText::Binary), "{bytes:?}");
    }
}

#[test]
fn a_character_that_an_encoding_lacks_is_named() {
    let refused = |codec, text: &str| Encoding::of(codec).encode(text).unwrap_err();
    let Unencodable { character, line, .. } = refused(WINDOWS_1252, "ok\nfür 語\n");
    assert_eq!((character, line), ('語', 2));
    assert_eq!(
        refused(WINDOWS_1252, "→").to_string(),
        "windows-1252, the encoding of this file, has no character '→' (line 1); \
         use characters that it has, or convert the file to UTF-8 first"
    );
    assert_eq!(refused(GBK, "emoji 🎉").character, '🎉');
    // These would be read back as a backslash and a tilde.
    assert_eq!(refused(SHIFT_JIS, "100¥").character, '¥');
    assert_eq!(refused(EUC_JP, "‾").character, '‾');
}

#[test]
fn newlines_are_found_in_bytes() {
    let ends = |newline: Newline, bytes: &[u8]| newline.ends(bytes).collect::<Vec<_>>();
    assert_eq!(ends(Newline::Byte, b"a\nb\n\n"), [2, 4, 5]);
    assert_eq!(ends(Newline::Little, b"a\0\n\0\x00\x0a\x0a\x0a\n\0"), [4, 10]);
    assert_eq!(ends(Newline::Big, b"\0a\0\n\x0a\x00\0\n"), [4, 8]);
    assert_eq!(Newline::Big.count(b"\0\n\0\n"), 2);
}

proptest! {
    /// Whatever text is written in an encoding that has its characters is read back, and bytes that are accepted as
    /// text stay the same.
    #[test]
    fn text_survives(text in "\\PC{0,40}\n\\PC{0,40}", which in 0usize..4) {
        let encoding = [
            Encoding::UTF_8,
            Encoding::UTF_8.with_bom(),
            Encoding::of(UTF_16LE).with_bom(),
            Encoding::of(UTF_16BE).with_bom(),
        ][which];
        let bytes = encoding.encode(&text).unwrap();
        let back = decode(&bytes).unwrap();
        prop_assert_eq!(back.encoding.encode(&back.text).unwrap(), bytes);
        if encoding.has_bom() {
            prop_assert_eq!(back.text, text);
        }
    }
}
