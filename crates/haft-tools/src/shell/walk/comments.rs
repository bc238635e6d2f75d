//! Comments: what the grammar passes over, and a shell might not.

use tree_sitter::Node;

use super::Walker;

/// What the grammar calls a comment.
pub(super) const COMMENT: &str = "comment";
/// What a comment may stand right behind: otherwise it is part of a word.
const SEPARATING: [char; 9] = [' ', '\t', '\n', ';', '&', '|', '(', ')', '`'];
/// What the grammar calls the values of an array.
const ARRAY: &str = "array";

impl Walker<'_> {
    /// Looks whether a comment within a part of a script is one to a shell, too. If not, its words are words.
    pub(super) fn comment(&mut self, node: Node<'_>, around: Node<'_>) {
        let before = self.between(0, node.start_byte());
        let is_below_another = before.strip_suffix('\n').map(str::len) == Some(self.comment_end);
        self.comment_end = node.end_byte();
        // An index goes on until it is closed, whatever stands in it.
        let may_be_index = around.kind() == ARRAY && {
            let array = self.between(around.start_byte(), node.start_byte());
            array.match_indices('[').any(|(at, _)| array[..at].ends_with(['(', ' ', '\t', '\n']))
        };
        if may_be_index || !is_below_another && !ends_word(before) {
            self.overlook(self.text(node));
        }
    }
}

/// Whether no word is open at the end of a text.
fn ends_word(text: &str) -> bool {
    let mut text = text;
    // A line that goes on below leaves open what it ends in.
    while let Some(line) = text.strip_suffix("\\\n").filter(|line| !is_escaping(line)) {
        text = line;
    }
    text.strip_suffix(SEPARATING).map_or(text.is_empty(), |before| !is_escaping(before))
}

/// Whether a text ends in a backslash that is none itself.
fn is_escaping(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_where_nothing_keeps_it_open() {
        for text in
            ["", "a ", "a\t", "a;", "a\n", "a \\\n", "a \\\n  ", "a \\\n\\\n", "a\\\\ ", "\\\n", "a\\\\\n"]
        {
            assert!(ends_word(text), "{text:?}");
        }
        for text in ["a", "a\\ ", "a\\\n", "a\\\\\\ ", "a\\;", "a\\ \\\n"] {
            assert!(!ends_word(text), "{text:?}");
        }
    }
}
