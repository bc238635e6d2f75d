//! Every dependency is named, with its reason, in ARCHITECTURE.md.

use std::collections::BTreeSet;

use super::{Finding, Tree, edges, manifest};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const WORKSPACE: &str = "Cargo.toml";

/// Judges what some crate uses; a row of the workspace that waits for its first user needs no reason yet.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(architecture) = tree.text(ARCHITECTURE) else {
        return vec![Finding::error(ARCHITECTURE, 1, "there is no ARCHITECTURE.md to name the dependencies")];
    };
    let named: BTreeSet<&str> =
        architecture.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let ours = edges::names(tree);
    let workspace = tree.text(WORKSPACE).unwrap_or_default();
    let mut judged = BTreeSet::new();
    let mut findings = Vec::new();
    for (path, text) in tree.manifests() {
        for dependency in manifest::dependencies(text) {
            let name = dependency.name;
            if named.contains(name) || ours.contains(&name) || !judged.insert(name) {
                continue;
            }
            // Where it is declared is where its reason was due.
            let declared = manifest::entries(workspace)
                .find(|entry| entry.section == "workspace.dependencies" && entry.key == name);
            let (path, line) = declared.map_or((path, dependency.line), |entry| (WORKSPACE, entry.line));
            findings.push(Finding::error(
                path,
                line,
                format!("{ARCHITECTURE} does not name the dependency `{name}`"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn used_dependencies_have_a_reason() {
        let haft =
            "[package]\nname = \"haft\"\n[dependencies]\nserde.workspace = true\nregex.workspace = true\n";
        let cli = "[package]\nname = \"haft-cli\"\n[dependencies]\nhaft.workspace = true\nregex.workspace = true\nodd = \"1\"\n";
        expect(
            check,
            &[
                ("Cargo.toml", "[workspace.dependencies]\nregex = \"1\"\nserde = \"1\"\nunused = \"1\"\n"),
                ("ARCHITECTURE.md", "| `serde` | wire types |\n"),
                ("crates/haft/Cargo.toml", haft),
                ("crates/haft-cli/Cargo.toml", cli),
            ],
            &[
                "Cargo.toml:2: ARCHITECTURE.md does not name the dependency `regex`",
                "crates/haft-cli/Cargo.toml:6: ARCHITECTURE.md does not name the dependency `odd`",
            ],
        );
    }
}
