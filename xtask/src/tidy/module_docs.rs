//! Every file opens with a `//!` sentence that says what it is for.

use super::{Finding, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let lacking = tree.rust().filter_map(|(path, text)| Some((path, problem(text)?)));
    lacking.map(|(path, problem)| Finding::error(path, 1, problem)).collect()
}

fn problem(text: &str) -> Option<&'static str> {
    let doc = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = doc.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    if paragraph.is_empty() {
        return Some("the first line is not a `//!` sentence that says what the file is for");
    }
    let is_sentence = !paragraph.starts_with(char::is_lowercase)
        && paragraph.ends_with(['.', ':', '?', '!'])
        && paragraph.contains(' ');
    (!is_sentence)
        .then_some("the opening `//!` paragraph is not a sentence: a capital first, a full stop last")
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn files_open_with_a_sentence() {
        expect(
            check,
            &[
                ("crates/a/src/good.rs", "//! Scoped registration. The last entry\n//! wins.\n\nuse x;\n"),
                ("crates/a/src/none.rs", "fn main() {}\n"),
                ("crates/a/src/label.rs", "//! registry\n"),
                ("tests/cases/sample.rs", "fn main() {}\n"),
            ],
            &[
                "crates/a/src/label.rs:1: the opening `//!` paragraph is not a sentence: a capital first, a full stop last",
                "crates/a/src/none.rs:1: the first line is not a `//!` sentence that says what the file is for",
            ],
        );
    }
}
