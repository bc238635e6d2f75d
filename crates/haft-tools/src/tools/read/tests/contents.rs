//! Contents that are no plain UTF-8 text of ordinary size.

use expect_test::expect;
use haft::Content;
use serde_json::json;

use super::path;
use crate::encoding::samples::SAMPLES;
use crate::testing::Bench;

#[test]
fn other_encodings_are_shown_as_text() {
    let bench = Bench::new();
    let sentence = "\u{feff}Übung\r\nmacht 𝄞\nden Meister";
    bench.file("le.txt", sentence.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    bench.file("be.txt", sentence.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    bench.check(
        "read",
        json!({"filePath": "le.txt", "offset": 1, "limit": 2}),
        expect![[r#"
        title: le.txt
        <path>$ws/le.txt</path>
        <type>file</type>
        <content>
        1: Übung
        2: macht 𝄞

        (Showing lines 1-2 of 3. Use offset=3 to continue.)
        (Decoded from UTF-16LE.)
        </content>"#]],
    );
    let done = bench.completed("read", json!({"filePath": "be.txt", "offset": 3}));
    assert!(done.text().contains("\n3: den Meister\n"), "{}", done.text());
    assert_eq!(done.metadata["encoding"], "UTF-16BE");
    for (name, text, bytes) in SAMPLES {
        bench.file("legacy.txt", bytes);
        let done = bench.completed("read", path("legacy.txt"));
        assert_eq!(done.metadata["encoding"], *name);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(done.metadata["display"]["text"], lines.join("\n"));
    }
}

#[test]
fn damage_is_shown_and_said() {
    let bench = Bench::new();
    bench.file("f", b"gr\xc3\xbcn\nbl\xc3\xa4uer\ncaf\xe9");
    let done = bench.completed("read", path("f"));
    assert!(done.text().contains("3: caf\u{fffd}\n"), "{}", done.text());
    assert!(done.text().contains("(Bytes that are not UTF-8 are shown as \u{fffd}.)"));
    assert!(!done.metadata.contains_key("encoding"));
}

#[test]
fn only_newlines_end_lines() {
    let bench = Bench::new();
    bench.file("mixed", "dos\r\nunix\nmac\rmac\n\r\nlast\r");
    let done = bench.completed("read", path("mixed"));
    assert_eq!(done.metadata["display"]["text"], "dos\nunix\nmac\rmac\n\nlast\r");
}

#[test]
fn large_images_are_scaled_down() {
    let bench = Bench::new();
    let mut bytes = std::io::Cursor::new(Vec::new());
    ::image::RgbImage::new(2500, 10).write_to(&mut bytes, ::image::ImageFormat::Png).unwrap();
    bench.file("wide.png", bytes.get_ref());
    let done = bench.completed("read", path("wide.png"));
    assert_eq!(done.text(), "Image read successfully (scaled down from 2500 x 10 to 2000 x 8 pixels)");
    assert_eq!(done.metadata["image"]["original"]["width"], 2500);
    assert_eq!(done.metadata["image"]["shown"]["height"], 8);
    let Content::Media { data, .. } = &done.content[1] else { panic!("no image") };
    assert_eq!(::image::load_from_memory(data).unwrap().width(), 2000);
}

/// Files that are too large to be read whole are read in pages, whatever is known of them.
#[test]
fn pages_of_a_large_file_follow_its_changes() {
    let bench = Bench::new();
    let line = |number: usize| format!("{number:09} {}\n", "x".repeat(40));
    let text: String = (1..=400_000).map(line).collect();
    let read = |offset: u64| {
        let done = bench.completed("read", json!({"filePath": "large", "offset": offset, "limit": 2}));
        let text = done.metadata["display"]["text"].as_str().unwrap().to_owned();
        (
            text.split(' ').next().unwrap().parse::<usize>().unwrap(),
            done.metadata["display"]["totalLines"].clone(),
        )
    };
    bench.file("large", &text);
    assert_eq!(read(300_000), (300_000, json!(400_000)));
    assert_eq!(read(399_999), (399_999, json!(400_000)));
    assert_eq!(read(2), (2, json!(400_000)));
    bench.file("large", text.replacen('x', "\n", 1));
    assert_eq!(read(300_001), (300_000, json!(400_001)));
    bench.file("large", format!("{}{text}", "y\n".repeat(9)));
    assert_eq!(read(300_009), (300_000, json!(400_009)));
    let utf_16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    bench.file("large", utf_16);
    assert_eq!(read(300_000), (300_000, json!(400_000)));
}
