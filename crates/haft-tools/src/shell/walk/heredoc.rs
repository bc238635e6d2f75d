//! Here documents: where they end, to the grammar and to a shell.

use tree_sitter::Node;

use super::{Walker, children};

/// What a delimiter may hold besides letters and digits, so that nobody takes it for anything else.
const PLAIN: &str = "_-.+:@%^,/=!~";

impl Walker<'_> {
    /// Looks whether a shell ends a here document where the grammar does. If not, what follows is something else to it.
    pub(super) fn here_document(&self, node: Node<'_>) {
        let parts = children(node);
        let part = |kind: &str| parts.iter().find(|part| part.kind() == kind);
        let (Some(start), Some(end)) = (part("heredoc_start"), part("heredoc_end")) else { return };
        let is_indented = part("<<-").is_some();
        let lines = part("heredoc_body").map_or(end.start_byte(), |body| body.start_byte());
        let delimiter = delimiter(self.text(*start));
        if !delimiter.is_some_and(|delimiter| delimiter.is_literal) {
            // To a shell it begins with the next line; the grammar may take what stands there for words of the command.
            let rest = self.between(start.end_byte(), lines);
            self.note_overlooked(rest.split_once('\n').map_or("", |(_, unread)| unread));
        }
        let ends_alike = delimiter.is_some_and(|delimiter| {
            // The grammar may leave the beginning of the first line to nobody.
            let from = self.between(0, lines).rfind('\n').map_or(0, |at| at + 1);
            let rest = self.between(from, end.end_byte());
            first_end(rest, delimiter, is_indented).map(|at| from + at) == Some(end.end_byte())
        });
        if !ends_alike {
            self.overlooked.set(true);
        }
    }
}

/// What a here document ends with, and whether what stands in it is taken literally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Delimiter<'s> {
    text: &'s str,
    is_literal: bool,
}

/// Reads a delimiter, if it is spelled as people do.
fn delimiter(start: &str) -> Option<Delimiter<'_>> {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || PLAIN.contains(c));
    let between = |quote: char| start.strip_prefix(quote)?.strip_suffix(quote);
    let unspecial = |text: &&str| !text.contains(['\'', '"', '\\', '$', '`', '\n']);
    let quoted = between('\'').or_else(|| between('"')).filter(unspecial);
    let escaped = start.strip_prefix('\\').filter(|text| is_plain(text));
    let literal = quoted.or(escaped).map(|text| Delimiter { text, is_literal: true });
    literal.or_else(|| is_plain(start).then_some(Delimiter { text: start, is_literal: false }))
}

/// Where the delimiter of a here document ends that begins a text.
fn first_end(text: &str, delimiter: Delimiter<'_>, is_indented: bool) -> Option<usize> {
    let (mut at, mut open) = (0, String::new());
    for line in text.split_inclusive('\n') {
        at += line.len();
        let bare = line.strip_suffix('\n').unwrap_or(line);
        // A line that goes on below is one line with that. How many backslashes there are is not asked: whoever ends a
        // line in some is asked about.
        if let Some(first) = bare.strip_suffix('\\').filter(|_| !delimiter.is_literal) {
            open.push_str(first);
            continue;
        }
        open.push_str(bare);
        let whole = std::mem::take(&mut open);
        let whole = if is_indented { whole.trim_start_matches('\t') } else { &whole };
        if whole == delimiter.text {
            return Some(at - (line.len() - bare.len()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_read_as_people_spell_them() {
        for (start, text, is_literal) in [
            ("EOF", "EOF", false),
            ("'EOF'", "EOF", true),
            ("\"E F\"", "E F", true),
            ("\\EOF", "EOF", true),
            ("END_1.x", "END_1.x", false),
        ] {
            assert_eq!(delimiter(start), Some(Delimiter { text, is_literal }), "{start}");
        }
        for start in
            ["$'E'", "$\"E\"", "\"E\\F\"", "E\\F", "E'F'", "`x`", "$x", "\"$x\"", "E;", "E)", "'E'F'"]
        {
            assert_eq!(delimiter(start), None, "{start}");
        }
    }

    #[test]
    fn the_first_line_that_is_the_delimiter_ends_it() {
        let plain = Delimiter { text: "EF", is_literal: false };
        let literal = Delimiter { is_literal: true, ..plain };
        for (text, delimiter, is_indented, end) in [
            ("EF", plain, false, Some(2)),
            ("EF\n", plain, false, Some(2)),
            ("a\n EF\nEF \nEF\nb\nEF", plain, false, Some(12)),
            ("\tEF\nEF", plain, false, Some(6)),
            ("\t\tEF\nEF", plain, true, Some(4)),
            ("E\\\nF\nEF", plain, false, Some(4)),
            ("E\\\nF\nEF", literal, false, Some(7)),
            ("a\n", plain, false, None),
        ] {
            assert_eq!(first_end(text, delimiter, is_indented), end, "{text:?}");
        }
    }
}
