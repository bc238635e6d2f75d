//! No file tells where somebody's checkout lies.

use super::{Finding, Tree};

/// First components of paths that exist on one machine only.
const PLACES: &[&str] = &["work", "root", "farm"];
const EXEMPT: &[&str] = &["Cargo.lock"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| !EXEMPT.contains(path)) {
        for (index, line) in text.lines().enumerate() {
            let found = PLACES.iter().map(|place| format!("/{place}/")).find(|place| names_root(line, place));
            findings.extend(
                found.map(|place| Finding::error(path, index + 1, format!("machine path `{place}…`"))),
            );
        }
    }
    findings
}

/// Whether `place` begins an absolute path somewhere in the line: `src/root/x` is not one.
fn names_root(line: &str, place: &str) -> bool {
    let before = line.match_indices(place).map(|(at, _)| line[..at].chars().next_back());
    let mut begins = before.map(|previous| match previous {
        Some(c) => !c.is_alphanumeric() && !"_-.}>)".contains(c),
        None => true,
    });
    begins.any(|begins| begins)
}

#[cfg(test)]
mod tests {
    use super::{Tree, check};

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        let found = |line: &str| {
            let tree = Tree::of(&[("a.md", line), ("Cargo.lock", line)]);
            check(&tree).len()
        };
        let place = super::PLACES[0];
        assert_eq!(found(&format!("see `/{place}/main/a.rs`")), 1);
        assert_eq!(found(&format!("file:///{place}/main")), 1);
        assert_eq!(found(&format!("src/{place}/main")), 0);
        assert_eq!(found(&format!("$HOME/{place}/main and /{place}")), 0);
    }
}
