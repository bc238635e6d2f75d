//! Every crate lives under the workspace's lints, and these forbid `unsafe`.

use super::{Finding, Tree, manifest};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let without =
        tree.manifests().filter(|(_, text)| manifest::value(text, "lints", "workspace") != Some("true"));
    let mut findings: Vec<Finding> = without
        .map(|(path, _)| Finding::error(path, 1, "the crate does not say `[lints] workspace = true`"))
        .collect();
    let workspace = tree.text("Cargo.toml").unwrap_or_default();
    if manifest::value(workspace, "workspace.lints.rust", "unsafe_code") != Some("forbid") {
        findings.push(Finding::error("Cargo.toml", 1, "the workspace's lints do not forbid `unsafe_code`"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::expect, check};

    #[test]
    fn crates_and_workspace_are_both_judged() {
        let root = ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n");
        expect(check, &[root, ("crates/a/Cargo.toml", "[lints]\nworkspace = true\n")], &[]);
        expect(
            check,
            &[("crates/a/Cargo.toml", "[package]\n")],
            &[
                "crates/a/Cargo.toml:1: the crate does not say `[lints] workspace = true`",
                "Cargo.toml:1: the workspace's lints do not forbid `unsafe_code`",
            ],
        );
    }
}
