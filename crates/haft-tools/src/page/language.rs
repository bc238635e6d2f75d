//! In which language code is written, by the many ways in which pages say so.

use super::attributes::{Attributes, Name};

/// No name of a language is longer.
const LANGUAGE_BYTES_MAX: usize = 32;

/// What classes put before the name of a language.
const BEFORE: [&str; 6] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "hljs-", "highlight-"];
/// Languages that some generators write as a class of their own.
const BARE: [&str; 12] = [
    "rust",
    "python",
    "javascript",
    "typescript",
    "bash",
    "json",
    "toml",
    "yaml",
    "html",
    "css",
    "go",
    "java",
];
/// What stands where a language would, and is none.
const NONE: [&str; 8] =
    ["default", "none", "plaintext", "text", "notranslate", "source", "highlight", "basic"];

/// The language that an element says its code is in.
pub(super) fn language(attributes: &Attributes) -> Option<String> {
    let class = attributes.text(Name::Class);
    let brush = || class.split_once("brush:").and_then(|(_, rest)| rest.split_ascii_whitespace().next());
    let prefixed =
        || attributes.classes().find_map(|class| BEFORE.iter().find_map(|before| class.strip_prefix(before)));
    let bare = || {
        let is_code = attributes
            .classes()
            .any(|class| matches!(class, "sourceCode" | "rust-example-rendered" | "highlight"));
        attributes.classes().find(|class| BARE.contains(class)).filter(|_| is_code)
    };
    let said = attributes.get(Name::DataLanguage).or_else(brush).or_else(prefixed).or_else(bare)?;
    let name = said.trim_end_matches(';').split([',', '{']).next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.');
    let is_one = !name.is_empty() && name.len() <= LANGUAGE_BYTES_MAX && name.chars().all(is_name);
    (is_one && !NONE.contains(&name)).then(|| name.to_owned())
}
