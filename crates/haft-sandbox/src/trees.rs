//! The working trees that git looks into from one of them: those of repositories in its index, those in theirs, and the
//! others of each repository, which a person may go to.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::gitlinks::{pointer, remembered, repository};
use crate::index::path;

/// So many working trees are looked into.
pub(crate) const TREES_MAX: usize = 1 << 13;
/// So many entries of indexes are looked up; many trees may have the same index.
pub(crate) const LINKS_MAX: usize = 1 << 16;
/// So many working trees of one repository are looked into.
const OF_ONE_MAX: usize = 1024;

/// A working tree, with the directories of its repository if it has one.
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
    pub(crate) git: Vec<PathBuf>,
}

/// All that are reached from a working tree, itself first.
pub(crate) fn reached(root: &Path) -> Vec<Tree> {
    let mut waiting = VecDeque::from([root.to_owned()]);
    let (mut seen, mut found, mut links_left) = (HashSet::new(), Vec::new(), LINKS_MAX);
    while let Some(tree) = waiting.pop_front() {
        if found.len() >= TREES_MAX || !seen.insert(real(&tree)) {
            continue;
        }
        let git = repository(&tree);
        waiting.extend(others(&git));
        let links = remembered(&git);
        waiting.extend(links.paths.iter().take(links_left).map(|link| tree.join(link)));
        links_left = links_left.saturating_sub(links.paths.len());
        found.push(Tree { path: tree, git });
    }
    found
}

/// The working trees of a repository: the first, and those that were added to it.
pub(crate) fn others(git: &[PathBuf]) -> Vec<PathBuf> {
    let Some(common) = git.last() else { return Vec::new() };
    let first = common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned);
    let added = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().take(OF_ONE_MAX);
    let added = added.filter_map(|entry| {
        // It names the `.git` there, as seen from here or from the root.
        let name = path(&pointer(&entry.path().join("gitdir"))?);
        entry.path().join(name).parent()?.canonicalize().ok()
    });
    first.into_iter().chain(added).collect()
}

/// Where a working tree really is, as far as it is anywhere.
pub(crate) fn real(tree: &Path) -> PathBuf {
    tree.canonicalize().unwrap_or_else(|_| tree.to_owned())
}
