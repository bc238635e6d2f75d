//! The working trees that git looks into from one of them: those of repositories in its index, those in theirs, and the
//! others of each repository, which a person may go to.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::gitlinks::{Links, Seen, gitlinks, key, looks, pointer, repository};
use crate::index::{NAMES_MAX, PATH_BYTES_MAX, path};

/// So many working trees of one repository are looked into.
const OF_ONE_MAX: usize = 1024;

/// A working tree, with the directories of its repository if it has one.
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
    pub(crate) git: Vec<PathBuf>,
    /// Whether its index has whole directories as one entry each.
    pub(crate) has_directories: bool,
}

/// How much may be looked at on one way. Many trees may have the same index, and many indexes may be large.
pub(crate) struct Budget {
    pub(crate) trees: usize,
    /// Entries of indexes, and the bytes of where they lead.
    links: usize,
    path_bytes: usize,
    /// Bytes of indexes. It must not take seconds, because whoever ends a command does not wait for long.
    pub(crate) index_bytes: u64,
    /// Directories that are listed.
    listed: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            trees: 1 << 13,
            links: NAMES_MAX,
            path_bytes: 32 << 20,
            index_bytes: 512 << 20,
            listed: 1 << 14,
        }
    }
}

/// Where an index leads from its working tree.
pub(crate) struct Below {
    pub(crate) trees: Vec<PathBuf>,
    /// Whether that is all of it.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is undone there"))]
    pub(crate) is_all: bool,
}

/// The working trees that git looks into from one, itself first.
pub fn working_trees(root: &Path) -> Vec<PathBuf> {
    reached(root).into_iter().map(|tree| tree.path).collect()
}

/// All that are reached from a working tree, itself first.
pub(crate) fn reached(root: &Path) -> Vec<Tree> {
    let mut waiting = VecDeque::from([root.to_owned()]);
    let (mut seen, mut asked, mut found) = (HashSet::new(), HashSet::new(), Vec::new());
    let mut budget = Budget::default();
    while let Some(tree) = waiting.pop_front() {
        if found.len() >= budget.trees || !seen.insert(real(&tree)) {
            continue;
        }
        let git = repository(&tree);
        // All working trees of a repository share a directory.
        if git.last().is_some_and(|common| asked.insert(common.clone())) {
            waiting.extend(others(&git));
        }
        let links = remembered(&git, &mut budget.index_bytes);
        waiting.extend(below(&tree, &links, &mut budget).trees);
        found.push(Tree { path: tree, git, has_directories: !links.directories.is_empty() });
    }
    found
}

/// What an index leads to. One that is surely as it was is not read again; what is too much is passed over.
fn remembered(git: &[PathBuf], left: &mut u64) -> Arc<Links> {
    static KNOWN: Mutex<Option<Seen>> = Mutex::new(None);
    let now = looks(git);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let do_tell = now.do_tell();
    let key = key(git, now);
    if let Some(links) = known().as_ref().and_then(|seen| seen.get(&key)) {
        return links;
    }
    let Some(links) = gitlinks(git, key.1, left).map(Arc::new) else { return Arc::default() };
    if do_tell {
        known().get_or_insert_default().insert(key, links.clone());
    }
    links
}

/// Where an index leads from its working tree: to the repositories in it, and to those that are in directories of which
/// it does not say what they have.
pub(crate) fn below(tree: &Path, links: &Links, budget: &mut Budget) -> Below {
    let mut below = Below { trees: Vec::new(), is_all: true };
    for link in &links.paths {
        if !below.add(tree.join(link), budget) {
            return below;
        }
    }
    let mut waiting: Vec<PathBuf> = links.directories.iter().rev().map(|name| tree.join(name)).collect();
    while let Some(directory) = waiting.pop() {
        let listed = match fs::read_dir(&directory) {
            Ok(listed) => listed,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            // Git may still find what cannot be listed.
            Err(_) => {
                below.is_all = false;
                continue;
            }
        };
        let Some(left) = budget.listed.checked_sub(1) else {
            below.is_all = false;
            return below;
        };
        budget.listed = left;
        for entry in listed.flatten() {
            if entry.file_name() == ".git" {
                if !below.add(directory.clone(), budget) {
                    return below;
                }
            } else if entry.file_type().is_ok_and(|found| found.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    below
}

impl Below {
    /// Whether there may be more.
    fn add(&mut self, tree: PathBuf, budget: &mut Budget) -> bool {
        let len = tree.as_os_str().len();
        let left = (budget.links.checked_sub(1), budget.path_bytes.checked_sub(len));
        // Git goes from tree to tree, and so gets further than one path leads.
        let is_short = len + "/.git/config.worktree".len() < PATH_BYTES_MAX;
        let (Some(links), Some(path_bytes), true) = (left.0, left.1, is_short) else {
            self.is_all = false;
            return false;
        };
        (budget.links, budget.path_bytes) = (links, path_bytes);
        self.trees.push(tree);
        true
    }
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{Budget, Links, below, reached};

    #[test]
    fn what_is_not_looked_at_is_told() {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("out/a/b/.git")).unwrap();
        fs::create_dir_all(tree.path().join("else/.git")).unwrap();
        let names = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let found = |links: &[&str], directories: &[&str], mut budget: Budget| {
            let links = Links { paths: names(links), directories: names(directories), is_usual: true };
            let found = below(tree.path(), &links, &mut budget);
            let trees = found.trees.iter().map(|path| path.strip_prefix(tree.path()).unwrap().to_owned());
            (trees.collect::<Vec<_>>(), found.is_all)
        };
        assert_eq!(found(&["x"], &["out", "gone"], Budget::default()), (names(&["x", "out/a/b"]), true));
        let listed = |listed: usize| Budget { listed, ..Budget::default() };
        assert_eq!(found(&[], &["out"], listed(3)), (names(&["out/a/b"]), true));
        assert_eq!(found(&[], &["out"], listed(2)), (names(&[]), false));
        let links = Budget { links: 1, ..Budget::default() };
        assert_eq!(found(&["x", "y"], &[], links), (names(&["x"]), false));
        let path_bytes = tree.path().join("x").as_os_str().len();
        let short = Budget { path_bytes, ..Budget::default() };
        assert_eq!(found(&["x", "y"], &[], short), (names(&["x"]), false));
        assert_eq!(found(&[&"x/".repeat(2040)], &[], Budget::default()), (names(&[]), false));
    }

    #[test]
    fn each_working_tree_of_a_repository_is_found_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a", "b"] {
            let own = root.join(".git/worktrees").join(name);
            fs::create_dir_all(&own).unwrap();
            fs::create_dir(root.join(name)).unwrap();
            fs::write(own.join("commondir"), "../..\n").unwrap();
            fs::write(own.join("gitdir"), format!("{}/{name}/.git\n", root.display())).unwrap();
            fs::write(root.join(name).join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        }
        let mut found: Vec<PathBuf> = reached(&root).into_iter().map(|tree| tree.path).collect();
        found.sort();
        assert_eq!(found, [root.clone(), root.join("a"), root.join("b")]);
    }
}
