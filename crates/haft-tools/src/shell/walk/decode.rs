//! Words out of the pieces that the grammar cuts them into, and substitutions that it took for text.

use tree_sitter::Node;

use super::{Walker, children};
use crate::shell::word::{Certainty, Word, WordBuilder, ansi_c};

impl<'s> Walker<'s> {
    pub(super) fn word(&self, pieces: &[Node<'_>]) -> Word {
        let word = self.built(pieces, &Chosen::new());
        match word.certainty() {
            Certainty::Unknown => word.with_values(self.values_of(pieces)),
            Certainty::Exact | Certainty::Glob(_) => word,
        }
    }

    /// A word, where these values stand for its variables.
    pub(super) fn built(&self, pieces: &[Node<'_>], chosen: &Chosen<'_>) -> Word {
        let mut builder = WordBuilder::default();
        pieces.iter().for_each(|piece| self.piece(*piece, &mut builder, chosen, 0));
        builder.finish(self.home)
    }

    fn piece(&self, node: Node<'_>, builder: &mut WordBuilder, chosen: &Chosen<'_>, depth: usize) {
        let text = self.text(node);
        match node.kind() {
            "command_name" | "concatenation" if depth < 3 => {
                children(node).into_iter().for_each(|child| self.piece(child, builder, chosen, depth + 1));
            }
            "word" | "number" | "test_operator" => {
                // No word goes on in the next line unless its end is escaped: the grammar took two commands for one.
                if text.contains('\n') && text.replace("\\\n", "").contains('\n') {
                    self.overlooked.set(true);
                }
                bare(text, builder);
            }
            "raw_string" => builder.quoted(text.trim_matches('\'')),
            "ansi_c_string" => {
                let inner = text.strip_prefix("$'").and_then(|text| text.strip_suffix('\''));
                match inner.and_then(ansi_c) {
                    Some(text) => builder.quoted(&text),
                    None => builder.unknown(),
                }
            }
            "string" | "translated_string" => self.string(node, builder, chosen),
            "simple_expansion" | "expansion" => match (self.is_home(text), self.home) {
                (true, Some(home)) => builder.quoted(home),
                _ => match (self.here(text), chosen.iter().find(|(reference, _)| *reference == text)) {
                    (Some(here), _) => builder.quoted(here),
                    (None, Some((_, value))) => put_in(value, builder),
                    (None, None) => builder.unknown(),
                },
            },
            "command_substitution" => match chosen.iter().find(|(reference, _)| *reference == text) {
                Some((_, value)) => put_in(value, builder),
                None => builder.unknown(),
            },
            // The dollar of a translated string.
            "$" if self.between(node.end_byte(), self.source.len()).starts_with('"') => {}
            _ if node.child_count() == 0 && !text.contains(['$', '`', '(', ')']) => bare(text, builder),
            _ => builder.unknown(),
        }
    }

    /// The text between two children is text too.
    fn string(&self, node: Node<'_>, builder: &mut WordBuilder, chosen: &Chosen<'_>) {
        builder.quoted("");
        let string = if self.text(node).starts_with('$') { node.child(1).unwrap_or(node) } else { node };
        self.look_for_overlooked(string);
        let is_closed = string.byte_range().len() > 1 && self.text(string).ends_with('"');
        let (mut at, end) = (string.start_byte() + 1, string.end_byte() - usize::from(is_closed));
        let first = at;
        let expansions = children(string)
            .into_iter()
            .filter(|child| !matches!(child.kind(), "\"" | "string_content") && child.start_byte() >= first);
        for expansion in expansions {
            builder.quoted(&unescaped(self.between(at, expansion.start_byte())));
            self.piece(expansion, builder, chosen, 3);
            at = expansion.end_byte();
        }
        builder.quoted(&unescaped(self.between(at, end)));
    }

    /// Notes a substitution that stands in quotes or in a here document and is no node of its own.
    pub(super) fn look_for_overlooked(&self, node: Node<'_>) {
        let mut at = node.start_byte();
        for child in children(node).into_iter().filter(|child| child.child_count() > 0) {
            self.note_overlooked(self.between(at, child.start_byte()));
            at = child.end_byte();
        }
        self.note_overlooked(self.between(at, node.end_byte()));
    }

    pub(super) fn note_overlooked(&self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'`' => self.overlooked.set(true),
                b'$' if matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[')) => self.overlooked.set(true),
                _ => {}
            }
            at += 1;
        }
    }

    pub(super) fn between(&self, from: usize, to: usize) -> &'s str {
        self.source.get(from..to).unwrap_or_default()
    }

    fn is_home(&self, text: &str) -> bool {
        matches!(text, "$HOME" | "${HOME}")
    }

    /// The directory a command runs in, if there is only one and the script has nothing to say about its name.
    fn here(&self, text: &str) -> Option<&str> {
        let asks = matches!(text, "$PWD" | "${PWD}") && !self.source.contains("PWD=");
        let [only] = self.directories.as_slice() else { return None };
        let settled = asks && self.otherwise.is_empty() && *only == self.surroundings.directory;
        only.to_str()
            .filter(|text| settled && !text.contains(|c: char| c.is_whitespace() || "*?[".contains(c)))
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

/// Which value stands for which expansion.
pub(super) type Chosen<'s> = Vec<(&'s str, Word)>;

/// Puts a value where a variable stands. Its wildcards count there, unless quotes say otherwise.
fn put_in(value: &Word, builder: &mut WordBuilder) {
    match value.certainty() {
        Certainty::Unknown => {
            builder.quoted(value.text());
            builder.unknown();
        }
        Certainty::Exact | Certainty::Glob(_) => {
            for c in value.text().chars() {
                match c {
                    '*' | '?' | '[' => builder.bare(c),
                    c => builder.quoted(c.encode_utf8(&mut [0; 4])),
                }
            }
        }
    }
}

/// The pieces of words, in order.
#[derive(Default)]
pub(super) struct Words<'t>(pub(super) Vec<Node<'t>>);

impl<'t> Words<'t> {
    pub(super) fn push(&mut self, node: Node<'t>) {
        self.0.push(node);
    }

    /// Pieces with nothing between them are one word.
    pub(super) fn groups(self, source: &str) -> Vec<Vec<Node<'t>>> {
        let mut groups: Vec<Vec<Node<'t>>> = Vec::new();
        for node in self.0 {
            match groups.last_mut() {
                Some(group) if adjoin(source, group.last(), node) => group.push(node),
                Some(_) | None => groups.push(vec![node]),
            }
        }
        groups
    }
}

pub(super) fn end(group: &[Node<'_>]) -> usize {
    group.last().map_or(0, Node::end_byte)
}

/// Whether nothing but continued lines stands between two pieces.
pub(super) fn adjoin(source: &str, before: Option<&Node<'_>>, after: Node<'_>) -> bool {
    let Some(between) = before.and_then(|before| source.get(before.end_byte()..after.start_byte())) else {
        return false;
    };
    between.replace("\\\n", "").is_empty()
}

fn bare(text: &str, builder: &mut WordBuilder) {
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(escaped) => builder.quoted(escaped.encode_utf8(&mut [0; 4])),
            },
            c => builder.bare(c),
        }
    }
}

/// Text between double quotes, without the backslashes that count there.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('\n') => {}
                Some(escaped @ ('$' | '`' | '"' | '\\')) => plain.push(escaped),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            c => plain.push(c),
        }
    }
    plain
}
