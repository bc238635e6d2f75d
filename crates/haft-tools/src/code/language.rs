//! What can be told of a line without a parser: whether it defines something, and whether it is about what follows.
//!
//! These are patterns, not grammars. They are wrong now and then, which moves a passage up or down and no more.

use std::path::Path;

/// A family of languages that look alike, line by line.
pub(super) struct Language {
    endings: &'static [&'static str],
    /// Words after which the name of something stands.
    defining: &'static [&'static str],
    /// The same, unless the line is indented: elsewhere they make what nobody else can use.
    defining_at_top: &'static [&'static str],
    /// What lines begin with that belong to what follows them: comments and attributes.
    leading: &'static [&'static str],
    /// Whether functions are defined without such a word.
    has_bare_functions: bool,
    /// Whether it is prose, where nothing is defined.
    pub(super) is_prose: bool,
}

const SLASHES: &[&str] = &["//", "/*", "*", "@", "#["];
const HASHES: &[&str] = &["#", "@"];

const fn code(endings: &'static [&'static str], defining: &'static [&'static str]) -> Language {
    let (leading, defining_at_top) = (SLASHES, &[] as &[&str]);
    Language { endings, defining, defining_at_top, leading, has_bare_functions: false, is_prose: false }
}

#[rustfmt::skip]
const LANGUAGES: &[Language] = &[
    code(&["rs"], &["fn", "struct", "enum", "trait", "union", "type", "macro_rules", "const", "static"]),
    code(&["go"], &["func", "type", "const", "var"]),
    Language { leading: HASHES, ..code(&["py", "pyi"], &["def", "class"]) },
    Language { leading: HASHES, ..code(&["rb", "rake"], &["def", "class", "module"]) },
    Language { leading: HASHES, ..code(&["ex", "exs"], &["def", "defp", "defmodule", "defmacro", "defstruct"]) },
    Language { leading: &["--"], ..code(&["lua"], &["function"]) },
    Language { leading: &["--", "{-"], ..code(&["hs"], &["data", "newtype", "type", "class", "instance"]) },
    Language {
        defining_at_top: &["const", "let", "var"],
        has_bare_functions: true,
        ..code(&["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "vue", "svelte"],
               &["function", "class", "interface", "type", "enum", "namespace"])
    },
    Language {
        has_bare_functions: true,
        ..code(&["c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "m", "mm"],
               &["struct", "class", "enum", "union", "namespace", "typedef", "#define", "concept"])
    },
    Language {
        has_bare_functions: true,
        ..code(&["java", "cs", "dart"],
               &["class", "interface", "enum", "record", "struct", "namespace", "mixin", "extension", "delegate"])
    },
    code(&["kt", "kts", "swift", "scala", "php", "zig", "jl"],
         &["class", "interface", "enum", "object", "trait", "struct", "protocol", "extension", "func", "fun", "function",
           "def", "fn", "typealias", "namespace", "type", "module", "macro"]),
    Language { is_prose: true, leading: &["#"], ..code(&["md", "mdx", "rst"], &[]) },
];

/// Words that may stand before the one that defines.
#[rustfmt::skip]
const MODIFIERS: &[&str] = &[
    "pub", "export", "default", "declare", "async", "unsafe", "extern", "static", "final", "abstract", "public", "private",
    "protected", "internal", "inline", "virtual", "override", "open", "sealed", "data", "readonly", "partial", "template",
    "suspend", "case", "implicit", "companion", "constexpr", "comptime", "safe", "mutating",
];

/// Words that are followed by a parenthesis and define nothing.
#[rustfmt::skip]
const CONTROL: &[&str] = &[
    "if", "for", "while", "switch", "catch", "return", "throw", "new", "else", "await", "yield", "case", "do", "try", "with",
    "sizeof", "typeof", "import", "require", "super", "assert", "delete", "in", "of", "and", "or", "not",
];

/// The language of a file; `None` if it is no source that anybody reads.
pub(super) fn of(path: &Path) -> Option<&'static Language> {
    let name = path.file_name()?.to_str()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_made = stem.ends_with(".min") || stem.ends_with("-min") || stem.ends_with(".bundle");
    let found = LANGUAGES.iter().find(|language| language.endings.contains(&ending));
    found.filter(|_| !is_made)
}

impl Language {
    /// The name of what a line defines.
    pub(super) fn defined<'l>(&self, line: &'l str) -> Option<&'l str> {
        let rest = line.trim_start();
        let is_top = rest.len() == line.len();
        self.defined_by_word(rest, is_top).or_else(|| self.bare_function(rest, is_top))
    }

    /// Whether a line is about what follows it: a comment, an attribute, a heading.
    pub(super) fn leads(&self, line: &str) -> bool {
        let line = line.trim_start();
        self.leading.iter().any(|mark| line.starts_with(mark))
    }

    fn defined_by_word<'l>(&self, mut rest: &'l str, is_top: bool) -> Option<&'l str> {
        loop {
            let (word, after) = first_word(rest)?;
            let next = after.trim_start_matches('!').trim_start();
            let next_word = first_word(next).map(|(word, _)| word);
            let opens_another =
                next_word.is_some_and(|word| self.defining.contains(&word) || MODIFIERS.contains(&word));
            let is_defining = self.defining.contains(&word) || is_top && self.defining_at_top.contains(&word);
            if is_defining && !(opens_another && is_plain_space(after)) {
                // `const x`, but not `const: 1` or `type = 1`.
                let is_apart = after.starts_with([' ', '\t', '*', '!', '(']);
                return is_apart.then(|| name(next)).flatten();
            }
            if !is_defining && !MODIFIERS.contains(&word) {
                return None;
            }
            rest = after_modifier(after);
        }
    }

    /// `name(…) {`, with types before the name or none.
    fn bare_function<'l>(&self, line: &'l str, is_top: bool) -> Option<&'l str> {
        if !self.has_bare_functions {
            return None;
        }
        let (head, tail) = line.split_once('(')?;
        // `name<T>(`
        let head = head.split_once('<').map_or(head, |(name, _)| name).trim_end();
        let start = head
            .rfind(|c: char| !is_of_name(c))
            .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
        let (before, name) = head.split_at(start);
        let is_type = |c: char| {
            is_of_name(c) || c.is_whitespace() || matches!(c, '*' | '&' | ':' | '[' | ']' | '?' | ',')
        };
        let first = first_word(line).map(|(word, _)| word).unwrap_or_default();
        if name.is_empty()
            || CONTROL.contains(&name)
            || CONTROL.contains(&first)
            || !before.chars().all(is_type)
        {
            return None;
        }
        let tail = tail.trim_end();
        let opens = tail.ends_with('{') && !tail.ends_with("=> {");
        // A declaration says a type before the name or after the parenthesis.
        let declares = tail.ends_with(';') && (!before.trim().is_empty() || tail.contains("):"));
        let begins = is_top && !before.trim().is_empty() && (tail.is_empty() || tail.ends_with([',', ')']));
        (opens || declares || begins).then_some(name)
    }
}

/// The word at the beginning of a text, and what follows it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(is_of_name(c) || c == '#')).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// What follows a modifier: `pub(crate)` and `extern "C"` have more to them.
fn after_modifier(after: &str) -> &str {
    let rest = after.trim_start();
    let inside = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let angled = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    inside.or(quoted).or(angled).map_or(rest, |(_, rest)| rest.trim_start())
}

/// The name at the beginning of a text. Go puts the receiver of a method before it.
fn name(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['*', ' ', '&']);
    let text = match text.strip_prefix('(') {
        Some(receiver) => receiver.split_once(')')?.1.trim_start(),
        None => text,
    };
    let text = text.strip_prefix("self.").unwrap_or(text);
    let end = text.find(|c: char| !is_of_name(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn is_plain_space(after: &str) -> bool {
    after.starts_with([' ', '\t'])
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}
