//! Whole screens, on narrow and wide terminals.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::Place;
use crate::window::{Window, is_missing, script, settled};

/// A run with words, a change, a list of todos and something that fails.
fn check(columns: usize, expect: &Expect) {
    if is_missing() {
        return;
    }
    let place = Place::new();
    place.file("notes.txt", "one\ntwo\n");
    let todo =
        |content: &str, status: &str| json!({ "content": content, "status": status, "priority": "low" });
    let model = script(
        &place,
        &json!({ "turns": [
            {
                "text": "I change the notes first, which takes a sentence that is longer than one line.",
                "calls": [{ "tool": "edit", "input": { "filePath": "notes.txt", "oldString": "two", "newString": "TWO \u{1b}[31mred" } }],
                "tokens": [1200, 30],
            },
            { "calls": [{ "tool": "todowrite", "input": { "todos": [todo("read", "completed"), todo("write", "in_progress")] } }] },
            { "calls": [{ "tool": "edit", "input": { "filePath": "notes.txt", "oldString": "one", "newString": "one" } }] },
            { "text": "All is done.\n\nAlmost: \u{1b}[2J\u{7}世界.", "tokens": [2400, 12] },
        ]}),
    );
    let window = Window::open(&place, columns, &["run", "-m", &model, "change the notes"]);
    assert_eq!(window.code(), 0);
    let screen = settled(&window.screen());
    expect.assert_eq(screen.split("left with").next().unwrap_or_default().trim_end());
}

#[test]
fn at_80_columns() {
    check(
        80,
        &expect![[r#"
            I change the notes first, which takes a sentence that is longer than one line.

            ✓ edit notes.txt  1 line  TIME
              --- notes.txt
              +++ notes.txt
              @@ -1,2 +1,2 @@
               one
              -two
              +TWO \u{1b}[31mred
              [x] read
              [>] write
            ✓ todowrite 1 todos  12 lines  TIME
            ✗ edit notes.txt  No changes to apply: oldString and newString are identical.
            TIME

            All is done.

            Almost: \u{1b}[2J\u{7}世界.

            3,600 tokens in · 42 out · 4 steps · TIME · SESSION"#]],
    );
}

#[test]
fn at_40_columns() {
    check(
        40,
        &expect![[r#"
            I change the notes first, which takes a
            sentence that is longer than one line.

            ✓ edit notes.txt  1 line  TIME
              --- notes.txt
              +++ notes.txt
              @@ -1,2 +1,2 @@
               one
              -two
              +TWO \u{1b}[31mred
              [x] read
              [>] write
            ✓ todowrite 1 todos  12 lines  TIME
            ✗ edit notes.txt  No changes to apply:
            oldString and newString are identical.
            TIME

            All is done.

            Almost: \u{1b}[2J\u{7}世界.

            3,600 tokens in · 42 out · 4 steps ·
            TIME · SESSION"#]],
    );
}

#[test]
fn at_120_columns() {
    check(
        120,
        &expect![[r#"
            I change the notes first, which takes a sentence that is longer than one line.

            ✓ edit notes.txt  1 line  TIME
              --- notes.txt
              +++ notes.txt
              @@ -1,2 +1,2 @@
               one
              -two
              +TWO \u{1b}[31mred
              [x] read
              [>] write
            ✓ todowrite 1 todos  12 lines  TIME
            ✗ edit notes.txt  No changes to apply: oldString and newString are identical.  TIME

            All is done.

            Almost: \u{1b}[2J\u{7}世界.

            3,600 tokens in · 42 out · 4 steps · TIME · SESSION"#]],
    );
}

#[test]
fn a_terminal_that_changes_its_size_is_drawn_anew() {
    if is_missing() {
        return;
    }
    let place = Place::new();
    let model = script(&place, &json!({ "turns": [{ "text": "Hello.", "wait_ms": 600_000 }] }));
    let window = Window::open(&place, 100, &["run", "-m", &model]);
    window.wait(">");
    window.write(&"word ".repeat(15)).press(&["Enter"]).wait("waiting for the model");
    window.write("and more that is being written");
    window.resize(50).wait("being written");
    window.resize(100).resize(40).wait_until("one line of each", |screen| {
        let count = |text: &str| screen.matches(text).count();
        count("waiting for the model") == 1 && count("being written") == 1
    });
    window.press(&["C-c"]).wait("interrupted");
    window.press(&["C-c"]).wait_until("an empty line", |screen| !screen.contains("being written"));
    window.press(&["C-d"]);
    assert_eq!(window.code(), 0);
}
