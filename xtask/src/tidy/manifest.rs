//! Just enough TOML to read a manifest: sections, and keys with their values, line by line.

/// A key of a manifest, or the head of a section (then `key` and `value` are empty).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) section: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) line: usize,
}

/// The entries in order. A value that spans lines is known by its first one.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line_number = index + 1;
        let line = line.trim();
        if let Some(head) = line.strip_prefix('[') {
            section = head.split(']').next().unwrap_or_default().trim_matches(['[', ' ']);
            return Some(Entry { section, key: "", value: "", line: line_number });
        }
        let (key, value) = line.split_once('=')?;
        let key = key.trim();
        let is_key = key.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '"' || c == '_');
        is_key.then(|| Entry { section, key: key.trim_matches('"'), value: value.trim(), line: line_number })
    })
}

/// The value of one key of one section, without its quotes.
pub(super) fn value<'a>(text: &'a str, section: &str, key: &str) -> Option<&'a str> {
    entries(text)
        .find(|entry| entry.section == section && entry.key == key)
        .map(|entry| entry.value.split(" #").next().unwrap_or_default().trim().trim_matches('"'))
}

/// A dependency of a crate of any kind: normal, for tests, for the build, for one platform.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
}

pub(super) fn dependencies(text: &str) -> impl Iterator<Item = Dependency<'_>> {
    entries(text).filter_map(|entry| {
        let (_, table) = entry.section.rsplit_once("dependencies")?;
        let name = match (table.strip_prefix('.'), entry.key) {
            // `[dependencies.name]`: the head says it, the keys below it add nothing.
            (Some(name), "") => name,
            (Some(_), _) | (None, "") => return None,
            (None, key) => renamed(entry.value).unwrap_or(key.split('.').next().unwrap_or(key)),
        };
        Some(Dependency { name, line: entry.line })
    })
}

/// The real name in `alias = { package = "name", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, after) = value.split_once("package")?;
    after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"[package]
name = "haft-tools" # a leaf

[dependencies]
haft.workspace = true
alias = { package = "real", version = "1" }
regex = { version = "1", features = [
    "std",
] }

[target.'cfg(unix)'.dependencies]
rustix = "1"

[dev-dependencies.tempfile]
version = "3"
"#;

    #[test]
    fn every_form_of_dependency_is_found() {
        let found: Vec<(&str, usize)> = dependencies(SAMPLE).map(|dep| (dep.name, dep.line)).collect();
        assert_eq!(found, [("haft", 5), ("real", 6), ("regex", 7), ("rustix", 12), ("tempfile", 14)]);
    }

    #[test]
    fn values_lose_quotes_and_comments() {
        assert_eq!(value(SAMPLE, "package", "name"), Some("haft-tools"));
        assert_eq!(value(SAMPLE, "package", "version"), None);
    }
}
