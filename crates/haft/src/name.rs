//! Names of tools and of permission actions. They are data: nothing in the core knows a particular one.

use std::fmt;
use std::sync::Arc;

/// The longest tool name.
pub const NAME_BYTES_MAX: usize = 64;

/// A model-facing tool name: a letter, then up to 63 letters, digits, `_` or `-`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

/// Why a string is not a tool name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid tool name {0:?}: use a letter followed by up to 63 letters, digits, `_` or `-`")]
pub struct InvalidName(pub String);

impl ToolName {
    /// Checks a name.
    pub fn parse(raw: &str) -> Result<ToolName, InvalidName> {
        let bytes = raw.as_bytes();
        let valid = bytes.first().is_some_and(u8::is_ascii_alphabetic)
            && bytes.len() <= NAME_BYTES_MAX
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        if valid { Ok(ToolName(raw.into())) } else { Err(InvalidName(raw.chars().take(80).collect())) }
    }

    /// The text of the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a permission rule speaks of: usually a tool's name, but several tools may share one.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(Arc<str>);

impl Action {
    /// Names an action.
    pub fn new(raw: impl AsRef<str>) -> Action {
        Action(raw.as_ref().into())
    }

    /// The text of the action.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&ToolName> for Action {
    fn from(name: &ToolName) -> Action {
        Action(name.0.clone())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The candidate nearest to what was written, if one is near enough to be what was meant.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| -> Vec<char> {
        text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).take(80).collect()
    };
    let wanted = fold(written);
    let tolerance = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(&wanted, &fold(candidate)), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and transpositions of neighbours that turn one into the other.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let substituted = above[j] + usize::from(a[i] != b[j]);
            row[j + 1] = substituted.min(row[j] + 1).min(above[j + 1] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_names() {
        for good in ["a", "A-b_9", "ok_name", &"x".repeat(64)] {
            assert!(ToolName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "9lives", "_x", "naïve", "a b", "a.b", &"x".repeat(65)] {
            assert!(ToolName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["read", "write", "filePath", "todowrite"];
        assert_eq!(nearest("raed", names), Some("read"));
        assert_eq!(nearest("READ", names), Some("read"));
        assert_eq!(nearest("file_path", names), Some("filePath"));
        assert_eq!(nearest("todo_wrte", names), Some("todowrite"));
        assert_eq!(nearest("zzz", names), None);
    }
}
