//! Which of our crates may depend on which. A new edge is a decision: write an ADR, then a row.

use super::{Finding, Tree, manifest};

enum Allowed {
    All,
    Only(&'static [&'static str]),
}

/// Leaves are strangers: they meet in `haft-cli` only, or through a seam of the core.
const EDGES: &[(&str, Allowed)] = &[
    ("haft", Allowed::Only(&[])),
    ("haft-agent", Allowed::Only(&["haft"])),
    ("haft-cli", Allowed::All),
    ("haft-fuzz", Allowed::Only(&["haft-tools"])),
    ("haft-plugin", Allowed::Only(&["haft"])),
    ("haft-sandbox", Allowed::Only(&["haft"])),
    ("haft-store", Allowed::Only(&["haft"])),
    ("haft-tools", Allowed::Only(&["haft", "haft-sandbox"])),
    ("xtask", Allowed::Only(&[])),
];

/// Judges dependencies of every kind: a leaf that is deleted must not break another one's tests.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let crates = names(tree);
    let mut findings = Vec::new();
    for (path, text) in tree.manifests() {
        let Some(name) = manifest::value(text, "package", "name") else {
            findings.push(Finding::error(path, 1, "the package has no name"));
            continue;
        };
        let Some((_, allowed)) = EDGES.iter().find(|(row, _)| *row == name) else {
            let message = format!("`{name}` has no row in the table of crate edges ({})", file!());
            findings.push(Finding::error(path, 1, message));
            continue;
        };
        let ours = manifest::dependencies(text).filter(|dep| crates.contains(&dep.name));
        let forbidden = ours.filter(|dep| match allowed {
            Allowed::All => false,
            Allowed::Only(names) => !names.contains(&dep.name),
        });
        findings.extend(forbidden.map(|dep| {
            let message = format!("`{name}` may not depend on `{}`", dep.name);
            Finding::error(path, dep.line, message)
        }));
    }
    findings
}

/// The names of our own crates.
pub(super) fn names(tree: &Tree) -> Vec<&str> {
    tree.manifests().filter_map(|(_, text)| manifest::value(text, "package", "name")).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn leaves_are_strangers_and_the_core_knows_nobody() {
        let core = "[package]\nname = \"haft\"\n[dependencies]\nserde.workspace = true\n";
        let store = "[package]\nname = \"haft-store\"\n[dependencies]\nhaft.workspace = true\n";
        let tools = "[package]\nname = \"haft-tools\"\n[dependencies]\nhaft.workspace = true\n[dev-dependencies]\nhaft-store.workspace = true\n";
        let cli = "[package]\nname = \"haft-cli\"\n[dependencies]\nhaft-store.workspace = true\n";
        expect(
            check,
            &[
                ("crates/haft/Cargo.toml", core),
                ("crates/haft-store/Cargo.toml", store),
                ("crates/haft-tools/Cargo.toml", tools),
                ("crates/haft-cli/Cargo.toml", cli),
            ],
            &["crates/haft-tools/Cargo.toml:6: `haft-tools` may not depend on `haft-store`"],
        );
    }
}
