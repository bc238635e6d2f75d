//! The files that belong to the project: what git tracks or would track.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Paths from the root, with `/`, and their text; what is not UTF-8 is there without text.
pub(super) struct Tree(BTreeMap<String, Option<String>>);

impl Tree {
    /// Lists with git, so that what is ignored is not judged.
    pub(super) fn of_git(root: &Path) -> Result<Tree> {
        // A checkout that another user owns (a container, a mounted volume) is still ours to read.
        let listed = Command::new("git")
            .current_dir(root)
            .arg("-c")
            .arg(format!("safe.directory={}", root.display()))
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .output()
            .context("could not start git")?;
        if !listed.status.success() {
            bail!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr).trim());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(listed.stdout)?.split_terminator('\0') {
            let full = root.join(path);
            // Git still lists what was deleted and not yet staged.
            if full.is_file() {
                let bytes = std::fs::read(&full).with_context(|| format!("could not read {path}"))?;
                files.insert(path.to_owned(), String::from_utf8(bytes).ok());
            }
        }
        Ok(Tree(files))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path)?.as_deref()
    }

    /// Whether a file or a directory of the project is called `path`.
    pub(super) fn has(&self, path: &str) -> bool {
        let inside = format!("{}/", path.trim_end_matches('/'));
        path.is_empty() || self.0.contains_key(path) || self.0.keys().any(|file| file.starts_with(&inside))
    }

    /// Every file that is text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Our Rust: what lies in `crates/` and `xtask/`.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts()
            .filter(|(path, _)| path.ends_with(".rs"))
            .filter(|(path, _)| path.starts_with("crates/") || path.starts_with("xtask/"))
    }

    /// The manifests of our crates, without the workspace's own.
    pub(super) fn manifests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| {
            *path == "xtask/Cargo.toml"
                || path
                    .strip_prefix("crates/")
                    .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
                    .is_some_and(|name| !name.contains('/'))
        })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        Tree(files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned()))).collect())
    }
}

/// Whether a whole file is test code.
pub(super) fn is_test_file(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    name == "tests.rs"
        || name.ends_with("_tests.rs")
        || parts.any(|part| part == "tests" || part == "benches")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_there_when_a_file_is_in_them() {
        let tree = Tree::of(&[("docs/adr/0001-name.md", "")]);
        assert!(tree.has("docs") && tree.has("docs/adr/") && tree.has("docs/adr/0001-name.md"));
        assert!(!tree.has("doc"));
    }

    #[test]
    fn test_files_are_known_by_name() {
        assert!(is_test_file("crates/haft/tests/laws.rs"));
        assert!(is_test_file("crates/haft/src/registry/tests.rs"));
        assert!(!is_test_file("xtask/src/test.rs"));
    }
}
