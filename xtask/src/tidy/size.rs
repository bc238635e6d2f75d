//! A file that grew long has a second noun in it.

use super::source::Source;
use super::tree::is_test_file;
use super::{Finding, Tree};

const WARN_LINES: usize = 500;
const FAIL_LINES: usize = 900;

/// Warns by all lines of a file; fails by those that are not tests.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            if lines <= WARN_LINES {
                return None;
            }
            let without_tests = if is_test_file(path) { 0 } else { lines - test_lines(text) };
            if without_tests > FAIL_LINES {
                let message = format!(
                    "{without_tests} lines without tests, at most {FAIL_LINES}: look for the second noun"
                );
                return Some(Finding::error(path, 1, message));
            }
            Some(Finding::warning(path, 1, format!("{lines} lines, better below {WARN_LINES}")))
        })
        .collect()
}

fn test_lines(text: &str) -> usize {
    let items = Source::parse(text).test_items();
    items.into_iter().map(|item| text[item].lines().count()).sum()
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn long_files_warn_and_very_long_code_fails() {
        let code = |lines: usize| "fn f() {}\n".repeat(lines);
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", code(300), code(700));
        expect(
            check,
            &[
                ("crates/a/src/fits.rs", &code(500)),
                ("crates/a/src/long.rs", &code(501)),
                ("crates/a/src/tested.rs", &tested),
                ("crates/a/src/vast.rs", &code(901)),
                ("crates/a/tests/vast.rs", &code(2000)),
            ],
            &[
                "crates/a/src/long.rs:1: warning: 501 lines, better below 500",
                "crates/a/src/tested.rs:1: warning: 1003 lines, better below 500",
                "crates/a/src/vast.rs:1: 901 lines without tests, at most 900: look for the second noun",
                "crates/a/tests/vast.rs:1: warning: 2000 lines, better below 500",
            ],
        );
    }
}
