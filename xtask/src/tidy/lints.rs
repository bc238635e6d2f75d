//! Every crate lives under the workspace's lints, and these forbid `unsafe`. One crate may allow it in one file.

use super::{Finding, Tree, manifest};

/// What has no safe library. It denies `unsafe` by lints of its own, because what is forbidden cannot be allowed.
const DENIES: &str = "crates/haft-sandbox/Cargo.toml";

/// The one file that may then allow it.
const ALLOWS: &str = "crates/haft-sandbox/src/linux/sys.rs";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.manifests() {
        let is_exception =
            path == DENIES && manifest::value(text, "lints.rust", "unsafe_code") == Some("deny");
        if !is_exception && manifest::value(text, "lints", "workspace") != Some("true") {
            findings.push(Finding::error(path, 1, "the crate does not say `[lints] workspace = true`"));
        }
    }
    let allowing = tree.rust().filter(|(path, text)| {
        path.starts_with("crates/haft-sandbox/") && *path != ALLOWS && text.contains("allow(unsafe_code")
    });
    findings
        .extend(allowing.map(|(path, _)| Finding::error(path, 1, format!("only {ALLOWS} allows `unsafe`"))));
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

    #[test]
    fn one_crate_may_deny_instead_and_allow_in_one_file() {
        let root = ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n");
        let denies = "[lints.rust]\nunsafe_code = \"deny\"\n";
        let allows = "#![allow(unsafe_code)]\n";
        expect(
            check,
            &[
                root,
                ("crates/haft-sandbox/Cargo.toml", denies),
                ("crates/haft-sandbox/src/linux/sys.rs", allows),
                ("crates/haft-sandbox/src/lib.rs", allows),
                ("crates/other/Cargo.toml", denies),
            ],
            &[
                "crates/other/Cargo.toml:1: the crate does not say `[lints] workspace = true`",
                "crates/haft-sandbox/src/lib.rs:1: only crates/haft-sandbox/src/linux/sys.rs allows `unsafe`",
            ],
        );
    }
}
