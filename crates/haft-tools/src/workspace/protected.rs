//! Protected paths: files that make a later program run something, so that writing them needs its own consent.

use std::path::{Component, Path};

use super::Workspace;
use super::fold::fold;
use super::guarded::Guarded;
use super::place::Place;

/// Directories whose whole content is protected, wherever they stand.
pub(super) const DIRECTORIES: &[&str] = &[
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".haft",
    ".husky",
    ".idea",
    ".opencode",
    ".vscode",
    ".zed",
];

/// Files that are protected, wherever they stand.
pub(super) const FILES: &[&str] = &[
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".mcp.json",
    ".npmrc",
    ".profile",
    ".ripgreprc",
    ".xprofile",
    ".xsessionrc",
    ".yarnrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "haft.json",
    "haft.jsonc",
    "opencode.json",
    "opencode.jsonc",
];

/// Files of a repository's own directory by which git is made to run or to look elsewhere.
const OF_GIT: &[&str] = &["commondir", "config", "config.worktree", "gitdir"];

/// Whether writing a place needs its own consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    None,
    Protected,
}

impl Workspace {
    /// Whether a person has to be asked before a place is written.
    pub(super) fn protection(&self, place: &Place) -> Protection {
        self.protection_by(&self.guarded(), place)
    }

    /// The same, where it was found out before what is protected by where it lies.
    pub(super) fn protection_by(&self, guarded: &Guarded, place: &Place) -> Protection {
        let spelled = self.respelled(place.spelled());
        let paths = [place.real(), spelled.as_path()];
        let is_protected = paths.iter().any(|path| self.is_protected(path) || is_guarded(guarded, path));
        if is_protected { Protection::Protected } else { Protection::None }
    }

    fn is_protected(&self, path: &Path) -> bool {
        // A workspace may itself lie in a directory of such a name; only what is below it is judged by its name.
        let below = self.roots().find_map(|root| path.strip_prefix(root.path()).ok()).unwrap_or(path);
        is_configuration(&folded(below)) || is_of_git(&folded(path))
    }
}

fn is_guarded(guarded: &Guarded, path: &Path) -> bool {
    let path = folded(path);
    guarded.trees.iter().any(|tree| path.starts_with(&folded(tree)))
        || guarded.links.iter().any(|link| path == folded(link))
}

fn folded(path: &Path) -> Vec<String> {
    let named = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(fold(&name.to_string_lossy())),
        Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => None,
    });
    named.collect()
}

fn is_configuration(names: &[String]) -> bool {
    let is_file = names.last().is_some_and(|last| FILES.contains(&last.as_str()));
    let mut rest = names.iter().enumerate();
    is_file || rest.any(|(at, name)| DIRECTORIES.contains(&name.as_str()) && !is_plan(name, &names[at + 1..]))
}

/// Plans are written by agents themselves and run nothing.
fn is_plan(directory: &str, rest: &[String]) -> bool {
    directory == ".opencode" && matches!(rest, [plans, _] if plans == "plans")
}

fn is_of_git(names: &[String]) -> bool {
    let Some(at) = names.iter().position(|name| name == ".git") else { return false };
    let rest = &names[at + 1..];
    let is_attributes =
        matches!(rest, [.., info, attributes] if info == "info" && attributes == "attributes");
    // What leads other working trees to the repository lies in it.
    let is_worktrees = matches!(rest, [worktrees] if worktrees == "worktrees");
    is_worktrees
        || rest.iter().any(|name| name == "hooks")
        || rest.last().is_some_and(|last| OF_GIT.contains(&last.as_str()))
        || is_attributes
}
