//! Questions that make no sense get a clear answer.

use serde_json::{Value, json};

use crate::bench::{Bench, With, fake, is_missing};

fn asked(operation: &str, file: &str, line: u32, character: u32) -> Value {
    json!({ "operation": operation, "filePath": file, "line": line, "character": character })
}

#[test]
fn every_mistake_is_told_with_what_to_do() {
    if is_missing("node") {
        return;
    }
    let mut absent = fake("absent", &[]);
    absent.program.command = Some(vec!["no-such-server".to_owned()]);
    let bench = Bench::with(With { entries: vec![fake("fake", &[]), absent], ..With::default() });
    bench.file("a.fake", "one\nthree\n");
    bench.file("a.absent", "one\n");
    bench.file("a.unknown", "one\n");
    std::fs::write(bench.path("b.fake"), [0u8, 159, 146, 150]).unwrap();
    std::fs::create_dir(bench.path("d.fake")).unwrap();
    let cases = [
        (asked("rename", "a.fake", 1, 1), "goToDefinition"),
        (asked("hover", "none.fake", 1, 1), "File not found: "),
        (asked("hover", "d.fake", 1, 1), "is a directory"),
        (asked("hover", "b.fake", 1, 1), "is not text"),
        (asked("hover", "a.unknown", 1, 1), "No LSP server available for this file type."),
        (asked("hover", "a.absent", 1, 1), "absent is not installed (no-such-server was not found)"),
        (asked("hover", "a.fake", 9, 1), "there is no line 9: the file has 3 lines"),
        (asked("hover", "a.fake", 1, 9), "there is no character 9 in line 1, which has 3"),
        (asked("hover", "a.fake", 0, 1), "line"),
        (json!({ "operation": "hover", "filePath": "a.fake" }), "line"),
        (asked("hover", "/etc/hostname", 1, 1), "outside the project"),
    ];
    for (input, expected) in cases {
        let said = bench.rejected("lsp", input.clone());
        assert!(said.contains(expected), "{input}: {said}");
    }
    let none = bench.completed("lsp", asked("documentSymbol", "a.fake", 1, 1));
    assert_eq!(
        (none.title.as_str(), none.text().as_str()),
        ("documentSymbol a.fake:1:1", "No results found for documentSymbol")
    );
    assert_eq!(none.metadata["result"], json!([]));
}
